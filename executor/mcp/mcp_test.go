package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// fake is a runner whose turn is a function.
type fake func(context.Context, executor.AgentRun) (executor.AgentEnded, error)

func (fake) Check(context.Context, executor.AgentRun) error { return nil }

func (f fake) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	return f(ctx, r)
}

// ask is a run of attempt 2 of step implement of 1.1.
func ask(t *testing.T) executor.AgentRun {
	t.Helper()
	return executortest.AgentRun(t, ir.Runner{Kind: "fake"})
}

// during runs one turn and does what an agent would do in it.
func during(t *testing.T, s *Server, r executor.AgentRun, do func(executor.AgentRun)) {
	t.Helper()
	_, err := Serve(s, fake(func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
		do(r)
		return executor.AgentEnded{}, nil
	})).Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
}

func server(t *testing.T) *Server {
	t.Helper()
	s := &Server{}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// bearer adds the token of a turn to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connect is an agent's client.
func connect(t *testing.T, url, token string) (*mcp.ClientSession, error) {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}}, nil)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

func client(t *testing.T, r executor.AgentRun) *mcp.ClientSession {
	t.Helper()
	s, err := connect(t, r.Tools.URL, r.Tools.Token)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// call calls a tool with JSON and returns what the model reads.
func call(t *testing.T, s *mcp.ClientSession, tool, args string) (text string, refused bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	for _, c := range res.Content {
		text += c.(*mcp.TextContent).Text
	}
	return text, res.IsError
}

func file(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

const verdictSchema = `{"type":"object","properties":{"status":{"enum":["pass","fail","stop"]},"message":{"type":"string"}},"required":["status","message"]}`

// S4-39, S4-48, K15, execution §4
func TestAWrongShapeIsRefusedInTheSameTurnAndTheLastValidCallCounts(t *testing.T) {
	for name, c := range map[string]struct {
		schema       string
		wrong        map[string]string // call → what the refusal says
		first, final string
		sketch       string
	}{
		"an outcome of a step": {
			wrong: map[string]string{
				`{"result":"done","summary":"x"}`:  `"result" is "done"; it must be "success", "partial" or "failed"`,
				`{}`:                               `it has no "result"`,
				`{"result":"success"}`:             `it has no "summary"`,
				`{"result":"success","summary":7}`: "/summary: got number, want string",
				`{"result":"partial","summary":"x","fatal":"yes"}`:  "json:",
				`{"result":"success","success":false,"summary":""}`: "one of them is wrong",
				`{"result":"partial","result":"success"}`:           `the key "result" appears twice`,
				`{"success":true,"fatal":true}`:                     "both true",
			},
			first: `{"result":"partial","summary":"half"}`, final: `{"result":"success","summary":"all"}`,
			sketch: `{"result": "success" | "partial" | "failed", "summary": text`,
		},
		"a verdict of a gate": {
			schema: verdictSchema,
			wrong:  map[string]string{`{"status":"maybe","message":"x"}`: "/status", `{"status":"pass"}`: "message", `null`: "status"},
			first:  `{"status":"pass","message":"fine"}`, final: `{"status":"fail","message":"no"}`,
			sketch: `{"message": text, "status": "pass" | "fail" | "stop"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ask(t)
			if c.schema != "" {
				r.Schema, r.Raw = json.RawMessage(c.schema), true
			}
			var reported json.RawMessage
			r.Reported = &reported
			during(t, server(t), r, func(r executor.AgentRun) {
				agent := client(t, r)
				for args, want := range c.wrong {
					said, refused := call(t, agent, "report_outcome", args)
					if !refused || !strings.Contains(said, want) || !strings.Contains(said, c.sketch) {
						t.Errorf("%s: got %q, want a refusal that says %q and shows %s", args, said, want, c.sketch)
					}
				}
				if got := file(t, r.OutcomeFile()); got != "" {
					t.Errorf("a refused report was kept: %s", got)
				}
				for _, args := range []string{c.first, c.final} {
					if said, refused := call(t, agent, "report_outcome", args); refused {
						t.Errorf("%s was refused: %s", args, said)
					}
					if got := file(t, r.OutcomeFile()); got != args {
						t.Errorf("the answer came when the file held %q, want %q", got, args)
					}
				}
				if said, refused := call(t, agent, "report_outcome", `[]`); !refused {
					t.Errorf("a list was taken: %s", said)
				}
				if got := file(t, r.OutcomeFile()); got != c.final {
					t.Errorf("a refused call changed what stood: %s", got)
				}
			})
			if string(reported) != c.final {
				t.Errorf("reported %s, want %s", reported, c.final)
			}
		})
	}
}

func TestATokenIsGoodForItsTurnAlone(t *testing.T) {
	s := server(t)
	r := ask(t)
	first := r
	first.Files = filepath.Join(r.Files, "first")
	if err := os.MkdirAll(first.Files, 0o700); err != nil {
		t.Fatal(err)
	}
	var gone executor.Tools
	var session *mcp.ClientSession
	during(t, s, first, func(r executor.AgentRun) { gone, session = *r.Tools, client(t, r) })
	if err := os.MkdirAll(r.Files, 0o700); err != nil {
		t.Fatal(err)
	}
	during(t, s, r, func(r executor.AgentRun) {
		if r.Tools.Name == gone.Name || r.Tools.Token == gone.Token || r.Tools.URL == gone.URL {
			t.Errorf("the second turn has %+v, as the first", r.Tools)
		}
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "report_outcome", Arguments: json.RawMessage(`{"result":"success","summary":"an orphan"}`)})
		if err == nil {
			t.Error("an orphan of the first turn reported")
		}
		for _, c := range [][2]string{{gone.URL, gone.Token}, {r.Tools.URL, gone.Token}, {gone.URL, r.Tools.Token}, {r.Tools.URL, ""}, {r.Tools.URL + "/x", r.Tools.Token}} {
			if _, err := connect(t, c[0], c[1]); err == nil {
				t.Errorf("%v was let in", c)
			}
		}
		if got := file(t, r.OutcomeFile()); got != "" {
			t.Errorf("the second turn has an outcome: %s", got)
		}
	})
}
