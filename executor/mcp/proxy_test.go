package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-compiler/ralph/executor"
)

// stdio starts a proxy as an agent does and connects to it.
func stdio(t *testing.T, tools executor.Tools) (*mcp.ClientSession, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, tools.Proxy[1:]...)
	// What an agent gives on: an HTTP proxy of the user must not see the token.
	cmd.Env = []string{roleVar + "=proxy", "HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1"}
	for k, v := range tools.ProxyEnv {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	for _, a := range cmd.Args {
		if strings.Contains(a, tools.Token) {
			t.Errorf("the token is an argument: %q", a)
		}
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

func TestTheSameOverStdio(t *testing.T) {
	s := server(t)
	var gone executor.Tools
	var agent *mcp.ClientSession
	r := ask(t)
	r.Context = json.RawMessage(`{"goal":"ship it"}`)
	during(t, s, r, func(r executor.AgentRun) {
		gone = *r.Tools
		var err error
		if agent, err = stdio(t, gone); err != nil {
			t.Fatal(err)
		}
		if said, refused := call(t, agent, "report_outcome", `{"result":"done","summary":"x"}`); !refused || !strings.Contains(said, `"result" is "done"`) {
			t.Errorf("got %q, %v", said, refused)
		}
		for _, want := range []string{`{"result":"partial","summary":"half"}`, `{"result":"success","summary":"all"}`} {
			if said, refused := call(t, agent, "report_outcome", want); refused || file(t, r.OutcomeFile()) != want {
				t.Errorf("got %q, and the file holds %q; want %q", said, file(t, r.OutcomeFile()), want)
			}
		}
		if said, _ := call(t, agent, "get_context", `{}`); said != `{"goal":"ship it"}` {
			t.Errorf("the context is %q", said)
		}
	})
	// The agent outlives its turn.
	_, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "report_outcome", Arguments: json.RawMessage(`{"result":"success","summary":"late"}`)})
	if err == nil || !strings.Contains(err.Error(), gone.Name+" is over") {
		t.Errorf("after its turn it got %v", err)
	}
	if _, err := stdio(t, gone); err == nil {
		t.Error("a proxy of a turn that is over began to work")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "report_outcome", Arguments: json.RawMessage(`{}`)})
	if err == nil || !strings.Contains(err.Error(), "does not answer") || !strings.Contains(err.Error(), "Nothing was recorded") {
		t.Errorf("when ralph was gone it got %v", err)
	}
}

func TestWhatTheProxyIsStartedWith(t *testing.T) {
	for name, c := range map[string]struct{ address, token, want string }{
		"nothing":                  {"", "", "RALPH_MCP_URL and RALPH_MCP_TOKEN are not set"},
		"no token":                 {"http://127.0.0.1:1/a", "", "are not set"},
		"another machine":          {"http://192.0.2.1:1/a", "x", "not an address on this machine"},
		"a name":                   {"http://localhost.example:1/a", "x", "not an address on this machine"},
		"a user before an address": {"http://127.0.0.1@192.0.2.1:1/a", "x", "not an address on this machine"},
		"another attempt":          {"http://127.0.0.1:1/b", "x", "belongs to attempt b, not to a"},
		"nobody there":             {"http://127.0.0.1:1/a", "x", "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n")
			if err := Proxy(t.Context(), in, io.Discard, "a", c.address, c.token); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Lines that are no requests, or too long, do not end a proxy, and requests after
// them are answered. OpenCode tells it to cancel what has ended long ago.
func TestWhatAProxyIsToldIsAnsweredLineByLine(t *testing.T) {
	during(t, server(t), ask(t), func(r executor.AgentRun) {
		in := strings.Join([]string{
			`{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{}}`,
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`,
			`no JSON`, ``, `[]`, `{"id":5}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"` + strings.Repeat("x", maxBody) + `"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"unknown","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":5,"method":"ping"}`, // the last line has no end
		}, "\n")
		var out bytes.Buffer
		if err := Proxy(t.Context(), strings.NewReader(in), &out, r.Tools.Name, r.Tools.URL, r.Tools.Token); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			var m struct {
				ID     json.RawMessage
				Result map[string]any
				Error  struct{ Code int }
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			word := "ok"
			if m.Result == nil {
				b, _ := json.Marshal(m.Error.Code)
				word = string(b)
			}
			got = append(got, string(m.ID)+" "+word)
		}
		want := `"a" -32601,1 ok,null -32700,null -32700,null -32700,3 ok,4 -32602,5 ok`
		if g := strings.Join(got, ","); g != want {
			t.Errorf("got  %s\nwant %s", g, want)
		}
	})
}

func TestAProxyEndsWhenItsAgentDoesNotListen(t *testing.T) {
	during(t, server(t), ask(t), func(r executor.AgentRun) {
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
		if err := Proxy(t.Context(), in, deaf{}, r.Tools.Name, r.Tools.URL, r.Tools.Token); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Proxy(ctx, strings.NewReader("\n"), io.Discard, r.Tools.Name, r.Tools.URL, r.Tools.Token); err != nil {
			t.Errorf("got %v", err)
		}
	})
}

type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
