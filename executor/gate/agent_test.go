package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/command"
	"github.com/ralph-compiler/ralph/ir"
)

var runners = map[string]executor.Runner{"command": &command.Runner{Base: runner.Base{Grace: 100 * time.Millisecond}}}

const typed = `{"type":"object","required":["status","message"],"properties":{"status":{"enum":["pass","fail","stop"]},"message":{"type":"string"},"coverage_percent":{"type":"number"}}}`

// judgeBy asks an agent that is a shell program.
func judgeBy(t *testing.T, script string) executor.GateRun {
	t.Helper()
	return executor.GateRun{
		Node: &ir.Node{
			ID: "bd-1-1", Key: "1.1", Title: "Log in", Goal: "SECRET GOAL", Prompt: []string{"SECRET PROMPT"}, Section: "SECRET SECTION",
			Git: ir.Git{Branch: "ralph/x/1-1"}, Acceptance: []string{"a user can log in"}, Tasks: []ir.Task{{Text: "write the form"}},
		},
		Name: "1.1/qa", Gate: ir.Gate{
			Kind: "agent", TimeoutMS: 20_000, OutputSchema: json.RawMessage(typed),
			Prompt: []string{"Look at ${run.branch}, not at $${run.branch}.", "", "Answer with one JSON object and nothing after it:"},
		},
		Effect: executor.Effect{Step: "implement", Attempt: 2, Commit: "c0ffee", Base: "ba5e"}, Epic: "bd-epic",
		Dir: t.TempDir(), Files: t.TempDir(), Agent: "qa", Model: "haiku-4", Text: "You are a strict judge.",
		Runner:   ir.Runner{Kind: "command", Run: []string{"sh", "-c", script}, Prompt: "stdin", Env: []string{"HOME"}},
		Outcome:  executor.Outcome{Summary: "SECRET SUMMARY"},
		Changed:  []executor.FileChange{{Path: "login.go", Type: "created", Added: 3}},
		Feedback: []string{"SECRET FEEDBACK"},
		Diff: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, "+func login() {}\n")
			return err
		},
	}
}

// S0-54..57, L0-10, K15
func TestVerdictsOfAgents(t *testing.T) {
	twice := `if [ -e asked ]; then %; else touch asked; fi; `
	for name, c := range map[string]struct {
		script  string
		verdict executor.Verdict
		message string
	}{
		"the whole output is an answer":               {`echo '{"status":"pass","message":"fine"}'`, executor.Pass, "fine"},
		"a fenced block is an answer":                 {"echo words; echo '```json'; echo '{\"status\":\"fail\",\"message\":\"no test\"}'; echo '```'", executor.Fail, "no test"},
		"words behind it are an error":                {"echo words; echo '```json'; echo '{\"status\":\"fail\",\"message\":\"no test\"}'; echo '```'; echo more", executor.ErrorJudged, "follows its verdict"},
		"the last fenced block counts":                {"printf '```json\\n{\"status\":\"pass\",\"message\":\"a\"}\\n```\\n```json\\n{\"status\":\"stop\",\"message\":\"b\"}\\n```\\n'", executor.Stop, "b"},
		"a pass quoted behind a fail is an error":     {"printf '```json\\n{\"status\":\"fail\",\"message\":\"a\"}\\n```\\nThe file says\\n```json\\n{\"status\":\"pass\",\"message\":\"b\"}\\n```\\n'", executor.ErrorJudged, "another verdict"},
		"a pass quoted behind a word is an error":     {"printf 'REJECTED: no test\\nThe file says\\n```json\\n{\"status\":\"pass\",\"message\":\"b\"}\\n```\\n'", executor.ErrorJudged, "another verdict"},
		"a fail quoted behind a bare stop stays":      {"printf '{\"status\" : \"stop\"}\\n```json\\n{\"status\":\"fail\",\"message\":\"b\"}\\n```\\n'", executor.Fail, "b"},
		"a pass may list checks that failed inside":   {`echo '{"status":"pass","message":"ok","checks":[{"status":"fail"}]}'`, executor.Pass, "ok"},
		"the file is an answer":                       {`echo chatter; echo '{"status":"pass","message":"filed"}' > "$RALPH_OUTCOME"`, executor.Pass, "filed"},
		"the output outranks the file":                {`echo '{"status":"fail","message":"said"}'; echo '{"status":"pass","message":"filed"}' > "$RALPH_OUTCOME"`, executor.Fail, "said"},
		"extra typed fields are kept":                 {`echo '{"status":"pass","message":"ok","coverage_percent":87.5}'`, executor.Pass, "ok"},
		"a failing judge may exit 1":                  {`echo '{"status":"fail","message":"bad"}'; exit 1`, executor.Fail, "bad"},
		"a verdict outranks exit code 127":            {`echo '{"status":"fail","message":"bad"}'; no-such-program`, executor.Fail, "bad"},
		"a pass with exit 1 is an error":              {`echo '{"status":"pass","message":"ok"}'; exit 1`, executor.ErrorJudged, "exit code 1"},
		"garbage is an error":                         {`head -c 5000 /dev/urandom`, executor.ErrorJudged, "no JSON object with a status"},
		"nothing is an error":                         {`true`, executor.ErrorJudged, "no JSON object with a status"},
		"another word is an error":                    {`echo '{"status":"PASS","message":"ok"}'`, executor.ErrorJudged, "/status"},
		"a wrong type is an error":                    {`echo '{"status":"pass","message":"ok","coverage_percent":"much"}'`, executor.ErrorJudged, "/coverage_percent"},
		"a missing message is an error":               {`echo '{"status":"pass"}'`, executor.ErrorJudged, "message"},
		"two objects are an error":                    {`echo '{"status":"fail","message":"a"}{"status":"pass","message":"b"}'`, executor.ErrorJudged, "more than one JSON value"},
		"a key that appears twice is an error":        {`echo '{"status":"fail","status":"pass","message":"b"}'`, executor.ErrorJudged, "appears twice"},
		"prose around it is an error":                 {`echo 'Sure: {"status":"pass","message":"b"}'`, executor.ErrorJudged, "one JSON object alone"},
		"a block that does not end is an error":       {"printf '```json\\n{\"status\":\"pass\",'", executor.ErrorJudged, "not valid JSON"},
		"asked again, it may answer":                  {strings.ReplaceAll(twice, "%", `echo '{"status":"pass","message":"second"}'`), executor.Pass, "second"},
		"asked again, it is told what was wrong":      {`if grep -q "/status: value must be one of"; then echo '{"status":"pass","message":"told"}'; else echo '{"status":"great","message":"m"}'; fi`, executor.Pass, "told"},
		"asked a third time, it is not":               {`n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; test $n -lt 3 || echo '{"status":"pass","message":"third"}'`, executor.ErrorJudged, "no JSON object"},
		"escapes for the terminal are taken out":      {`printf '{"status":"fail","message":"\\u001b[31mred"}'`, executor.Fail, "red"},
		"100 MB of JSON are an error":                 {`printf '{"status":"pass","message":"'; yes xxxxxxxxxxxxxxx | tr -d '\n' | head -c 100000000; echo '"}'`, executor.ErrorJudged, "answer"},
		"100 MB of chatter before it are no matter":   {"yes chatter | head -c 100000000; printf '```json\\n{\"status\":\"pass\",\"message\":\"m\"}\\n```\\n'", executor.Pass, "m"},
		"deep JSON is an error":                       {`printf '{"status":"pass","message":"m","x":'; yes '[' | head -n 1000 | tr -d '\n'; yes ']' | head -n 1000 | tr -d '\n'; echo '}'`, executor.ErrorJudged, "levels"},
		"the prompt has its templates filled":         {`grep -q 'Look at ralph/x/1-1, not at $${run.branch}.' && echo '{"status":"pass","message":"p"}'`, executor.Pass, "p"},
		"the prompt has the agent's file and input":   {`cat > p; head -1 p | grep -q 'You are a strict judge' && grep -q '"login.go"' p && grep -q '"a user can log in"' p && grep -q '+func login' p && grep -q '"attempt": 2' p && echo '{"status":"pass","message":"p"}'`, executor.Pass, "p"},
		"the contract stands last":                    {`tail -1 | grep -q 'Answer with one JSON object' && echo '{"status":"pass","message":"p"}'`, executor.Pass, "p"},
		"an answer in a file of another kind is none": {`ln -s /etc/passwd "$RALPH_OUTCOME"`, executor.ErrorJudged, "no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judgeBy(t, c.script)
			got, err := gate.Agent{Runners: runners}.Judge(t.Context(), r)
			if err != nil || got.Verdict != c.verdict || !strings.Contains(got.Message, c.message) {
				t.Fatalf("got %+v, %v; want %s with %q", got, err, c.verdict, c.message)
			}
			if got.Agent != "qa" || got.Model != "haiku-4" || got.Gate != "1.1/qa" || got.Tests != "skip" || len(got.Message) > executor.MaxNote {
				t.Errorf("got %+v", got)
			}
			kept, err := os.ReadFile(filepath.Join(r.Files, "gate-1.1-qa.json"))
			if (got.Verdict != executor.ErrorJudged) != (err == nil) || (err == nil) != (len(got.Details) == 64) {
				t.Errorf("kept %q, %v, details %q", kept, err, got.Details)
			}
			if (got.Signature != "") != (got.Verdict == executor.Fail || got.Verdict == executor.Stop) {
				t.Errorf("signature %q of %s", got.Signature, got.Verdict)
			}
		})
	}
}

func TestWhatARunnerCannotDoIsNoVerdict(t *testing.T) { // execution §4
	for name, c := range map[string]struct {
		change func(*executor.GateRun)
		class  executor.FailureClass
	}{
		"a missing program is configuration": {func(r *executor.GateRun) { r.Runner.Run = []string{"no-such-program"} }, executor.FailConfig},
		"a missing runner is configuration":  {func(r *executor.GateRun) { r.Runner.Kind = "claude" }, executor.FailConfig},
		"a killed agent is a crash":          {func(r *executor.GateRun) { r.Runner.Run[2] = "kill -9 $$" }, executor.FailCrash},
		"a rate limit is a limit": {func(r *executor.GateRun) {
			code := 75
			r.Runner.Run[2], r.Runner.LimitedWhen = "exit 75", &ir.LimitedWhen{ExitCode: &code}
		}, executor.FailLimit},
	} {
		t.Run(name, func(t *testing.T) {
			r := judgeBy(t, "true")
			c.change(&r)
			got, err := gate.Agent{Runners: runners}.Judge(t.Context(), r)
			var f *executor.Failure
			if !errors.As(err, &f) || f.Class != c.class || got.Verdict != executor.ErrorJudged {
				t.Errorf("got %+v, %v; want class %s", got, err, c.class)
			}
		})
	}
}

func TestAnAgentThatNeverAnswersIsAnError(t *testing.T) { // execution §4: timeout of an agent gate
	r := judgeBy(t, `echo '{"status":"pass","message":"early"}'; while :; do sleep 1; done`)
	r.Gate.TimeoutMS = 200
	got, err := gate.Agent{Runners: runners}.Judge(t.Context(), r)
	if err != nil || got.Verdict != executor.ErrorJudged || !strings.Contains(got.Message, "within 200ms") {
		t.Errorf("got %+v, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r.Gate.TimeoutMS = 0
	if got, err := (gate.Agent{Runners: runners}).Judge(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: got %+v, %v", got, err)
	}
}

func TestTheInputFitsItsSchema(t *testing.T) { // S0-53
	r := judgeBy(t, `cp "$RALPH_PROMPT" prompt; echo '{"status":"pass","message":"ok"}'`)
	r.Gate.InputSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["worktree_path","changed_files"],
		"properties":{"worktree_path":{"type":"string"},"branch":{"type":"string"},"changed_files":{"type":"array","items":{"type":"string"}}}}`)
	if input := inputOf(t, r); len(input) != 3 || input["branch"] != "ralph/x/1-1" || input["worktree_path"] != r.Dir {
		t.Errorf("input %v", input)
	}
	r.Gate.InputSchema = json.RawMessage(`{"type":"object","required":["ticket"],"properties":{"ticket":{"type":"string"}}}`)
	got, err := gate.Agent{Runners: runners}.Judge(t.Context(), r)
	if err != nil || got.Verdict != executor.ErrorJudged || !strings.Contains(got.Message, "ticket") || !strings.Contains(got.Message, "changed_files") {
		t.Errorf("got %+v, %v; want an error that says what can be asked for", got, err)
	}
}

// L2-04, execution §3
func TestAReviewIsBlind(t *testing.T) {
	r := judgeBy(t, `ls -A; cat "$RALPH_PROMPT" acceptance.md diff.patch; env; ls -A "$(dirname "$RALPH_PROMPT")"; cat "$RALPH_FEEDBACK"; echo; echo APPROVED`)
	r.Gate.Kind, r.Dir = "review", ""
	r.Env = map[string]string{"OF_THE_WORKTREE": "1"}
	got, err := gate.Review{Runners: runners}.Judge(t.Context(), r)
	if err != nil || got.Verdict != executor.Pass {
		t.Fatalf("got %+v, %v", got, err)
	}
	b, err := os.ReadFile(filepath.Join(r.Files, "gate-1.1-qa", "gate-1.1-qa.out"))
	if err != nil {
		t.Fatal(err)
	}
	seen := string(b)
	if !strings.HasPrefix(seen, "acceptance.md\ndiff.patch\n") {
		t.Errorf("its directory holds something else: %.200s", seen)
	}
	for _, want := range []string{
		"You review a change without knowing who made it", "holds the acceptance criteria (acceptance.md) and the diff (diff.patch). That is all", "- a user can log in\n", "+func login() {}", "You are a strict judge.",
	} {
		if !strings.Contains(seen, want) {
			t.Errorf("it does not see %q", want)
		}
	}
	for _, not := range []string{"SECRET", "write the form", "OF_THE_WORKTREE", "changed_files"} {
		if strings.Contains(seen, not) {
			t.Errorf("it sees %q", not)
		}
	}
}

// The review of a changed draft judges the whole plan, and knows its first brief.
func TestAReviewOfADraftSeesThePlan(t *testing.T) {
	r := judgeBy(t, `ls -A; cat "$RALPH_PROMPT" acceptance.md plan.md; echo; echo APPROVED`)
	r.Gate.Kind, r.Dir = "review", ""
	r.Node.Goal = "Readers find pages"
	r.Plan = func(context.Context) ([]byte, error) { return []byte("# Search\n\nnot\u202e touched\n"), nil }
	got, err := gate.Review{Runners: runners}.Judge(t.Context(), r)
	if err != nil || got.Verdict != executor.Pass {
		t.Fatalf("got %+v, %v", got, err)
	}
	b, err := os.ReadFile(filepath.Join(r.Files, "gate-1.1-qa", "gate-1.1-qa.out"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"acceptance.md\ndiff.patch\nplan.md\n", "first asked for\n\nReaders find pages\n", "is in plan.md", `not\u202e touched`, "# Acceptance criteria\n\n```\na user can log in\n```\n# Search"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("it does not see %q:\n%s", want, b)
		}
	}
}

func TestReviewsMaySpeakInWords(t *testing.T) { // L2-04
	for name, c := range map[string]struct {
		script  string
		verdict executor.Verdict
		message string
	}{
		"the file may say it":                     {`echo APPROVED > "$RALPH_OUTCOME"`, executor.Pass, "approved"},
		"APPROVED passes":                         {"echo looks good; echo APPROVED", executor.Pass, "looks good"},
		"bold words count":                        {"echo '**APPROVED**'", executor.Pass, "approved"},
		"REJECTED fails with its reason":          {"echo 'REJECTED: no tests'", executor.Fail, "no tests"},
		"REJECTED fails with what is before":      {"echo 'there are no tests'; echo REJECTED", executor.Fail, "there are no tests"},
		"the tracker's words are left alone":      {"echo 'REJECTED: [VALIDATION REJECTED] no tests'", executor.Fail, "[VALIDATION REJECTED] no tests"},
		"a word inside a sentence is no verdict":  {"echo 'this is APPROVED by nobody'", executor.ErrorJudged, "neither APPROVED nor REJECTED"},
		"both words are no verdict":               {"echo REJECTED; echo APPROVED", executor.ErrorJudged, "neither"},
		"lower case is no verdict":                {"echo approved", executor.ErrorJudged, "neither"},
		"not approved is no verdict":              {"echo NOT APPROVED", executor.ErrorJudged, "neither"},
		"JSON counts as with every judge":         {`echo '{"status":"stop","message":"a key is in it"}'`, executor.Stop, "a key is in it"},
		"broken JSON is not fixed by words":       {`echo '{"status":"fail",'; echo APPROVED`, executor.ErrorJudged, "not valid JSON"},
		"words do not stand for more than a word": {"echo APPROVED", executor.Pass, "approved"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judgeBy(t, c.script)
			r.Dir = ""
			got, err := gate.Review{Runners: runners}.Judge(t.Context(), r)
			if err != nil || got.Verdict != c.verdict || !strings.Contains(got.Message, c.message) {
				t.Errorf("got %+v, %v; want %s with %q", got, err, c.verdict, c.message)
			}
		})
	}
	r := judgeBy(t, "echo APPROVED")
	r.Gate.OutputSchema = json.RawMessage(strings.Replace(typed, `["status","message"]`, `["status","message","coverage_percent"]`, 1))
	r.Dir = ""
	if got, err := (gate.Review{Runners: runners}).Judge(t.Context(), r); err != nil || got.Verdict != executor.ErrorJudged {
		t.Errorf("a word where fields are required: got %+v, %v", got, err)
	}
}

func TestOutcomeGates(t *testing.T) { // S1-40..43
	long := strings.Repeat("x", executor.MaxNote)
	for name, c := range map[string]struct {
		gate    ir.Gate
		outcome executor.Outcome
		want    executor.Verdict
		message string // "" of a pass alone
	}{
		"the promise passes":                 {ir.Gate{Promise: "DONE"}, executor.Outcome{Promise: " DONE "}, executor.Pass, ""},
		"another promise fails":              {ir.Gate{Promise: "DONE"}, executor.Outcome{Promise: "NOT DONE"}, executor.Fail, "did not end with <promise>DONE</promise>, but with <promise>NOT DONE</promise>"},
		"no promise fails":                   {ir.Gate{Promise: "DONE"}, executor.Outcome{Result: "success"}, executor.Fail, "did not end with <promise>DONE</promise>"},
		"what else is reported is no matter": {ir.Gate{Promise: "DONE"}, executor.Outcome{Promise: "DONE", Result: "failed", Fatal: true, Errors: []string{"x"}}, executor.Pass, ""},
		"no errors pass":                     {ir.Gate{NoErrors: true}, executor.Outcome{Result: "success"}, executor.Pass, ""},
		"a promise that nobody asked for":    {ir.Gate{NoErrors: true}, executor.Outcome{Result: "success", Promise: "DONE"}, executor.Pass, ""},
		"errors fail":                        {ir.Gate{NoErrors: true}, executor.Outcome{Result: "success", Errors: []string{"x", "y"}}, executor.Fail, "the agent reported errors:\n- x\n- y"},
		"a failed run fails":                 {ir.Gate{NoErrors: true}, executor.Outcome{Result: "failed", Summary: "no way"}, executor.Fail, "the agent reported failure: no way"},
		"a fatal one fails":                  {ir.Gate{NoErrors: true}, executor.Outcome{Result: "partial", Fatal: true, Summary: "no disk"}, executor.Fail, "the agent reported failure: no disk"},
		"both must hold":                     {ir.Gate{NoErrors: true, Promise: "DONE"}, executor.Outcome{Promise: "DONE", Errors: []string{"x"}}, executor.Fail, "errors"},
		"a long list is shortened":           {ir.Gate{NoErrors: true}, executor.Outcome{Errors: []string{long, long}}, executor.Fail, "xxx"},
		"an unreadable outcome is error":     {ir.Gate{NoErrors: true}, executor.Outcome{Invalid: "no JSON"}, executor.ErrorJudged, "cannot be read: no JSON"},
		"a gate without a wish is error":     {ir.Gate{}, executor.Outcome{Result: "success"}, executor.ErrorJudged, "neither"},
	} {
		got, err := gate.Outcome{}.Judge(t.Context(), executor.GateRun{Name: "o", Gate: c.gate, Outcome: c.outcome})
		if err != nil || got.Verdict != c.want || (got.Message == "") != (c.want == executor.Pass) || !strings.Contains(got.Message, c.message) || len(got.Message) > executor.MaxNote {
			t.Errorf("%s: got %+v, %v; want %s with %q", name, got, err, c.want, c.message)
		}
		if c.outcome.Promise == "" && strings.Contains(got.Message, "but with") {
			t.Errorf("%s: it says what was not said: %s", name, got.Message)
		}
		if (got.Signature == "") != (c.want != executor.Fail) { // by it the same failure in a row is told
			t.Errorf("%s: %s has the signature %q", name, got.Verdict, got.Signature)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := (gate.Outcome{}).Judge(ctx, executor.GateRun{Name: "o", Gate: ir.Gate{Promise: "DONE"}, Outcome: executor.Outcome{Promise: "DONE"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was cancelled: got %+v, %v", got, err)
	}
}
