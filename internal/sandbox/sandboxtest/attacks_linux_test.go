package sandboxtest

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/sandbox/group"
	"github.com/ralph-compiler/ralph/internal/wall"
)

func TestMain(m *testing.M) {
	Main(map[string]Level{"namespaces": walled(wall.Namespaces), "bwrap": walled(wall.Bwrap), "landlock": walled(wall.Landlock)})
	os.Exit(m.Run())
}

// walled runs a program in a sandbox of a kind.
func walled(kind wall.Kind) Level {
	return func(p Program) error {
		p.Wall.Kind = kind
		if kind.InPlace() { // nothing can be hidden
			p.Wall.Mounts = slices.DeleteFunc(p.Wall.Mounts, func(m wall.Mount) bool { return m.Cover })
		}
		in, err := os.Open(p.Stdin)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = process.Run(context.Background(), process.Spec{
			Stdin: in, Argv: p.Argv, Env: p.Env, Dir: p.Dir, Wall: sandbox.New(p.Wall), Time: 2 * time.Minute, Stderr: os.DevNull,
			Tap: func(stderr bool, b []byte) {
				to := os.Stdout
				if stderr {
					to = os.Stderr
				}
				_, _ = to.Write(b)
			},
		})
		if off, ok := errors.AsType[*sandbox.Unavailable](err); ok {
			return &Unavailable{off}
		}
		return err
	}
}

const nobody = 65534

// users are those as whom attacks run: whoever tests, and nobody if that is root.
func users() map[string]int {
	if os.Getuid() == 0 {
		return map[string]int{"root": 0, "nobody": nobody}
	}
	return map[string]int{"user": os.Getuid()}
}

// TestEveryAttackHasARow: and every row an attack.
func TestEveryAttackHasARow(t *testing.T) {
	rows := Attacks().IDs()
	slices.Sort(rows)
	got := append(slices.Sorted(maps.Keys(programs)), "Z01")
	if !slices.Equal(got, rows) {
		t.Errorf("attacks %v\nrows %v", got, rows)
	}
}

// TestAttacks runs all attacks at every level: what the table does not allow is an error,
// and so is an attack that does nothing where there is no sandbox.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts thousands of processes")
	}
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			if uid != 0 {
				t.Run("none", func(t *testing.T) { attacked(t, uid, "none", "none") })
				t.Run("controls", func(t *testing.T) { controls(t, uid) })
			}
			for level, column := range map[string]string{"namespaces": "namespaces", "bwrap": "namespaces", "landlock": "landlock"} {
				if uid == 0 {
					column += "-root"
				}
				t.Run(level, func(t *testing.T) { attacked(t, uid, level, column) })
				if uid == os.Getuid() {
					t.Run(level+InGroup, func(t *testing.T) { attackedInGroup(t, uid, level, column) })
				}
			}
		})
	}
}

// attacked runs all attacks at a level and compares them with a column.
func attacked(t *testing.T, uid int, level, column string) {
	judged(t, Build(t, uid).Launch(level), column)
}

// attackedInGroup is attacked where sandboxes have groups. The attack on memory, of which
// all dies that is in the sandbox, has one of its own.
func attackedInGroup(t *testing.T, uid int, level, column string) {
	base, err := group.Base(t.Context(), group.Memory, group.Pids)
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), "groups") {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: no groups on this machine: %v", err)
	}
	launch := func(ids ...string) []Result {
		s := Build(t, uid)
		s.InGroups(base)
		return s.Launch(level, ids...)
	}
	results := launch(slices.DeleteFunc(Attacks().IDs(), func(id string) bool { return id == "D04" })...)
	d04 := Result{ID: "D04", Seen: "killed"}
	for _, r := range launch("D04") {
		if r.ID == d04.ID {
			d04 = r
		}
	}
	judged(t, append(results, d04), column+InGroup)
	if left, _ := filepath.Glob(filepath.Join(base, "ralph-*")); len(left) > 0 {
		t.Errorf("groups are left: %q", left)
	}
}

// judged compares results with a column.
func judged(t *testing.T, results []Result, column string) {
	table := Attacks()
	wrong, silent := table.Wrong(column, results)
	for _, line := range wrong {
		t.Error(line)
	}
	if len(silent) > 0 {
		t.Logf("UNPROVED on this machine, which blocks them itself: %s", strings.Join(silent, " "))
	}
	n := 0
	for _, r := range results {
		if r.Succeeded {
			n++
		}
	}
	t.Logf("%d of %d succeeded", n, len(results))
}

// controls shows that attacks which are blocked without a sandbox are attacks.
func controls(t *testing.T, uid int) {
	table := Attacks()
	for control, run := range map[Control]func(s *Site, ids []string) []Result{
		UserNS:    func(s *Site, ids []string) []Result { return s.Launch("userns", ids...) },
		Elsewhere: func(s *Site, ids []string) []Result { s.Elsewhere(); return s.Launch("none", ids...) },
		OpenProxy: func(s *Site, ids []string) []Result { s.OpenProxy(); return s.Launch("none", ids...) },
	} {
		t.Run(string(control), func(t *testing.T) {
			ids := table.With(control).IDs()
			var got []string
			for _, r := range run(Build(t, uid), ids) {
				if r.ID != "Z01" {
					got = append(got, r.ID)
				}
				if r.ID != "Z01" && !r.Succeeded {
					t.Errorf("%s: %s, want success", r.ID, r)
				}
			}
			if !slices.Equal(got, ids) {
				t.Errorf("results of %v, want %v", got, ids)
			}
		})
	}
	t.Logf("UNPROVED: %s", strings.Join(table.With(Unproved).IDs(), " "))
}

// TestAnAdoptedRepositoryIsAttacked: a run's own repository takes the place of the one
// that was built, whoever starts the attacker.
func TestAnAdoptedRepositoryIsAttacked(t *testing.T) {
	uid := os.Getuid()
	if uid == 0 {
		uid = nobody
	}
	s := Build(t, uid)
	main, own := filepath.Join(s.Root, "adopted"), filepath.Join(s.Root, "run")
	s.git(s.Root, "clone", "-q", s.Main, main)
	s.git(s.Root, "clone", "-q", "--shared", main, own)
	s.ok(os.MkdirAll(filepath.Join(own, ".git", "hooks"), 0o755))
	s.Adopt(main, filepath.Join(main, ".git", "ralph"))
	s.give()

	ids := []string{"R04", "R05", "W07", "W08", "W10", "W13", "K02", "D03"}
	argv := s.Program(ids...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.SysProcAttr = own, s.as()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	s.Own = own
	for _, r := range s.Results(out) {
		if r.Succeeded != (r.ID != "K02") {
			t.Errorf("%s: %s", r.ID, r)
		}
	}
	if !s.marked("W07", main, ".git", "config") || !s.marked("W13", own, ".git", "hooks", "pre-commit") {
		t.Error("another repository was attacked")
	}
}
