package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/ralph-compiler/ralph/internal/text"
)

// api is the part of a server's interface that is used, for one directory: it is
// named in every call.
type api struct {
	url, password, dir string
	http               *http.Client
}

// statusError is an answer other than a success.
type statusError struct {
	call string
	code int
	body string
}

func (r *statusError) Error() string {
	return fmt.Sprintf("opencode refused %s: %d %s", r.call, r.code, short(r.body, 300))
}

// isCode reports whether err is an answer with this code.
func isCode(err error, code int) bool {
	r, ok := errors.AsType[*statusError](err)
	return ok && r.code == code
}

// callTime bounds each call. The first one in a directory starts an instance,
// which may take seconds.
const callTime = 60 * time.Second

// maxAnswer bounds an answer, in bytes: a list of messages holds all that the
// tools of a long session printed.
const maxAnswer = 256 << 20

// maxValues bounds how many values an answer has: "{}" of a list becomes hundreds of bytes.
const maxValues = 2 << 20

// values is how many values a JSON text has at most, those within others counted, too.
func values(b []byte) int {
	n, quoted, escaped := 1, false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	return n
}

func (a api) request(ctx context.Context, method, path string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	at := a.url + path
	if a.dir != "" {
		at += "?" + url.Values{"directory": {a.dir}}.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, at, body)
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(userName, a.password)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// call makes one call; out may be nil.
func (a api) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	req, err := a.request(ctx, method, path, in)
	if err != nil {
		return err
	}
	res, err := a.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %w", method, path, err)
	case res.StatusCode/100 != 2:
		return &statusError{call: method + " " + path, code: res.StatusCode, body: string(b[:min(len(b), 4<<10)])}
	case len(b) > maxAnswer:
		return fmt.Errorf("%s %s: the answer is longer than %d bytes", method, path, maxAnswer)
	case out == nil:
		return nil
	case values(b) > maxValues:
		return fmt.Errorf("%s %s: the answer has more than %d values", method, path, maxValues)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s %s: the answer cannot be read: %w", method, path, err)
	}
	return nil
}

// get reads what is at a path.
func get[T any](ctx context.Context, a api, path string) (out T, err error) {
	err = a.call(ctx, http.MethodGet, path, nil, &out)
	return out, err
}

// of is the path of something about a session, a permission or a server.
func of(kind, id, what string) string { return "/" + kind + "/" + url.PathEscape(id) + what }

// healthPath is asked whether a server is there.
const healthPath = "/global/health"

func (a api) healthy(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // a call while it boots is never answered
	defer cancel()
	var out struct {
		Healthy bool `json:"healthy"`
	}
	return a.call(ctx, http.MethodGet, healthPath, nil, &out) == nil && out.Healthy
}

// dispose lets the directory's files be read anew.
func (a api) dispose(ctx context.Context) error {
	return a.call(ctx, http.MethodPost, "/instance/dispose", nil, nil)
}

// about is what a session is made with.
type about struct {
	Title      string            `json:"title,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Permission []rule            `json:"permission,omitempty"`
}

func (a api) create(ctx context.Context, s about) (out session, err error) {
	err = a.call(ctx, http.MethodPost, "/session", s, &out)
	return out, err
}

// update changes a session; rules are added to those that it has.
func (a api) update(ctx context.Context, id string, s about) error {
	return a.call(ctx, http.MethodPatch, of("session", id, ""), s, nil)
}

func (a api) session(ctx context.Context, id string) (session, error) {
	return get[session](ctx, a, of("session", id, ""))
}

func (a api) fork(ctx context.Context, id string) (out session, err error) {
	err = a.call(ctx, http.MethodPost, of("session", id, "/fork"), struct{}{}, &out)
	return out, err
}

// move gives a session another directory of the same project: it decides where the
// session works, whatever the calls say.
func (a api) move(ctx context.Context, id, dir string) error {
	in := map[string]any{"sessionID": id, "destination": map[string]string{"directory": dir}, "moveChanges": false}
	return a.call(ctx, http.MethodPost, "/experimental/control-plane/move-session", in, nil)
}

// statuses of the sessions that are not idle.
func (a api) statuses(ctx context.Context) (map[string]status, error) {
	return get[map[string]status](ctx, a, "/session/status")
}

func (a api) messages(ctx context.Context, id string) ([]message, error) {
	return get[[]message](ctx, a, of("session", id, "/message"))
}

// prompt is a message to a session.
type prompt struct {
	Model  *modelRef    `json:"model,omitempty"`
	Agent  string       `json:"agent,omitempty"`
	System string       `json:"system,omitempty"`
	Parts  []promptPart `json:"parts"`
}

type modelRef struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

type promptPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Metadata mark   `json:"metadata"`
}

// prompt is answered at once, whatever becomes of it.
func (a api) prompt(ctx context.Context, id string, p prompt) error {
	return a.call(ctx, http.MethodPost, of("session", id, "/prompt_async"), p, nil)
}

// abort ends the session's turn, with its model call and the tool that runs.
func (a api) abort(ctx context.Context, id string) error {
	return a.call(ctx, http.MethodPost, of("session", id, "/abort"), nil, nil)
}

func (a api) rejectPermission(ctx context.Context, id, why string) error {
	return a.call(ctx, http.MethodPost, of("permission", id, "/reply"), map[string]string{"reply": "reject", "message": why}, nil)
}

func (a api) rejectQuestion(ctx context.Context, id string) error {
	return a.call(ctx, http.MethodPost, of("question", id, "/reject"), nil, nil)
}

func (a api) connect(ctx context.Context, name, at, token string) (mcpStatus, error) {
	in := map[string]any{"name": name, "config": map[string]any{
		"type": "remote", "url": at, "enabled": true, "oauth": false, "headers": map[string]string{"Authorization": "Bearer " + token},
	}}
	var out map[string]mcpStatus
	err := a.call(ctx, http.MethodPost, "/mcp", in, &out)
	return out[name], err
}

func (a api) disconnect(ctx context.Context, name string) error {
	return a.call(ctx, http.MethodPost, of("mcp", name, "/disconnect"), nil, nil)
}

// short is one line of a text, at most n bytes of it.
func short(s string, n int) string { return text.Clip(text.OneLine(s), n) }
