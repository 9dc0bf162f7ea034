package machine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// script plays a run to its end and writes down every event, with what the
// machine wants beside it whenever time has to pass or nothing is left to do.
type script struct {
	*stage
	out     strings.Builder
	seen    int
	crashes int // so many turns of agents are cut by the end of ralph
}

// lateReplay makes the run anew from events of which the last were lost.
func (s *script) lateReplay() {
	s.t.Helper()
	s.fresh()
	for _, e := range s.events {
		if err := s.run.Apply(e); err != nil {
			s.t.Fatalf("replay: %v", err)
		}
	}
}

func newScript(t *testing.T, lines []string, change ...func(*ir.Epic)) *script {
	return &script{stage: newStage(t, lines, change...)}
}

// play begins a run and goes on until it is done; times that have to pass do, at
// most for the given time.
func (s *script) play(most time.Duration, change ...func(*executor.RunStarted)) {
	s.t.Helper()
	s.begin(change...)
	s.goOn(most)
}

func (s *script) goOn(most time.Duration) {
	s.t.Helper()
	until := s.now.Add(most)
	for range 10_000 {
		todo := s.run.Todo(s.now)
		machine.OwnParts(s.t, todo.Start)
		switch {
		case todo.Stuck != "":
			s.t.Fatalf("stuck: %s\n%s", todo.Stuck, s.text())
		case len(todo.Record) > 0:
			for _, e := range todo.Record {
				s.put(e)
			}
		case len(todo.Start) > 0:
			for _, e := range todo.Start {
				s.put(executor.Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Body: executor.EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo}})
				s.flying = append(s.flying, e)
				s.note(e)
			}
		case len(s.flying) > 0:
			e := s.flying[0]
			s.flying = s.flying[1:]
			s.report(e)
			if s.crashes > 0 && e.Kind == executor.EffectAgent { // it comes in place of the report
				s.crashes--
				s.events = s.events[:len(s.events)-1]
				s.seen = min(s.seen, len(s.events))
				s.lateReplay()
				s.write()
				s.out.WriteString("killed\n")
				s.begin()
			}
		case todo.Done:
			s.write()
			s.out.WriteString("done\n")
			return
		case todo.Wake.After(until):
			s.write()
			fmt.Fprintf(&s.out, "wake in %s\n", todo.Wake.Sub(s.now))
			return
		default:
			s.write()
			fmt.Fprintf(&s.out, "%s later\n", todo.Wake.Sub(s.now))
			s.now = todo.Wake
		}
		s.write()
	}
	s.t.Fatalf("it does not end:\n%s", s.text())
}

// change goes on with another epic.json.
func (s *script) change(epic *ir.Epic) {
	s.t.Helper()
	s.epic, s.flying = epic, nil
	s.fresh()
	for _, e := range s.events {
		if err := s.run.Apply(e); err != nil {
			s.t.Fatalf("replay under the changed epic: %v", err)
		}
	}
	s.forget()
}

// forget leaves out of the script what happened so far.
func (s *script) forget() {
	s.seen = len(s.events)
	s.out.Reset()
}

// note adds to an effect's line what it is asked to do.
func (s *script) note(e executor.Effect) {
	s.write()
	text := strings.TrimSuffix(s.out.String(), "\n")
	s.out.Reset()
	s.out.WriteString(text)
	for _, p := range []struct {
		is   bool
		what string
	}{
		{e.Agent != "", " by " + e.Agent},
		{e.Session != "", " in session " + e.Session},
		{e.Apart, " apart"},
		{e.Merge, " of the merge"},
		{e.Person, " of a person"},
		{e.AsIs, " as it is"},
		{e.Onto != "", " onto " + string(e.Onto)},
		{e.Commit != "", " at " + e.Commit},
		{e.Old != "", " from " + e.Old},
		{e.Resolved != "", " resolved as " + e.Resolved},
		{e.Redo, " again"},
	} {
		if p.is {
			s.out.WriteString(p.what)
		}
	}
	if len(e.Inputs) > 0 && (e.Kind == executor.EffectBase || e.Merge) {
		s.out.WriteString(" of")
		for _, in := range e.Inputs {
			s.out.WriteString(" " + in.Commit)
		}
	}
	s.out.WriteByte('\n')
}

// write adds the lines of events that were put since.
func (s *script) write() {
	for ; s.seen < len(s.events); s.seen++ {
		s.out.WriteString(line(s.epic, s.events[s.seen]) + "\n")
	}
}

func (s *script) text() string { s.write(); return s.out.String() }

// golden compares everything that was written with testdata/script/<name>.txt;
// -update writes it. Read the difference before you keep it.
func (s *script) golden(name string) {
	s.t.Helper()
	file := filepath.Join("testdata", "script", strings.NewReplacer(" ", "-", "'", "", ",", "").Replace(name)+".txt")
	got := s.text()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if got != string(want) {
		s.t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// say notes what a person says.
func (s *script) say(key string, d executor.Decision) {
	s.t.Helper()
	s.write()
	if err := s.stage.say(key, d); err != nil {
		s.t.Fatal(err)
	}
	s.write()
}

var update = flag.Bool("update", false, "write testdata/script")

func line(epic *ir.Epic, e executor.Event) string {
	name := string(e.Node)
	for _, n := range epic.Nodes {
		if n.ID == e.Node {
			name = string(n.Key)
		}
	}
	if e.Step != "" {
		name += fmt.Sprintf(" %s#%d", e.Step, e.Attempt)
	}
	f := []any{}
	add := func(is bool, parts ...any) {
		if is {
			f = append(f, parts...)
		}
	}
	switch b := e.Body.(type) {
	case executor.RunnerParked:
		add(true, b.Runner, "for", b.Until.Sub(e.At))
		add(b.Probe, "probe")
	case executor.RunDraining:
		add(true, b.Reason)
	case executor.NodeWaiting:
		add(true, "for", b.For)
		add(b.Cause != "", b.Cause)
		add(b.Gate != "", "gate", b.Gate)
		add(!b.Until.IsZero(), b.Until.Sub(e.At))
		add(true, "("+b.Detail+")")
	case executor.NodeBlocked:
		add(true, b.Reason)
	case executor.NodeDone:
		add(true, b.Result.Commit)
	case executor.AttemptStarted:
		add(true, "from", b.From)
		add(b.Start != b.From, "start", b.Start)
		add(b.Rejudge, "gates only")
		add(b.Agent != "", "by", b.Agent)
		add(b.Person != "", "by", b.Person)
		add(b.ByHand, "by hand")
		add(b.Resumes, "same session")
	case executor.AttemptEnded:
		add(true, b.Status)
		add(b.Reason != "", "("+b.Reason+")")
		add(b.Status != executor.AttemptPassed, "->", b.Next)
		add(b.Note != "", "["+b.Note+"]")
	case executor.EffectStarted:
		add(true, b.Kind)
		add(b.Gate != "", b.Gate)
		add(b.Iteration > 1, b.Iteration)
	case executor.EffectFailed:
		add(b.Gate != "", b.Gate)
		add(true, b.Class)
	case executor.Prepared:
		add(b.Anew, "anew")
	case executor.AgentSession:
		add(true, b.Session)
	case executor.HumanSpoke:
		add(b.Gate != "", b.Gate)
		add(true, b.Text)
	case executor.BaseMade:
		add(true, b.Base.Commit)
	case executor.AgentEnded:
		add(true, b.End, b.Outcome.Result)
	case executor.Collected:
		add(true, b.Result.Commit)
		add(len(b.Problems) > 0, b.Problems)
	case executor.GateJudged:
		add(b.Red, "red")
		add(true, b.Gate, b.Verdict)
		add(b.By != "", "by", b.By)
	case executor.Published:
		add(true, b.Result.Commit)
	case executor.Landed:
		add(true, b.Head.Commit)
	case executor.PullSeen:
		add(true, b.State)
	case executor.Diagnosed:
		add(true, b.Action)
	case executor.Decided:
		add(true, b.Verb, b.How)
	}
	out := strings.TrimSpace(name + " " + e.Kind())
	for _, x := range f {
		out += strings.TrimRight(" "+fmt.Sprint(x), " ")
	}
	return out
}

// gates makes a step with these gates, declared with their kinds.
func withGates(mode string, gates ...ir.Gate) func(*ir.Epic) {
	return func(e *ir.Epic) {
		e.Agents["qa"] = ir.Agent{Runner: "sh", Access: "read"}
		s := &e.Nodes[0].Steps[0]
		s.GateMode, s.Gates = mode, nil
		for _, g := range gates {
			name := g.Why // borrowed: the name of the gate
			g.From = "policy"
			if g.Kind == "agent" || g.Kind == "review" {
				g.Agent = "qa"
			}
			if g.OnFailure == "" {
				g.OnFailure = "retry"
			}
			e.Gates[name] = g
			s.Gates = append(s.Gates, name)
		}
	}
}
