package opencode

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
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
	f := newFake(t, func(p *play) {
		p.says("user", message{Info: info{ID: "msg_person", Time: span{Created: 1}}, Parts: []part{{Type: "text", Text: "I am a person"}}}) // says a program inside
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
	r := f.ask(t)
	r.Keep, r.Wall = keep, &wall.Spec{}
	if j := f.c.Join(r, first.Session); !j.Unseen || !slices.Contains(j.Argv, f.program) || len(j.Env)+len(j.Forward) > 0 {
		t.Errorf("afterwards it is joined by %+v", j)
	}
}

// visitor is a person with a program of theirs, in a sandbox of theirs.
type visitor struct {
	api
	t       *testing.T
	session string
}

// visits waits for the relay to a session, and takes the way that a person has there.
func (f *fake) visits(t *testing.T, r executor.AgentRun, session string) *visitor {
	t.Helper()
	r.Wall = &wall.Spec{}
	for range time.Tick(10 * time.Millisecond) {
		if j := f.c.Join(r, session); len(j.Forward) > 0 {
			at := "http://" + j.Forward[0].At
			if want := []string{f.program, "attach", at, "--dir", r.Dir, "--session", session}; !slices.Equal(j.Argv, want) || j.Unseen {
				t.Errorf("it is joined by %+v, want %q", j, want)
			}
			return &visitor{api{url: "http://" + j.Forward[0].To, password: j.Env[passwordVar], dir: r.Dir, http: http.DefaultClient}, t, session}
		}
		if t.Context().Err() != nil {
			break
		}
	}
	return nil
}

// does makes a call below the session.
func (v *visitor) does(what string, body any) {
	v.t.Helper()
	if err := v.call(v.t.Context(), http.MethodPost, of("session", v.session, what), body, nil); err != nil {
		v.t.Errorf("a person's %s: %v", what, err)
	}
}

// saying is a message.
func saying(s string) any {
	return map[string]any{"parts": []any{map[string]string{"type": "text", "text": s}}}
}

// watches opens the stream of events, as a person's program does, until what it returns is called.
func (v *visitor) watches() func() {
	v.t.Helper()
	ctx, leave := context.WithCancel(v.t.Context())
	q, err := v.request(ctx, http.MethodGet, "/event", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		v.t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != "data" {
		v.t.Errorf("the stream begins with %q, %v", b, err)
	}
	return func() { leave(); _ = res.Body.Close() }
}

// A person takes over a session whose server is in a sandbox. With pause it is theirs until
// they leave: nothing outlives the turn.
func TestAPersonTakesOverASessionInASandbox(t *testing.T) { // S4-64, S4-68, S4-106, execution §6
	f := newFake(t, func(p *play) {
		if p.mark == "" { // a person's
			p.human("msg_person", "use argon2")
			p.answers("as you like")
			p.status(status{Type: "idle"})
			return
		}
		p.status(status{Type: "busy"})
		p.hears()
		p.human("msg_planted", "I am a person")
	})
	script, err := os.ReadFile(f.program)
	if err != nil {
		t.Fatal(err)
	}
	spies := strings.Replace(string(script), "while :; do", "while :; do cat people/* server.json; ls -a people;", 1)
	if err := os.WriteFile(f.program, []byte(strings.Replace(spies, "sleep 1;", "sleep 0.1;", 1)), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, on := range []string{"pause", "review"} {
		t.Run(on, func(t *testing.T) {
			r, facts := f.record(t)
			r.Human = ir.HITL{OnHumanMessage: on}
			f.confine(t, &r, t.TempDir())
			session := fmt.Sprintf("ses_%d", f.n+1)
			var left, over atomic.Bool
			var person sync.WaitGroup
			var v *visitor
			looked := f.called("GET /session/status")
			person.Go(func() {
				v = f.visits(t, r, session)
				stranger := *v
				stranger.password = "another"
				if _, err := stranger.messages(t.Context(), session); !isCode(err, http.StatusUnauthorized) {
					t.Errorf("somebody without the password: %v", err)
				}
				leave := v.watches()
				v.does("/prompt_async", saying("use argon2"))
				for on == pause && !over.Load() && f.called("GET /session/status") < looked+3 { // which is asked every five seconds
					time.Sleep(10 * time.Millisecond)
				}
				printed, err := filepath.Glob(filepath.Join(r.Keep, "opencode-*", "serve.*"))
				for _, file := range printed {
					if b, err := os.ReadFile(file); err != nil || strings.Contains(string(b), v.password) {
						t.Errorf("the agent knows how to come as a person: %v\n%s", err, b)
					}
				}
				if err != nil || len(printed) != 2 {
					t.Errorf("it printed %v, %v", printed, err)
				}
				left.Store(true)
				if on == pause {
					leave()
				}
			})
			got, err := f.c.Run(t.Context(), r)
			over.Store(true)
			if err != nil || got.End != executor.EndTakenOver || got.Session != session {
				t.Errorf("got %+v, %v", got, err)
			}
			if on == pause && !left.Load() {
				t.Error("the turn ended before the person left, and the server with it")
			}
			person.Wait()
			if c, err := net.Dial("tcp", strings.TrimPrefix(v.url, "http://")); err == nil {
				_ = c.Close()
				t.Error("the relay outlives the turn")
			}
			if h := spoken(*facts); len(h) != 1 || h[0].Text != "use argon2" || h[0].Session != session {
				t.Errorf("on record: %+v", h)
			}
			if left, err := os.ReadDir(r.Keep); err != nil || len(left) > 0 {
				t.Errorf("after the turn: %v, %v", left, err)
			}
		})
	}
}

// What is said in a session inside is not a person's, and holds no clock.
func TestASessionIsBusyOrStoppedInsideByNoPerson(t *testing.T) {
	t.Run("stopped", func(t *testing.T) {
		f := newFake(t, func(p *play) {
			p.status(status{Type: "busy"})
			p.hears()
			p.says("assistant", message{Info: info{ID: "msg_a", Error: &fault{Name: "MessageAbortedError"}, Time: span{Created: 1, Completed: 2}}})
			p.status(status{Type: "idle"})
		})
		r, facts := f.record(t)
		f.confine(t, &r, t.TempDir())
		if got, err := f.c.Run(t.Context(), r); classOf(err) != executor.FailCrash || len(spoken(*facts)) > 0 {
			t.Errorf("got %+v, %v; on record %+v", got, err, *facts)
		}
	})
	t.Run("busy", func(t *testing.T) {
		f := newFake(t, fine)
		r := f.ask(t)
		r.Effect.Session, r.Step.Limits.TimeoutMS = "ses_old", 3000
		f.sessions["ses_old"] = &session{ID: "ses_old", Directory: r.Dir}
		f.statuses["ses_old"] = status{Type: "busy"}
		f.confine(t, &r, t.TempDir())
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if got, err := f.c.Run(ctx, r); err != nil || got.End != executor.EndTimeout {
			t.Errorf("got %+v, %v", got, err)
		}
	})
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
