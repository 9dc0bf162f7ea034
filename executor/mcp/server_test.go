package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// execution §9: what an agent was told is recorded is recorded.
func TestAReportThatWasAnsweredOutlivesAKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := t.TempDir()
	cmd := exec.Command(self, files)
	cmd.Env = []string{roleVar + "=server"}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var tools executor.Tools
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &tools)
	}
	if err != nil {
		t.Fatal(err)
	}
	agent, err := connect(t, tools.URL, tools.Token)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"result":"success","summary":"before the kill"}`
	said, refused := call(t, agent, "report_outcome", want)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if got := file(t, (&executor.AgentRun{Files: files}).OutcomeFile()); refused || got != want {
		t.Errorf("got %q, and after the kill the file holds %q", said, got)
	}
}

// S4-38, S4-39
func TestManyTurnsAtOnceKeepTheirReportsApart(t *testing.T) {
	s := server(t)
	const turns = 50
	var names sync.Map
	var wg sync.WaitGroup
	for i := range turns {
		wg.Go(func() {
			r := ask(t)
			r.Effect.Attempt = i + 1
			var reported json.RawMessage
			r.Reported = &reported
			want := fmt.Sprintf(`{"result":"success","summary":"turn %d"}`, i)
			_, err := Serve(s, fake(func(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
				if other, taken := names.LoadOrStore(r.Tools.Name, i); taken {
					t.Errorf("turns %d and %v are both called %s", i, other, r.Tools.Name)
				}
				c := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
				agent, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: r.Tools.URL, HTTPClient: &http.Client{Transport: bearer(r.Tools.Token)}}, nil)
				if err != nil {
					return executor.AgentEnded{}, err
				}
				defer agent.Close()
				for _, args := range []string{`{"result":"done"}`, `{"result":"partial","summary":"x"}`, want} {
					if _, err := agent.CallTool(ctx, &mcp.CallToolParams{Name: "report_outcome", Arguments: json.RawMessage(args)}); err != nil {
						return executor.AgentEnded{}, err
					}
				}
				return executor.AgentEnded{}, nil
			})).Run(t.Context(), r)
			if err != nil || string(reported) != want || file(t, r.OutcomeFile()) != want {
				t.Errorf("turn %d: got %s, %v, and the file holds %s; want %s", i, reported, err, file(t, r.OutcomeFile()), want)
			}
		})
	}
	wg.Wait()
}

func TestAServerThatIsClosedServesNobody(t *testing.T) {
	s := &Server{}
	if err := s.Close(); err != nil {
		t.Errorf("one that never listened: %v", err)
	}
	var f *executor.Failure
	if _, err := Serve(s, fake(nil)).Run(t.Context(), ask(t)); !errors.As(err, &f) || f.Class != executor.FailTransient {
		t.Errorf("got %v", err)
	}
}

func TestASchemaThatIsNoneIsConfiguration(t *testing.T) {
	r := ask(t)
	r.Schema = json.RawMessage(`{"type":"objekt"}`)
	var f *executor.Failure
	if _, err := Serve(server(t), fake(nil)).Run(t.Context(), r); !errors.As(err, &f) || f.Class != executor.FailConfig {
		t.Errorf("got %v", err)
	}
}

func TestNamesAreShortPlainAndUsedOnce(t *testing.T) {
	s := server(t)
	seen := map[string]bool{}
	for _, c := range []struct{ key, step, turn, want string }{
		{"1.2a", "implement", "agent-1", "ralph_1_2a_implement_2_agent_1"},
		{"1.2a", "implement", "agent-1", "ralph_1_2a_implement_2_agent_1_2"},
		{"1_2a", "Implement", "Agent-1", "ralph_1_2a_implement_2_agent_1_3"},
		{"10.20b", "a-step-with-a-very-long-name", "gate-a-gate-with-a-very-long-name", ""},
		{"10.20b", "a-step-with-a-very-long-name", "gate-a-gate-with-a-very-long-namf", ""},
		{"ä", "§", "", ""},
	} {
		r := ask(t)
		node, step := *r.Node, *r.Step
		node.Key, step.Name = ir.Key(c.key), c.step
		r.Node, r.Step, r.Name, r.Effect.Step = &node, &step, c.turn, c.step
		during(t, s, r, func(r executor.AgentRun) {
			name := r.Tools.Name
			if c.want != "" && name != c.want {
				t.Errorf("got %s, want %s", name, c.want)
			}
			if seen[name] || len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || strings.Contains(name, "__") {
				t.Errorf("%q is no good name", name)
			}
			seen[name] = true
			if r.Tools.Proxy[1] != "mcp" || !filepath.IsAbs(r.Tools.Proxy[0]) || r.Tools.Proxy[3] != name {
				t.Errorf("the proxy is %q", r.Tools.Proxy)
			}
		})
	}
}

// A program stays one, and one that cannot call tools gets none.
func TestServeKeepsWhatARunnerIs(t *testing.T) {
	s := server(t)
	if _, ok := Serve(s, fake(nil)).(executor.Program); ok {
		t.Error("a runner became a program")
	}
	p := deafProgram{}
	served := Serve(s, p)
	if got, ok := served.(executor.Program); !ok || got.Describe().Name != "deaf" {
		t.Errorf("got %T", served)
	}
	if Inner(served) != executor.Runner(p) {
		t.Errorf("inside is %T", Inner(served))
	}
	if _, err := served.Run(t.Context(), ask(t)); err != nil {
		t.Error(err)
	}
}

// deafProgram is a program without tools.
type deafProgram struct{}

func (deafProgram) Check(context.Context, executor.AgentRun) error { return nil }

func (deafProgram) Run(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	if r.Tools != nil {
		return executor.AgentEnded{}, errors.New("it got tools")
	}
	return executor.AgentEnded{}, nil
}

func (deafProgram) Describe() executor.Description {
	return executor.Description{Name: "deaf", Cannot: map[executor.Capability]string{executor.CanTools: "it hears nobody"}}
}

func (deafProgram) Version(context.Context, executor.AgentRun) (string, error) { return "1", nil }

func (deafProgram) Natives(context.Context, executor.AgentRun) ([]executor.Native, error) {
	return nil, nil
}

func (deafProgram) Join(executor.AgentRun, string) executor.Join { return executor.Join{} }

// After the end of a turn nothing is kept of it, also of calls that had begun.
func TestNothingIsKeptAfterTheEnd(t *testing.T) {
	s := server(t)
	r := ask(t)
	tn, err := s.open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	s.shut(tn)
	if _, err := tn.report(json.RawMessage(`{"result":"success","summary":"late"}`)); !errors.Is(err, errOver) {
		t.Errorf("got %v", err)
	}
	if got := file(t, r.OutcomeFile()); got != "" {
		t.Errorf("it was kept: %s", got)
	}
}

// What cannot be kept is not called recorded.
func TestAReportThatCannotBeKeptIsRefused(t *testing.T) {
	r := ask(t)
	if err := os.MkdirAll(r.OutcomeFile(), 0o700); err != nil { // a directory is in the way
		t.Fatal(err)
	}
	var reported json.RawMessage
	r.Reported = &reported
	during(t, server(t), r, func(r executor.AgentRun) {
		if said, refused := call(t, client(t, r), "report_outcome", `{"result":"success","summary":"x"}`); !refused || !strings.Contains(said, "nothing was recorded") {
			t.Errorf("got %q", said)
		}
	})
	if reported != nil {
		t.Errorf("reported %s", reported)
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	s := server(t)
	s.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "[secret]") }
	var recorded []executor.Body
	r := ask(t)
	r.Record = func(_ context.Context, b executor.Body) error { recorded = append(recorded, b); return nil }
	r.Schema, r.Raw = json.RawMessage(`{"type":"object","properties":{"word":{"enum":["hunter2","x"]},"text":{}}}`), true
	during(t, s, r, func(r executor.AgentRun) {
		agent := client(t, r)
		if said, refused := call(t, agent, "report_outcome", `{"text":"it is hunter2"}`); refused || file(t, r.OutcomeFile()) != `{"text":"it is [secret]"}` {
			t.Errorf("got %q, and the file holds %s", said, file(t, r.OutcomeFile()))
		}
		if said, refused := call(t, agent, "report_outcome", `{"word":"hunter2"}`); !refused || strings.Contains(said, "hunter2\":") {
			t.Errorf("got %q", said)
		}
		call(t, agent, "propose_work", `{"title":"change hunter2","text":"hunter2 is known"}`)
	})
	b, err := json.Marshal(recorded)
	if err != nil || len(recorded) != 1 || bytes.Contains(b, []byte("hunter2")) {
		t.Errorf("recorded %s, %v", b, err)
	}
}
