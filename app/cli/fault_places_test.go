//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// TestWhatStandsInTheWay puts things where ralph's own have to go. What a git
// that was killed left is taken away; what may be somebody's is named, kept, and
// apply goes on once it is gone.
func TestWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows  string
		put   func(s *site)
		want  string      // what ralph says; "" if it goes on by itself
		clear func(*site) // what a person does about it
	}{
		"the index.lock of the user's checkout": { // ralph does not need that index
			rows: "D3", put: func(s *site) { s.write(".git/index.lock", "") },
			clear: func(s *site) {
				if _, err := os.Lstat(s.file(".git/index.lock")); err != nil {
					s.t.Errorf("ralph took the user's lock away: %v", err)
				}
			},
		},
		"the lock of a ref of ralph's": {
			rows: "D3", put: func(s *site) {
				s.write(".git/refs/heads/ralph/x/1-1.lock", "")
				s.write(".git/refs/ralph/bd-epic/nodes/bd-1-1/result.lock", "")
				s.write(".git/refs/heads/ralph/x/integration.lock", "")
			},
		},
		"a branch of the user's": {
			rows: "D4", put: func(s *site) {
				s.git("branch", "ralph/x/1-1")
				tree := s.git("rev-parse", "HEAD^{tree}")
				s.git("update-ref", "refs/heads/ralph/x/1-1", s.git("commit-tree", "-m", "mine", tree))
			},
			want: "ralph/x/1-1", clear: func(s *site) {
				s.git("branch", "-m", "ralph/x/1-1", "mine")
				s.moved = append(s.moved, "refs/heads/mine")
			},
		},
		"a branch whose name is the beginning of ours": {
			rows: "D4", put: func(s *site) { s.git("branch", "ralph/x/1-1/deeper") },
			want: "ralph/x/1-1", clear: func(s *site) {
				s.git("branch", "-m", "ralph/x/1-1/deeper", "mine")
				s.moved = append(s.moved, "refs/heads/mine")
			},
		},
		"a directory in place of the worktree": {
			rows: "D5", put: func(s *site) { s.write(filepath.Join(s.tree("1.1"), "mine.txt"), "precious\n") },
			want: "project-worktrees/ralph/x/1-1", clear: func(s *site) {
				if b, err := os.ReadFile(filepath.Join(s.tree("1.1"), "mine.txt")); err != nil || string(b) != "precious\n" {
					s.t.Errorf("the file in the way is %q, %v", b, err)
				}
				rename(s, s.tree("1.1"), filepath.Join(s.top, "moved"))
			},
		},
		"a file in place of the worktree": {
			rows: "D5", put: func(s *site) { s.write(s.tree("1.1"), "precious\n") },
			want: "project-worktrees/ralph/x/1-1", clear: func(s *site) { rename(s, s.tree("1.1"), filepath.Join(s.top, "moved")) },
		},
		"a symbolic link in place of the worktree": {
			rows: "D5", put: func(s *site) {
				s.write("../elsewhere/mine.txt", "precious\n")
				s.write(filepath.Join(s.tree("9"), ".keep"), "")
				if err := os.Symlink(filepath.Join(s.top, "elsewhere"), s.tree("1.1")); err != nil {
					s.t.Fatal(err)
				}
			},
			want: "project-worktrees/ralph/x/1-1", clear: func(s *site) {
				if got := s.read("../elsewhere/mine.txt"); got != "precious\n" {
					s.t.Errorf("behind the link stands %q", got)
				}
				rename(s, s.tree("1.1"), filepath.Join(s.top, "moved"))
			},
		},
		"the branch checked out by the user": {
			rows: "D8", put: func(s *site) {
				s.git("worktree", "add", "-q", "-b", "ralph/x/1-1", filepath.Join(s.top, "mine"))
			},
			want: "ralph/x/1-1", clear: func(s *site) {
				s.git("worktree", "remove", filepath.Join(s.top, "mine"))
				s.git("branch", "-qD", "ralph/x/1-1")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", executortest.Epic([]string{"1.1", "1.2"}))
			c.put(s)
			if c.want != "" {
				if got := s.apply(exit.Input); !strings.Contains(got.all(), c.want) { // nothing began
					t.Errorf("%s: what ralph said does not name %q:\n%s", c.rows, c.want, got.all())
				}
			}
			if c.clear != nil && c.want != "" {
				c.clear(s)
			}
			s.apply(exit.Done)
			if c.clear != nil && c.want == "" {
				c.clear(s)
			}
			s.sound()
		})
	}
}

func rename(s *site, from, to string) {
	s.t.Helper()
	if err := os.Rename(from, to); err != nil {
		s.t.Fatal(err)
	}
}

// TestTheUserGoesOnWorking commits, switches branches, merges, stashes and
// collects garbage in the checkout while agents are at work: both get what they
// want, and ralph goes on from the commit that it pinned.
func TestTheUserGoesOnWorking(t *testing.T) { // D7, D9, S0-57, execution §2: the base is pinned
	t.Parallel()
	s := newSite(t, `mkdir "$TOP/at.$RALPH_NODE"; until [ -e "$TOP/go.$RALPH_NODE" ]; do sleep 0.1; done
`+siteWork, executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3"}, func(e *ir.Epic) { e.Epic.Integration.Gates = []string{"check"} }))
	a := s.start("apply", "--events", "jsonl")
	at := func(key string) {
		s.until("the agent of "+key, func() bool { _, err := os.Stat(s.file("../at." + key)); return err == nil })
	}
	at("1.1")
	at("1.3")
	s.write("mine.txt", "mine\n")
	s.git("add", "mine.txt")
	s.git("commit", "-qm", "mine")
	s.git("checkout", "-q", "-b", "feature")
	s.write("mine.txt", "mine, changed\n")
	s.git("commit", "-qam", "more of mine")
	s.git("gc", "-q", "--prune=now")
	s.write("../go.1.1", "")
	at("1.2")
	s.git("checkout", "-q", "main")
	s.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
	s.write("mine.txt", "not committed\n")
	s.git("stash", "-q")
	s.git("reflog", "expire", "--expire=now", "--all")
	s.git("gc", "-q", "--prune=now")
	s.write("../go.1.2", "")
	s.write("../go.1.3", "")
	s.before = s.manifest() // from here on nothing is the user's doing
	if got := a.wait(); got.code != exit.Done {
		t.Fatalf("exit %d\n%s\n%s", got.code, got.err, s.failures())
	}
	if got := s.git("ls-tree", "--name-only", "ralph/x/integration"); strings.Contains(got, "mine.txt") || !strings.Contains(got, "out-1.3.txt") {
		t.Errorf("the result holds %q", got)
	}
	s.git("reflog", "expire", "--expire=now", "--all")
	s.git("gc", "-q", "--prune=now") // nothing that counts hangs on a reflog
	s.before = s.manifest()
	s.sound()
	if again := s.apply(exit.Done); strings.Contains(again.out, "▶") {
		t.Errorf("something ran again:\n%s", again.out)
	}
}

// TestTheDiskIsFull fills the disk at several moments of a run: it stops with a
// reason, nothing that was said is lost, and with room again it comes to the same
// end.
func TestTheDiskIsFull(t *testing.T) { // B4, C10
	t.Parallel()
	if testing.Short() {
		t.Skip("real git and real agents for some seconds")
	}
	for _, place := range []string{"0", "16", "64", "160", "400", "0 in a sandbox", "160 in a sandbox"} { // KiB free when the agent has done its work
		left, in, confined := strings.Cut(place, " ")
		t.Run(left+" KiB left "+in, func(t *testing.T) {
			if confined {
				needsNamespaces(t)
			}
			disk := t.TempDir()
			if err := mountTmpfs(disk, "24m"); err != nil {
				fmt.Fprintf(os.Stderr, "SKIPPED: %s: a small disk has to be mounted to fill it, which needs root: %v\n", t.Name(), err)
				t.Skip("needs root")
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, mntDetach) })
			s := newSite(t, `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
if [ -e "$TOP/fill" ] && [ "$RALPH_NODE" = 1.2 ]; then
	rm "$TOP/fill"
	cat /dev/zero > "$TOP/filler" 2>/dev/null || true
	if [ `+left+` != 0 ]; then truncate -s -`+left+`K "$TOP/filler"; fi
fi`, executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3: 1.2"}, func(e *ir.Epic) { e.Epic.Integration.Gates = []string{"check"} }), disk)
			if confined {
				s.inSandboxes(wall.Namespaces, s.top)
			}
			s.write("../fill", "")
			got := s.ralph("apply", "--events", "jsonl")
			if got.code != exit.Done /* there was room enough */ && !strings.Contains(strings.ToLower(got.all()), "no space left") && !strings.Contains(strings.ToLower(got.all()), "disk") && !strings.Contains(got.all(), "room") {
				t.Errorf("exit %d, and it does not say that the disk is full:\n%s\n%s", got.code, got.err, s.failures())
			}
			if got.code == exit.Bug {
				t.Errorf("a full disk is called a bug:\n%s", got.err)
			}
			if err := os.Remove(s.file("../filler")); err != nil {
				t.Fatal(err)
			}
			s.apply(exit.Done)
			for _, key := range []string{"1.1", "1.2", "1.3"} {
				if out := s.git("show", "ralph/x/integration:out-"+key+".txt"); out != key {
					t.Errorf("out-%s.txt is %q", key, out)
				}
			}
			s.sound()
		})
	}
}
