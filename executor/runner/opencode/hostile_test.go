package opencode

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// What a server prints is an agent's to decide: its plugins run in it.
func TestAServerThatPrintsNoAddressIsNotKept(t *testing.T) {
	found := make(chan string, 1)
	tap := await(found)
	noise := []byte(strings.Repeat("x", 64<<10))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 256 {
		tap(false, noise)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d bytes are kept of what it printed", grown)
	}
	for _, piece := range []string{"\nopencode server list", "ening on http://127.0.0.1:1", "234\n"} {
		tap(false, []byte(piece))
	}
	if got := <-found; got != "http://127.0.0.1:1234" {
		t.Errorf("its address is %q", got)
	}
	runtime.KeepAlive(tap)
}

// What is small as text is large in memory.
func TestAnAnswerOfVeryManyValuesIsNotRead(t *testing.T) {
	answer := "[" + strings.Repeat("{},", maxValues/2) + "{}]"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
	defer s.Close()
	a := api{url: s.URL, http: s.Client()}
	if got, err := a.messages(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "values") {
		t.Errorf("%d messages came, %v", len(got), err)
	}
	answer = `[{"parts":[{"text":"` + strings.Repeat(`{[,\",`, maxValues/2) + `"}]}]`
	if got, err := a.messages(t.Context(), "x"); err != nil || len(got) != 1 {
		t.Errorf("a long text: %d messages came, %v", len(got), err)
	}
}

// A turn keeps what it hears of by ID, and its server may name any number. Names of the
// failure's cases are what it names.
func TestAServerThatNamesTooMuchEndsItsTurn(t *testing.T) {
	id := func(kind string, i int) string { return fmt.Sprintf("%s_%d", kind, i) }
	update := func(p *play, role, id string) {
		p.emit("message.updated", map[string]any{"sessionID": p.session, "info": info{ID: id, Role: role, SessionID: p.session}})
	}
	for name, speaks := range map[string]func(p *play){
		"answers": func(p *play) {
			for i := range maxKept + 1 {
				update(p, "assistant", id("msg", i))
			}
		},
		"messages of users": func(p *play) {
			for i := range maxKept + 1 {
				update(p, "user", id("msg", i))
			}
		},
		"parts": func(p *play) {
			for i := range maxKept + 1 {
				p.emit("message.part.updated", map[string]any{"sessionID": p.session, "part": part{ID: id("prt", i), Type: "tool", SessionID: p.session, State: toolState{Status: "completed"}}})
			}
		},
		"subagents": func(p *play) {
			for i := range maxFamily + 1 {
				p.emit("session.created", map[string]any{"info": session{ID: id("ses_of", i), ParentID: p.session}})
			}
		},
		"listed subagents": func(p *play) {
			p.lock(func() {
				for i := range maxFamily + 1 {
					p.children[p.session] = append(p.children[p.session], session{ID: id("ses_of", i), ParentID: p.session, Time: span{Created: 9e15}})
				}
			})
			p.cut()
		},
		"listed messages": func(p *play) {
			p.lock(func() {
				for i := range maxKept + 1 {
					p.messages[p.session] = append(p.messages[p.session], message{Info: info{ID: id("msg", i), Role: "assistant"}})
				}
			})
			p.status(status{Type: "idle"})
		},
		"a message with a long ID": func(p *play) { update(p, "assistant", strings.Repeat("x", maxID+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(p *play) {
				p.status(status{Type: "busy"})
				p.hears()
				speaks(p)
				<-p.aborted
				p.status(status{Type: "idle"})
			})
			fails(t, f, f.ask(t))
		})
	}
	t.Run("messages of before", func(t *testing.T) {
		f := newFake(t, fine)
		r := f.ask(t)
		r.Effect.Session = "ses_old"
		f.sessions["ses_old"] = &session{ID: "ses_old", Directory: r.Dir}
		for i := range maxKept + 1 {
			f.messages["ses_old"] = append(f.messages["ses_old"], message{Info: info{ID: id("msg", i), Role: "user"}})
		}
		fails(t, f, r)
	})
	t.Run("MCP servers that are on", func(t *testing.T) {
		f := newFake(t, fine)
		for i := range maxServers + 1 {
			f.mcps[id("mcp", i)] = "connected"
		}
		fails(t, f, f.ask(t))
	})
	t.Run("MCP servers of its configuration", func(t *testing.T) {
		f := newFake(t, fine)
		for i := range maxServers + 1 {
			f.users = append(f.users, id("mcp", i))
		}
		fails(t, f, f.ask(t))
		if len(f.c.off) > 0 {
			t.Errorf("%d of them are kept", len(f.c.off))
		}
	})
}

// fails runs a turn that a person is to look at, since its server names too much.
func fails(t *testing.T, f *fake, r executor.AgentRun) {
	t.Helper()
	r.Step.Limits.TimeoutMS = 60_000
	got, err := f.c.Run(t.Context(), r)
	if classOf(err) != executor.FailConfig || !strings.Contains(err.Error(), "names more than") {
		t.Errorf("got %+v, %v (%s)", got, err, classOf(err))
	}
}
