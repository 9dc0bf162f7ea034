package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

var keepOld = executor.Decision{Verb: executor.RetryNode, How: executor.KeepOld}

// other is the epic with another text of a sprint.
func other(lines []string, version string, keys ...string) *ir.Epic {
	return executortest.Epic(lines, func(e *ir.Epic) {
		e.Digest = "sha256:" + version
		for i := range e.Nodes {
			for _, k := range keys {
				if string(e.Nodes[i].Key) == k {
					e.Nodes[i].Prompt = []string{version}
				}
			}
		}
	})
}

// account renders what is said of the integration branch.
func (s *stage) account() string {
	s.t.Helper()
	b := s.run.Integration().Branch(nil)
	var out []string
	for _, h := range b.Holds {
		w := string(h.Key)
		if h.Older {
			w = "older " + w
		}
		if h.Keep {
			w += " (keep)"
		}
		out = append(out, w)
	}
	for _, l := range b.LeftOut {
		w := "without " + string(l.Key)
		if l.Done {
			w = "done without " + string(l.Key)
		}
		out = append(out, w)
	}
	for _, h := range b.Left {
		out = append(out, "left "+string(h.Key))
	}
	for _, c := range b.Others {
		out = append(out, "left others' "+c)
	}
	return strings.Join(out, ", ")
}

func (s *stage) says(what, want string) {
	s.t.Helper()
	if got := s.account(); got != want {
		s.t.Errorf("%s: the account is\n%s\nwant\n%s", what, got, want)
	}
}

// gatesOfSum counts the gates that judged the sum.
func (s *stage) gatesOfSum() (n int) {
	for _, e := range s.events {
		if b, ok := e.Body.(executor.GateJudged); ok && e.Node == executor.Integration && b.Gate != "" {
			n++
		}
	}
	return n
}

func TestTheBranchNeverLosesWorkByAFailure(t *testing.T) { // execution §5 (the sum), §2 (keep-old)
	lines := []string{"1.1", "1.2: 1.1", "2.1"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	s.says("all is done", "1.1, 1.2, 2.1")
	was := s.sumAt()

	// 1.1 and 2.1 have another text; 1.1 fails, and 1.2 waits for it.
	s.change(other(lines, "two", "1.1", "2.1"))
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	s.says("a changed text fails", "older 1.1 (keep), older 1.2, older 2.1, done without 2.1")
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "an older result of 1.1, "+s.run.Integration().Branch(nil).Holds[0].Commit)
	if s.sumAt() != was {
		t.Error("the branch has moved")
	}
	s.no("1.2", keepOld, "the current result of a dependency is missing: 1.1 (blocked)")
	s.no(executor.Integration, executor.Decision{Verb: executor.Approve}, "nothing to approve")

	// It begins again at each run, and says the same.
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "")

	// The older result of 1.1 counts: 1.2 with it, and the branch is made.
	s.ok("1.1", keepOld)
	s.begin()
	s.end()
	s.says("kept", "1.1, 1.2, 2.1")
	s.is(executor.Integration, executor.Done, "", "")
	if got := attempts(s.stage, "1.2"); got != 1 {
		t.Errorf("1.2 was run %d times", got)
	}
	s.no("1.1", keepOld, "no earlier success to keep")

	// It was kept for that text; another one runs, and the first one again counts.
	s.change(other(lines, "three", "1.1", "2.1"))
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	s.is("1.1", executor.Blocked, "", "")
	s.change(other(lines, "two", "1.1", "2.1"))
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	s.says("changed back", "1.1, 1.2, 2.1")

	// Built again of what is done now.
	s.change(other(lines, "four", "1.1"))
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	s.ok(executor.Integration, retry)
	s.begin()
	s.end()
	s.says("built again", "2.1, without 1.1, without 1.2, left 1.1, left 1.2")
}

func TestWhatTheBaseHoldsIsNotOlder(t *testing.T) { // execution §5 (the account is true)
	lines := []string{"1.1", "1.2: 1.1"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	merged := func(r *executor.RunStarted) {
		r.Base, r.Merged = executor.Tree{Commit: "main", Tree: "main"}, []ir.NodeID{"bd-1-1", "bd-1-2"}
	}
	s.change(other(append(lines, "1.3: 1.2"), "more"))
	s.begin(merged)
	s.end()
	s.says("merged, and a new sprint", "1.1, 1.2, 1.3")

	// The base keeps what it holds, whatever becomes of the sprint: nothing is held back.
	s.change(other(append(lines, "1.3: 1.2"), "less", "1.2"))
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
	s.begin(merged, func(r *executor.RunStarted) { r.Merged = nil })
	s.end()
	s.says("1.2 of the base fails now", "1.1, older 1.2 (keep), older 1.3")
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "an older result of 1.3")
	if d := s.view(executor.Integration).Reason; strings.Contains(d, "older result of 1.2") {
		t.Errorf("it holds back 1.2, which the base has: %s", d)
	}
}

func TestForeignCommitsHideNoOlderResults(t *testing.T) { // execution §5 (the sum): not moved, also if others are to leave it
	lines := []string{"1.1", "1.2"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	s.change(other(lines, "two", "1.1"))
	broken := agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.answer = func(e executor.Effect) executor.Body {
		if b := theirs(e); b != nil {
			return b
		}
		return broken(e)
	}
	s.begin(stands("theirs"))
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseForeign, "")
	s.says("others were there", "older 1.1 (keep), 1.2")
	if keeps := s.view(executor.Integration).Keeps; len(keeps) != 1 || keeps[0] != "1.1" {
		t.Errorf("--keep-old is offered for %v", keeps)
	}

	// That theirs may leave says nothing of 1.1.
	s.ok(executor.Integration, retry)
	s.begin(stands("theirs"))
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "an older result of 1.1")
	s.ok(executor.Integration, retry)
	s.begin(stands("theirs"))
	s.end()
	s.says("both may leave", "1.2, without 1.1, left 1.1, left others' theirs")
	s.is(executor.Integration, executor.Done, "", "")
}

func TestAcceptedCommitsOfOthersDoNotVanishUnsaid(t *testing.T) { // execution §5 (the account is true)
	lines := []string{"1.1", "1.2"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	s.change(other(lines, "two", "1.1"))
	s.answer = theirs
	s.begin(stands("theirs"))
	s.end()
	s.ok(executor.Integration, executor.Decision{Verb: executor.Approve})
	s.begin(stands("theirs"))
	s.end()
	accepted := s.events
	at := s.sumAt()
	rebase := func(r *executor.RunStarted) { r.Base = executor.Tree{Commit: "main", Tree: "main"} }
	named := "commits of others that you accepted, theirs"
	for what, change := range map[string]func(*executor.RunStarted){"another text": func(*executor.RunStarted) {}, "another base": rebase} {
		s.events, s.answer = slices.Clone(accepted), agents(nil)
		epic := other(lines, "two", "1.1")
		if what == "another text" {
			epic = other(lines, "three", "1.2")
		}
		s.change(epic)
		if got := s.planned(epic, change, stands(at)); !strings.Contains(got, named) {
			t.Errorf("%s: the plan does not name them:\n%s", what, got)
		}
		s.begin(stands(at), change)
		s.end()
		s.is(executor.Integration, executor.Waiting, executor.CauseOlder, named)
		if b := s.run.Integration().Branch(nil); fmt.Sprint(b.Theirs) != "[theirs]" {
			t.Errorf("%s: of others it would lose %s", what, b.Theirs)
		}
		s.begin(stands(at), change) // nobody said that they may leave
		s.end()
		s.is(executor.Integration, executor.Waiting, executor.CauseOlder, named)
		s.ok(executor.Integration, retry)
		s.begin(stands(at), change)
		s.end()
		s.is(executor.Integration, executor.Done, "", "")
		if got := s.account(); !strings.HasSuffix(got, "left others' theirs") {
			t.Errorf("%s: the account is %s", what, got)
		}
	}

	// A base that holds them takes nothing away, and there is nothing to ask.
	s.events, s.answer = slices.Clone(accepted), agents(nil)
	s.change(other(lines, "two", "1.1"))
	s.begin(stands(at), rebase, func(r *executor.RunStarted) { r.Theirs = s.run.Integration().Others() })
	s.end()
	s.is(executor.Integration, executor.Done, "", "")
	if got := s.account(); strings.Contains(got, "others'") {
		t.Errorf("the account is %s", got)
	}
}

// Who lets older results leave that were named lets nothing else leave with them.
func TestAcceptedCommitsAreNamedBesideOlderResults(t *testing.T) { // execution §5 (the branch never loses work by a failure)
	lines := []string{"1.1", "1.2"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	s.change(other(lines, "two", "1.1"))
	broken := agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.answer = func(e executor.Effect) executor.Body {
		if b := theirs(e); b != nil {
			return b
		}
		return broken(e)
	}
	s.begin(stands("theirs"))
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseForeign, "")
	s.ok(executor.Integration, executor.Decision{Verb: executor.Approve})
	s.begin(stands("theirs"))
	s.end()
	both := "an older result of 1.1, c"
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, both)
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "commits of others that you accepted, theirs")

	// An older result that counts again keeps both.
	before := slices.Clone(s.events)
	s.ok("1.1", keepOld)
	s.begin(stands("theirs"))
	s.end()
	s.is(executor.Integration, executor.Done, "", "")
	s.says("kept", "1.1, 1.2")

	s.events = before
	s.change(other(lines, "two", "1.1"))
	s.ok(executor.Integration, retry)
	s.begin(stands("theirs"))
	s.end()
	s.says("both may leave", "1.2, without 1.1, left 1.1, left others' theirs")
}

func TestAFailedRerunIsNoLoss(t *testing.T) { // execution §2 (--rerun), §5 (the sum)
	s := newStage(t, []string{"1.1", "1.2"})
	s.begin()
	s.end()
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.begin(func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-1"} })
	s.end()
	s.says("a failed rerun", "older 1.1 (keep), 1.2")
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "older result of 1.1")
	s.ok("1.1", executor.Decision{Verb: executor.Skip})
	s.begin()
	s.end()
	s.says("skipped: it leaves", "1.2, without 1.1, left 1.1")
}

func TestKeepOldNeedsThePresentResultsOfWhatItNeeds(t *testing.T) { // execution §2 (keep-old)
	lines := []string{"1.1", "1.2: 1.1"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	s.change(other(lines, "two", "1.1", "1.2"))
	s.no("1.2", keepOld, "the current result of a dependency is missing: 1.1") // before any run: its text changed
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	s.says("1.1 is another, 1.2 fails", "older 1.1, older 1.2, done without 1.1")
	s.no("1.2", keepOld, "lacks the current one of 1.1")
	for _, w := range s.view("1.2").Ways {
		if w.How == executor.KeepOld {
			t.Errorf("%v is offered", w)
		}
	}
}

func TestKeepOldBeforeARun(t *testing.T) { // execution §2 (keep-old): after a change of text
	lines := []string{"1.1", "1.2: 1.1"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	s.change(other(lines, "two", "1.1"))
	s.ok("1.1", keepOld)
	s.change(other(lines, "two", "1.1")) // read again
	s.begin()
	s.end()
	if a, b := attempts(s.stage, "1.1"), attempts(s.stage, "1.2"); a != 1 || b != 1 {
		t.Errorf("they were run %d and %d times", a, b)
	}
}

func TestKeepOldIsJudgedByChangedGates(t *testing.T) { // execution §2 (keep-old)
	lines := []string{"1.1"}
	next := other(lines, "two", "1.1")
	g := next.Gates["check"]
	g.Run = "make test"
	next.Gates["check"] = g
	ir.Seal(next)
	s := newScript(t, lines)
	s.begin()
	s.end()
	old := s.view("1.1").Result
	s.change(next)
	s.ok("1.1", keepOld)
	s.begin()
	s.end()
	s.is("1.1", executor.Done, "", "")
	v := s.view("1.1")
	if v.Result != old || len(v.Attempts) != 2 || !v.Attempts[1].Rejudge || v.Attempts[1].Turns > 0 {
		t.Errorf("it is done with %v, was %v; attempts %+v", v.Result, old, v.Attempts)
	}
}

func TestWithoutResultsTheBranchGoesToTheBase(t *testing.T) { // execution §5 (the sum)
	s := newScript(t, []string{"1.1"}, func(e *ir.Epic) { e.Epic.Integration.Gates = []string{"check"} })
	s.begin()
	s.end()
	gates := s.gatesOfSum()
	s.change(executortest.Epic([]string{"1.2"}, func(e *ir.Epic) { e.Epic.Integration.Gates, e.Digest = []string{"check"}, "sha256:less" }))
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	if at := s.sumAt(); at != "base" {
		t.Errorf("the branch is at %s", at)
	}
	if got := s.gatesOfSum(); got != gates {
		t.Errorf("gates judged the sum of nothing %d times", got-gates)
	}
	s.says("nothing is done", "without 1.2, without 1.1, left 1.1")
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Done, "", "")

	s = newScript(t, []string{"1.1"})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})
	s.begin()
	s.end()
	for _, e := range s.events {
		if e.Node == executor.Integration {
			t.Errorf("there is no branch, and %s", e.Kind())
		}
	}
}

func TestARunThatIsNotThroughJoinsNothing(t *testing.T) { // execution §5 (the sum)
	joined := func(s *stage) bool {
		for _, e := range s.events {
			if e.Node == executor.Integration {
				return true
			}
		}
		return false
	}
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectPublish })
	s.ok("", executor.Decision{Verb: executor.Pause})
	s.end()
	s.is("1.2", executor.Ready, "", "")
	if joined(s) {
		t.Error("1.2 is ready, and the results were joined")
	}
	s.ok("", executor.Decision{Verb: executor.Resume})
	s.begin()
	s.end()
	if !joined(s) {
		t.Error("nothing was joined in the end")
	}

	s = newStage(t, []string{"1.1"}) // paused when nothing is left to begin
	s.begin()
	s.until(func(e executor.Effect) bool { return e.Kind == executor.EffectPublish })
	s.ok("", executor.Decision{Verb: executor.Pause})
	s.end()
	if !joined(s) {
		t.Error("all is done, and nothing was joined")
	}
}

func TestAResultThatComesOutTheSameIsJoinedUnjudged(t *testing.T) { // execution §5: the account is true
	s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3"}, func(e *ir.Epic) { e.Epic.Integration.Gates = []string{"check"} })
	same := func(e executor.Effect) executor.Body {
		if e.Kind != executor.EffectCollect {
			return nil
		}
		return executor.Collected{Result: executor.Tree{Commit: fmt.Sprintf("%s-%d", e.Node, e.Attempt), Tree: "tree-" + string(e.Node)}, Files: 1}
	}
	s.answer = func(e executor.Effect) executor.Body {
		switch {
		case e.Kind == executor.EffectPublish && e.Node != executor.Integration:
			return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: "tree-" + string(e.Node)}}
		case e.Kind == executor.EffectBase: // of the sum: its files are the same
			return executor.BaseMade{Base: executor.Tree{Commit: fmt.Sprint("sum-", e.Seq), Tree: "tree-sum"}}
		case e.Kind == executor.EffectPublish:
			return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: "tree-sum"}}
		}
		return same(e)
	}
	s.begin()
	s.end()
	gates := s.gatesOfSum()
	s.begin(func(r *executor.RunStarted) { r.Rerun = []ir.NodeID{"bd-1-1", "bd-1-3"} })
	s.end()
	s.says("the same files", "1.1, older 1.1, 1.2, 1.3")
	if got := s.gatesOfSum(); got != gates {
		t.Errorf("the same files were judged %d times more", got-gates)
	}
	var last executor.NodeStarted
	for _, e := range s.events {
		if b, ok := e.Body.(executor.NodeStarted); ok && e.Node == executor.Integration {
			last = b
		}
	}
	for _, in := range last.Inputs {
		if (in.Node == "bd-1-1") != (in.Same == "bd-1-1-1") {
			t.Errorf("joined of %+v", last.Inputs)
		}
	}
}

func TestADeletedBranchIsMadeAnew(t *testing.T) { // execution §5 (the sum)
	lines := []string{"1.1", "1.2: 1.1", "2.1"}
	broken := func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectAgent && e.Node == "bd-1-1" {
			return failed()
		}
		return nil
	}
	from := func(s *script) (old []string) {
		s.answer = func(e executor.Effect) executor.Body {
			if e.Kind == executor.EffectPublish && e.Node == executor.Integration {
				old = append(old, e.Old)
			}
			return broken(e)
		}
		s.begin(stands(""))
		s.end()
		return old
	}

	// A sprint fails then: there is nothing that the branch could lose.
	s := newScript(t, lines)
	s.begin()
	s.end()
	s.change(other(lines, "two", "1.1"))
	if old := from(s); len(old) != 1 || old[0] != "" {
		t.Errorf("the branch moves from %q", old)
	}
	s.says("a sprint failed", "2.1, without 1.1, without 1.2")
	s.is(executor.Integration, executor.Done, "", "")
	s.replay()

	// Nothing changed: it is as it was, and stays.
	s = newScript(t, lines)
	s.begin()
	s.end()
	was := s.sumAt()
	if old := from(s); len(old) != 1 || old[0] != "" || s.sumAt() != was {
		t.Errorf("the branch moves from %q to %s, was %s", old, s.sumAt(), was)
	}
	s.says("nothing changed", "1.1, 1.2, 2.1")
	n := len(s.events)
	s.begin()
	s.end()
	for _, e := range s.events[n:] {
		if e.Node == executor.Integration {
			t.Errorf("it is there, and %s", e.Kind())
		}
	}

	// It is put back before it was made anew: it is ralph's again.
	s.begin(stands(""), func(r *executor.RunStarted) { r.Only = []ir.NodeID{"bd-2-1"} })
	s.end()
	s.says("not there", "done without 1.1, done without 1.2, done without 2.1")
	n = len(s.events)
	s.begin(stands(was))
	s.end()
	for _, e := range s.events[n:] {
		if e.Node == executor.Integration {
			t.Errorf("it was put back, and %s", e.Kind())
		}
	}
	s.says("put back", "1.1, 1.2, 2.1")
	s.is(executor.Integration, executor.Done, "", "")

	// What a person said about the branch before is void.
	s = newScript(t, lines)
	s.begin()
	s.end()
	s.change(other(lines, "two", "1.1"))
	s.answer = broken
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "")
	s.ok(executor.Integration, retry)
	from(s)
	s.says("built again of what is done", "2.1, without 1.1, without 1.2")
}

// where is a publish that finds the branch at a commit that holds these.
func where(s *script, head string, back bool, holds ...string) {
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind == executor.EffectPublish && e.Node == executor.Integration && e.Old != head {
			return executor.EffectFailed{Class: executor.FailForeign, Detail: "moved", Head: executor.Tree{Commit: head, Tree: "t-" + head}, Holds: append([]string{}, holds...), Back: back}
		}
		return agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-1": {failed(), failed(), failed()}})(e)
	}
}

func TestABranchThatWasMovedElsewhereHoldsWhatGitSays(t *testing.T) { // execution §5 (the account is true)
	lines := []string{"1.1", "1.2: 1.1", "2.1"}
	for name, c := range map[string]struct {
		back     bool
		holds    func(results map[string]string) []string
		decision executor.Decision
		older    string // in the reason of the wait that follows, "" if the sum is made
		says     string
	}{
		"replaced by another, accepted":  {false, nil, executor.Decision{Verb: executor.Approve}, "", "2.1, without 1.1, without 1.2"},
		"replaced by another, set aside": {false, nil, retry, "", "2.1, without 1.1, without 1.2, left others' there"},
		"moved back, accepted":           {true, func(r map[string]string) []string { return []string{r["2.1"]} }, executor.Decision{Verb: executor.Approve}, "", "2.1, without 1.1, without 1.2"},
		"moved back to an older result":  {true, func(r map[string]string) []string { return []string{r["1.1"]} }, retry, "an older result of 1.1", "older 1.1 (keep), without 1.2, done without 2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, lines)
			s.begin()
			s.end()
			results := map[string]string{}
			for _, h := range s.run.Integration().Branch(nil).Holds {
				results[string(h.Key)] = h.Commit
			}
			var holds []string
			if c.holds != nil {
				holds = c.holds(results)
			}
			s.change(other(lines, "two", "1.1"))
			where(s, "there", c.back, holds...)
			s.begin(stands("there"))
			s.end()
			s.is(executor.Integration, executor.Waiting, executor.CauseForeign, "moved")
			s.no(executor.Integration, executor.Decision{Verb: c.decision.Verb, Result: "t-elsewhere"}, "the branch has moved on since")
			s.ok(executor.Integration, c.decision)
			s.begin(stands("there"))
			s.end()
			s.says(name, c.says)
			if c.older != "" {
				s.is(executor.Integration, executor.Waiting, executor.CauseOlder, c.older)
				if d := s.view(executor.Integration).Reason; strings.Contains(d, "1.2") {
					t.Errorf("it does not hold 1.2: %s", d)
				}
				return
			}
			s.is(executor.Integration, executor.Done, "", "")
		})
	}
}

func TestWhatPeopleCancelledTakesAlongWhatNeedsIt(t *testing.T) { // execution §5 (the sum): cancelled ones leave the branch
	lines := []string{"1.1", "1.2: 1.1", "1.3: 1.2", "2.1", "3.1: 1.1 2.1"}
	all := []string{"bd-1-1"}
	run := func(lines []string, fail ...string) *script {
		s := newScript(t, lines)
		s.begin()
		s.end()
		s.change(other(lines, "two", "1.1", "2.1"))
		broken := map[ir.NodeID][]executor.AgentEnded{}
		for _, id := range fail {
			broken[ir.NodeID(id)] = []executor.AgentEnded{failed(), failed(), failed()}
		}
		s.answer = agents(broken)
		s.begin()
		s.end()
		s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "an older result of 1.1")
		s.ok("1.1", executor.Decision{Verb: executor.Cancel})
		s.begin()
		s.end()
		return s
	}
	s := run(lines, all...)
	s.says("all that stands behind it leaves", "2.1, without 1.1, without 1.2, without 1.3, without 3.1, left 1.1, left 1.2, left 1.3, left 3.1")
	s.is(executor.Integration, executor.Done, "", "")

	// What failed besides keeps what it held, and all that is behind it.
	s = run(lines, "bd-1-1", "bd-2-1")
	s.says("2.1 failed", "older 1.1 (keep), older 1.2, older 1.3, older 2.1 (keep), older 3.1")
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "an older result of 2.1")
	if d := s.view(executor.Integration).Reason; !strings.Contains(d, "of 3.1") || strings.Contains(d, "of 1.3") {
		t.Errorf("it is held back for %s", d)
	}
}

func TestOnlyOlderResultsThatWereNamedLeave(t *testing.T) { // execution §5 (the branch never loses work by a failure)
	lines := []string{"1.1", "2.1", "3.1"}
	s := newScript(t, lines)
	s.begin()
	s.end()
	fails := func(ids ...ir.NodeID) {
		broken := map[ir.NodeID][]executor.AgentEnded{}
		for _, id := range ids {
			broken[id] = []executor.AgentEnded{failed(), failed(), failed()}
		}
		s.answer = agents(broken)
	}
	s.change(other(lines, "two", "1.1"))
	fails("bd-1-1")
	s.begin()
	s.end()
	was := s.sumAt()
	s.no(executor.Integration, executor.Decision{Verb: executor.RetryNode, Digest: "sha256:others"}, "something other than what was named")
	s.ok(executor.Integration, retry) // 1.1 may leave

	s.change(other(lines, "two", "1.1", "2.1"))
	fails("bd-2-1")
	s.begin()
	s.end()
	s.is(executor.Integration, executor.Waiting, executor.CauseOlder, "an older result of 1.1")
	if d := s.view(executor.Integration).Reason; !strings.Contains(d, "an older result of 2.1") {
		t.Errorf("2.1 is not named: %s", d)
	}
	if s.sumAt() != was {
		t.Error("2.1 left, which was not named")
	}
	s.ok(executor.Integration, retry)
	s.begin()
	s.end()
	s.says("both were named", "3.1, without 1.1, without 2.1, left 1.1, left 2.1")
}
