package opencode

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// server is a running `opencode serve`.
type server struct {
	dir           string // its own: temporary files, output, how to attach
	url, password string
	client        *http.Client
	cancel        context.CancelFunc
	inside        chan process.Inside // what reaches into its sandbox; nil: it has none
	done          chan struct{}       // closed when the process and all that it left behind are gone
	died          string              // how it ended; to be read after done, as not
	not           error               // why it did not run

	mu     sync.Mutex                   // guards the rest
	turns  map[string]map[string]string // variables of turns in progress, by directory
	active map[string]map[string]bool   // names of MCP servers of turns in progress, by directory
	ending bool                         // its directory is removed: nothing is written there any more

	users int       // turns in progress; guarded by the Runner's lock, as the rest
	used  time.Time // when it was given back last
	lost  bool      // not to be used for new turns
	lent  bool      // a person has a session of it
	dirs  map[string]bool
}

// Variables of a server's environment.
const (
	passwordVar = "OPENCODE_SERVER_PASSWORD"
	contentVar  = "OPENCODE_CONFIG_CONTENT"
	serverMark  = "RALPH_SERVER" // marks the server's descendants, while ralph lives
	userVar     = "OPENCODE_SERVER_USERNAME"
	userName    = "opencode" // what its clients take if that is not set
)

// startTime is how long a server may take to listen and to answer.
const startTime = 2 * time.Minute

var listening = lazyregexp.New(`listening on (http://\S+)\s`)

// start starts a server in dir, which it makes, and returns when it answers. It
// lives until it is ended, longer than ctx.
func (c *Runner) start(ctx context.Context, p plan, dir, mark string) (*server, error) {
	s := &server{
		dir: dir, password: rand.Text(), done: make(chan struct{}),
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		turns: map[string]map[string]string{}, active: map[string]map[string]bool{}, dirs: map[string]bool{},
	}
	dirs := []string{s.temp(), filepath.Join(dir, sessionsDir)}
	if p.only != nil {
		dirs = append(dirs, filepath.Dir(s.people()))
	}
	for _, d := range dirs {
		if err := regular.MkdirOwn(d); err != nil {
			return nil, err
		}
	}
	shell, err := s.wrap(p.env)
	if err != nil {
		return nil, err
	}
	over, err := content(p.content, shell, p.off)
	if err != nil {
		return nil, runner.Configuration(err)
	}
	env := append(slices.Clone(p.env),
		passwordVar+"="+s.password, contentVar+"="+over, "TMPDIR="+s.temp(), runner.Mark+"="+mark, serverMark+"="+dir)
	found := make(chan string, 1)
	spec := process.Spec{
		Argv: append(slices.Clone(p.argv), "serve", "--hostname", "127.0.0.1", "--port", "0"), Dir: dir, Env: env, Mark: serverMark,
		Stdout: filepath.Join(dir, "serve.out"), Stderr: filepath.Join(dir, "serve.err"), Cap: 1 << 20, Grace: c.Base.Grace, Filter: c.Base.Filter,
		Tap: await(found),
	}
	if p.only != nil {
		s.confine(&spec, p.only)
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	c.wg.Go(func() {
		defer close(s.done)
		defer cancel()
		res, err := process.Run(run, spec)
		s.died, s.not = died(res, err, spec.Stderr), err
		s.client.CloseIdleConnections()
	})
	if err := s.ready(ctx, found); err != nil {
		s.end()
		return nil, err
	}
	if p.only != nil { // a person reaches it by a relay: see lend
		return s, nil
	}
	return s, s.announce(p)
}

// confine puts the server into the sandbox of a turn, where it can read its own directory
// but for what is for people, and reaches for it there.
func (s *server) confine(spec *process.Spec, only *runner.Turn) {
	spec.Wall = runner.SpecOf(only, spec.Argv, spec.Env, wall.Mount{From: s.dir}, wall.Mount{At: filepath.Dir(s.people()), Cover: true}).Wall
	s.inside = make(chan process.Inside, 1)
	spec.Begun = func(in process.Inside) { s.inside <- in }
	s.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, at string) (net.Conn, error) {
		select {
		case in := <-s.inside:
			s.inside <- in // for the next one
			return in.Dial(ctx, at)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// maxLine is how much of what a server prints may hold its address, in bytes.
const maxLine = 4 << 10

// await looks for the address in what a server prints.
func await(found chan<- string) func(stderr bool, b []byte) {
	var seen []byte
	done := false
	return func(stderr bool, b []byte) {
		if stderr || done {
			return
		}
		seen = append(seen, b...)
		if m := listening.FindStringSubmatch(string(seen)); m != nil {
			done = true
			found <- m[1]
		}
		seen = bytes.Clone(seen[max(0, len(seen)-maxLine):])
	}
}

// ready returns when the server answers. A call that comes while it boots is
// accepted and never answered: it is asked in short tries.
func (s *server) ready(ctx context.Context, found <-chan string) error {
	wait, stop := context.WithTimeout(ctx, startTime)
	defer stop()
	late := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("opencode serve does not answer after %v", startTime)}
	}
	select {
	case s.url = <-found:
	case <-s.done:
		return s.gone()
	case <-wait.Done():
		return late()
	}
	for !s.in("").healthy(wait) {
		select {
		case <-s.done:
			return s.gone()
		case <-wait.Done():
			return late()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// died says how a server ended.
func died(res process.Result, err error, stderr string) string {
	if err != nil {
		return err.Error()
	}
	how := runner.Died(res)
	if tail, err := process.Tail(stderr, 500); err == nil && strings.TrimSpace(tail) != "" {
		how += ": " + short(tail, 400)
	}
	return how
}

// gone is the failure of a turn whose server is.
func (s *server) gone() error {
	if not, ok := errors.AsType[*process.NotStarted](s.not); ok {
		return runner.Configuration(fmt.Errorf("opencode cannot run: %w", not))
	}
	return &executor.Failure{Class: executor.FailCrash, Err: errors.New("opencode's server " + s.died)}
}

// temp is where the server and its shells put temporary files: it leaves some.
func (s *server) temp() string {
	if s.inside != nil {
		return "/tmp" // the sandbox's
	}
	return filepath.Join(s.dir, "tmp")
}

// in is the server's interface for a directory.
func (s *server) in(dir string) api {
	return api{url: s.url, password: s.password, dir: dir, http: s.client}
}

// end ends the server and returns when all of it is gone, with its directory.
func (s *server) end() {
	s.cancel()
	<-s.done
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	_ = regular.RemoveAllOwn(s.dir) // what cannot be removed is below the run's state
}

// write lets a turn write in the server's directory, one at a time. The server of a turn
// that goes on may end at any moment: a file that comes while its directory is removed
// would be left there.
func (s *server) write(file func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return s.gone()
	}
	return file()
}

// announced is what another ralph of the same user may know of a server.
type announced struct {
	PID      int    `json:"pid"` // of the ralph that it belongs to
	URL      string `json:"url"`
	Password string `json:"password"`
}

// Files in a server's directory.
const (
	announceFile = "server.json"
	attachFile   = "attach"
	sessionsDir  = "sessions" // a file for each session that it has had
	peopleDir    = "people"   // of a server in a sandbox: announceFile
)

// announce writes how a person attaches to the server: a script that no one else
// can read, since it holds the password.
func (s *server) announce(p plan) error {
	script := "#!/bin/sh\n" + passwordVar + "=" + shellword.Quote(s.password) + " exec"
	for _, a := range append(slices.Clone(p.argv), "attach", s.url) {
		script += " " + shellword.Quote(a)
	}
	if err := regular.WriteOwn(filepath.Join(s.dir, attachFile), []byte(script+" \"$@\"\n"), 0o700); err != nil {
		return err
	}
	return announce(filepath.Join(s.dir, announceFile), s.url, s.password)
}

func announce(file, url, password string) error {
	b, err := json.Marshal(announced{PID: os.Getpid(), URL: url, Password: password})
	if err != nil {
		return err
	}
	return atomicfile.WriteOwn(file, b, 0o600)
}

// has notes that a session is worked in at this server.
func (s *server) has(session string) error {
	return s.write(func() error {
		return regular.WriteOwn(filepath.Join(s.dir, sessionsDir, filepath.Base(session)), nil, 0o600)
	})
}

// failure is what an error of a call comes to: a call fails in a moment when the
// server is gone.
func (s *server) failure(err error) error {
	_, known := errors.AsType[*executor.Failure](err)
	r, answered := errors.AsType[*statusError](err)
	switch {
	case err == nil, known, errors.Is(err, context.Canceled):
		return err
	case answered && r.code/100 == 4:
		return runner.Configuration(err)
	case answered:
		return &executor.Failure{Class: executor.FailTransient, Err: err}
	}
	select {
	case <-s.done:
		return s.gone()
	case <-time.After(time.Second):
		return &executor.Failure{Class: executor.FailTransient, Err: err}
	}
}
