//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// resumedWork drafts something and hangs; who finds a draft goes on with it.
const resumedWork = `n=$(cat "$TOP/log/turns" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "$TOP/log/turns"
cat > "$TOP/log/prompt-$n"; echo "$SESSION" >> "$TOP/log/sessions"
if [ ! -e draft.txt ]; then
	echo drafted > draft.txt; git add draft.txt; echo staged > staged.txt; git add staged.txt; echo not > loose.txt
	if [ $n = 1 ]; then echo reached > "$TOP/log/halfway"; while :; do sleep 0.1; done; fi
fi
echo resumed >> draft.txt
`

func TestAnAgentGoesOnInItsSessionAfterKill9(t *testing.T) { // execution §3 "nothing of value is thrown away", §6, §9; S0-60, S2-44, K25
	t.Parallel()
	for name, c := range map[string]struct {
		between func(s *site)
		fresh   int // sessions that were made
	}{
		"in its worktree as it is": {fresh: 1},
		"anew, if that is gone": {
			between: func(s *site) {
				if err := os.RemoveAll(s.tree("1.1")); err != nil {
					s.t.Fatal(err)
				}
			},
			fresh: 2,
		},
		"anew, if somebody put it elsewhere": {
			between: func(s *site) {
				s.git("-C", s.tree("1.1"), "-c", "core.hooksPath=/dev/null", "checkout", "-q", "-b", "elsewhere")
			},
			fresh: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, resumedWork, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Epic.Integration.Gates = []string{} }))
			first := s.begin(func(r *starting) { r.cmd.Env = append(r.cmd.Env, asProgram+"=") }, "apply")
			s.exists("../log/halfway")
			first.signal(syscall.SIGKILL)
			first.wait()
			for _, want := range []string{"0 of 1 sprint done, 1 interrupted\n", "1.1  interrupted: resume with ralph apply\n"} {
				if got := s.ralph("status").out; !strings.Contains(got, want) {
					t.Errorf("after the end of ralph, status has no %q:\n%s", want, got)
				}
			}
			if c.between != nil {
				c.between(s)
			}
			s.program(exit.Done, "apply")
			if got := strings.TrimSpace(s.git("show", "ralph/x/1-1:draft.txt")); got != "drafted\nresumed" {
				t.Errorf("it made %q", got)
			}
			if got := s.git("show", "--name-only", "--format=", "ralph/x/1-1"); !strings.Contains(got, "loose.txt") || !strings.Contains(got, "staged.txt") {
				t.Errorf("its commit holds\n%s", got)
			}
			fresh, attempts := 0, 0
			for _, e := range s.events() {
				switch b := e.Body.(type) {
				case executor.AgentSession:
					if b.Fresh {
						fresh++
					}
				case executor.AttemptStarted:
					if e.Node == "bd-1-1" {
						attempts++
					}
				}
			}
			if fresh != c.fresh || attempts != 1 {
				t.Errorf("%d sessions were made in %d attempts, want %d in one", fresh, attempts, c.fresh)
			}
			if told := strings.Contains(s.read("../log/prompt-2"), "Your turn was interrupted"); told != (c.fresh == 1) {
				t.Errorf("the second turn is told\n%s", s.read("../log/prompt-2"))
			}
			saved := s.git("for-each-ref", "--format=%(refname)", "refs/ralph/bd-epic/nodes/bd-1-1/saved")
			if name == "in its worktree as it is" && saved != "" {
				t.Errorf("something was put aside: %s", saved)
			}
			if name == "anew, if somebody put it elsewhere" && saved == "" {
				t.Error("what lay there was not saved")
			}
		})
	}
}

// takenWork ends its first turn as if a person had written in the session.
const takenWork = `n=$(cat "$TOP/log/turns" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "$TOP/log/turns"
cat > "$TOP/log/prompt-$n"; echo "$SESSION" >> "$TOP/log/sessions"
echo "turn $n" >> work.txt
if [ $n = 1 ]; then echo "use bcrypt" > "$(dirname "$RALPH_OUTCOME")/spoken"; fi
`

func TestAPersonTakesASessionOverAndGivesItBack(t *testing.T) { // execution §6; S4-64, S4-68, S4-69, S4-70
	t.Parallel()
	for name, c := range map[string]struct {
		how      string
		say      []string // nil: nobody has to
		refused  []string
		work     string // what work.txt holds in the end
		attempts int
		sessions string
		told     string // to the second turn
	}{
		"and it finishes": {
			how: "pause", say: []string{"resume", "1.1"}, refused: []string{"retry", "1.1"},
			work: "turn 1\nann was here\nturn 2", attempts: 1, sessions: "ses-1.1-implement-1\nses-1.1-implement-1\n", told: "A person took over meanwhile",
		},
		"and asks for another attempt": {
			how: "pause", say: []string{"retry", "1.1", "-m", "with a test"},
			work: "turn 1\nann was here\nturn 2", attempts: 2, sessions: "ses-1.1-implement-1\nses-1.1-implement-1\n", told: "with a test",
		},
		"and approves": {
			how: "pause", say: []string{"approve", "1.1"},
			work: "turn 1\nann was here", attempts: 1, sessions: "ses-1.1-implement-1\n",
		},
		"and it is a review": {
			how: "review", work: "turn 1\nturn 2", attempts: 2, sessions: "ses-1.1-implement-1\nses-1.1-implement-2\n", told: "use bcrypt",
		},
		"and is gone again": {
			how: "cooldown", work: "turn 1\nturn 2", attempts: 1, sessions: "ses-1.1-implement-1\nses-1.1-implement-1\n", told: "use bcrypt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, takenWork, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
				e.Run.HITL.OnHumanMessage, e.Epic.Integration.Gates = c.how, []string{}
				e.Nodes[0].Steps[0].Limits.Attempts, e.Nodes[0].Steps[0].Limits.Iterations = 1, 1
			}))
			if c.say != nil {
				s.program(exit.Waiting, "apply")
				if v := s.nodeStatus("1.1"); v.Cause != string(executor.CauseTakeover) || !strings.Contains(v.Reason, "use bcrypt") {
					t.Errorf("it stands so: %+v", v)
				}
				if err := os.WriteFile(filepath.Join(s.tree("1.1"), "work.txt"), []byte("turn 1\nann was here\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				if c.refused != nil {
					if got := s.ralph(c.refused...); got.code == exit.Done || !strings.Contains(got.err, "-m TEXT") {
						t.Errorf("%v: exit %d\n%s", c.refused, got.code, got.all())
					}
				}
				if got := s.ralph(c.say...); got.code != exit.Done {
					t.Fatalf("%v: exit %d\n%s", c.say, got.code, got.all())
				}
			}
			s.program(exit.Done, "apply")
			if got := strings.TrimSpace(s.git("show", "ralph/x/1-1:work.txt")); got != c.work {
				t.Errorf("it made %q, want %q", got, c.work)
			}
			if got := s.read("../log/sessions"); got != c.sessions {
				t.Errorf("it worked in sessions %q, want %q", got, c.sessions)
			}
			if c.told != "" && !strings.Contains(s.read("../log/prompt-2"), c.told) {
				t.Errorf("the second turn is told\n%s\nwant %q in it", s.read("../log/prompt-2"), c.told)
			}
			attempts := 0
			for _, e := range s.events() {
				if _, ok := e.Body.(executor.AttemptStarted); ok && e.Node == "bd-1-1" {
					attempts++
				}
			}
			if attempts != c.attempts {
				t.Errorf("%d attempts, want %d", attempts, c.attempts)
			}
			if got := s.ralph("log", "1.1").out; !strings.Contains(got, "a person wrote in the agent's session: use bcrypt") {
				t.Errorf("the log does not say what the person wrote:\n%s", got)
			}
		})
	}
}
