package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// hello is what a program says of itself.
type hello struct {
	Protocol     int `json:"protocolVersion"`
	Capabilities struct {
		Load bool `json:"loadSession"`
		MCP  struct {
			HTTP bool `json:"http"`
		} `json:"mcpCapabilities"`
		Session struct {
			Resume json.RawMessage `json:"resume"`
			Fork   json.RawMessage `json:"fork"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	Logins []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"authMethods"`
}

// again reports whether sessions can be resumed, also by another process.
func (h hello) again() bool { return h.Capabilities.Load || said(h.Capabilities.Session.Resume) }

// greet begins the connection. Nothing is offered to the program: it reads and
// writes files and runs commands by itself.
func (p *program) greet(ctx context.Context) (hello, error) {
	var h hello
	err := p.call(ctx, sdk.AgentMethodInitialize, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber, ClientInfo: &sdk.Implementation{Name: "ralph", Version: "1"},
	}, &h)
	if err == nil && h.Protocol != 0 && h.Protocol != sdk.ProtocolVersionNumber {
		err = fmt.Errorf("it speaks version %d of ACP, and ralph version %d", h.Protocol, sdk.ProtocolVersionNumber)
	}
	return h, err
}

// opened is a session as the program reports it.
type opened struct {
	ID      string   `json:"sessionId"` // "" if it is the one that was asked for
	Options []option `json:"configOptions"`
	Modes   struct {
		Current string `json:"currentModeId"`
		All     []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Models struct { // of programs that do not have them among the options
		Current string `json:"currentModelId"`
		All     []struct {
			ID string `json:"modelId"`
		} `json:"availableModels"`
	} `json:"models"`
}

// where asks for a session.
type where struct {
	Session string          `json:"sessionId,omitempty"`
	Cwd     string          `json:"cwd"`
	Servers []sdk.McpServer `json:"mcpServers"`
}

var errNotAgain = errors.New("cannot go on with a session")

// open opens the turn's session: a fresh one, the one that is resumed, or a
// copy of that. Its error is a *executor.Failure, ctx's, or errGone.
func (t *turn) open(ctx context.Context, h hello) (opened, error) {
	r := t.run
	ask := where{Session: r.Effect.Session, Cwd: r.Dir}
	var err error
	if ask.Servers, err = servers(r, h); err != nil {
		return opened{}, err
	}
	method := sdk.AgentMethodSessionNew
	cannot := func(what error, method string) error {
		return &executor.Failure{Class: executor.FailSession, Err: fmt.Errorf("agent %s %w: %s does not offer %s", runner.AgentOf(r), what, t.name(h), method)}
	}
	switch {
	case ask.Session == "":
	case r.Fork && !said(h.Capabilities.Session.Fork):
		return opened{}, cannot(executor.ErrNoCopy, "session/fork")
	case r.Fork:
		method = sdk.AgentMethodSessionFork
	case said(h.Capabilities.Session.Resume):
		method = sdk.AgentMethodSessionResume // does not tell the whole history again
	case h.Capabilities.Load:
		method = sdk.AgentMethodSessionLoad
	default:
		return opened{}, cannot(errNotAgain, "session/resume or session/load")
	}
	var o opened
	err = t.program.call(ctx, method, ask, &o)
	var refused *sdk.RequestError
	switch {
	case errors.As(err, &refused):
		f := t.classify(method, refused, h)
		if ask.Session != "" && f.Class != executor.FailLimit && refused.Code != authRequired {
			f.Class = executor.FailSession // programs give no code of its own to a session that they do not know
		}
		return o, f
	case errors.Is(err, errGone), ctx.Err() != nil:
		return o, err
	case err != nil:
		return o, runner.Configuration(fmt.Errorf("agent %s: %w", runner.AgentOf(r), err))
	}
	if o.ID == "" {
		o.ID = ask.Session
	}
	if o.ID == "" || r.Fork && o.ID == ask.Session {
		return o, runner.Configuration(fmt.Errorf("agent %s: %s named no session in its answer to %s", runner.AgentOf(r), t.name(h), method))
	}
	return o, nil
}

// servers is the MCP server of the turn as the program is told it.
func servers(r executor.AgentRun, h hello) ([]sdk.McpServer, error) {
	out := []sdk.McpServer{} // an empty list has to be said
	switch t := r.Tools; {
	case t == nil:
	case h.Capabilities.MCP.HTTP && t.URL != "":
		out = append(out, sdk.McpServer{Http: &sdk.McpServerHttpInline{
			Name: t.Name, Url: t.URL, Headers: []sdk.HttpHeader{{Name: "Authorization", Value: "Bearer " + t.Token}},
		}})
	case len(t.Proxy) > 0:
		s := &sdk.McpServerStdio{Name: t.Name, Command: t.Proxy[0], Args: append([]string{}, t.Proxy[1:]...), Env: []sdk.EnvVariable{}}
		for _, name := range slices.Sorted(maps.Keys(t.ProxyEnv)) {
			s.Env = append(s.Env, sdk.EnvVariable{Name: name, Value: t.ProxyEnv[name]})
		}
		out = append(out, sdk.McpServer{Stdio: s})
	default:
		return nil, runner.Configuration(fmt.Errorf("agent %s takes no MCP server over HTTP, and ralph offers it no other way to report", runner.AgentOf(r)))
	}
	return out, nil
}

// name is the program's, as it says it or as it is started.
func (t *turn) name(h hello) string {
	if h.Info.Name != "" {
		return h.Info.Name
	}
	return t.run.Runner.Run[0]
}
