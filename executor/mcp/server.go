package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Server offers the tools of all turns of this process on one port of 127.0.0.1,
// which is opened for the first turn. The zero value is ready; it may be used
// concurrently.
type Server struct {
	// Redact takes secrets out of what is kept; nil: nothing is taken.
	Redact func(string) string
	// Program is what the stdio proxy runs; "" is the program that runs now.
	Program string

	mu     sync.Mutex // guards the rest
	closed bool
	addr   string // "127.0.0.1:43210"
	http   *http.Server
	done   chan struct{}    // closed when http has ended
	turns  map[string]*turn // open ones, by name
	used   map[string]bool  // names that were given
}

// Bounds of what the server and the proxy take.
const (
	maxBody     = 2 << 20          // bytes of a request
	maxAtOnce   = 16               // requests of one turn that are worked on; others wait
	headerTime  = 10 * time.Second // to send the header of a request
	requestTime = 2 * time.Minute  // to send a request
	waitTime    = time.Minute      // for a place
	idleTime    = 10 * time.Minute // of a connection that is kept
)

// open begins a turn. Its error is an *executor.Failure.
func (s *Server) open(ctx context.Context, r executor.AgentRun) (*turn, error) {
	t, err := newTurn(ctx, s, r)
	if err != nil {
		return nil, err
	}
	program := s.Program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			t.cancel()
			return nil, transient(fmt.Errorf("find the program of this process: %w", err))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.listen(); err != nil {
		t.cancel()
		return nil, transient(err)
	}
	base := nameOf(r)
	name := base
	for n := 2; s.used[name]; n++ { // an agent may still know the one before by its name
		name = short(base, "_"+strconv.Itoa(n))
	}
	s.used[name] = true
	token := rand.Text() + rand.Text()
	t.token = sha256.Sum256([]byte(token))
	url := "http://" + s.addr + "/" + name
	t.tools = executor.Tools{
		Name: name, URL: url, Token: token,
		Proxy: []string{program, "mcp", "--attempt", name}, ProxyEnv: map[string]string{URLVar: url, TokenVar: token},
	}
	s.turns[name] = t
	return t, nil
}

func transient(err error) error {
	return &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("serve the agent's tools: %w", err)}
}

// listen starts the server, if it does not run.
func (s *Server) listen() error {
	switch {
	case s.closed:
		return errors.New("the server is closed")
	case s.http != nil:
		select {
		case <-s.done: // it broke down; a turn that is open has lost its tools
		default:
			return nil
		}
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if s.turns == nil {
		s.turns, s.used = map[string]*turn{}, map[string]bool{}
	}
	s.addr, s.done = l.Addr().String(), make(chan struct{})
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: 32 << 10,
	}
	go func(h *http.Server, done chan struct{}) { // ends with Close
		defer close(done)
		_ = h.Serve(l)
	}(s.http, s.done)
	return nil
}

// Close ends the server and all open turns: their further reports are refused.
func (s *Server) Close() error {
	s.mu.Lock()
	turns, h, done := s.turns, s.http, s.done
	s.closed, s.turns = true, map[string]*turn{}
	s.mu.Unlock()
	for _, t := range turns {
		t.end()
	}
	if h == nil {
		return nil
	}
	err := h.Close()
	<-done
	return err
}

// shut ends a turn: its token is worth nothing from then on, and nothing that it
// reported is still on its way.
func (s *Server) shut(t *turn) {
	s.mu.Lock()
	delete(s.turns, t.tools.Name)
	s.mu.Unlock()
	t.end()
}

// serve answers one request, from anyone who can reach the port.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.local(r) {
		http.Error(w, "this server is for agents on this machine", http.StatusForbidden)
		return
	}
	s.mu.Lock()
	t := s.turns[strings.TrimPrefix(r.URL.Path, "/")]
	s.mu.Unlock()
	if !t.knows(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "no turn of an agent is open here for this token: a token is good for one turn", http.StatusUnauthorized)
		return
	}
	wait, cancel := context.WithTimeout(r.Context(), waitTime)
	defer cancel()
	select {
	case t.places <- struct{}{}:
		defer func() { <-t.places }()
	case <-wait.Done():
		http.Error(w, "too many requests of this turn at once", http.StatusServiceUnavailable)
		return
	}
	t.handler.ServeHTTP(w, r)
}

// local refuses what a page in a browser can send, also after its name was made to
// point here.
func (s *Server) local(r *http.Request) bool {
	s.mu.Lock()
	addr := s.addr
	s.mu.Unlock()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ours := func(host string) bool { return host == addr || host == "localhost:"+port }
	for _, o := range r.Header.Values("Origin") {
		if !ours(strings.TrimPrefix(o, "http://")) {
			return false
		}
	}
	return ours(r.Host)
}

// knows reports whether a request carries the turn's token.
func (t *turn) knows(r *http.Request) bool {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(given))
	want := sha256.Sum256([]byte(rand.Text())) // nobody's
	if t != nil {
		want = t.token
	}
	return subtle.ConstantTimeCompare(sum[:], want[:]) == 1 && bearer && t != nil
}

// handler serves the tools of a turn without sessions: there is nothing to keep
// between two requests, and nothing hangs when an agent is killed.
func handler(s *mcp.Server) http.Handler {
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			inner.ServeHTTP(w, r)
			return
		}
		b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, fmt.Sprintf("the request has more than %d bytes, or was cut: send less", maxBody), http.StatusRequestEntityTooLarge)
			return
		}
		var m message
		if json.Unmarshal(b, &m) == nil && m.request() && !known[m.Method] {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(failed(m.ID, codeUnknown, "there is no method "+strconv.Quote(text.Clip(m.Method, 100))))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
		inner.ServeHTTP(w, r)
	})
}

// known are the methods that a turn answers. All others are unknown in the words of
// JSON-RPC, from which agents conclude that they have to ask in an older way.
var known = map[string]bool{
	"initialize": true, "ping": true, "tools/list": true, "tools/call": true, "logging/setLevel": true,
	"resources/list": true, "resources/templates/list": true, "prompts/list": true,
}
