package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/temptest"
	"github.com/rogpeppe/go-internal/testscript"
)

// attacks is the corpus: one script a case, which begins with what is tried and
// what must happen. A quarter of it, chosen by name, runs always, with RALPH_PART a sixteenth; all
// of it with RALPH_ATTACKS=all.
const attacks = "../../testdata/attacks"

// attackTime is how long a command of an attack may take. What hangs is killed,
// and the case fails.
const attackTime = 60 * time.Second

func TestAttacks(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(attacks, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("there is no corpus in %s: %v", attacks, err)
	}
	params, parts := scripts(), uint64(4)
	if _, divided := temptest.Turn("", 1); divided {
		parts = 16
	}
	for _, file := range all {
		if which, _ := temptest.Turn(filepath.Base(file), parts); which == 0 || os.Getenv("RALPH_ATTACKS") == "all" {
			params.Files = append(params.Files, file)
		}
	}
	params.Cmds["exits"] = within
	testscript.Run(t, params)
}

// TestAttacksSayWhatMustHappen: a case begins with the lines "# attack: " and
// "# must: ", and its name with its area.
func TestAttacksSayWhatMustHappen(t *testing.T) {
	all, _ := filepath.Glob(filepath.Join(attacks, "*"))
	for _, file := range all {
		name := filepath.Base(file)
		if name == "README.md" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		lines := bytes.SplitN(text, []byte("\n"), 3)
		if len(lines) < 3 || !bytes.HasPrefix(lines[0], []byte("# attack: ")) || !bytes.HasPrefix(lines[1], []byte("# must: ")) {
			t.Errorf("%s does not begin with the lines \"# attack: \" and \"# must: \"", name)
		}
		if !strings.HasSuffix(name, ".txtar") || !strings.Contains(name, "_") {
			t.Errorf("%s is not called AREA_NAME.txtar", name)
		}
	}
}

// within is exits with a limit: "exits CODE COMMAND..." fails when the command
// takes longer than attackTime.
func within(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	began := time.Now()
	exits(ts, false, append([]string{args[0], "timeout", "-s", "KILL", fmt.Sprint(attackTime.Seconds())}, args[1:]...))
	if took := time.Since(began); took >= attackTime {
		ts.Fatalf("%s hung for %s", strings.Join(args[1:], " "), took)
	}
}
