//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// TestAgentsThatMisbehave lets the first attempt of an agent do something that no
// agent should, and the second one its work. Whatever it was: it fails that
// attempt or is undone, the work is done in the end, and nothing else is harmed.
func TestAgentsThatMisbehave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows   string // what it proves
		does   string // shell of the first attempt
		reason string // why that attempt failed; "" if it did not
		limit  int64  // ms of an attempt, 0 is a minute
		late   bool   // where the other sprint is done by then it is tampering: execution §5
		check  func(t *testing.T, s *site, got ran)
	}{
		"one that deletes its .git": {
			rows: "D1", does: `rm -rf .git; echo "$RALPH_NODE" > out-$RALPH_NODE.txt`, reason: "was replaced",
		},
		"one that deletes its worktree": {
			rows: "D1", does: `cd ..; rm -rf "$OLDPWD"`, reason: "worktree",
		},
		"one that makes a repository of its own in place of the worktree's": {
			rows: "D1, 3.2", does: `rm -rf .git; git init -q .; git -c user.name=x -c user.email=x@y add -A; git -c user.name=x -c user.email=x@y commit -qm all; git config core.fsmonitor "touch $TOP/pwned; false"; mkdir -p .git/hooks; printf '#!/bin/sh\ntouch %s/pwned\n' "$TOP" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`, reason: "was replaced",
			check: func(t *testing.T, s *site, _ ran) {
				if _, err := os.Lstat(filepath.Join(s.top, "pwned")); err == nil {
					t.Error("ralph ran a program that the agent planted")
				}
			},
		},
		"one that rewrites history": {
			rows: "D2", does: `git checkout -q --orphan other; git -c core.hooksPath=/dev/null commit -qm "a new world"; git branch -M other ralph/x/1-1`, reason: "history",
		},
		"one that goes back behind its base": {
			rows: "D2", does: `echo x > x; git add -A; git -c core.hooksPath=/dev/null commit -qm x; git reset -q --hard "$(git commit-tree -m other "HEAD^{tree}")"`, reason: "history",
		},
		"one that commits to another branch": {
			rows: "D2", does: `git checkout -q -b mine; echo x > x; git add -A; git -c core.hooksPath=/dev/null commit -qm "on mine"`, reason: "branch",
			check: func(_ *testing.T, s *site, _ ran) { s.moved = append(s.moved, "refs/heads/mine") }, // it stays: it may be the user's
		},
		"one that moves the branch of another sprint": {
			rows: "D2", does: `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
i=0; until git show-ref -q --verify refs/heads/ralph/x/1-2 || [ $i -gt 500 ]; do i=$((i + 1)); sleep 0.01; done
git update-ref refs/heads/ralph/x/1-2 HEAD`, late: true,
		},
		"one that edits protected tests": {
			rows: "G8", does: `echo "exit 0 # always" > tests/a_test.sh`, reason: "tests/a_test.sh",
			check: func(t *testing.T, s *site, _ ran) {
				if got := s.git("show", "ralph/x/integration:tests/a_test.sh"); got != "exit 0" {
					t.Errorf("the protected test is %q", got)
				}
			},
		},
		"one that deletes protected tests and commits that": {
			rows: "G8", does: `git rm -q tests/a_test.sh; git -c core.hooksPath=/dev/null commit -qm "no tests, no failures"`, reason: "tests/a_test.sh",
		},
		"one that does nothing": {
			rows: "C11", does: `true`, reason: "nothing changed",
		},
		"one that prints 1 GB": {
			rows: "C6", does: `head -c 1000000000 /dev/zero; echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`,
			check: func(t *testing.T, _ *site, got ran) {
				if got.rss > 128<<20 {
					t.Errorf("N9: ralph took %d MB", got.rss>>20)
				}
			},
		},
		"one that never ends": {
			rows: "C1", does: `while :; do sleep 1; done`, reason: "used up its time", limit: 1500,
		},
		"one that ignores SIGTERM": {
			rows: "C2", does: `trap '' TERM INT HUP; echo waiting; while :; do sleep 1; done`, reason: "used up its time", limit: 1500,
		},
		"one that daemonises and writes on": {
			rows: "C3, C4",
			does: `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
setsid sh -c 'trap "" TERM HUP; while :; do echo late >> late.txt; sleep 0.2; done' &
(setsid sh -c 'setsid sh -c "while :; do echo later >> later.txt; sleep 0.2; done" & exit 0' &)
until [ -e late.txt ] && [ -e later.txt ]; do sleep 0.1; done`,
		},
		"one that kills itself": {
			rows: "A1", does: `if mkdir "$TOP/once" 2>/dev/null; then kill -9 $$; fi; echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`,
		},
		"one that prints what terminals obey": {
			rows: "C7", does: `printf '\033]0;owned\007\033[2J\377\000\r'; exit 3`, reason: "exit code 3",
			check: func(t *testing.T, _ *site, got ran) {
				if strings.ContainsAny(got.all(), "\x1b\x00\x07\r") {
					t.Errorf("ralph printed %q", got.all())
				}
			},
		},
		"one that leaves a merge half done": {
			rows: "D6", does: `printf '<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n' > README.md`, reason: "conflict marker",
		},
		"one that locks its index": {
			rows: "D3", does: `touch "$(git rev-parse --git-dir)/index.lock"; echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const mend = "if [ \"$RALPH_ATTEMPT\" != 1 ]; then git checkout -q main -- tests README.md; fi\n"
			work := "if [ \"$RALPH_NODE.$RALPH_ATTEMPT\" = 1.1.1 ]; then\n" + c.does + "\nelse\n" + mend + siteWork + "\nfi"
			s := newSite(t, work, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
				g := e.Gates["check"]
				g.Protect = []string{"tests/**"}
				e.Gates["check"] = g
				e.Epic.Integration.Gates = []string{"check"}
				if c.limit > 0 {
					e.Nodes[0].Steps[0].Limits.TimeoutMS = c.limit
				}
			}))
			got := s.measured("apply")
			if late := c.late && got.code == exit.NotDone && strings.Contains(got.out, "refs/heads/ralph/x/1-2 was "); got.code != exit.Done && !late {
				t.Fatalf("ralph apply: exit %d\n%s\n%s", got.code, got.all(), s.failures())
			}
			if c.check != nil {
				c.check(t, s, got)
			}
			first := ""
			for _, e := range s.events() {
				if a, ok := e.Body.(executor.AttemptEnded); ok && e.Node == "bd-1-1" && e.Attempt == 1 {
					first = a.Reason
				}
			}
			if c.reason == "" && first != "" || !strings.Contains(first, c.reason) {
				t.Errorf("%s: the first attempt failed because of %q, want %q", c.rows, first, c.reason)
			}
			for _, key := range []string{"1.1", "1.2"} {
				if out, err := s.tryGit("show", "ralph/x/integration:out-"+key+".txt"); err != nil {
					t.Errorf("%s: the result lacks the work of %s: %s", c.rows, key, out)
				}
			}
			s.sound()
		})
	}
}
