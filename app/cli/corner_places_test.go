//go:build unix

package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
)

// soon is a time some seconds from now, as RFC 3339.
func soon(seconds int) string {
	return time.Now().UTC().Add(time.Duration(seconds) * time.Second).Format(time.RFC3339)
}

var cornerPlaces = []cornerCase{
	{
		group: "worktree", name: "its place is occupied",
		want: "what is not ralph's is not touched: nothing starts, and all goes on when the place is free",
		check: func(t *testing.T, r *cornerRepo) {
			r.write("../project-worktrees/ralph/plan/1-1-first/mine", "precious")
			r.has(r.apply(exit.Input), "is taken by something that is not of this epic")
			if got := r.read("../project-worktrees/ralph/plan/1-1-first/mine"); got != "precious" {
				t.Errorf("the file is %q", got)
			}
			if err := os.RemoveAll(r.path("../project-worktrees")); err != nil {
				t.Fatal(err)
			}
			r.has(r.apply(exit.Done), "1 of 1 sprint done")
		},
	},
	{
		group: "worktree", name: "two claim the same work",
		want:  "one apply holds the epic; a second is refused and told who holds it",
		agent: `echo x > out; touch "$TOP/at-work"; while test ! -e "$TOP/go"; do sleep 0.1; done`,
		check: func(t *testing.T, r *cornerRepo) {
			r.ralph(exit.Done, "compile", "plan.md")
			first := r.command("ralph", "apply")
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			r.wait("../at-work")
			r.has(r.ralph(exit.Input, "apply"), "another ralph is at work on this epic")
			r.write("../go", "")
			if err := first.Wait(); err != nil {
				t.Errorf("the first one: %v", err)
			}
			if n := r.git("rev-list", "--count", "main..ralph/plan/integration"); n != "1" {
				t.Errorf("%s commits, want 1", n)
			}
		},
	},
	{
		group: "worktree", name: "the disk is almost full",
		want: "with less free space than min_free nothing starts, and the message says how much is there",
		policy: `policy "roomy" {
  worktree {
    min_free = "1MB"
  }
}`,
		check: func(t *testing.T, r *cornerRepo) {
			r.write("ralph.hcl", strings.Replace(r.read("ralph.hcl"), `min_free = "1MB"`, `min_free = "9000000GB"`, 1))
			out := r.apply(exit.Input)
			r.has(out, "are free", "Nothing was started")
			if refs := r.git("branch", "--list", "ralph/*"); refs != "" {
				t.Errorf("branches were made: %s", refs)
			}
		},
	},
	{
		group: "git", name: "locks are left behind",
		want: "the user's index.lock is nobody's business, and a lock that an agent left in its worktree does not stop the sprint",
		agent: `echo x > out
touch "$(git rev-parse --git-dir)/index.lock"`,
		check: func(t *testing.T, r *cornerRepo) {
			r.write(".git/index.lock", "")
			r.has(r.apply(exit.Done), "1 of 1 sprint done")
			if _, err := os.Stat(r.path(".git/index.lock")); err != nil {
				t.Errorf("the user's lock: %v", err)
			}
		},
	},
}

// wait returns when a file is there.
func (r *cornerRepo) wait(name string) {
	r.t.Helper()
	for end := time.Now().Add(patience); r.t.Context().Err() == nil && time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		if _, err := os.Stat(r.path(name)); err == nil {
			return
		}
	}
	r.t.Fatalf("%s never came", name)
}
