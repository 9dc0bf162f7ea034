package runnertest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// Agent is a runner under test, and its program.
type Agent struct {
	Kind   string // of the runner, with a second word where there are several programs of a kind, such as "acp gemini"
	Binary string // file name of the program: see Binary; "" if Config names it
	// New makes the runner. One that is an io.Closer is closed when the suite ends.
	New func(runner.Base) executor.Runner
	// Config is the runner's block for a model at base (Anthropic agents are told
	// base, OpenAI agents base + "/v1"), with the program's own patience cut short:
	// what fails for ever has to be told within a minute. HOME is set by the suite.
	Config func(binary, base string) ir.Runner
	Model  string   // what the program is told; "" is "m1"
	Alias  ir.Model // what it stands for; the zero value has prices of 3 and 15 dollars for a million tokens

	// Home prepares the user's home directory: a login, if the program needs one, and
	// another MCP server, named "people", in the user's own settings, which is started
	// with that command.
	Home func(home string, people []string) error
	// Native writes an agent of the program's own into the home directory, whose text
	// holds mark, and returns its name. Needed with CanNative.
	Native func(home, mark string) (slug string, err error)
	// Person writes in a session that runs, as a person would. Needed with CanTakeover.
	Person func(t testing.TB, r executor.AgentRun, session, text string)
	// Forbidden is what the program refuses to do. Needed with CanRefuse.
	Forbidden *modeltest.Action
	// Gone is a well-formed handle of a session that is not there. Needed with CanResume.
	Gone string
	// Editors are the names of the tools that change files, which a read agent is not offered.
	Editors []string
	// Refused are the files of a worktree, of those that the suite writes, that the
	// runner refuses to start its program with, since it would run them.
	Refused []string
	// Quiet is how long the program may be silent while it starts, on a loaded
	// machine; 0 is 5 s.
	Quiet time.Duration
	// Parts is by how many RALPH_PART divides the cases, 0 for a program that starts fast
	// enough to play all of them each time.
	Parts uint64
}

// complete fills in what was left out.
func (a Agent) complete() Agent {
	if a.Quiet == 0 {
		a.Quiet = 5 * time.Second
	}
	if a.Model == "" {
		a.Model = "m1"
	}
	if a.Alias == (ir.Model{}) {
		a.Alias = ir.Model{ID: a.Model, Provider: "scripted", PriceInput: 3_000_000, PriceOutput: 15_000_000}
	}
	return a
}

// What the suite asks of a program beside the capabilities of the contract.
const (
	needFailures executor.Capability = "failures" // tells why its model refused what it asked
	needGivesUp  executor.Capability = "gives-up" // tells that its model fails again and again
	needTools    executor.Capability = "activity" // it is seen that a tool runs
	needHandle   executor.Capability = "handle"   // the session is known before the model is asked
	needMessage  executor.Capability = "message"  // has a last message, in which an outcome may stand
	needStream   executor.Capability = "stream"   // streams what it does
	needProgram  executor.Capability = "program"  // is a known program
	needAlone    executor.Capability = "alone"    // the user's other MCP servers can be turned off
	needWorktree executor.Capability = "worktree" // what lies in the worktree does not steer the program
	needBlind    executor.Capability = "blind"    // judges can be kept from what the worktree tells all agents
	needRetry    executor.Capability = "retry"    // asks its model again by itself
)

// lacks says what a kind cannot do of what only the suite asks for, and why.
var lacks = map[string]map[executor.Capability]string{
	"command": {
		executor.CanResume:   "a program that is run once has no sessions",
		executor.CanFork:     "a program that is run once has no sessions",
		executor.CanTools:    "it writes its outcome to the file that RALPH_OUTCOME names",
		executor.CanNative:   "what it runs is named by `run`",
		executor.CanTakeover: "a program that is run once has no sessions",
		executor.CanRead:     "ralph does not know its tools; what it changes is undone",
		executor.CanSystem:   "ralph does not know its system prompt; the text is before the prompt",
		executor.CanRefuse:   "ralph does not know its tools",
		executor.CanJoin:     "a program that is run once has no sessions",
		needAlone:            "any program may be run",
		needWorktree:         "any program may be run",
		needProgram:          "any program may be run",
		needFailures:         "an exit code says only that it failed",
		needGivesUp:          "an exit code says only that it failed",
		needTools:            "ralph does not know its tools; its output is its sign of life",
		needHandle:           "a program that is run once has no sessions",
		needMessage:          "its output is for people",
		needRetry:            "whether it asks its model again is its own affair",
		needStream:           "its output is for people",
		executor.CanTokens:   "it may write what it used into its outcome",
	},
	"acp opencode": {
		needAlone:   "the protocol cannot turn them off",
		needBlind:   "OpenCode shows an agent the AGENTS.md beside each file that it reads, and the protocol takes no tools away",
		needGivesUp: "it asks its model again without an end, and does not tell; the stall clock ends it",
	},
	"codex": {
		needHandle: "it names its session only once it has started",
	},
}

// Reason says why an agent does not run a case that needs something; "" if it does.
func reason(kind string, r executor.Runner, needs []executor.Capability) string {
	var cannot map[executor.Capability]string
	if p, ok := r.(executor.Program); ok {
		cannot = p.Describe().Cannot
	}
	for _, n := range needs {
		if why, ok := cannot[n]; ok {
			return why
		}
		if why, ok := lacks[kind][n]; ok {
			return why
		}
	}
	return ""
}

// Binary finds a real agent program in the directory that RALPH_E2E_AGENTS names, as
// make e2e does: .tools/agents/bin of the repository. Real programs take minutes, so
// without the variable the test is skipped; with it, it is skipped if the program is
// missing, or fails if RALPH_E2E_REQUIRE is 1.
func Binary(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("RALPH_E2E_AGENTS")
	require := os.Getenv("RALPH_E2E_REQUIRE") == "1"
	switch {
	case dir == "" && require:
		dir = filepath.Join(repository(t), ".tools", "agents", "bin")
	case dir == "":
		t.Skipf("NOT TESTED: the real %s; make e2e runs it (RALPH_E2E_AGENTS=%s)", name, filepath.Join(repository(t), ".tools", "agents", "bin"))
	}
	path := filepath.Join(dir, name)
	if st, err := os.Stat(path); err == nil && st.Mode()&0o111 != 0 {
		return path
	}
	if require {
		t.Fatalf("RALPH_E2E_REQUIRE=1, and there is no %s in %s: run make agents", name, dir)
	}
	t.Skipf("NOT TESTED: there is no real %s in %s; make agents installs it, RALPH_E2E_AGENTS names another directory", name, dir)
	return ""
}

// repository is the directory with go.mod.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("the test does not run in a Go module")
		}
		dir = up
	}
}
