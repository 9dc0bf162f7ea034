//go:build unix

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// halfDone is a repository in which 1.1 and 1.2b of a diamond are done.
func halfDone(t *testing.T) (*beads, *applyRepo) {
	t.Helper()
	b := fakeBeads(t)
	r := newApplyRepo(t, diamondEpic())
	b.do(r.dir, "init", "--prefix", "bd")
	r.run(exit.Done, "--only", "1.2b")
	return b, r
}

// rejudged lists the attempts in which only gates ran.
func (r *applyRepo) rejudged() []string {
	r.t.Helper()
	events, err := record.ReadEvents(r.t.Context(), filepath.Join(r.dir, ".git/ralph/bd-epic"), "bd-epic")
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		if b, ok := e.Body.(executor.AttemptStarted); ok && b.Rejudge && e.Node != executor.Integration {
			out = append(out, string(e.Node))
		}
	}
	return out
}

// Nothing is done only because a bead says so.
func TestAResultThatIsNotFoundIsNotDone(t *testing.T) { // K33; execution §1
	anew := []string{"bd-1-2b implement 3", "bd-1-2b implement 4"} // as it went at first
	for _, c := range []struct {
		name   string
		change func(nodes map[ir.NodeID]*executor.Kept)
		clone  func(r *applyRepo)
		want   string   // in what recover says
		runs   []string // of 1.2b, afterwards
	}{
		{"its branch was not pushed", nil, func(r *applyRepo) {
			r.git("update-ref", "-d", "refs/remotes/origin/ralph/x/1-2b")
		}, "is on no branch", anew},
		{"its commit is nowhere", func(nodes map[ir.NodeID]*executor.Kept) {
			nodes["bd-1-2b"].Success.Result = executor.Tree{Commit: strings.Repeat("ab", 20), Tree: strings.Repeat("cd", 20)}
		}, nil, "is not here, on no local and no remote-tracking branch", anew},
		{"it holds other files", func(nodes map[ir.NodeID]*executor.Kept) {
			nodes["bd-1-2b"].Success.Result.Tree = nodes["bd-1-1"].Success.Result.Tree
		}, nil, "does not hold the files that its bead says", anew},
		{"it is another's", func(nodes map[ir.NodeID]*executor.Kept) {
			nodes["bd-1-2b"].Success.Result = nodes["bd-1-1"].Success.Result
			nodes["bd-1-2b"].Success.Inputs = []executor.Result{{Node: "base", Tree: executor.Tree{Commit: strings.Repeat("ab", 20)}}}
		}, nil, "belongs to bd-1-1, according to its trailers", anew},
		{"it was rebased", nil, func(r *applyRepo) {
			tip := r.git("rev-parse", "refs/remotes/origin/ralph/x/1-2b")
			copied := r.git("commit-tree", tip+"^{tree}", "-p", tip+"^", "-m", r.git("log", "-1", "--format=%B", tip))
			r.git("update-ref", "refs/remotes/origin/ralph/x/1-2b", copied)
		}, "has its trailers and the same files", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, first := halfDone(t)
			b.keep(t, first, func(_ *machine.KeptRun, nodes map[ir.NodeID]*executor.Kept) {
				if c.change != nil {
					c.change(nodes)
				}
			})
			r := b.moved(t, first)
			if c.clone != nil {
				c.clone(r)
			}
			out, _ := b.ralph(t, r, exit.Done, "recover", "bd-epic")
			if !strings.Contains(out, c.want) {
				t.Errorf("recover lacks %q:\n%s", c.want, out)
			}
			b.ralph(t, r, exit.Done, "apply", "--only", "1.2b")
			if got := r.attempts(); !slices.Equal(got, c.runs) {
				t.Errorf("what ran: %q, want %q", got, c.runs)
			}
			if again := r.rejudged(); len(again) > 0 {
				t.Errorf("judged once more: %q", again)
			}
		})
	}
}

// A commit that nobody is known to have judged is judged, and not made twice.
func TestACommitThatTheBeadsDoNotKnowIsJudged(t *testing.T) { // execution §1, §9; S2-45
	t.Parallel()
	b, first := halfDone(t)
	b.keep(t, first, func(_ *machine.KeptRun, nodes map[ir.NodeID]*executor.Kept) {
		k := nodes["bd-1-2b"] // the beads were told last while its second attempt ran
		k.Status, k.Success = "running", nil
		k.Attempts[1].Status, k.Attempts[1].Commit, k.Attempts[1].Tree = executor.AttemptRunning, "", ""
	})
	r := b.moved(t, first)
	out, _ := b.ralph(t, r, exit.Done, "recover", "bd-epic")
	if !strings.Contains(out, "of attempt implement #2: its gates run") || strings.Contains(out, "implement #1") {
		t.Errorf("recover says\n%s", out)
	}
	if out, _ := b.ralph(t, r, exit.Done, "plan"); !strings.Contains(out, "1.2b         judge") {
		t.Errorf("plan says\n%s", out)
	}
	b.ralph(t, r, exit.Done, "apply")
	if got := r.rejudged(); !slices.Equal(got, []string{"bd-1-2b"}) {
		t.Errorf("judged: %q", got)
	}
	if got := r.attempts(); !slices.Equal(got, []string{"bd-1-2a implement 1", "bd-1-2b implement 3", "bd-1-3 implement 1"}) {
		t.Errorf("what ran: %q", got)
	}
	was, now := first.git("rev-parse", "refs/ralph/bd-epic/nodes/bd-1-2b/result"), r.git("rev-parse", "refs/ralph/bd-epic/nodes/bd-1-2b/result")
	if was != now {
		t.Errorf("its result is %s, want the commit that was there, %s", now, was)
	}
}

// Limits count on: attempts that were used up stay used, until a person allows more.
func TestLimitsCountOnAfterARecovery(t *testing.T) { // K33; execution §3
	t.Parallel()
	never := func() *ir.Epic {
		return executortest.Epic([]string{"1.1", "1.2", "1.3"}, func(e *ir.Epic) {
			g := e.Gates["check"]
			g.Run = `test "$RALPH_NODE" != 1.1`
			e.Gates["check"] = g
		})
	}
	first := newApplyRepo(t, never())
	first.run(exit.NotDone, "--only", "1.1")
	for name, c := range map[string]struct {
		change func(k *executor.Kept)
		shown  string
		exit   int
		runs   []string
	}{
		"two of three are used": {func(k *executor.Kept) {
			k.Status, k.Reason, k.Attempts = "waiting", "before attempt 3", k.Attempts[:2]
			k.Numbers["implement"], k.Life.Used["implement"], k.Life.Logs = 2, 2, 2
		}, "1.1     open    2", exit.NotDone, []string{"bd-1-1 implement 3"}},
		"all are used, and it is not blocked yet": {func(k *executor.Kept) {
			k.Status, k.Reason = "running", ""
		}, "1.1     open    3", exit.NotDone, nil},
		"it is blocked": {func(*executor.Kept) {}, "1.1     blocked  3", exit.NotDone, nil},
		"a person skipped it": {func(k *executor.Kept) {
			k.Status, k.By, k.Reason, k.Life = "skipped", "ann", "not now", nil
		}, "1.1     skipped  3", exit.Done, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := fakeBeads(t)
			first.remove(".beads")
			b.do(first.dir, "init", "--prefix", "bd")
			b.keep(t, first, func(_ *machine.KeptRun, nodes map[ir.NodeID]*executor.Kept) { c.change(nodes["bd-1-1"]) })
			r := b.moved(t, first)
			if len(c.runs) > 0 { // what the third one left is not there yet
				r.git("update-ref", "refs/remotes/origin/ralph/x/1-1", first.git("rev-parse", "refs/ralph/bd-epic/nodes/bd-1-1/attempts/implement/2"))
			}
			out, _ := b.ralph(t, r, exit.Done, "recover", "bd-epic")
			if !strings.Contains(strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(c.shown), " ")) {
				t.Errorf("recover lacks %q:\n%s", c.shown, out)
			}
			b.ralph(t, r, c.exit, "apply", "--only", "1.1")
			if got := r.attempts(); !slices.Equal(got, c.runs) {
				t.Errorf("what ran: %q, want %q", got, c.runs)
			}
			if c.exit == exit.Done {
				return
			}
			out, _ = b.ralph(t, r, exit.Done, "status")
			if !strings.Contains(out, "3 attempts of step implement used up") {
				t.Errorf("status says\n%s", out)
			}
			b.ralph(t, r, exit.Done, "retry", "1.1")
			b.ralph(t, r, exit.NotDone, "apply", "--only", "1.1")
			if got := r.attempts(); !slices.Equal(got, append(slices.Clone(c.runs), "bd-1-1 implement 4", "bd-1-1 implement 5", "bd-1-1 implement 6")) {
				t.Errorf("after a retry: %q", got)
			}
		})
	}
}

func TestRecoverRefusesWhatItWouldLoseOrInvent(t *testing.T) { // K33
	t.Parallel()
	b, first := halfDone(t)
	b.keep(t, first)
	t.Run("another epic.json", func(t *testing.T) {
		r := b.moved(t, first)
		other := diamondEpic()
		other.Epic.ID = "bd-other"
		r.epic(other)
		was := r.read("epic.json")
		if _, said := b.ralph(t, r, exit.Input, "recover", "bd-epic"); !strings.Contains(said, "is not the epic bd-epic") {
			t.Errorf("it said %s", said)
		}
		if r.read("epic.json") != was {
			t.Error("it was replaced")
		}
		b.ralph(t, r, exit.Done, "recover", "bd-epic", "-o", "mine/epic.json")
		b.ralph(t, r, exit.Done, "apply", "mine/epic.json")
		if got := r.attempts(); !slices.Equal(got, []string{"bd-1-2a implement 1", "bd-1-3 implement 1"}) {
			t.Errorf("what ran: %q", got)
		}
	})
	t.Run("a clone without the base", func(t *testing.T) {
		r := b.moved(t, first)
		r.remove(".git")
		r.git("init", "-q", "-b", "main", ".")
		r.git("config", "user.name", "Other User")
		r.git("config", "user.email", "other@example.org")
		r.git("commit", "-q", "--allow-empty", "-m", "another history")
		if _, said := b.ralph(t, r, exit.Input, "recover", "bd-epic"); !strings.Contains(said, "the base of the run, commit") || !strings.Contains(said, "git fetch") {
			t.Errorf("it said %s", said)
		}
		if refs := r.git("for-each-ref", "refs/ralph"); refs != "" {
			t.Errorf("refs were made: %s", refs)
		}
	})
	t.Run("a journal that is damaged", func(t *testing.T) {
		r := b.moved(t, first)
		b.ralph(t, r, exit.Done, "recover", "bd-epic")
		path := filepath.Join(r.dir, ".git/ralph/bd-epic/journal.db")
		if err := errors.Join(os.WriteFile(path, []byte("not a journal at all, and long enough to be looked at"), 0o600), os.RemoveAll(path+"-wal"), os.RemoveAll(path+"-shm")); err != nil {
			t.Fatal(err)
		}
		if _, said := b.ralph(t, r, exit.Input, "recover", "bd-epic"); !strings.Contains(said, "cannot be read") || !strings.Contains(said, "--force") {
			t.Errorf("it said %s", said)
		}
		b.ralph(t, r, exit.Done, "recover", "bd-epic", "--force")
		if kept, _ := filepath.Glob(path + ".lost-*"); len(kept) != 1 {
			t.Errorf("set aside: %q", kept)
		}
		b.ralph(t, r, exit.Done, "apply")
		if got := r.attempts(); !slices.Equal(got, []string{"bd-1-2a implement 1", "bd-1-3 implement 1"}) {
			t.Errorf("what ran: %q", got)
		}
	})
	t.Run("no beads, no bd", func(t *testing.T) {
		r := b.moved(t, first)
		r.remove(".beads")
		if _, said := b.ralph(t, r, exit.Input, "recover", "bd-epic"); !strings.Contains(said, "bd init") {
			t.Errorf("it said %s", said)
		}
		if _, said := b.ralph(t, r, exit.Input, "status", "bd-epic"); !strings.Contains(said, "no run of an epic bd-epic in this repository") {
			t.Errorf("it said %s", said)
		}
	})
	t.Run("beads of an epic that never ran", func(t *testing.T) {
		r := newApplyRepo(t, diamondEpic())
		b.do(r.dir, "init", "--prefix", "bd")
		b.keep(t, r)
		out, _ := b.ralph(t, r, exit.Done, "recover", "bd-epic")
		if !strings.Contains(out, "there was nothing to recover") {
			t.Errorf("it said %s", out)
		}
		b.ralph(t, r, exit.Done, "apply")
	})
}

// Commands take the epic's bead where they take epic.json.
func TestAnEpicIsNamedByItsBead(t *testing.T) { // S2-15; REQ-002
	t.Parallel()
	b, first := halfDone(t)
	b.keep(t, first)
	r := b.moved(t, first)
	if out, _ := b.ralph(t, r, exit.Done, "graph", "bd-epic"); !strings.Contains(out, "1.2a") { // from beads
		t.Errorf("graph says\n%s", out)
	}
	if out, _ := b.ralph(t, r, exit.Done, "status", "bd-epic"); !strings.Contains(out, "ralph apply bd-epic") {
		t.Errorf("status says\n%s", out)
	}
	b.ralph(t, r, exit.Done, "recover", "bd-epic")
	r.remove("epic.json")
	r.remove(".beads") // from the state of this repository
	for _, args := range [][]string{{"plan", "bd-epic"}, {"status", "--epic", "bd-epic"}, {"show", "1.1", "--epic", "bd-epic"}, {"log", "--epic", "bd-epic"}, {"apply", "--epic", "bd-epic"}, {"runs", "bd-epic"}} {
		if out, _ := b.ralph(t, r, exit.Done, args...); out == "" {
			t.Errorf("ralph %s says nothing", strings.Join(args, " "))
		}
	}
	if got := r.attempts(); !slices.Equal(got, []string{"bd-1-2a implement 1", "bd-1-3 implement 1"}) {
		t.Errorf("what ran: %q", got)
	}
}

// An epic.json that is too long for a bead is compiled again, and must be the same.
func TestALongEpicIsCompiledAgain(t *testing.T) { // K33
	t.Parallel()
	b := fakeBeads(t)
	first, _ := planRepo(t)
	b.do(first.dir, "init", "--prefix", "bd")
	epic, err := ir.Decode([]byte(first.read("epic.json")))
	if err != nil {
		t.Fatal(err)
	}
	b.keep(t, first)
	id := string(epic.Epic.ID)
	b.do(first.dir, "update", id, "--unset-metadata", "ralph_epic")
	r := b.moved(t, first)
	b.ralph(t, r, exit.Done, "recover", id)
	if r.read("epic.json") != first.read("epic.json") {
		t.Error("epic.json came back otherwise than it was")
	}
	r.remove("epic.json")
	r.write("docs/plan.md", strings.Replace(r.read("docs/plan.md"), "- [ ] a", "- [ ] another", 1))
	if _, said := b.ralph(t, r, exit.Input, "recover", id); !strings.Contains(said, "now compiles to another one") {
		t.Errorf("it said %s", said)
	}
}
