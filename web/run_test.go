//go:build unix

package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// site is a repository with an epic, a page about it, and what asks that page.
type site struct {
	t    *testing.T
	dir  string
	epic *ir.Epic
	page *Server
	id   string // of the epic, in URLs
}

// newSite makes a repository whose agent is the shell script work. TOP is its directory.
func newSite(t *testing.T, work string, epic *ir.Epic) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: filepath.Join(dir, "project"), epic: epic}
	for name, r := range epic.Runners {
		if r.Set == nil {
			r.Set = map[string]string{}
		}
		r.Set["TOP"] = s.dir
		epic.Runners[name] = r
	}
	ir.Seal(epic)
	b, err := ir.Encode(epic)
	if err != nil {
		t.Fatal(err)
	}
	s.write("epic.json", string(b))
	s.write("agent.sh", "#!/bin/sh\nset -eu\n"+work)
	s.write("README.md", "one\n")
	s.git("init", "-q", "-b", "main", ".")
	s.git("config", "user.name", "Test User")
	s.git("config", "user.email", "test@example.org")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "first")
	return s
}

func (s *site) write(name, text string) {
	s.t.Helper()
	at := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o755)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// approval is the body that approves what the page shows of a sprint, as ann.
func (s *site) approval(id, key string) string {
	s.t.Helper()
	a, seen := got[Diff](s, "/EPIC/nodes/"+key+"/diff").Approval, got[Sprint](s, "/EPIC/nodes/"+key).Seq
	if a == nil {
		s.t.Fatalf("%s has nothing to approve", key)
	}
	return string(mustJSON(Decide{ID: id, Verb: executor.Approve, As: "ann", Seen: seen, Gate: a.Gate, Digest: a.Digest, Result: a.Result, Base: a.Base}))
}

// unseen watches a run and says nothing.
type unseen struct{}

func (unseen) Say(string)                                                 {}
func (unseen) Events([]executor.Event)                                    {}
func (unseen) Activity(executor.Effect, executor.Activity)                {}
func (unseen) Key(id ir.NodeID) string                                    { return string(id) }
func (unseen) Finish()                                                    {}
func (unseen) Account(*run.Opened, record.BranchHolds, bool, []ir.NodeID) {}

// start begins a run; wait returns its exit code when it has ended.
func (s *site) start() (wait func() int) {
	s.t.Helper()
	file := filepath.Join(s.dir, "epic.json")
	epic, raw, err := record.Load(file, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &run.Args{Blind: true, Grace: time.Second}
	r, err := run.Open(ctx, file, epic, raw, a)
	if err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(r.Apply(ctx, a, nil, nil, unseen{}), r.Close()) }()
	over := false
	wait = func() int {
		if over {
			return 0
		}
		over = true
		err := <-ended
		var code *exit.Error
		if err != nil && !errors.As(err, &code) {
			s.t.Errorf("apply: %v", err)
		}
		if code != nil {
			return code.Code
		}
		return 0
	}
	s.t.Cleanup(func() { cancel(); wait() })
	return wait
}

// serve starts the page.
func (s *site) serve() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	if s.page, err = Listen(ctx, Options{Dirs: []string{s.dir}}); err != nil {
		cancel()
		s.t.Fatal(err)
	}
	s.id = s.page.house.order[0]
	done := make(chan error, 1)
	go func() { done <- s.page.Serve(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("serve: %v", err)
		}
	})
}

// ask sends a request about the epic. The caller closes the body.
func (s *site) ask(method, path string, body io.Reader, header ...string) *http.Response {
	s.t.Helper()
	if s.page == nil {
		s.serve()
	}
	path = strings.Replace(path, "EPIC", "epics/"+s.id, 1)
	r, err := http.NewRequestWithContext(s.t.Context(), method, strings.TrimSuffix(s.page.Address(), "/")+base+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.page.token)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// text asks, and returns what was answered. The OpenAPI document must allow it.
func (s *site) text(path string, header ...string) (int, string, http.Header) {
	s.t.Helper()
	r := s.ask(http.MethodGet, path, nil, header...)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if r.Header.Get("Content-Encoding") != "" { // it was asked for as it is sent
		return r.StatusCode, string(b), r.Header
	}
	Conforms(s.t, http.MethodGet, r.Request.URL.EscapedPath(), r.StatusCode, r.Header.Get("Content-Type"), b)
	return r.StatusCode, string(b), r.Header
}

// got asks for JSON.
func got[T any](s *site, path string) (out T) {
	s.t.Helper()
	status, text, _ := s.text(path)
	if status != http.StatusOK {
		s.t.Fatalf("GET %s: %d %s", path, status, text)
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		s.t.Fatalf("GET %s: %v: %s", path, err, text)
	}
	return out
}

// until waits for something.
func (s *site) until(what string, is func() bool) {
	s.t.Helper()
	for range 600 {
		if is() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("it did not come to this: %s", what)
}

// attemptDir is where the files of an attempt are.
func (s *site) attemptDir(id ir.NodeID, attempt string) string {
	return filepath.Join(s.dir, ".git/ralph", string(s.epic.Epic.ID), "attempts", string(id), attempt)
}

func execute(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	return string(out), err
}

// chain are four sprints, of which the third and the fourth wait for the second, which waits
// for the first.
func chain(t *testing.T) *ir.Epic {
	t.Helper()
	return executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3: 1.2", "1.4: 1.2"})
}
