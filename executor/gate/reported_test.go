package gate_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/mcp"
)

// turns is an agent with tools: what it does in each of its turns.
type turns []func(executor.AgentRun)

func (*turns) Check(context.Context, executor.AgentRun) error { return nil }

func (t *turns) Run(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	(*t)[0](r)
	*t = (*t)[1:]
	return executor.AgentEnded{End: executor.EndExited, Session: "s1"}, nil
}

// says ends a turn with a last message, after a report; "" is none.
func says(report, message string) func(executor.AgentRun) {
	return func(r executor.AgentRun) {
		*r.Answer = []byte(message)
		if report != "" {
			*r.Reported = json.RawMessage(report)
		}
	}
}

// K15, L0-10, S4-48, execution §4: an invalid answer is asked for once more, and
// then it is an error. What was reported counts alone; a text has to be beyond doubt.
func TestWhatIsReportedOutranksWhatIsSaid(t *testing.T) {
	const pass, fail, quoted = `{"status":"pass","message":"reported"}`, `{"status":"fail","message":"reported"}`, "The last judge wrote {\"status\": \"fail\"}.\nREJECTED: by him\nIt is fixed."
	file := func(r executor.AgentRun) {
		*r.Answer = []byte("I do not know.")
		if err := os.WriteFile(r.OutcomeFile(), []byte(pass), 0o600); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		turns   turns
		verdict executor.Verdict
		message string
	}{
		"a report needs no message":                    {turns{says(pass, "")}, executor.Pass, "reported"},
		"a reported pass may quote a fail":             {turns{says(pass, quoted)}, executor.Pass, "reported"},
		"a reported fail outranks a pass that is said": {turns{says(fail, pass)}, executor.Fail, "reported"},
		"a reported pass outranks a fail that is said": {turns{says(pass, strings.ReplaceAll(fail, "reported", "said"))}, executor.Pass, "reported"},
		"a pass that is said must not quote a fail":    {turns{says("", quoted+"\n```json\n"+pass+"\n```"), says("", "")}, executor.ErrorJudged, "report_outcome was not called"},
		"a message counts where nothing was reported":  {turns{says("", `{"status":"stop","message":"said"}`)}, executor.Stop, "said"},
		"asked again, it reports":                      {turns{says("", "Looks good to me."), says(fail, "")}, executor.Fail, "reported"},
		"asked again, it answers":                      {turns{says("", "Looks good to me."), says("", pass)}, executor.Pass, "reported"},
		"asked again, it says nothing":                 {turns{says("", "Looks good."), says("", "Looks good.")}, executor.ErrorJudged, "report_outcome was not called, and of the last message: it holds no JSON object"},
		"a report that is no verdict is asked again":   {turns{says(`{"status":"fine","message":"x"}`, pass), says(pass, "")}, executor.Pass, "reported"},
		"a file that nobody reported is no verdict":    {turns{file, file}, executor.ErrorJudged, "report_outcome was not called"},
	} {
		t.Run(name, func(t *testing.T) {
			r := judgeBy(t, "")
			r.Runner.Kind = "fake"
			left := c.turns
			got, err := gate.Agent{Runners: map[string]executor.Runner{"fake": &left}}.Judge(t.Context(), r)
			if err != nil || got.Verdict != c.verdict || !strings.Contains(got.Message, c.message) || len(left) > 0 {
				t.Errorf("got %+v, %v, %d turns were not taken; want %s with %q", got, err, len(left), c.verdict, c.message)
			}
		})
	}
}

// What of a verdict goes into its event, and what becomes of one that cannot be kept.
func TestTheVerdictOfAnAgentIsKept(t *testing.T) {
	judge := func(r executor.GateRun) executor.GateJudged {
		t.Helper()
		r.Runner.Kind = "fake"
		said := turns{says(`{"status":"fail","message":"`+strings.Repeat("<", executor.MaxNote)+`","details":{"passed":3,"failed":1}}`, "")}
		got, err := gate.Agent{Runners: map[string]executor.Runner{"fake": &said}}.Judge(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := judge(judgeBy(t, ""))
	if got.Verdict != executor.Fail || got.Counts == nil || *got.Counts != (executor.TestCounts{Passed: 3, Failed: 1}) || !strings.HasPrefix(got.Message, "<<<") || !got.Fits() {
		t.Errorf("got %+v", got)
	}
	r := judgeBy(t, "")
	if err := os.Mkdir(filepath.Join(r.Files, "gate-1.1-qa.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := judge(r); got.Verdict != executor.ErrorJudged || got.Signature != "" || got.Details != "" || !strings.HasPrefix(got.Message, "the verdict could not be kept: ") {
		t.Errorf("it cannot be kept: %+v", got)
	}
}

func TestAnAgentWithToolsIsToldToReport(t *testing.T) {
	for _, kind := range []string{"fake", "command"} {
		var prompts []string
		look := func(r executor.AgentRun) {
			prompts = append(prompts, string(r.Prompt))
			if r.Schema == nil || !r.Raw || r.Reported == nil {
				t.Errorf("%s: %s, raw %v", kind, r.Schema, r.Raw)
			}
			if len(prompts) == 2 && r.Effect.Session != "s1" {
				t.Errorf("asked again in session %q", r.Effect.Session)
			}
		}
		r := judgeBy(t, "")
		r.Runner.Kind = kind
		if _, err := (gate.Agent{Runners: map[string]executor.Runner{kind: &turns{look, look}}}).Judge(t.Context(), r); err != nil || len(prompts) != 2 {
			t.Fatalf("got %v, %d turns", err, len(prompts))
		}
		for i, p := range prompts {
			if got := strings.Contains(p, "report_outcome"); got != (kind == "fake") {
				t.Errorf("%s, turn %d: the tool is named: %v\n%s", kind, i, got, p)
			}
			if !strings.Contains(p, "with the JSON object alone") && (kind == "fake" || i == 1) {
				t.Errorf("%s, turn %d does not say what to do without it:\n%s", kind, i, p)
			}
		}
	}
}

// execution §3: a blind review cannot ask for what it must not know, and a judge
// reports through the real channel; a wrong shape is refused in the same turn.
func TestABlindReviewHasNoContext(t *testing.T) {
	server := &mcp.Server{}
	defer server.Close()
	tool := func(r executor.AgentRun, body string) string {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.Tools.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,`+body+`}`))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+r.Tools.Token)
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for kind, c := range map[string]struct {
		sees []string
		asks bool
	}{
		"agent":                {nil, true},
		"agent, with the plan": {[]string{"diff", "plan"}, true},
		"agent, with the diff": {[]string{"diff"}, false},
		"review":               {nil, false},
	} {
		r := judgeBy(t, "")
		r.Runner.Kind, r.Context, r.Gate.Sees = "fake", json.RawMessage(`{"goal":"SECRET GOAL"}`), c.sees
		judge := func(by map[string]executor.Runner) executor.Gate { return gate.Agent{Runners: by} }
		if kind == "review" {
			r.Dir, r.Gate.Kind = "", kind
			judge = func(by map[string]executor.Runner) executor.Gate { return gate.Review{Runners: by} }
		}
		report := func(r executor.AgentRun) {
			if said := tool(r, `"method":"tools/call","params":{"name":"report_outcome","arguments":{"status":"good","message":"x"}}`); !strings.Contains(said, `"isError":true`) || !strings.Contains(said, "/status") {
				t.Errorf("%s: a wrong shape: %s", kind, said)
			}
			if got := strings.Contains(tool(r, `"method":"tools/list"`), `"get_context"`); got != c.asks {
				t.Errorf("%s: get_context is there: %v", kind, got)
			}
			said := tool(r, `"method":"tools/call","params":{"name":"get_context","arguments":{}}`)
			if got := strings.Contains(said, "SECRET GOAL"); got != c.asks {
				t.Errorf("%s: the context: %s", kind, said)
			}
			if said := tool(r, `"method":"tools/call","params":{"name":"report_outcome","arguments":{"status":"pass","message":"through the channel"}}`); strings.Contains(said, "isError") {
				t.Errorf("%s: %s", kind, said)
			}
		}
		got, err := judge(map[string]executor.Runner{"fake": mcp.Serve(server, &turns{report})}).Judge(t.Context(), r)
		if err != nil || got.Verdict != executor.Pass || got.Message != "through the channel" {
			t.Errorf("%s: got %+v, %v", kind, got, err)
		}
	}
}
