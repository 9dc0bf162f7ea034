package opencode

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/ir"
)

// fake is OpenCode without a model: a script in the place of the program, and its
// API in the test's process.
type fake struct {
	t       *testing.T
	url     string
	dir     string // env.NAME of each server that was started, by process number
	program string
	c       *Runner

	changed  *sync.Cond // a call came
	mu       sync.Mutex // guards the rest
	sessions map[string]*session
	rules    map[string][]rule
	messages map[string][]message
	statuses map[string]status
	children map[string][]session
	pending  map[string][]asked // by "permission", "question"
	mcps     map[string]string  // status by name
	refuses  bool               // to connect to an MCP server
	users    []string           // MCP servers of the user's
	subs     map[chan string]bool
	calls    []string
	n        int

	// turn is what a prompt does; it runs in a goroutine of its own.
	turn func(p *play)
	wg   sync.WaitGroup
}

// play is a prompt on its way.
type play struct {
	*fake
	session, mark string
	prompt        prompt
	aborted       chan struct{}
}

func newFake(t *testing.T, turn func(p *play)) *fake {
	t.Helper()
	f := &fake{
		t: t, dir: t.TempDir(), turn: turn, sessions: map[string]*session{}, rules: map[string][]rule{}, messages: map[string][]message{},
		statuses: map[string]status{}, children: map[string][]session{}, pending: map[string][]asked{}, mcps: map[string]string{}, subs: map[chan string]bool{},
	}
	f.changed = sync.NewCond(&f.mu)
	aborts := map[string]chan struct{}{}
	mux := http.NewServeMux()
	handle := func(pattern string, h func(r *http.Request, body []byte) (int, any)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			if user != "opencode" || len(password) < 20 {
				t.Errorf("%s came from %q with the password %q", r.URL, user, password)
			}
			if r.URL.Query().Get("directory") == "" && r.URL.Path != "/global/health" {
				t.Errorf("%s %s names no directory", r.Method, r.URL.Path)
			}
			var body json.RawMessage
			_ = json.NewDecoder(r.Body).Decode(&body)
			f.mu.Lock()
			f.calls = append(f.calls, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
			code, out := h(r, body)
			answer, err := json.Marshal(out)
			f.changed.Broadcast()
			f.mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			w.WriteHeader(code)
			if out != nil {
				_, _ = w.Write(answer)
			}
		})
	}
	known := func(h func(s *session, body []byte) (int, any)) func(*http.Request, []byte) (int, any) {
		return func(r *http.Request, body []byte) (int, any) {
			s, ok := f.sessions[r.PathValue("id")]
			if !ok {
				return 404, map[string]string{"name": "NotFoundError"}
			}
			return h(s, body)
		}
	}
	made := func(dir string) *session {
		f.n++
		s := &session{ID: fmt.Sprintf("ses_%d", f.n), Directory: dir}
		f.sessions[s.ID] = s
		return s
	}
	handle("GET /global/health", func(*http.Request, []byte) (int, any) { return 200, map[string]bool{"healthy": true} })
	handle("GET /config", func(*http.Request, []byte) (int, any) {
		on := map[string]any{}
		for _, name := range f.users {
			if !strings.Contains(f.newest(), `"`+name+`":{"enabled":false`) {
				on[name] = map[string]any{"type": "local"}
			}
		}
		return 200, map[string]any{"mcp": on, "new": 1}
	})
	handle("GET /agent", func(*http.Request, []byte) (int, any) {
		return 200, []any{
			map[string]any{"name": "build", "native": true, "mode": "primary", "permission": []rule{{"*", "*", "allow"}}},
			map[string]any{"name": "critic", "description": "criticises", "model": map[string]string{"providerID": "p", "modelID": "m"}, "permission": []rule{{"*", "*", "allow"}, {"edit", "*", "deny"}}},
			map[string]any{"name": "title", "hidden": true},
			map[string]any{"name": plainAgent},
		}
	})
	handle("POST /instance/dispose", func(*http.Request, []byte) (int, any) { return 200, true })
	handle("POST /session", func(r *http.Request, body []byte) (int, any) {
		s := made(r.URL.Query().Get("directory"))
		var a about
		_ = json.Unmarshal(body, &a)
		f.rules[s.ID] = a.Permission
		return 200, s
	})
	handle("GET /session/{id}", known(func(s *session, _ []byte) (int, any) { return 200, s }))
	handle("PATCH /session/{id}", known(func(s *session, body []byte) (int, any) {
		var a about
		_ = json.Unmarshal(body, &a)
		f.rules[s.ID] = append(f.rules[s.ID], a.Permission...)
		return 200, s
	}))
	handle("POST /session/{id}/fork", known(func(s *session, _ []byte) (int, any) {
		c := made(s.Directory)
		f.messages[c.ID] = slices.Clone(f.messages[s.ID])
		return 200, c
	}))
	handle("POST /experimental/control-plane/move-session", func(_ *http.Request, body []byte) (int, any) {
		var in struct {
			SessionID   string
			Destination struct{ Directory string }
		}
		_ = json.Unmarshal(body, &in)
		f.sessions[in.SessionID].Directory = in.Destination.Directory
		return 204, nil
	})
	handle("GET /session/{id}/children", known(func(s *session, _ []byte) (int, any) { return 200, append([]session{}, f.children[s.ID]...) }))
	handle("GET /session/{id}/message", known(func(s *session, _ []byte) (int, any) { return 200, append([]message{}, f.messages[s.ID]...) }))
	handle("GET /session/status", func(*http.Request, []byte) (int, any) { return 200, f.statuses })
	handle("POST /session/{id}/abort", known(func(s *session, _ []byte) (int, any) {
		if a, ok := aborts[s.ID]; ok {
			close(a)
			delete(aborts, s.ID)
		}
		return 200, true
	}))
	handle("POST /session/{id}/prompt_async", known(func(s *session, body []byte) (int, any) {
		p := &play{fake: f, session: s.ID, aborted: make(chan struct{})}
		_ = json.Unmarshal(body, &p.prompt)
		p.mark = p.prompt.Parts[0].Metadata.Ralph
		aborts[s.ID] = p.aborted
		if f.turn != nil {
			f.wg.Go(func() { f.turn(p) })
		}
		return 204, nil
	}))
	for _, kind := range []string{"permission", "question"} {
		handle("GET /"+kind, func(*http.Request, []byte) (int, any) { return 200, append([]asked{}, f.pending[kind]...) })
		handle("POST /"+kind+"/{id}/{how}", func(r *http.Request, _ []byte) (int, any) {
			f.pending[kind] = slices.DeleteFunc(f.pending[kind], func(a asked) bool { return a.ID == r.PathValue("id") })
			return 200, true
		})
	}
	handle("GET /mcp", func(*http.Request, []byte) (int, any) {
		out := map[string]mcpStatus{}
		for k, v := range f.mcps {
			out[k] = mcpStatus{Status: v}
		}
		return 200, out
	})
	handle("POST /mcp", func(_ *http.Request, body []byte) (int, any) {
		var in struct{ Name string }
		_ = json.Unmarshal(body, &in)
		f.mcps[in.Name] = "connected"
		if f.refuses {
			f.mcps[in.Name] = "failed"
		}
		return 200, map[string]mcpStatus{in.Name: {Status: f.mcps[in.Name], Error: "no route"}}
	})
	handle("POST /mcp/{name}/disconnect", func(r *http.Request, _ []byte) (int, any) {
		f.mcps[r.PathValue("name")] = "disabled"
		return 200, true
	})
	mux.HandleFunc("GET /event", func(w http.ResponseWriter, r *http.Request) {
		ch := make(chan string, 1024)
		f.mu.Lock()
		f.subs[ch] = true
		f.mu.Unlock()
		send := func(s string) {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", s)
			_ = http.NewResponseController(w).Flush()
		}
		send(`{"type":"server.connected","properties":{}}`)
		for {
			select {
			case s, ok := <-ch:
				if !ok {
					return
				}
				send(s)
			case <-r.Context().Done():
				f.mu.Lock()
				delete(f.subs, ch)
				f.mu.Unlock()
				return
			}
		}
	})
	srv := httptest.NewServer(mux)
	f.url = srv.URL
	f.program = filepath.Join(f.dir, "opencode")
	script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 1.18.33; exit; fi\nenv > " + f.dir + "/new.$$ && mv " + f.dir + "/new.$$ " + f.dir +
		"/env.$$\necho \"opencode server listening on ${SERVE_AT:-" + f.url + "}\"\nwhile :; do sleep 1; done\n"
	if err := os.WriteFile(f.program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	f.c = &Runner{Base: runner.Base{Grace: 300 * time.Millisecond}}
	t.Cleanup(func() {
		if err := f.c.Close(); err != nil {
			t.Error(err)
		}
		f.wg.Wait()
		srv.CloseClientConnections()
		srv.Close()
	})
	return f
}

// servers lists the environments of the servers that were started.
func (f *fake) servers() []string {
	files, err := filepath.Glob(filepath.Join(f.dir, "env.*"))
	if err != nil {
		f.t.Fatal(err)
	}
	return files
}

// newest is the environment of the server that was started last.
func (f *fake) newest() string {
	var text string
	var at time.Time
	for _, file := range f.servers() {
		st, err := os.Stat(file)
		if b, err2 := os.ReadFile(file); err == nil && err2 == nil && !st.ModTime().Before(at) {
			text, at = string(b), st.ModTime()
		}
	}
	return text
}

func (f *fake) ask(t *testing.T) executor.AgentRun {
	t.Helper()
	r := executortest.AgentRun(t, ir.Runner{Kind: "opencode", Run: []string{f.program}, Set: map[string]string{"HOME": f.dir}})
	r.Agent, r.Model, r.Alias, r.Keep = "dev", "m1", ir.Model{ID: "m1", Provider: "scripted"}, t.TempDir()
	return r
}

// called counts the calls that begin so.
func (f *fake) called(prefix string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count(prefix)
}

// await waits for the nth call that begins so.
func (f *fake) await(n int, prefix string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.count(prefix) < n {
		f.changed.Wait()
	}
}

func (f *fake) count(prefix string) int {
	n := 0
	for _, c := range f.calls {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

func (f *fake) lock(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// emit sends an event to everybody who listens.
func (f *fake) emit(kind string, properties any) {
	b, err := json.Marshal(map[string]any{"id": "evt_1", "type": kind, "properties": properties})
	if err != nil {
		panic(err)
	}
	f.raw(string(b))
}

func (f *fake) raw(s string) {
	f.mu.Lock()
	var all []chan string
	for ch := range f.subs {
		all = append(all, ch)
	}
	f.mu.Unlock()
	for _, ch := range all {
		func() {
			defer func() { _ = recover() }() // it was cut meanwhile
			select {
			case ch <- s:
			case <-time.After(10 * time.Second):
			}
		}()
	}
}

// cut ends all streams.
func (f *fake) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.subs {
		close(ch)
		delete(f.subs, ch)
	}
}

func (p *play) status(s status) {
	p.lock(func() {
		if s.Type == "idle" {
			delete(p.statuses, p.session)
		} else {
			p.statuses[p.session] = s
		}
	})
	p.emit("session.status", map[string]any{"sessionID": p.session, "status": s})
	if s.Type == "idle" {
		p.emit("session.idle", map[string]any{"sessionID": p.session})
	}
}

// hears puts the turn's own message on the list.
func (p *play) hears() {
	p.says("user", message{Info: info{ID: "msg_user_" + p.mark}, Parts: []part{{Type: "text", Text: "the prompt", Metadata: json.RawMessage(`{"ralph":"` + p.mark + `"}`)}}})
}

// answers puts an answer on the list.
func (p *play) answers(text string) {
	p.says("assistant", message{Info: info{ID: "msg_answer_" + p.mark, Finish: "stop", ProviderID: "scripted", ModelID: "m1", Time: span{Created: 1, Completed: 2}}, Parts: []part{{ID: "prt_" + p.mark, Type: "text", Text: text, Time: span{End: 2}}}})
}

func (p *play) says(role string, m message) {
	m.Info.Role, m.Info.SessionID = role, p.session
	for i := range m.Parts {
		m.Parts[i].MessageID, m.Parts[i].SessionID = m.Info.ID, p.session
	}
	p.lock(func() { p.messages[p.session] = append(p.messages[p.session], m) })
	p.emit("message.updated", map[string]any{"sessionID": p.session, "info": m.Info})
	for _, part := range m.Parts {
		p.emit("message.part.updated", map[string]any{"sessionID": p.session, "part": part})
	}
}

// fine is a turn that ends well.
func fine(p *play) {
	p.status(status{Type: "busy"})
	p.hears()
	p.answers(outcome("success"))
	p.status(status{Type: "idle"})
}

// captured is a turn as the real program streamed it.
type captured struct {
	Session  string            `json:"session"`
	Events   []json.RawMessage `json:"events"`
	Messages json.RawMessage   `json:"messages"`
}

func capture(t *testing.T, name string) captured {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var c captured
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// replay plays a captured turn; cutAt are the events behind which the stream is cut,
// and the lost ones that follow each.
func replay(c captured, lost int, cutAt ...int) func(p *play) {
	return func(p *play) {
		as := func(b []byte) string {
			return strings.NewReplacer(c.Session, p.session, `"ralph":"a"`, `"ralph":"`+p.mark+`"`).Replace(string(b))
		}
		var list []message
		if err := json.Unmarshal([]byte(as(c.Messages)), &list); err != nil {
			p.t.Error(err)
		}
		skip := 0
		for i, e := range c.Events {
			text := as(e)
			var ev event
			_ = json.Unmarshal([]byte(text), &ev)
			if ev.Type == "session.status" && ev.Properties.SessionID == p.session {
				p.lock(func() {
					delete(p.statuses, p.session)
					if s := *ev.Properties.Status; s.Type != "idle" {
						if s.Next > 0 {
							s.Next = time.Now().Add(time.Second).UnixMilli()
						}
						p.statuses[p.session] = s
					} else {
						p.messages[p.session] = list
					}
				})
			}
			if slices.Contains(cutAt, i) {
				p.cut()
				skip = lost
			}
			if skip > 0 {
				skip--
				continue
			}
			p.raw(text)
		}
	}
}
