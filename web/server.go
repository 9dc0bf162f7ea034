package web

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
)

// Options say what is served, and how.
type Options struct {
	Dirs     []string // of repositories
	Port     int      // 0: the usual one of the first repository, or the next free one
	ReadOnly bool     // nothing can be decided
}

// Server is the page's server.
type Server struct {
	house    *house
	readOnly bool
	token    string
	port     string
	listener net.Listener
	usual    bool // the port is that of the first repository

	diffs    chan struct{} // places for git: only so many run at once
	searches chan struct{} // places for searches
	patches  patches       // that were asked for last
	compiles compiles
	watches  watches
	beads    *run.Beads
	document func() []byte // OpenAPI, made once

	mu        sync.Mutex      // guards the following
	count     int64           // of the house, when kept was made
	kept      map[string]made // answers about everything
	code      string          // of OpenLink; "" if there is none, or it was used
	codeUntil time.Time
}

// Listen finds the repositories, opens their epics and listens on loopback. An agent or a
// gate of a run is refused: it would decide about its own work.
func Listen(ctx context.Context, o Options) (*Server, error) {
	if err := run.RefuseMarked(); err != nil {
		return nil, err
	}
	for _, dir := range o.Dirs {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return nil, exit.Inputf("there is no directory %s", dir)
		}
	}
	h, err := newHouse(ctx, o.Dirs)
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what it took to read the epics
	s := &Server{house: h, readOnly: o.ReadOnly, token: newToken(), kept: map[string]made{}, diffs: make(chan struct{}, 2), searches: make(chan struct{}, 2), beads: run.NewBeads(), document: sync.OnceValue(OpenAPI)}
	if s.listener, s.usual, err = listen(h.repos[0].Git, o.Port); err != nil {
		return nil, err
	}
	_, s.port, err = net.SplitHostPort(s.listener.Addr().String())
	return s, err
}

// listen takes the port that was asked for, or the one that belongs to a git directory, or
// the next free one.
func listen(git string, port int) (l net.Listener, usual bool, err error) {
	if port != 0 {
		l, err = net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port))
		return l, true, err
	}
	first := record.PagePort(git)
	for i := range 100 {
		if l, err = net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(first+i)); err == nil {
			return l, i == 0, nil
		}
	}
	return nil, false, fmt.Errorf("no port from %d to %d is free: name one with --port: %w", first, first+99, err)
}

// Address is where the page is, without the token.
func (s *Server) Address() string { return "http://127.0.0.1:" + s.port + "/" }

// Link opens the page. It holds the token: it is for the terminal alone.
func (s *Server) Link() string { return s.Address() + "#t=" + url.QueryEscape(s.token) }

// OpenLink opens the page once, within a minute. It holds no token, because others can see
// the arguments of the program that opens a browser.
func (s *Server) OpenLink() string {
	code := newToken()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code, s.codeUntil = code, time.Now().Add(time.Minute)
	return s.Address() + "#o=" + code
}

// open gives the token for the code of OpenLink.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	var body Open
	if !isJSON(r) || json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&body) != nil {
		fail(w, http.StatusBadRequest, Fault{Error: "a code is application/json", Reason: "invalid"})
		return
	}
	s.mu.Lock()
	fits := s.code != "" && time.Now().Before(s.codeUntil) && subtle.ConstantTimeCompare([]byte(body.Code), []byte(s.code)) == 1
	if fits {
		s.code = ""
	}
	s.mu.Unlock()
	if !fits {
		fail(w, http.StatusUnauthorized, Fault{Error: "this link was used, or is too old", Hint: "open the link that ralph ui printed", Reason: "token"})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(mustJSON(Opened{Token: s.token})) // who does not read it is gone
}

// UsualPort reports whether the page is where it always is for this repository.
func (s *Server) UsualPort() bool { return s.usual }

// Serve answers until ctx ends.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var following sync.WaitGroup
	following.Go(func() { s.house.follow(ctx) })
	following.Go(func() { s.house.foretell(ctx) })
	following.Go(func() { s.house.lookOut(ctx) })
	following.Go(func() { s.watches.follow(ctx) })
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listener) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	cancel()
	err = errors.Join(err, server.Close())
	following.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// handler is everything that is served.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes() {
		if r.writes && s.readOnly {
			continue
		}
		mux.HandleFunc(r.method+" "+base+r.path, func(w http.ResponseWriter, req *http.Request) {
			if r.free || s.allowed(w, req) {
				r.serve(s, w, req)
			}
		})
	}
	mux.HandleFunc(base+"/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, Fault{Error: "there is no " + r.Method + " " + r.URL.Path, Hint: base + "/openapi.json lists what there is", Reason: "unknown"})
	})
	mux.HandleFunc("/", assets())
	return s.guarded(mux)
}

// answer returns an answer about everything, made anew only after a change.
func (s *Server) answer(what string, build func() (any, error)) (body []byte, etag string, err error) {
	count, _ := s.house.change()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count != count {
		clear(s.kept)
		s.count = count
	}
	if m, is := s.kept[what]; is {
		return m.body, m.etag, nil
	}
	v, err := build()
	if err != nil {
		return nil, "", err
	}
	if body, etag, err = encoded(v); err == nil {
		s.kept[what] = made{body, etag}
	}
	return body, etag, err
}

// refusal is an error with its answer.
type refusal struct {
	status int
	Fault
}

func (r *refusal) Error() string { return r.Fault.Error }

func unknown(format string, args ...any) error {
	return &refusal{http.StatusNotFound, Fault{Error: fmt.Sprintf(format, args...), Reason: "unknown"}}
}

func invalid(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, Fault{Error: fmt.Sprintf(format, args...), Reason: "invalid"}}
}

// send answers with JSON, or with what went wrong.
func send(w http.ResponseWriter, r *http.Request, body []byte, etag string, err error) {
	var no *refusal
	var said *exit.Error
	switch {
	case errors.As(err, &no):
		fail(w, no.status, no.Fault)
		return
	case errors.As(err, &said):
		fail(w, http.StatusNotFound, Fault{Error: err.Error(), Reason: "unknown"})
		return
	case err != nil:
		fail(w, http.StatusInternalServerError, Fault{Error: err.Error(), Reason: "broken"})
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", etag)
	if has(r, etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	write(w, r, body)
}

// fail answers with a fault.
func fail(w http.ResponseWriter, status int, f Fault) {
	body, err := json.Marshal(f)
	if err != nil {
		panic(err) // of strings
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // who does not read it is gone
}
