package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// preflights is an epic with these gates; the gates of the first node stand first.
func preflights(gates map[string]ir.Gate, of ...[]string) func(*ir.Epic) {
	return func(e *ir.Epic) {
		for name, g := range gates {
			base := e.Gates["check"]
			base.Run, base.RedFirst, base.Baseline = g.Run, g.RedFirst, g.Baseline
			if base.Env = g.Env; g.From != "" {
				base.From = g.From
			}
			e.Gates[name] = base
		}
		delete(e.Gates, "check")
		for i, names := range of {
			e.Nodes[i].Steps[0].Gates = names
		}
	}
}

func tried(start *executor.RunStarted) { start.Preflight = "setup" }

func checks(run *machine.Run) string {
	var b strings.Builder
	for _, c := range run.Bases().Checks() {
		fmt.Fprintf(&b, "%s %v on %s%s", c.Gate, c.Also, c.Of, c.Base.Commit)
		if c.Green {
			b.WriteString(" green")
		}
		if c.Known != nil {
			fmt.Fprintf(&b, " %s", c.Known.Verdict)
		}
		if c.Approved != "" {
			b.WriteString(" by " + c.Approved)
		}
		if c.Held() {
			b.WriteString(" held")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// preflight tries what is due, as a driver would, and returns what it tried.
func (s *stage) preflight(red ...string) string {
	s.t.Helper()
	var names []string
	for range 100 {
		todo := s.run.Todo(s.now)
		if len(todo.Start) > 0 || len(todo.Record) > 0 || len(todo.Try) == 0 {
			break
		}
		if len(names) == 0 {
			s.put(executor.Event{Body: executor.PreflightStarted{Setup: "setup"}})
		}
		c := todo.Try[0]
		b := executor.BaselineJudged{Gate: c.Gate, Digest: c.Digest, Setup: c.Setup, Base: c.Base, Of: c.Of, Green: c.Green, Verdict: executor.Pass}
		for _, r := range red {
			if r == c.Gate {
				b.Verdict, b.Message = executor.Fail, "exit code 1"
			}
		}
		names = append(names, c.Gate)
		s.put(executor.Event{Body: b})
	}
	if len(names) > 0 {
		s.put(executor.Event{Body: executor.PreflightEnded{}})
	}
	return strings.Join(names, " ")
}

func TestGatesThatSayTheSameOfEverySprintAreTriedOnEachBase(t *testing.T) { // execution §5, preflight
	s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3", "1.4: 1.1 1.3", "1.5"}, preflights(map[string]ir.Gate{
		"unit": {Run: "make test"}, "same": {Run: "make test"}, "red": {Run: "make red", RedFirst: true}, "run": {Run: "make ${run.branch}"},
		"text": {Run: "make $${run.branch}"}, "node": {Run: `make "$RALPH_NODE"`}, "env": {Run: "make", Env: map[string]string{"X": "${run.attempt}"}},
		"plan": {Run: "make plan", From: "plan"}, "1.1/own": {Run: "make 1.1"}, "1.2/own": {Run: "make 1.2"}, "1.3/late": {Run: "make late"}, "done": {Run: "make done"},
		"last": {Run: "make last"},
	}, []string{"unit", "red", "run", "1.1/own"}, []string{"same", "text", "1.2/own"}, []string{"unit", "node", "env", "plan", "1.3/late"}, []string{"last"}, []string{"done"}),
		func(e *ir.Epic) { e.Nodes[2].Git.Base, e.Nodes[4].Done = "develop", true })
	s.begin(tried, func(b *executor.RunStarted) {
		b.Bases = []executor.NamedTree{{Name: "develop", Tree: executor.Tree{Commit: "dev", Tree: "tree-dev"}}}
	})
	want := "unit [same] on base\ntext [] on base\nlast [] on base\nunit [] on developdev\n1.3/late [] on developdev\nlast [] on developdev\n"
	if got := checks(s.run); got != want {
		t.Errorf("it tries\n%s\nwant\n%s", got, want)
	}
	s.begin(tried, func(b *executor.RunStarted) { b.Only = []ir.NodeID{"bd-1-1"} })
	if got, want := checks(s.run), "unit [] on base\n"; got != want {
		t.Errorf("of 1.1 alone it tries\n%s\nwant\n%s", got, want)
	}
	s.begin()
	if got := checks(s.run); got != "" || len(s.run.Todo(s.now).Try) > 0 {
		t.Errorf("without a preflight it tries\n%s", got)
	}
}

func TestOnlyGreenIsKeptAndRedHoldsNothingBack(t *testing.T) { // execution §5, preflight
	s := newStage(t, []string{"1.1", "1.2"}, preflights(map[string]ir.Gate{"unit": {Run: "a"}, "lint": {Run: "b"}}, []string{"unit", "lint"}, []string{"unit"}))
	s.begin(tried)
	if got := s.preflight("lint"); got != "unit lint" {
		t.Errorf("it tried %q", got)
	}
	if todo := s.run.Todo(s.now); len(todo.Record) != 2 {
		t.Errorf("red holds back what it must not: %+v", todo)
	}
	s.begin(tried) // as after a crash
	if got := s.preflight("lint"); got != "lint" {
		t.Errorf("again it tried %q", got)
	}
	s.begin(tried, func(b *executor.RunStarted) { b.Base = executor.Tree{Commit: "next", Tree: "tree-next"} })
	if got := s.preflight(); got != "unit lint" {
		t.Errorf("on another base it tried %q", got)
	}
	s.begin(tried, func(b *executor.RunStarted) { b.Base = executor.Tree{Commit: "after", Tree: "tree-next"} })
	if got := s.preflight(); got != "" {
		t.Errorf("on another commit with the same files it tried %q", got)
	}
	s.begin(func(b *executor.RunStarted) {
		b.Base, b.Preflight = executor.Tree{Commit: "after", Tree: "tree-next"}, "other setup"
	})
	if got := s.preflight(); got != "unit lint" {
		t.Errorf("with another setup it tried %q", got)
	}
}

func TestNothingStartsWhileAGateThatHasToBeGreenIsRed(t *testing.T) { // execution §5, preflight
	s := newStage(t, []string{"1.1"}, preflights(map[string]ir.Gate{"unit": {Run: "a", Baseline: "green"}, "lint": {Run: "b"}}, []string{"unit", "lint"}))
	approve := executor.Decision{Verb: executor.Approve, How: executor.Baseline}
	s.begin(tried)
	s.no("", approve, "no gate that has to be green is red")
	s.preflight("unit", "lint")
	todo := s.run.Todo(s.now)
	if len(todo.Record) != 1 || todo.Record[0].Kind() != "run.held" {
		t.Fatalf("it is not held: %+v", todo)
	}
	s.put(todo.Record[0])
	if todo := s.run.Todo(s.now); !todo.Done || len(todo.Record) > 0 {
		t.Errorf("it does not end: %+v", todo)
	}
	if h := s.run.Overview().Held; h.For != executor.ForBase || h.Detail != "red on the base base: unit: exit code 1" {
		t.Errorf("held: %+v", h)
	}
	s.put(executor.Event{Body: executor.RunEnded{}})
	s.no("", executor.Decision{Verb: executor.Resume}, "not paused: it is red on the base")
	s.no("", executor.Decision{Verb: executor.Approve, How: executor.Baseline, Digest: "sha256:other"}, "red gates or the base have changed")
	s.no("1.1", approve, "base belongs to all nodes")
	s.ok("", approve)
	if s.replay(); s.run.Overview().Held.For != "" {
		t.Errorf("it is still held: %+v", s.run.Overview().Held)
	}
	s.no("", approve, "no gate that has to be green is red")

	s.begin(tried)
	if got := s.preflight("unit", "lint"); got != "unit lint" {
		t.Errorf("it tried %q", got)
	}
	if got, want := checks(s.run), "unit [] on base green fail by ann\nlint [] on base fail\n"; got != want {
		t.Errorf("on record\n%s\nwant\n%s", got, want)
	}
	if todo := s.run.Todo(s.now); len(todo.Record) != 1 || todo.Record[0].Kind() != "node.started" {
		t.Errorf("it does not begin: %+v", todo)
	}
	s.begin(tried, func(b *executor.RunStarted) { b.Base = executor.Tree{Commit: "next", Tree: "tree-next"} })
	s.preflight("unit")
	if todo := s.run.Todo(s.now); len(todo.Record) != 1 || todo.Record[0].Kind() != "run.held" {
		t.Errorf("another base is taken for the approved one: %+v", todo)
	}
	s.begin() // without a preflight
	if todo := s.run.Todo(s.now); len(todo.Record) != 1 || todo.Record[0].Kind() != "node.started" {
		t.Errorf("it does not begin: %+v", todo)
	}
}

func TestABudgetThatIsUsedUpHoldsNoPreflightBack(t *testing.T) { // execution §5
	s := newStage(t, []string{"1.1"}, preflights(map[string]ir.Gate{"unit": {Run: "a", Baseline: "green"}}, []string{"unit"}))
	s.begin(tried)
	s.put(executor.Event{Body: executor.RunHeld{For: executor.ForBudget, Detail: "$1 of $1"}})
	if got := s.preflight("unit"); got != "unit" {
		t.Errorf("it tried %q", got)
	}
	if todo := s.run.Todo(s.now); len(todo.Record) != 1 || todo.Record[0].Body.(executor.RunHeld).For != executor.ForBase {
		t.Errorf("it is not held: %+v", todo)
	}
	s.begin(tried)
	s.put(executor.Event{Body: executor.RunHeld{For: executor.ForHuman, Detail: "paused by ann"}})
	if got := s.preflight("unit"); got != "" {
		t.Errorf("while the run is paused it tried %q", got)
	}
}

// What has to be green and has no verdict is not green: nothing starts.
func TestNoVerdictIsNoGreen(t *testing.T) { // execution §5, preflight
	s := newStage(t, []string{"1.1"}, preflights(map[string]ir.Gate{"unit": {Run: "a", Baseline: "green"}}, []string{"unit"}))
	s.begin(tried)
	c := s.run.Todo(s.now).Try[0]
	s.put(executor.Event{Body: executor.PreflightStarted{Setup: "setup"}})
	s.put(executor.Event{Body: executor.BaselineJudged{Gate: c.Gate, Digest: c.Digest, Setup: c.Setup, Base: c.Base, Green: true, Verdict: executor.ErrorJudged, Message: "no shell"}})
	if todo := s.run.Todo(s.now); len(todo.Try)+len(todo.Record)+len(todo.Start) > 0 || todo.Done {
		t.Errorf("before its end: %+v", todo)
	}
	s.put(executor.Event{Body: executor.PreflightEnded{}})
	todo := s.run.Todo(s.now)
	if len(todo.Record) != 1 || todo.Record[0].Body != (executor.RunHeld{For: executor.ForBase, Detail: "no verdict on the base base: unit: no shell"}) {
		t.Fatalf("it is not held: %+v", todo)
	}
	s.put(todo.Record[0])
	if todo := s.run.Todo(s.now); len(todo.Start)+len(todo.Record) > 0 {
		t.Errorf("it goes on: %+v", todo)
	}
	s.begin(tried)
	if got := s.preflight(); got != "unit" {
		t.Errorf("it is not tried again: %q", got)
	}
}
