package opencode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// confine puts the server of a turn into a sandbox, where it listens at a port that leads
// to the fake's interface.
func (f *fake) confine(t *testing.T, r *executor.AgentRun, home string) {
	t.Helper()
	_, err := sandbox.Try(t.Context(), wall.Namespaces)
	switch {
	case err == nil:
	case strings.Contains(os.Getenv("RALPH_SANDBOX_REQUIRE"), string(wall.Namespaces)):
		t.Fatal(err)
	default:
		t.Skipf("SKIPPED: no sandbox on this machine: %v", err)
	}
	const at = "127.0.0.1:7790"
	r.Runner.Set["SERVE_AT"] = "http://" + at
	r.Wall = &wall.Spec{
		Name: "test", Kind: wall.Namespaces, Home: home, Mounts: []wall.Mount{{From: r.Dir, Write: true}},
		Forward: []wall.Forward{{At: at, To: strings.TrimPrefix(f.url, "http://")}},
	}
}

func TestAConfinedTurnHasAServerOfItsOwn(t *testing.T) {
	var mu sync.Mutex
	var joined [][]string
	var f *fake
	f = newFake(t, func(p *play) {
		r := f.ask(t)
		r.Wall = &wall.Spec{}
		p.says("user", message{Info: info{ID: "msg_person", Time: span{Created: 1}}, Parts: []part{{Type: "text", Text: "I am a person"}}}) // says a program inside
		mu.Lock()
		joined = append(joined, f.c.Join(r, p.session))
		mu.Unlock()
		fine(p)
	})
	keep, home := t.TempDir(), t.TempDir()
	run := func(session string) executor.AgentEnded {
		r := f.ask(t)
		r.Keep = keep
		r.Effect.Session = session
		f.confine(t, &r, home)
		got, err := f.c.Run(t.Context(), r)
		if err != nil || got.Outcome.Result != "success" {
			t.Errorf("got %+v, %v", got, err)
		}
		return got
	}
	var wg sync.WaitGroup
	var first executor.AgentEnded
	wg.Go(func() { first = run("") })
	wg.Go(func() { run("") })
	wg.Wait()
	if again := run(first.Session); again.Session != first.Session {
		t.Errorf("session %s is gone on with as %s", first.Session, again.Session)
	}

	servers, err := filepath.Glob(filepath.Join(home, "env.*")) // its home is the sandbox's
	if err != nil || len(servers) == 0 || len(f.servers()) > 0 {
		t.Fatalf("servers inside: %v, %v; outside: %v", servers, err, f.servers())
	}
	env, err := os.ReadFile(servers[0])
	if err != nil || !strings.Contains(string(env), "\nTMPDIR=/tmp\n") {
		t.Errorf("%v: its environment is\n%s", err, env)
	}
	if left, err := os.ReadDir(keep); err != nil || len(left) > 0 || len(f.c.servers) > 0 {
		t.Errorf("after the turns: %v in its directory, %v; %d servers", left, err, len(f.c.servers))
	}
	for _, j := range joined {
		if !slices.Contains(j, f.program) {
			t.Errorf("while it runs it is joined by %q: nobody reaches that server", j)
		}
	}
}

// A server that cannot start in its sandbox is no matter of trying again.
func TestASandboxThatCannotBeMadeIsConfiguration(t *testing.T) {
	f := newFake(t, fine)
	r := f.ask(t)
	f.confine(t, &r, t.TempDir())
	r.Wall.Mounts = append(r.Wall.Mounts, wall.Mount{From: "/nowhere/at/all"})
	_, err := f.c.Run(t.Context(), r)
	if classOf(err) != executor.FailConfig || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Errorf("it is %q: %v", classOf(err), err)
	}
}

// Close during the start of a server leaves nothing.
func TestCloseWaitsForAServerThatStarts(t *testing.T) {
	f := newFake(t, fine)
	r := f.ask(t)
	r.Keep = t.TempDir()
	f.confine(t, &r, t.TempDir())
	var turn sync.WaitGroup
	turn.Go(func() { _, _ = f.c.Run(t.Context(), r) }) // it may have come to its end before
	for starts := false; !starts; time.Sleep(time.Millisecond) {
		f.c.mu.Lock()
		starts = len(f.c.slots) > 0
		f.c.mu.Unlock()
	}
	if err := f.c.Close(); err != nil {
		t.Error(err)
	}
	turn.Wait()
	if left, err := os.ReadDir(r.Keep); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
