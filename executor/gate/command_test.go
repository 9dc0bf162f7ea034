package gate

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

func ask(t *testing.T, g ir.Gate) executor.GateRun {
	return executor.GateRun{
		Node: &ir.Node{ID: "bd-1-1", Key: "1.1", Git: ir.Git{Branch: "it's;$(touch pwned)"}}, Name: "1.1/verify", Gate: g,
		Effect: executor.Effect{Step: "implement", Attempt: 1}, Epic: "bd-epic", Dir: t.TempDir(), Files: t.TempDir(),
	}
}

func TestVerdicts(t *testing.T) { // S0-55, S0-56, S2-22, S3-24..28
	for name, c := range map[string]struct {
		gate    ir.Gate
		verdict executor.Verdict
		message string
	}{
		"exit 0 passes":                     {ir.Gate{Run: "true"}, executor.Pass, ""},
		"another exit code fails":           {ir.Gate{Run: "echo why; exit 2"}, executor.Fail, "exit code 2: why"},
		"a missing program fails":           {ir.Gate{Run: "no-such-program"}, executor.Fail, "exit code 127"},
		"an expected exit code passes":      {ir.Gate{Run: "exit 3", Expect: ir.Expect{ExitCode: 3}}, executor.Pass, ""},
		"exit 0 fails where 3 is expected":  {ir.Gate{Run: "true", Expect: ir.Expect{ExitCode: 3}}, executor.Fail, "exit code 0, not 3 as expected"},
		"expected output passes":            {ir.Gate{Run: "echo all good", Expect: ir.Expect{StdoutContains: "all good"}}, executor.Pass, ""},
		"stderr is not stdout":              {ir.Gate{Run: "echo all good >&2", Expect: ir.Expect{StdoutContains: "all good"}}, executor.Fail, "stdout does not contain"},
		"expected errors pass":              {ir.Gate{Run: "echo w >&2", Expect: ir.Expect{StderrContains: "w"}}, executor.Pass, ""},
		"stdout is not stderr":              {ir.Gate{Run: "echo w", Expect: ir.Expect{StderrContains: "w"}}, executor.Fail, `stderr does not contain "w"`},
		"missing errors fail":               {ir.Gate{Run: "true", Expect: ir.Expect{StderrContains: "w"}}, executor.Fail, `stderr does not contain "w"`},
		"all expectations have to hold":     {ir.Gate{Run: "echo o; exit 3", Expect: ir.Expect{ExitCode: 3, StdoutContains: "o", StderrContains: "e"}}, executor.Fail, `stderr does not contain "e"`},
		"an endless loop fails":             {ir.Gate{Run: "while :; do :; done", TimeoutMS: 100}, executor.Fail, "did not end within 100ms"},
		"a gate that dies fails":            {ir.Gate{Run: "kill -9 $$"}, executor.Fail, "killed by signal 9"},
		"a branch name is text, never code": {ir.Gate{Run: `test ${run.branch} = "it's;"'$(touch pwned)' && test ! -e pwned`}, executor.Pass, ""},
		"no escape before it is taken":      {ir.Gate{Run: `echo "\${run.branch}"`}, executor.ErrorJudged, "behind a backslash"},
		"an unknown template is an error":   {ir.Gate{Run: "echo ${run.nothing}"}, executor.ErrorJudged, "run.nothing"},
		"a branch in quotes is an error":    {ir.Gate{Run: `echo "${run.branch}"`}, executor.ErrorJudged, "Write ${run.branch} without quotes"},
		"a plain word may be in quotes":     {ir.Gate{Run: `test "${run.attempt}" = 1`}, executor.Pass, ""},
		"the shell's own braces are left":   {ir.Gate{Run: `x=1; test "${x}" = 1`}, executor.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Command{Grace: 100 * time.Millisecond}.Judge(t.Context(), ask(t, c.gate))
			if err != nil || got.Verdict != c.verdict || !strings.Contains(got.Message, c.message) {
				t.Errorf("got %+v, %v; want %s with %q", got, err, c.verdict, c.message)
			}
			if got.Tests != "skip" || len(got.Message) > executor.MaxNote { // none of them runs tests
				t.Errorf("tests %q, message of %d bytes", got.Tests, len(got.Message))
			}
		})
	}
}

// execution §3: a gate gets the allow-list and what policy adds, a secret only where it
// is named.
func TestWhatAGateGetsOfTheEnvironment(t *testing.T) {
	for name, v := range map[string]string{
		"API_KEY": "hunter2", "NAMED_KEY": "swordfish", "PRIVATE_THING": "private", "SSH_AUTH_SOCK": "/s", "GIT_INDEX_FILE": "/x",
		"GOPATH": "/go", "JAVA_HOME": "/j", "VIRTUAL_ENV": "/v", "LC_CTYPE": "C", "https_proxy": "http://p",
	} {
		t.Setenv(name, v)
	}
	r := ask(t, ir.Gate{
		Run: `test -z "$API_KEY$PRIVATE_THING$SSH_AUTH_SOCK$GIT_INDEX_FILE" && test "$MINE$OF_WORKTREE" = 12 && test "$RALPH_NODE" = 1.1 &&
			test "$NAMED_KEY$GOPATH$JAVA_HOME$VIRTUAL_ENV$LC_CTYPE$https_proxy" = swordfish/go/j/vChttp://p && test -n "$PATH$HOME"`,
		Env: map[string]string{"MINE": "1"},
	})
	r.Env = map[string]string{"OF_WORKTREE": "2", "MINE": "of the worktree"}
	r.Secrets = map[string]string{"NAMED": "NAMED_KEY"}
	if got, err := (Command{}).Judge(t.Context(), r); err != nil || got.Verdict != executor.Pass {
		t.Errorf("got %+v, %v", got, err)
	}
	r.Secrets["GONE"] = "GONE_KEY"
	var f *executor.Failure
	if _, err := (Command{}).Judge(t.Context(), r); !errors.As(err, &f) || f.Class != executor.FailConfig || !strings.Contains(err.Error(), "GONE_KEY is not set") {
		t.Errorf("a secret that is not set: %v", err)
	}
	got, err := Command{}.Judge(t.Context(), ask(t, ir.Gate{Run: "echo 'KeyError: PRIVATE_THING'; exit 1"}))
	if err != nil || got.Verdict != executor.Fail || !strings.Contains(got.Message, "PRIVATE_THING is set where ralph runs, and gates do not get it") || strings.Contains(got.Message, "private\n") {
		t.Errorf("what looks like the cause: %+v, %v", got, err)
	}
}

// A person's program gets what a gate's command gets, and none of what marks that one.
func TestWhatAVisitorGetsOfTheEnvironment(t *testing.T) {
	t.Setenv("NAMED_KEY", "swordfish")
	r := ask(t, ir.Gate{Env: map[string]string{"MINE": "on ${run.attempt}"}})
	r.Secrets = map[string]string{"NAMED": "NAMED_KEY", "GONE": "GONE_KEY"}
	env, err := Visit(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MINE=on 1", "NAMED_KEY=swordfish", "RALPH_NODE=1.1"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is not in %q", want, env)
		}
	}
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, Mark+"=") || strings.HasPrefix(v, "GONE_KEY") }) {
		t.Errorf("got %q", env)
	}
	if len(r.Secrets) != 2 {
		t.Errorf("the gate's own secrets are %v", r.Secrets)
	}
	r.Gate.Env["MINE"] = "${run.nothing}"
	if env, err := Visit(r); err == nil {
		t.Errorf("an unknown template: got %q", env)
	}
}

// The processes of a gate are found by this, also after ralph was killed.
func TestTheProcessesOfAGateAreMarked(t *testing.T) {
	r := ask(t, ir.Gate{Run: `printf %s "$RALPH_GATE" > mark`, Env: map[string]string{Mark: "mine"}})
	if got, err := (Command{}).Judge(t.Context(), r); err != nil || got.Verdict != executor.Pass {
		t.Fatalf("got %+v, %v", got, err)
	}
	if b, err := os.ReadFile(filepath.Join(r.Dir, "mark")); err != nil || string(b) != filepath.Join(r.Files, "gate-1.1-verify") {
		t.Errorf("the mark is %q, %v", b, err)
	}
}

func TestAGateTellsThatItIsAtWork(t *testing.T) {
	r := ask(t, ir.Gate{Run: "echo compiling"})
	var told []executor.Activity
	r.Activity = func(a executor.Activity) { told = append(told, a) }
	if got, err := (Command{}).Judge(t.Context(), r); err != nil || got.Verdict != executor.Pass {
		t.Fatalf("got %+v, %v", got, err)
	}
	if want := []executor.Activity{{Bytes: 10, Line: "compiling"}}; !slices.Equal(told, want) {
		t.Errorf("it told %+v, want %+v", told, want)
	}
}

func TestAnEmptyValueIsAWord(t *testing.T) {
	r := ask(t, ir.Gate{Run: `set -- ${run.branch} x; test $# = 2 && test -z "$1"`})
	r.Node.Git.Branch = ""
	if got, err := (Command{}).Judge(t.Context(), r); err != nil || got.Verdict != executor.Pass {
		t.Errorf("got %+v, %v", got, err)
	}
}

// What keeps the shell from starting is no verdict: a person has to mend what lasts.
func TestAShellThatCannotStartIsNoVerdict(t *testing.T) {
	r := ask(t, ir.Gate{Run: "true"})
	r.Dir = filepath.Join(r.Dir, "gone")
	var f *executor.Failure
	if got, err := (Command{}).Judge(t.Context(), r); !errors.As(err, &f) || f.Class != executor.FailConfig || !strings.Contains(err.Error(), "the shell could not be started: ") {
		t.Errorf("no directory: got %+v, %v", got, err)
	}
	r = ask(t, ir.Gate{Run: "true"})
	if err := os.Mkdir(filepath.Join(r.Files, "gate-1.1-verify.log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := (Command{}).Judge(t.Context(), r); err != nil || got.Verdict != executor.ErrorJudged || !strings.Contains(got.Message, "the shell could not be started: ") {
		t.Errorf("no log: got %+v, %v", got, err)
	}
}

// Both outputs are told of where they are apart, and one output once.
func TestTheEndOfBothOutputsIsTold(t *testing.T) {
	const why = "exit code 0, not 3 as expected: to stderr\nto stdout\nto stderr"
	for contains, want := range map[string]string{"": why + "\n", "out": why} {
		g := ir.Gate{Run: "echo to stdout; echo to stderr >&2", Expect: ir.Expect{ExitCode: 3, StdoutContains: contains}}
		if got, err := (Command{}).Judge(t.Context(), ask(t, g)); err != nil || got.Message != want {
			t.Errorf("stdout contains %q: got %q, %v; want %q", contains, got.Message, err, want)
		}
	}
}

// closer does something when it is closed.
type closer struct {
	io.Writer
	then func()
}

func (c closer) Close() error {
	c.then()
	return nil
}

func TestWhatEndedBeforeItWasCancelledIsJudged(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := Command{Filter: func(w io.Writer) io.WriteCloser { return closer{w, cancel} }}
	if got, err := c.Judge(ctx, ask(t, ir.Gate{Run: "exit 2"})); err != nil || got.Verdict != executor.Fail || ctx.Err() == nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCancelIsNoVerdict(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got, err := (Command{Grace: 100 * time.Millisecond}).Judge(ctx, ask(t, ir.Gate{Run: "while :; do :; done"})); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSignatures(t *testing.T) {
	sign := func(text string) string {
		t.Helper()
		p := t.TempDir() + "/log"
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found := &results{}
		found.hear("", p)
		found.printed(p, p)
		s, err := signature("exit code 1", found.failed, p, p)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"times and numbers do not matter":      {"FAIL after 1.23s at line 10", "FAIL after 9.99s at line 11", true},
		"paths do not matter":                  {"cannot open /tmp/a1/x", "cannot open /var/b2/y", true},
		"another text is another failure":      {"undefined: foo", "undefined: bar", false},
		"the same failed tests are the same":   {"noise\n--- FAIL: TestA (0.00s)\n", "other noise\n--- FAIL: TestA (0.10s)\n", true},
		"other failed tests are another":       {"--- FAIL: TestA (0.00s)\n", "--- FAIL: TestB (0.00s)\n", false},
		"the order of tests does not matter":   {"--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n", "--- FAIL: TestB (0.00s)\n--- FAIL: TestA (0.00s)\n", true},
		"failed points without a plan":         {"one\nnot ok 3 - it adds\n", "two\nnot ok 4 - it adds\n", true},
		"other points without a plan":          {"not ok 3 - it adds\n", "not ok 3 - it divides\n", false},
		"a line without an end is read":        {strings.Repeat("x", headSize-1) + "a\n" + "b", strings.Repeat("x", headSize-1) + "c\n" + "b", false},
		"what comes after 20 lines is ignored": {strings.Repeat("x\n", 20) + "a", strings.Repeat("x\n", 20) + "b", true},
	} {
		if got := sign(c.a) == sign(c.b); got != c.same {
			t.Errorf("%s: same is %v", name, got)
		}
	}
}
