package command

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/ir"
)

func script(text string) ir.Runner {
	return ir.Runner{Kind: "command", Run: []string{"sh", "-c", text}, Prompt: "stdin", Env: []string{"HOME"}, Outcome: "optional"}
}

var quick = &Runner{runner.Base{Grace: 100 * time.Millisecond}}

func TestContract(t *testing.T) {
	executortest.RunnerContract(t, quick, func(t *testing.T, word string) executor.AgentRun {
		return executortest.AgentRun(t, script(map[string]string{
			"succeed": "true", "fail": "exit 1", "hang": "while :; do sleep 1; done",
			"partial": `printf '{"result":"partial"}' > "$RALPH_OUTCOME"`, "write": "echo x > made.txt",
		}[word]))
	})
}

func TestHowARunIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		outcome string // optional, required
		want    executor.Outcome
		class   executor.FailureClass
	}{
		"exit 0 is success":                     {"true", "", executor.Outcome{Result: "success"}, ""},
		"another exit code is a failed run":     {"echo no; exit 3", "", executor.Outcome{}, ""},
		"an outcome outranks the exit code":     {`echo '{"result":"success","summary":"s"}' > "$RALPH_OUTCOME"; exit 3`, "", executor.Outcome{Result: "success", Summary: "s"}, ""},
		"a required outcome has to be there":    {"true", "required", executor.Outcome{Invalid: "it wrote nothing to the file that RALPH_OUTCOME names"}, ""},
		"a question is kept":                    {`echo '{"result":"partial","next_action":"need_human","summary":"which?"}' > "$RALPH_OUTCOME"`, "", executor.Outcome{Result: "partial", NextAction: "need_human", Summary: "which?"}, ""},
		"an unknown result is invalid":          {`echo '{"result":"done"}' > "$RALPH_OUTCOME"`, "", executor.Outcome{Invalid: `"result" is "done"; it must be "success", "partial" or "failed"`}, ""},
		"a link is no outcome":                  {`ln -s /etc/passwd "$RALPH_OUTCOME"`, "", executor.Outcome{Invalid: "the outcome is not a regular file"}, ""},
		"escapes in a summary are removed":      {`printf '{"result":"success","summary":"\\u001b[31mred"}' > "$RALPH_OUTCOME"`, "", executor.Outcome{Result: "success", Summary: "[31mred"}, ""},
		"126 is configuration":                  {"exit 126", "", executor.Outcome{}, executor.FailConfig},
		"127 is configuration":                  {"no-such-program", "", executor.Outcome{}, executor.FailConfig},
		"a signal that was not ours is a crash": {"kill -9 $$", "", executor.Outcome{}, executor.FailCrash},
	} {
		t.Run(name, func(t *testing.T) {
			r := script(c.script)
			r.Outcome = c.outcome
			got, err := quick.Run(t.Context(), executortest.AgentRun(t, r))
			var f *executor.Failure
			if errors.As(err, &f) != (c.class != "") || f != nil && f.Class != c.class {
				t.Fatalf("got error %v, want class %q", err, c.class)
			}
			if c.class == "" && !reflect.DeepEqual(got.Outcome, c.want) {
				t.Errorf("got %+v, want %+v", got.Outcome, c.want)
			}
		})
	}
}

func TestAnAgentGetsItsEnvironmentAndNothingElse(t *testing.T) {
	t.Setenv("PASSWORD", "hunter2")
	t.Setenv("GIT_DIR", "/x")
	t.Setenv("RALPH_NODE", "stale")
	t.Setenv("TOKEN_VAR", "tok")
	for _, prompt := range []string{"stdin", "file", "arg"} {
		t.Run(prompt, func(t *testing.T) {
			r := script(`env | sort > env.txt; cat > stdin.txt; cat "$RALPH_PROMPT" > prompt.txt; cat "$RALPH_FEEDBACK" > feedback.txt; printf %s "$1" > arg.txt`)
			r.Prompt = prompt
			if prompt == "arg" {
				r.Run = append(r.Run, "sh")
			}
			r.Set = map[string]string{"BRANCH": "on ${run.branch}", "LITERAL": "$${run.branch}"}
			r.Secrets = []string{"token"}
			ask := executortest.AgentRun(t, r)
			ask.Env = map[string]string{"FROM_WORKTREE": "1"}
			one := *quick
			run := &one
			run.Base.Secrets = map[string]ir.Secret{"token": {Env: "TOKEN_VAR"}}
			if _, err := run.Run(t.Context(), ask); err != nil {
				t.Fatal(err)
			}
			read := func(name string) string {
				b, err := os.ReadFile(filepath.Join(ask.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
			env := read("env.txt")
			for _, want := range []string{
				"RALPH_EPIC=bd-epic\n", "RALPH_NODE=1.1\n", "RALPH_ID=bd-1-1\n", "RALPH_STEP=implement\n", "RALPH_ATTEMPT=2\n",
				"RALPH_BRANCH=ralph/x/1-1\n", "RALPH_OUTCOME=" + ask.Files, "BRANCH=on ralph/x/1-1\n", "LITERAL=${run.branch}\n", "FROM_WORKTREE=1\n", "HOME=", "PATH=", "TOKEN_VAR=tok\n",
			} {
				if !strings.Contains(env, want) {
					t.Errorf("the environment lacks %q:\n%s", want, env)
				}
			}
			for _, not := range []string{"hunter2", "GIT_DIR", "stale"} {
				if strings.Contains(env, not) {
					t.Errorf("the environment holds %q", not)
				}
			}
			if read("prompt.txt") != "the prompt" || read("feedback.txt") != "the feedback" {
				t.Error("prompt or feedback file is wrong")
			}
			if got := map[string]string{"stdin": read("stdin.txt"), "file": read("prompt.txt"), "arg": read("arg.txt")}[prompt]; got != "the prompt" {
				t.Errorf("the prompt came as %q", got)
			}
		})
	}
}

func TestCheckFindsWhatIsMissing(t *testing.T) {
	for name, r := range map[string]ir.Runner{
		"a program that is not on PATH": {Run: []string{"no-such-program"}},
		"no program":                    {},
		"an unknown template":           {Run: []string{"sh", "${run.nothing}"}},
		"an undeclared secret":          {Run: []string{"sh"}, Secrets: []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			var f *executor.Failure
			if err := quick.Check(t.Context(), executortest.AgentRun(t, r)); !errors.As(err, &f) || f.Class != executor.FailConfig {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := quick.Check(t.Context(), executortest.AgentRun(t, script("true"))); err != nil {
		t.Errorf("a runner that can run: %v", err)
	}
}

func TestASilentAgentStalls(t *testing.T) { // S4-65, S4-66
	ask := executortest.AgentRun(t, script("while :; do sleep 1; done"))
	ask.Step.Stall = ir.Stall{AfterMS: 100, Action: "fail"}
	if got, err := quick.Run(t.Context(), ask); err != nil || got.End != executor.EndStalled {
		t.Errorf("got %+v, %v", got, err)
	}
	ask.Step.Stall.Action = "retry"
	var f *executor.Failure
	if _, err := quick.Run(t.Context(), ask); !errors.As(err, &f) || f.Class != executor.FailCrash {
		t.Errorf("got %v", err)
	}
}
