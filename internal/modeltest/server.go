package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a scripted model. Its methods may be used concurrently; tests that run
// in parallel may share one.
type Server struct {
	http *httptest.Server
	done chan struct{} // closed when it ends

	mu    sync.Mutex // guards the rest
	plays map[string]*play
	news  chan struct{} // closed and replaced when a request comes in
	ids   int
}

// play is one scenario that was loaded.
type play struct {
	scenario Scenario
	faults   map[string]int // how often a step has failed
	log      []Request
	missed   []string // turns that no step is there for
}

// Start serves until the test ends.
func Start(t testing.TB) *Server {
	s := New()
	t.Cleanup(s.Close)
	return s
}

// New serves until Close.
func New() *Server {
	s := &Server{done: make(chan struct{}), plays: map[string]*play{}, news: make(chan struct{})}
	s.http = httptest.NewServer(s)
	return s
}

// Close ends all requests, also those that hang, and then the server.
func (s *Server) Close() {
	close(s.done)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Load serves a scenario and returns its base URL: what Anthropic agents are told;
// OpenAI agents are told base + "/v1". Each call makes a base of its own. The test
// fails at its end if the agent came to a turn that the scenario does not have.
func (s *Server) Load(t testing.TB, sc Scenario) (base string) {
	t.Helper()
	base, err := s.Serve(t.Name(), sc)
	if err != nil {
		t.Fatalf("scenario: %v", err)
	}
	t.Cleanup(func() {
		for _, m := range s.Missed(base) {
			t.Errorf("the scripted model has no step for a turn: %s", m)
		}
	})
	return base
}

// LoadFile is Load of a file.
func (s *Server) LoadFile(t testing.TB, path string) (base string) {
	t.Helper()
	sc, err := File(path)
	if err != nil {
		t.Fatal(err)
	}
	return s.Load(t, sc)
}

// Serve serves a scenario outside of a test; name is for people.
func (s *Server) Serve(name string, sc Scenario) (base string, err error) {
	if err := sc.check(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%d-%s", len(s.plays)+1, strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name))
	s.plays[key] = &play{scenario: sc, faults: map[string]int{}}
	return s.http.URL + "/s/" + key, nil
}

// Requests returns what was sent to a base so far, oldest first.
func (s *Server) Requests(base string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.plays[s.key(base)]
	if p == nil {
		return nil
	}
	return slices.Clone(p.log)
}

// Turns returns the requests of turns: those of a model protocol, with tools.
func (s *Server) Turns(base string) []Request {
	return slices.DeleteFunc(s.Requests(base), func(r Request) bool { return r.Protocol == "" || r.Side() })
}

// Missed lists the turns without a step in the scenario.
func (s *Server) Missed(base string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.plays[s.key(base)]; p != nil {
		return slices.Clone(p.missed)
	}
	return nil
}

// Await waits until what was sent to a base satisfies a condition; three minutes
// without that fail the test.
func (s *Server) Await(t testing.TB, base, what string, ok func([]Request) bool) {
	t.Helper()
	late := time.After(3 * time.Minute)
	for {
		s.mu.Lock()
		news := s.news
		s.mu.Unlock()
		if ok(s.Requests(base)) {
			return
		}
		select {
		case <-news:
		case <-late:
			t.Fatalf("the model waited three minutes for %s; it was sent %d requests", what, len(s.Requests(base)))
		}
	}
}

func (s *Server) key(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	key, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/s/"), "/")
	return key
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	key, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/s/"), "/")
	req := Request{At: time.Now(), Method: r.Method, Path: "/" + path, Header: r.Header.Clone(), Body: body}
	switch {
	case r.Method != http.MethodPost:
	case strings.HasSuffix(path, "/chat/completions"):
		req.Protocol, err = Chat, req.readChat()
	case strings.HasSuffix(path, "/responses"):
		req.Protocol, err = Responses, req.readResponses()
	case strings.HasSuffix(path, "/messages"):
		req.Protocol, err = Messages, req.readMessages()
	}
	if err != nil {
		s.keep(key, req, "a request that cannot be read: "+err.Error())
		writeJSON(w, http.StatusBadRequest, failed(req.Protocol, http.StatusBadRequest, err.Error()))
		return
	}
	if req.Protocol == "" {
		known := s.keep(key, req, "")
		other(w, r, known)
		return
	}
	turn, ok := s.choose(key, &req)
	if !ok {
		writeJSON(w, http.StatusNotFound, failed(req.Protocol, http.StatusNotFound, "there is no scenario "+key))
		return
	}
	a := answer{w: w, id: turn.id, model: req.Model, created: req.At.Unix(), stream: req.Stream, text: turn.step.Text, calls: req.Calls, usage: turn.step.Usage}
	if d := turn.step.DelayMS; d > 0 {
		select {
		case <-time.After(time.Duration(d) * time.Millisecond):
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
	if turn.fault != nil {
		turn.fault.play(w, r, a, req.Protocol, s.done)
		return
	}
	a.send(req.Protocol)
}

// other answers what agents ask beside their turns.
func other(w http.ResponseWriter, r *http.Request, known bool) {
	switch {
	case !known:
		writeJSON(w, http.StatusNotFound, failed(Chat, http.StatusNotFound, "there is no such scenario"))
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		writeJSON(w, http.StatusOK, fields{"input_tokens": 100})
	case strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, fields{
			"object": "list", "has_more": false,
			"data": []fields{{"id": "scripted", "object": "model", "type": "model", "display_name": "Scripted", "owned_by": "modeltest"}},
		})
	case strings.HasSuffix(r.URL.Path, "/api/hello"):
		writeJSON(w, http.StatusOK, fields{})
	default:
		writeJSON(w, http.StatusNotFound, failed(Chat, http.StatusNotFound, "a scripted model knows nothing of "+r.URL.Path))
	}
}
