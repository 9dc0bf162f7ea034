//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// TestGatesThatMisbehave lets a gate do what no gate should: what it did to the
// tree is undone, nothing that is not a clear verdict passes, no agent is blamed
// for it, memory stays bounded, and nobody is left at work.
func TestGatesThatMisbehave(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("real git and real agents for some seconds")
	}
	for _, confined := range []bool{false, true} {
		t.Run(map[bool]string{false: "outside", true: "in a sandbox"}[confined], func(t *testing.T) {
			if confined {
				needsNamespaces(t)
			}
			gatesMisbehave(t, confined)
		})
	}
}

func gatesMisbehave(t *testing.T, confined bool) {
	const pass = `printf '{"status": "pass", "message": "fine"}\n'`
	for name, c := range map[string]struct {
		rows  string
		agent bool   // judged by an agent; else a command
		does  string // shell
		limit int64  // ms, 0 is a minute
		exit  int
		want  executor.Verdict // the last one of the gate
		runs  int              // of the gate; 0 is not counted
		tries int              // of the coder; 0 is 1
	}{
		"a command that writes into the tree": {
			rows: "execution §3", does: `echo x > new.txt; echo x > ignored.log; echo x >> README.md; git add -A; git -c core.hooksPath=/dev/null commit -qm "by a gate"; git checkout -q -b gates 2>/dev/null || git checkout -q --detach`,
			exit: exit.Done, want: executor.Pass,
		},
		"a command that deletes the worktree": {
			rows: "D1", does: `cd ..; rm -rf "$OLDPWD" || true`, exit: exit.Done, want: executor.Pass,
		},
		"a command that breaks the index": {
			rows: "D3", does: `g=$(git rev-parse --git-dir); echo broken > "$g/index"; touch "$g/index.lock"`, exit: exit.Done, want: executor.Pass,
		},
		"a command that prints garbage and fails": {
			rows: "C7, G1", does: `head -c 300000 /dev/urandom; printf '\033]0;owned\007'; exit 1`, exit: exit.NotDone, want: executor.Fail, tries: 3,
		},
		"a command that prints 100 MB": {
			rows: "C6", does: `head -c 100000000 /dev/zero; head -c 100000000 /dev/zero >&2`, exit: exit.Done, want: executor.Pass,
		},
		"a command that never ends": {
			rows: "C1, execution §4", does: `trap '' TERM; while :; do sleep 1; done`, limit: 800, exit: exit.NotDone, want: executor.Fail, tries: 3,
		},
		"a command that daemonises": {
			rows: "C3", does: `setsid sh -c 'trap "" TERM; : > "$TOP/late"; while :; do sleep 0.1; done' & until [ -e "$TOP/late" ]; do sleep 0.1; done`, exit: exit.Done, want: executor.Pass,
		},
		"a tester that prints garbage": {
			rows: "G1", agent: true, does: `head -c 100000 /dev/urandom`, exit: exit.Waiting, want: executor.ErrorJudged, runs: 4, // asked again, and judged once more
		},
		"a tester that says nothing": {
			rows: "G1", agent: true, does: `true`, exit: exit.Waiting, want: executor.ErrorJudged, runs: 4,
		},
		"a tester that has a word of its own": {
			rows: "G1", agent: true, does: `printf '{"status": "PASS", "message": "fine"}\n'`, exit: exit.Waiting, want: executor.ErrorJudged,
		},
		"a tester that says pass and breaks down": {
			rows: "G4", agent: true, does: pass + `; exit 9`, exit: exit.Waiting, want: executor.ErrorJudged,
		},
		"a tester that prints 100 MB of JSON": {
			rows: "G2", agent: true, does: `printf '{"status": "pass", "message": "'; head -c 100000000 /dev/zero | tr '\000' x; printf '"}\n'`, exit: exit.Waiting, want: executor.ErrorJudged,
		},
		"a tester that nests 100,000 lists": {
			rows: "G2", agent: true, does: `printf '{"status": "pass", "message": "x", "x": '; head -c 100000 /dev/zero | tr '\000' '['; head -c 100000 /dev/zero | tr '\000' ']'; printf '}\n'`, exit: exit.Waiting, want: executor.ErrorJudged,
		},
		"a tester that changes the work": {
			rows: "execution §3: access read", agent: true, does: `echo better >> "out-$RALPH_NODE.txt"; ` + pass, exit: exit.Waiting, want: executor.ErrorJudged,
		},
		"a tester that commits": {
			rows: "execution §3: access read", agent: true, does: `echo x > x; git add x; git -c core.hooksPath=/dev/null commit -qm x; ` + pass, exit: exit.Waiting, want: executor.ErrorJudged,
		},
		"a tester that leaves new files": {
			rows: "execution §3: access read", agent: true, does: `echo x > report.txt; ` + pass, exit: exit.Done, want: executor.Pass, runs: 1,
		},
		"a tester that deletes its worktree": {
			rows: "D1", agent: true, does: `cd ..; rm -rf "$OLDPWD"; ` + pass, exit: exit.Waiting, want: executor.ErrorJudged,
		},
		"a tester that never ends": {
			rows: "C1, execution §4", agent: true, does: `while :; do sleep 1; done`, limit: 800, exit: exit.Waiting, want: executor.ErrorJudged,
		},
		"a tester that is well the second time": {
			rows: "G1", agent: true, does: `if mkdir "$TOP/once" 2>/dev/null; then echo "let me think"; else ` + pass + `; fi`, exit: exit.Done, want: executor.Pass, runs: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			does := `echo judged >> "$TOP/log/gates"` + "\n" + c.does
			s := newSite(t, "", executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
				e.Epic.Integration.Gates = []string{}
				g := ir.Gate{Kind: "command", From: "policy", Run: does, OnFailure: "retry", ProtectNew: true, TimeoutMS: 60_000}
				if c.agent {
					e.Runners["qa"] = ir.Runner{Kind: "command", Run: []string{"sh", "-c", does}, Prompt: "stdin", Env: []string{"PATH", "HOME"}, Outcome: "optional"}
					e.Agents["qa"] = ir.Agent{Runner: "qa", Access: "read"}
					g = ir.Gate{Kind: "agent", From: "policy", Agent: "qa", Access: "read", Prompt: []string{"Try it."}, OnFailure: "retry", TimeoutMS: 60_000}
				}
				if c.limit > 0 {
					g.TimeoutMS = c.limit
				}
				e.Gates["odd"] = g
				e.Nodes[0].Steps[0].Gates = []string{"check", "odd"}
				e.Nodes[0].Steps[0].AllowEmpty = true // what it is asked to mend is not its doing
			}))
			if confined {
				s.inSandboxes(wall.Namespaces, s.top)
			}
			got := s.measured("apply")
			if got.code != c.exit {
				t.Fatalf("ralph apply: exit %d, want %d\n%s\n%s", got.code, c.exit, got.all(), s.failures())
			}
			if strings.ContainsAny(got.all(), "\x1b\x00\x07") {
				t.Errorf("ralph printed %.500q", got.all())
			}
			if got.rss > 160<<20 {
				t.Errorf("N9: ralph took %d MB", got.rss>>20)
			}
			var last executor.GateJudged
			for _, e := range s.events() {
				if g, ok := e.Body.(executor.GateJudged); ok && g.Gate == "odd" {
					last = g
				}
			}
			if last.Verdict != c.want {
				t.Errorf("%s: the verdict is %s (%s), want %s", c.rows, last.Verdict, last.Message, c.want)
			}
			if n := s.noted("gates", "judged"); c.runs > 0 && n != c.runs {
				t.Errorf("%s: the gate ran %d times, want %d", c.rows, n, c.runs)
			}
			if said := s.ralph("show", "1.1").out; c.agent && c.runs > 1 && !strings.Contains(said, "  gate odd: asked again: ") && c.want == executor.ErrorJudged {
				t.Errorf("show does not say that it was asked again:\n%s", said)
			}
			tries := 0
			for _, at := range []string{"1.1.implement-1", "1.1.implement-2", "1.1.implement-3", "1.1.implement-4"} {
				tries += s.noted("agents", at)
			}
			if tries != max(c.tries, 1) {
				t.Errorf("%s: the coder was at work %d times, want %d", c.rows, tries, max(c.tries, 1))
			}
			if c.exit == exit.Waiting { // a person may pass it in spite of that, and says why
				if got := s.ralph("approve", "1.1"); got.code == exit.Done {
					t.Errorf("it was approved without --override:\n%s", got.all())
				}
				if got := s.ralph("approve", "1.1", "--override", "-m", "I looked at it"); got.code != exit.Done {
					t.Fatalf("it cannot be overridden: exit %d\n%s", got.code, got.all())
				}
				s.apply(exit.Done)
			}
			if c.exit != exit.NotDone {
				files := s.git("ls-tree", "-r", "--name-only", "ralph/x/integration")
				if files != ".gitignore\nREADME.md\nagent.sh\nepic.json\nout-1.1.txt\nout-1.2.txt\ntests/a_test.sh" {
					t.Errorf("the result holds %q", files)
				}
				if got := s.git("show", "ralph/x/integration:README.md", "ralph/x/integration:out-1.1.txt"); got != "one\ntwo\nthree\n1.1" {
					t.Errorf("the result says %q", got)
				}
			}
			s.moved = append(s.moved, "refs/heads/gates") // a branch that a gate made may be the user's
			s.sound()
		})
	}
}
