package claude

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/internal/modeltest"
)

// S4-48, K15: a session that goes on is offered the report of this turn, in the
// shape of this turn.
func TestRealReportsOfASession(t *testing.T) {
	w := newWorld(t)
	var server mcp.Server
	defer server.Close()
	served := mcp.Serve(&server, quick)
	base := w.model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
		{Match: "judge", Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Report(map[string]string{"status": "pass"})}}, {Text: "judged"}}},
		{Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Report(map[string]string{"result": "success", "summary": "s"})}}, {Text: "done"}}},
	}})
	first := w.ask(t, base)
	got, err := served.Run(t.Context(), first)
	if err != nil || got.Outcome.Result != "success" || got.Outcome.Summary != "s" {
		t.Fatalf("got %+v, %v", got, err)
	}
	var reported json.RawMessage
	second := w.ask(t, base)
	second.Effect.Session, second.Prompt, second.Raw, second.Reported = got.Session, []byte("judge it"), true, &reported
	second.Schema = json.RawMessage(`{"type":"object","required":["status"],"properties":{"status":{"type":"string","enum":["pass","fail"],"description":"SECOND SHAPE"}}}`)
	if _, err := served.Run(t.Context(), second); err != nil || !strings.Contains(string(reported), `"pass"`) {
		t.Fatalf("reported %s, %v", reported, err)
	}
	all := w.model.Turns(base)
	var offered []string
	var body struct {
		Tools []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(all[len(all)-1].Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, tool := range body.Tools {
		if strings.HasSuffix(tool.Name, "report_outcome") {
			offered = append(offered, tool.Name+" "+string(tool.Schema))
		}
	}
	if len(offered) != 1 || !strings.Contains(offered[0], "SECOND SHAPE") {
		t.Errorf("the model is offered %q", offered)
	}
}
