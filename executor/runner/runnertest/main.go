package runnertest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/executor/mcp"
)

// Variables of the suite's own processes.
const (
	rootVar   = "RUNNERTEST_ROOT"   // the directory in which all of it happens
	roleVar   = "RUNNERTEST_ROLE"   // "ralph": the process is a ralph that will be killed
	runVar    = "RUNNERTEST_RUN"    // file that says what that ralph runs
	secretVar = "RUNNERTEST_SECRET" // a variable of the user's that no agent is given
	letVar    = "RUNNERTEST_LET"    // one that agents are given
)

// secret is a value that must be found nowhere; hidden is one that tools print and
// that is taken out of what is stored.
const (
	secret = "runnertest-secret-9f3a"
	hidden = "runnertest-hidden-71c4"
)

// Main is the TestMain of a package that uses the suite: the test binary is also the
// ralph that a case kills, and the proxy of agents that report over stdio. TMPDIR is a directory of its own, in which nothing may be
// left.
func Main(m *testing.M, agents ...Agent) {
	if os.Getenv(roleVar) == "ralph" {
		os.Exit(beRalph(agents))
	}
	if len(os.Args) == 4 && os.Args[1] == "mcp" { // as ralph is started by agents that report over stdio
		if err := mcp.Proxy(context.Background(), os.Stdin, os.Stdout, os.Args[3], os.Getenv(mcp.URLVar), os.Getenv(mcp.TokenVar)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(inRoot(m))
}

func inRoot(m *testing.M) (code int) {
	root, err := os.MkdirTemp("", "runnertest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for name, value := range map[string]string{rootVar: root, "TMPDIR": filepath.Join(root, "tmp"), secretVar: secret, letVar: "let through"} {
		_ = os.Setenv(name, value) // fails for empty names only
	}
	if err := os.Mkdir(os.Getenv("TMPDIR"), 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Cases wait more than they work: for a model that is silent, for a limit to end.
	_ = flag.Set("test.parallel", "4") // a flag of the command line comes later and counts
	return m.Run()
}
