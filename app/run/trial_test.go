package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Where no sandbox can be made, init says so and why, and tries the gates as they are; of what
// failed it does not say that a sandbox may be the reason.
func TestGatesAreTriedWhereNoSandboxCanBeMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ makes, says string }{
		"green": {"true", "green in"},
		"red":   {"false", "red: exit code 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := committed(t, "Makefile", "test:\n\t@"+c.makes+"\n")
			var b strings.Builder
			say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
			try := func(s *project.Sample) error {
				tr, err := newTrial(t.Context(), dir, time.Minute)
				if err != nil {
					return err
				}
				defer tr.end()
				tr.kinds = attempts{wall.Namespaces: off(wall.Namespaces), wall.Bwrap: off(wall.Bwrap), wall.Landlock: off(wall.Landlock)}
				return tr.try(t.Context(), s, say)
			}
			policy, err := project.SamplePolicy(dir, say, try)
			if err != nil {
				t.Fatal(err)
			}
			said := b.String()
			for _, want := range []string{`note   sandbox "default": `, "mend namespaces", "mend bwrap", "in a clone of HEAD, without a sandbox, which this machine cannot make (--try 0", "make test", c.says} {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
			if strings.Contains(said, "in its sandbox") || strings.Contains(said, "in the sandbox") {
				t.Errorf("it speaks of a sandbox:\n%s", said)
			}
			if green := strings.Contains(string(policy), `= "green"`); green != (name == "green") {
				t.Errorf("baseline: %t\n%s", green, policy)
			}
		})
	}
}

// committed is a repository with one file.
func committed(t *testing.T, name, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-q", "-m", "first"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return dir
}
