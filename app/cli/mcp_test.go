package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/ir"
)

// stdioAgent is an agent that starts the MCP server it was given, over stdio.
type stdioAgent func(executor.Tools) error

func (stdioAgent) Check(context.Context, executor.AgentRun) error { return nil }

func (a stdioAgent) Run(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	return executor.AgentEnded{}, a(*r.Tools)
}

// S4-39, S4-48: `ralph mcp` is the same channel over stdio.
func TestAnAgentReportsThroughTheStdioProxy(t *testing.T) {
	ralph, err := exec.LookPath("ralph")
	if err != nil {
		t.Fatal(err)
	}
	s := &mcp.Server{Program: ralph}
	defer s.Close()
	r := executortest.AgentRun(t, ir.Runner{Kind: "fake"})
	const want = `{"result":"success","summary":"over stdio"}`
	_, err = mcp.Serve(s, stdioAgent(func(tools executor.Tools) error {
		cmd := exec.Command(tools.Proxy[0], tools.Proxy[1:]...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		for k, v := range tools.ProxyEnv {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		answers := bufio.NewScanner(out)
		for _, c := range []struct{ ask, want string }{
			{`{"jsonrpc":"2.0","id":0,"method":"server/discover"}`, `-32601`},
			{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, `"serverInfo"`},
			{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"report_outcome","arguments":{"result":"yes"}}}`, `"isError":true`},
			{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"report_outcome","arguments":` + want + `}}`, `Recorded`},
		} {
			if _, err := in.Write([]byte(c.ask + "\n")); err != nil {
				return err
			}
			if !answers.Scan() || !strings.Contains(answers.Text(), c.want) || !json.Valid(answers.Bytes()) {
				t.Errorf("%s\ngot  %s\nwant %s", c.ask, answers.Text(), c.want)
			}
		}
		// Agents kill it: nothing may depend on its end.
		if err := cmd.Process.Kill(); err != nil {
			return err
		}
		_ = cmd.Wait() // it was killed
		return nil
	})).Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(r.OutcomeFile()); err != nil || strings.TrimSpace(string(got)) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}
