package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// turn is the tools of one iteration of an agent.
type turn struct {
	server  *Server
	run     executor.AgentRun
	want    shape
	tools   executor.Tools
	token   [32]byte // its SHA-256
	handler http.Handler
	places  chan struct{}
	ctx     context.Context // of the turn, not of a request: what was begun is finished
	cancel  context.CancelFunc

	mu       sync.Mutex // guards the rest; held while something is kept
	over     bool
	reported json.RawMessage // what was kept last
	proposed map[executor.Proposal]bool
}

func newTurn(ctx context.Context, s *Server, r executor.AgentRun) (*turn, error) {
	want, err := shapeOf(r)
	if err != nil {
		return nil, &executor.Failure{Class: executor.FailConfig, Err: err}
	}
	t := &turn{server: s, run: r, want: want, places: make(chan struct{}, maxAtOnce), proposed: map[executor.Proposal]bool{}}
	t.ctx, t.cancel = context.WithCancel(ctx)
	m := mcp.NewServer(&mcp.Implementation{Name: "ralph", Version: "1"}, &mcp.ServerOptions{
		Instructions: "You work for ralph. When you are done, call report_outcome: what you report there is what counts.",
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	no, yes := false, true
	m.AddTool(&mcp.Tool{
		Name: "report_outcome", Description: want.description, InputSchema: want.wire,
		Annotations: &mcp.ToolAnnotations{Title: "Report the outcome", DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no},
	}, t.tool(t.report))
	if r.Context != nil {
		m.AddTool(&mcp.Tool{
			Name: "get_context", Description: "What ralph knows of your task, as JSON: the sprint, what it builds on, feedback on earlier attempts.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{}}`),
			Annotations: &mcp.ToolAnnotations{Title: "Read the context", ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
		}, t.tool(func(json.RawMessage) (string, error) { return string(r.Context), nil }))
	}
	if r.Record != nil {
		m.AddTool(&mcp.Tool{
			Name: "propose_work", InputSchema: proposalSchema,
			Description: "Propose work that you found and that is not part of your task. It is recorded for a person to decide; nobody does it by itself. Do not do it now.",
			Annotations: &mcp.ToolAnnotations{Title: "Propose work", DestructiveHint: &no, IdempotentHint: yes, OpenWorldHint: &no},
		}, t.tool(t.propose))
	}
	t.handler = handler(m)
	return t, nil
}

// tool is how a tool is called: what it refuses comes back to the model, which can
// mend it in the same turn.
func (t *turn) tool(call func(json.RawMessage) (string, error)) mcp.ToolHandler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		said, err := call(r.Params.Arguments)
		if err != nil {
			said = err.Error()
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: executor.Clean(strings.ToValidUTF8(said, "\uFFFD"))}}, IsError: err != nil}, nil
	}
}

// end refuses everything from now on. What is being kept is kept first.
func (t *turn) end() {
	t.cancel()
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
}

// errOver answers calls that come after the listener has ended.
var errOver = fmt.Errorf("the turn that this tool belongs to is over: nothing was recorded")

// report keeps what the agent reports: the last valid call counts.
func (t *turn) report(args json.RawMessage) (string, error) {
	value, err := t.want.read(args)
	if err != nil {
		return "", err
	}
	if value, err = t.plain(value); err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return "", errOver
	}
	err = regular.MkdirOwn(t.run.Files)
	if err == nil { // the commit point: the answer is not sent before the file is
		err = atomicfile.WriteOwn(t.run.OutcomeFile(), append(bytes.Clone(value), '\n'), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("ralph could not keep it (%v): nothing was recorded. Call report_outcome again; if that fails too, end with the JSON object as your last message", err)
	}
	t.reported = value
	return "Recorded. It counts unless you report again. If nothing is left to do, end your turn now.", nil
}

// plain takes secrets out of a value that fits.
func (t *turn) plain(value json.RawMessage) (json.RawMessage, error) {
	if t.server.Redact == nil {
		return value, nil
	}
	red := json.RawMessage(t.server.Redact(string(value)))
	if bytes.Equal(red, value) {
		return value, nil
	}
	if !json.Valid(red) || len(t.want.broken(red)) > 0 {
		return nil, fmt.Errorf("it holds the value of a secret: report again without it. Nothing was recorded")
	}
	return red, nil
}

// last is what was reported last, nil if nothing was.
func (t *turn) last() json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reported
}
