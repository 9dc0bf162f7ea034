package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lines"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Variables by which the stdio proxy is told where to go: never as arguments, which
// everybody on the machine can read.
const (
	URLVar   = "RALPH_MCP_URL"
	TokenVar = "RALPH_MCP_TOKEN"
)

// Proxy is a stdio MCP server, one JSON value per line, that forwards each request to
// the turn at address, one after another, and returns when in ends. Notifications do not
// concern a turn and are dropped. It fails if the turn does not exist at the agent's first
// request; later, each answer says so to the agent.
func Proxy(ctx context.Context, in io.Reader, out io.Writer, attempt, address, token string) error {
	if address == "" || token == "" {
		return fmt.Errorf("%s and %s are not set: agents that ralph runs start this, with both", URLVar, TokenVar)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" || u.User != nil || net.ParseIP(u.Hostname()) == nil || !net.ParseIP(u.Hostname()).IsLoopback():
		return fmt.Errorf("%s is not an address on this machine: %q", URLVar, address)
	case u.Path != "/"+attempt:
		return fmt.Errorf("%s belongs to attempt %s, not to %s", URLVar, strings.TrimPrefix(u.Path, "/"), attempt)
	}
	p := &proxy{
		attempt: attempt, address: address, token: token, out: out,
		client: &http.Client{Transport: &http.Transport{}, Timeout: requestTime}, // whatever HTTP_PROXY says: it stays on this machine
	}
	var why error // the agent cannot be answered
	requests := lines.Cutter{Max: maxBody, Each: func(line []byte, cut bool) error {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			why = p.line(ctx, line, cut)
		}
		return cmp.Or(why, ctx.Err())
	}}
	_, err = io.Copy(&requests, in)
	if err == nil {
		err = requests.Close()
	}
	switch {
	case why != nil:
		return why
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("read standard input: %w", err)
	}
	return nil
}

type proxy struct {
	attempt, address, token string
	version                 string // of the protocol, once it is agreed
	out                     io.Writer
	client                  *http.Client
}

// Codes of JSON-RPC errors.
const (
	codeParse   = -32700
	codeUnknown = -32601
	codeGone    = -32000
)

// message is as much of a JSON-RPC message as the proxy and the server look at.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// request reports whether an answer is awaited.
func (m message) request() bool {
	return m.Method != "" && len(m.ID) > 0 && !bytes.Equal(m.ID, []byte("null"))
}

func (p *proxy) line(ctx context.Context, line []byte, long bool) error {
	var m message
	switch {
	case long:
		return p.fail(nil, codeParse, fmt.Sprintf("the request has more than %d bytes: send less", maxBody))
	case json.Unmarshal(line, &m) != nil:
		return p.fail(nil, codeParse, "the line is not a JSON-RPC message")
	case !m.request():
		return nil
	}
	answer, why := p.forward(ctx, line)
	if why == nil {
		if m.Method == "initialize" {
			var agreed struct {
				Result struct {
					ProtocolVersion string `json:"protocolVersion"`
				} `json:"result"`
			}
			_ = json.Unmarshal(answer, &agreed) // one without a version is an error, and the agent reads it
			p.version = agreed.Result.ProtocolVersion
		}
		return p.write(answer)
	}
	if err := p.fail(m.ID, codeGone, why.Error()); err != nil || m.Method != "initialize" {
		return err
	}
	return why
}

// forward asks the turn.
func (p *proxy) forward(ctx context.Context, line []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address, bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if p.version != "" {
		r.Header.Set("Mcp-Protocol-Version", p.version)
	}
	res, err := p.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("the run of attempt %s does not answer: it ended, or was killed. Nothing was recorded (%w)", p.attempt, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 2*maxBody))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the run of attempt %s broke off while it answered: whether it was recorded is not known. Call again (%w)", p.attempt, err)
	case res.StatusCode == http.StatusUnauthorized:
		return nil, fmt.Errorf("attempt %s is over: its tools are good for one turn. Nothing was recorded", p.attempt)
	case json.Valid(b) && len(b) > 0:
		var line bytes.Buffer
		if err := json.Compact(&line, b); err != nil { // one line
			return nil, err
		}
		return line.Bytes(), nil
	}
	return nil, fmt.Errorf("attempt %s did not take the request (HTTP %d): %s", p.attempt, res.StatusCode, text.Clip(strings.TrimSpace(string(b)), 300))
}

func (p *proxy) fail(id json.RawMessage, code int, why string) error {
	return p.write(failed(id, code, why))
}

func (p *proxy) write(line []byte) error {
	if _, err := p.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write standard output: %w", err)
	}
	return nil
}

// failed is a JSON-RPC error.
func failed(id json.RawMessage, code int, why string) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
	if err != nil { // the id is no JSON
		return failed(nil, code, why)
	}
	return b
}
