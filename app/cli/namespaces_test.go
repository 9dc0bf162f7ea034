package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/sandbox/group"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// tryProgram is the name by which the test's binary says whether this machine makes a sandbox.
const tryProgram = "try-sandbox"

// noSandbox is its exit code where the machine makes none.
const noSandbox = 3

func trySandbox() {
	if _, err := sandbox.Try(context.Background(), wall.Kind(os.Args[1])); err != nil {
		fmt.Println(err)
		os.Exit(noSandbox)
	}
}

// tried is what sandbox.Try says, in a process of its own: who runs programs adopts what they
// leave behind, and the tests leave a dead git of every ralph, which would stay till their end.
func tried(kind wall.Kind) error {
	cmd := exec.Command(tryProgram, string(kind))
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == noSandbox:
		return errors.New(string(bytes.TrimSpace(out)))
	}
	panic(fmt.Sprintf("%s: %v: %s", tryProgram, err, out))
}

// hasNamespaces, hasBwrap and hasLandlock report whether such sandboxes can be tried. Where they are required
// (RALPH_SANDBOX_REQUIRE, a list with commas) they are, and fail if there are none;
// elsewhere it says loudly what is not tested.
var hasNamespaces, hasBwrap, hasLandlock = has(wall.Namespaces), has(wall.Bwrap), has(wall.Landlock)

func has(kind wall.Kind) func() bool {
	return sync.OnceValue(func() bool {
		err := tried(kind)
		if err == nil || slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), string(kind)) {
			return true
		}
		fmt.Fprintf(os.Stderr, "SKIPPED: what needs sandboxes: this machine makes none of kind %s: %v\n", kind, err)
		return false
	})
}

// hasGroups reports, in the same way, whether sandboxes can have control groups.
var hasGroups = sync.OnceValue(func() bool {
	_, err := group.Base(context.Background(), group.Memory, group.CPU, group.Pids) // before anything is started in this process's group
	if !hasNamespaces() && !hasBwrap() {
		return false
	}
	if err == nil || slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), "groups") {
		return true
	}
	fmt.Fprintf(os.Stderr, "SKIPPED: what needs control groups: %v\n", err)
	return false
})

// needsNamespaces skips a test where no sandbox can be made.
func needsNamespaces(t *testing.T) {
	t.Helper()
	if !hasNamespaces() {
		t.Skip("this machine makes no sandbox of namespaces")
	}
}

// unconfined are the arguments by which the demo is applied where no sandbox can be made.
func unconfined() []string {
	if hasNamespaces() {
		return nil
	}
	return []string{"--sandbox", "none"}
}
