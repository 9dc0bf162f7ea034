package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/sandbox/sandboxtest"
	"github.com/ralph-compiler/ralph/internal/temptest"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	sandboxtest.Main(nil)
	testscript.Main(atHome{m}, map[string]func(){
		tryProgram: trySandbox,
		"ralph": func() {
			debug.SetGCPercent(100) // as users have it, whatever the tests have
			withPrograms()
			heedTools()
			code := fitting(os.Args[1:], os.Stdin, newKilling(os.Stdout), os.Stderr)
			sayPeak()
			os.Exit(code)
		},
	})
}

// userHome is where the go command has its caches.
var userHome = os.Getenv("HOME")

// atHome runs the tests with an empty home: nobody's git configuration counts,
// and each of them can run beside others.
type atHome struct{ *testing.M }

func (m atHome) Run() int {
	dir, err := os.MkdirTemp("", "ralph-home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("HOME", dir); err != nil {
		panic(err)
	}
	// They wait for processes now and then: one more of them runs than there are
	// processors. -parallel wins.
	if err := flag.Set("test.parallel", strconv.Itoa(1+runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	code := temptest.Run(m.M)
	if adopts() {
		fmt.Println("FAIL: this process ran a program by itself, and so adopted what every ralph of the tests left: have a child run it (see tried)")
		return 1
	}
	return code
}

// atOnce are stories of sprints side by side, interrupted, or in sandboxes: the race
// detector sees these.
var atOnce = []string{"branch_mode", "budget", "conflict", "interrupted", "sandbox"}

// TestScripts runs the stories in testdata/script, in a short run those atOnce. Each begins
// in an empty directory that is a git repository, with a home of its own.
func TestScripts(t *testing.T) {
	needs(t, "dot")
	params, dir := scripts(), filepath.Join("testdata", "script")
	switch {
	case os.Getenv("RALPH_E2E") != "": // make test has run the others
		params.Files = wantPrograms(t, dir)
	case testing.Short():
		params.Files = lists.Map(atOnce, func(name string) string { return filepath.Join(dir, name+".txtar") })
	default:
		params.Dir = dir
	}
	hasGroups() // before anything is in this process's group beside it
	testscript.Run(t, params)
}

// wantPrograms are the scripts that ask whether a program is on PATH.
func wantPrograms(t *testing.T, dir string) (files []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("[exec:")) {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		t.Fatal("no script asks for a program")
	}
	return files
}

// scripts is how a script is run, wherever it lies.
func scripts() testscript.Params {
	return testscript.Params{
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			if !testing.Short() { // the race detector is to see it on all of them
				temptest.Pin(e.Defer)
			}
			e.Setenv("HOME", filepath.Join(e.WorkDir, ".home"))
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
			e.Setenv("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
			git := exec.Command("git", "init", "-q", "-b", "main", e.WorkDir)
			git.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+e.WorkDir)
			if out, err := git.CombinedOutput(); err != nil {
				return fmt.Errorf("git init: %w: %s", err, out)
			}
			config, err := os.OpenFile(filepath.Join(e.WorkDir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = config.WriteString("[user]\n\temail = you@example.com\n\tname = you\n")
			return errors.Join(err, config.Close())
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "landlock":
				return hasLandlock(), nil
			case "bwrap":
				return hasBwrap(), nil
			case "groups":
				return hasGroups(), nil
			}
			if cond != "namespaces" {
				return false, fmt.Errorf("there is no condition %q", cond)
			}
			return hasNamespaces(), nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":    exits,
			"replace":  replace,
			"crlf":     crlf,
			"contains": contains,
		},
	}
}

// needs says loudly which outside program is missing, and fails where they are
// required.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("RALPH_E2E") != "" {
		t.Fatalf("%s is required here (RALPH_E2E is set) and not on PATH", program)
	}
	fmt.Fprintf(os.Stderr, "SKIPPED: what needs %s, which is not on PATH; make e2e installs it\n", program)
}

// exits CODE COMMAND...: the command ends with exactly this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		code = -1
		var exit *exec.ExitError
		if ok := asExit(err, &exit); ok {
			code = exit.ExitCode()
		}
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%s exited with %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

func asExit(err error, into **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	if ok {
		*into = e
	}
	return ok
}

// replace FILE OLD NEW: the first OLD in the file becomes NEW.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	old, now := strings.ReplaceAll(args[1], `\n`, "\n"), strings.ReplaceAll(args[2], `\n`, "\n")
	if !strings.Contains(text, old) {
		ts.Fatalf("%s does not contain %q", args[0], old)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, old, now, 1)), 0o644))
}

// crlf FILE...: the files get Windows line endings.
func crlf(ts *testscript.TestScript, neg bool, args []string) {
	for _, f := range args {
		text := strings.ReplaceAll(ts.ReadFile(f), "\n", "\r\n")
		ts.Check(os.WriteFile(ts.MkAbs(f), []byte(text), 0o644))
	}
}

// contains FILE TEXT: the file contains the text, byte for byte.
func contains(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: contains FILE TEXT")
	}
	if got := strings.Contains(ts.ReadFile(args[0]), strings.ReplaceAll(args[1], `\n`, "\n")); got == neg {
		ts.Fatalf("%s: contains %q = %v", args[0], args[1], got)
	}
}
