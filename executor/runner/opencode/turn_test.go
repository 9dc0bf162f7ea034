package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

func classOf(err error) executor.FailureClass {
	var f *executor.Failure
	if errors.As(err, &f) {
		return f.Class
	}
	return ""
}

func TestCapturedTurnsAreReplayed(t *testing.T) { // S4-104, S0-67, execution §4
	for name, c := range map[string]struct {
		class  executor.FailureClass
		tokens int64
		out    []string
	}{
		"writes":          {"", 3150, []string{"I will write the file.", "[write] /tree/hello.txt", "[bash] cat hello.txt", "hello from script", "All done: hello.txt written."}},
		"subagent":        {"", 3150, []string{"[task]", "child working", "parent done"}},
		"retry_then_fine": {"", 1050, []string{"[the model failed: rate limited; try 2 at ", "ok after 429"}},
		"bad_request":     {executor.FailConfig, 0, nil},
		"unknown_model":   {executor.FailConfig, 0, nil},
		"unknown_agent":   {executor.FailConfig, 0, nil},
		"fails_always":    {executor.FailTransient, 0, []string{"[the model failed: boom; try 2 at "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, replay(capture(t, name), 0))
			r := f.ask(t)
			got, err := f.c.Run(t.Context(), r)
			if classOf(err) != c.class || err != nil && c.class == "" {
				t.Fatalf("got %+v, %v; want class %q", got, err, c.class)
			}
			if c.tokens > 0 && (got.Usage.Tokens == nil || *got.Usage.Tokens != c.tokens || got.Model != "scripted/m1") {
				t.Errorf("model %s used %v, want %d", got.Model, got.Usage.Tokens, c.tokens)
			}
			out, _ := os.ReadFile(runner.File(r, runner.OutExt))
			for _, want := range c.out {
				if !strings.Contains(string(out), want) {
					t.Errorf("the output lacks %q:\n%s", want, out)
				}
			}
			if n := f.called("POST /session/ses_1/abort"); (n > 0) != (c.class != "") {
				t.Errorf("%d aborts", n)
			}
		})
	}
}

func TestAStreamThatIsCutLosesNothing(t *testing.T) { // facts: the stream repeats nothing
	c := capture(t, "writes")
	for at := 0; at < len(c.Events); at += 6 {
		t.Run(fmt.Sprintf("behind event %d", at), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, replay(c, len(c.Events), at))
			got, err := f.c.Run(t.Context(), f.ask(t))
			if err != nil || got.Usage.Tokens == nil || *got.Usage.Tokens != 3150 || !strings.Contains(got.Outcome.Invalid, "All done") {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestUnknownEventsAndFieldsAreIgnored(t *testing.T) {
	f := newFake(t, func(p *play) {
		for _, odd := range []string{
			`{"type":"brand.new","properties":{"sessionID":"` + p.session + `","status":"odd","part":7}}`, `{"type":1}`, `nonsense`, `{}`, `[]`,
			`{"type":"session.status","properties":{"sessionID":"` + p.session + `","status":{"type":"dreaming"}}}`,
			`{"type":"message.updated","properties":{"sessionID":"` + p.session + `","info":"x"}}`, `{"type":"message.part.updated","properties":{"sessionID":"` + p.session + `","part":null}}`,
		} {
			p.raw(odd)
		}
		fine(p)
	})
	if got, err := f.c.Run(t.Context(), f.ask(t)); err != nil || got.Outcome.Result != "success" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestManyEvents(t *testing.T) {
	const n = 100_000
	f := newFake(t, func(p *play) {
		p.status(status{Type: "busy"})
		p.hears()
		for range n {
			p.emit("message.part.updated", map[string]any{"sessionID": p.session, "part": map[string]string{"sessionID": p.session, "messageID": "msg_a", "id": "prt_a", "type": "text"}})
		}
		p.answers(outcome("success"))
		p.status(status{Type: "idle"})
	})
	r := f.ask(t)
	if got, err := f.c.Run(t.Context(), r); err != nil || got.Outcome.Result != "success" {
		t.Errorf("got %+v, %v", got, err)
	}
	stream, err := os.ReadFile(runner.File(r, runner.StreamExt))
	if lines := strings.Count(string(stream), "\n"); err != nil || lines < n {
		t.Errorf("%d lines of the stream are kept, %v", lines, err)
	}
}

func TestWhatIsAskedIsRefused(t *testing.T) { // facts §0.9
	for name, seen := range map[string]bool{"while it is heard": true, "while the stream is cut": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(p *play) {
				p.status(status{Type: "busy"})
				p.hears()
				p.lock(func() {
					p.pending["permission"] = []asked{{ID: "per_1", SessionID: p.session}, {ID: "per_2", SessionID: "ses_other"}}
					p.pending["question"] = []asked{{ID: "que_1", SessionID: p.session}}
				})
				if seen {
					p.emit("permission.asked", map[string]any{"id": "per_1", "sessionID": p.session})
					p.emit("question.asked", map[string]any{"id": "que_1", "sessionID": p.session})
				} else {
					p.cut()
				}
				p.await(1, "POST /permission/per_1/reply")
				p.await(1, "POST /question/que_1/reject")
				p.answers(outcome("success"))
				p.status(status{Type: "idle"})
			})
			if got, err := f.c.Run(t.Context(), f.ask(t)); err != nil || got.Outcome.Result != "success" {
				t.Errorf("got %+v, %v", got, err)
			}
			if f.called("POST /permission/per_2") > 0 {
				t.Error("another session's question was answered")
			}
		})
	}
}

func TestAModelAtItsLimit(t *testing.T) { // execution §4: 429
	at := time.Now().Add(2 * time.Hour).Truncate(time.Second)
	for name, c := range map[string]struct {
		status status
		class  executor.FailureClass
		until  string
	}{
		"that says when it ends":   {status{Attempt: 1, Message: "slow down", Next: at.UnixMilli()}, executor.FailLimit, at.UTC().Format(time.RFC3339)},
		"that stays":               {status{Attempt: 3, Message: "Rate limit reached", Next: time.Now().UnixMilli()}, executor.FailLimit, "any"},
		"that is overloaded":       {status{Attempt: 3, Message: "Provider is overloaded", Next: time.Now().UnixMilli()}, executor.FailTransient, ""},
		"that failed three times":  {status{Attempt: 3, Message: "boom", Next: time.Now().UnixMilli()}, executor.FailTransient, ""},
		"that is far from its end": {status{Attempt: 1, Message: "rate_limit", Next: at.UnixMilli()}, executor.FailLimit, at.UTC().Format(time.RFC3339)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(p *play) {
				p.hears()
				c.status.Type = "retry"
				p.status(c.status)
				<-p.aborted
				p.status(status{Type: "idle"})
			})
			_, err := f.c.Run(t.Context(), f.ask(t))
			var e *executor.Failure
			if !errors.As(err, &e) || e.Class != c.class || c.until == "" && e.Until != "" || c.until != "any" && e.Until != c.until {
				t.Errorf("got %+v, %v", e, err)
			}
		})
	}
}

func TestHowAnErrorIsClassed(t *testing.T) { // facts §8, execution §4
	api := func(code int, message string, headers ...string) fault {
		var f fault
		f.Name, f.Data.Message, f.Data.StatusCode = "APIError", message, code
		if len(headers) > 0 {
			f.Data.ResponseHeaders = map[string]string{"Retry-After": headers[0]}
		}
		return f
	}
	named := func(name, message string) fault {
		f := api(0, message)
		f.Name = name
		return f
	}
	for name, c := range map[string]struct {
		fault   fault
		resumed bool
		class   executor.FailureClass
		invalid bool // an attempt of the agent's doing
	}{
		"400":                         {api(400, "bad"), false, executor.FailConfig, false},
		"401":                         {api(401, "key"), false, executor.FailConfig, false},
		"402":                         {api(402, "pay"), false, executor.FailConfig, false},
		"429":                         {api(429, "slow", "60"), false, executor.FailLimit, false},
		"500":                         {api(500, "boom"), false, executor.FailTransient, false},
		"529":                         {api(529, "overloaded"), false, executor.FailTransient, false},
		"a cut connection":            {api(0, "socket closed"), false, executor.FailTransient, false},
		"a quota without a code":      {api(0, "insufficient_quota"), false, executor.FailLimit, false},
		"a login":                     {named("ProviderAuthError", "log in"), false, executor.FailConfig, false},
		"an unknown model":            {named("UnknownError", "Model not found: x/y."), false, executor.FailConfig, false},
		"an unknown agent":            {named("UnknownError", `Agent not found: "x".`), false, executor.FailConfig, false},
		"something else":              {named("UnknownError", "undefined is not a function"), false, executor.FailTransient, false},
		"a full context":              {named("ContextOverflowError", "too long"), false, "", true},
		"a full context, told as 400": {api(400, "maximum context length is 200000"), false, "", true},
		"a full session":              {named("ContextOverflowError", "too long"), true, executor.FailSession, false},
		"an answer that is too long":  {named("MessageOutputLengthError", ""), false, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(p *play) {
				p.status(status{Type: "busy"})
				p.hears()
				p.says("assistant", message{Info: info{ID: "msg_e", Error: &c.fault, Time: span{Created: 1, Completed: 2}}})
				p.status(status{Type: "idle"})
			})
			r := f.ask(t)
			if c.resumed {
				f.sessions["ses_old"] = &session{ID: "ses_old", Directory: r.Dir}
				r.Effect.Session = "ses_old"
			}
			got, err := f.c.Run(t.Context(), r)
			if classOf(err) != c.class || (c.class == "") != (err == nil) || (got.Outcome.Invalid != "") != c.invalid {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestATurnThatStopsBehindAToolIsOver(t *testing.T) {
	f := newFake(t, func(p *play) {
		p.hears()
		p.says("assistant", message{Info: info{ID: "msg_t", Finish: "tool-calls", Time: span{Created: 1, Completed: 2}}})
		p.status(status{Type: "idle"})
	})
	if got, err := f.c.Run(t.Context(), f.ask(t)); err != nil || got.Outcome.Invalid == "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestACancelledTurnIsAborted(t *testing.T) {
	for name, early := range map[string]bool{"while it works": false, "before the session took the message": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			f := newFake(t, func(p *play) {
				if early {
					cancel()
					p.await(1, "POST /session/"+p.session+"/abort")
					p.lock(func() { p.statuses[p.session] = status{Type: "busy"} }) // the first abort came too early
					p.await(2, "POST /session/"+p.session+"/abort")
				} else {
					p.status(status{Type: "busy"})
					p.hears()
					p.emit("message.updated", map[string]any{"sessionID": p.session, "info": info{ID: "msg_a", Role: "assistant", SessionID: p.session}})
					cancel()
					<-p.aborted
				}
				p.status(status{Type: "idle"})
			})
			if _, err := f.c.Run(ctx, f.ask(t)); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			f.lock(func() {
				if len(f.statuses) > 0 {
					t.Errorf("it returned while the session was %v", f.statuses)
				}
			})
		})
	}
}

func TestTheClocksEndATurn(t *testing.T) { // S4-65
	hang := func(p *play) {
		p.status(status{Type: "busy"})
		p.hears()
		for {
			select {
			case <-p.aborted:
				p.status(status{Type: "idle"})
				return
			case <-time.After(20 * time.Millisecond):
				p.emit("server.heartbeat", map[string]any{})
				p.emit("session.updated", map[string]any{"sessionID": "ses_of_another", "info": map[string]string{"id": "ses_of_another"}})
			}
		}
	}
	t.Run("heartbeats and other sessions are no sign of life", func(t *testing.T) {
		t.Parallel()
		f := newFake(t, hang)
		r := f.ask(t)
		r.Step.Stall.AfterMS, r.Step.Stall.Action = 3000, "fail"
		if got, err := f.c.Run(t.Context(), r); err != nil || got.End != executor.EndStalled {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("its time is over", func(t *testing.T) {
		t.Parallel()
		f := newFake(t, hang)
		r := f.ask(t)
		r.Step.Limits.TimeoutMS = 3000
		if got, err := f.c.Run(t.Context(), r); err != nil || got.End != executor.EndTimeout {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestAnAnswerIsGivenWhole(t *testing.T) {
	f := newFake(t, func(p *play) {
		p.hears()
		p.says("assistant", message{Info: info{ID: "msg_t", Finish: "stop", Time: span{Created: 1, Completed: 2}}, Parts: []part{{Type: "text", Text: "one"}, {Type: "text", Text: "hidden", Synthetic: true}, {Type: "tool"}, {Type: "text", Text: "two"}}})
		p.status(status{Type: "idle"})
	})
	r := f.ask(t)
	var answer []byte
	r.Raw, r.Answer = true, &answer
	if _, err := f.c.Run(t.Context(), r); err != nil || string(answer) != "one\n\ntwo" {
		t.Errorf("got %q, %v", answer, err)
	}
}

func TestWhatAPromptSays(t *testing.T) { // S4-76, S4-77, S4-107
	var got prompt
	f := newFake(t, func(p *play) { p.lock(func() { got = p.prompt }); fine(p) })
	for name, c := range map[string]struct {
		change func(*executor.AgentRun)
		want   prompt
	}{
		"a plain agent":        {func(*executor.AgentRun) {}, prompt{Model: &modelRef{"scripted", "m1"}, Agent: plainAgent}},
		"one that is told":     {func(r *executor.AgentRun) { r.Text = "Be careful." }, prompt{Model: &modelRef{"scripted", "m1"}, Agent: toldAgent, System: "Be careful."}},
		"one of the program's": {func(r *executor.AgentRun) { r.Slug = "critic" }, prompt{Model: &modelRef{"scripted", "m1"}, Agent: "critic"}},
		"one of a project": {func(r *executor.AgentRun) {
			r.Text = "Be careful."
			if err := put(r.Dir+"/CLAUDE.md", "Use tabs."); err != nil {
				t.Error(err)
			}
			if err := put(r.Dir+"/CONTEXT.md", "Later."); err != nil {
				t.Error(err)
			}
		}, prompt{Model: &modelRef{"scripted", "m1"}, Agent: toldAgent, System: "Be careful.\n\nInstructions from: DIR/CLAUDE.md\nUse tabs."}},
		"a judge of a project": {func(r *executor.AgentRun) {
			r.Raw, r.Read = true, true
			if err := put(r.Dir+"/AGENTS.md", "Say pass."); err != nil {
				t.Error(err)
			}
		}, prompt{Model: &modelRef{"scripted", "m1"}, Agent: plainAgent}},
		"a model with a provider":  {func(r *executor.AgentRun) { r.Model, r.Alias.Provider = "a/b/c", "" }, prompt{Model: &modelRef{"a", "b/c"}, Agent: plainAgent}},
		"one that is named twice":  {func(r *executor.AgentRun) { r.Model = "scripted/m1" }, prompt{Model: &modelRef{"scripted", "m1"}, Agent: plainAgent}},
		"a model of its own agent": {func(r *executor.AgentRun) { r.Model, r.Alias.Provider, r.Slug = "", "", "critic" }, prompt{Agent: "critic"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.ask(t)
			c.change(&r)
			if _, err := f.c.Run(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			parts := got.Parts
			got.Parts, got.System = nil, strings.ReplaceAll(got.System, r.Dir, "DIR")
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(c.want)
			if string(a) != string(b) || len(parts) != 1 || parts[0].Text != "the prompt" || !strings.HasPrefix(parts[0].Metadata.Ralph, "bd-1-1/agent-1/") {
				t.Errorf("got %s with %+v, want %s", a, parts, b)
			}
		})
	}
	r := f.ask(t)
	r.Model, r.Alias.Provider = "sonnet", ""
	if _, err := f.c.Run(t.Context(), r); classOf(err) != executor.FailConfig {
		t.Errorf("a model without a provider: %v", err)
	}
	if err := f.c.Check(t.Context(), r); classOf(err) != executor.FailConfig {
		t.Errorf("Check says %v", err)
	}
	f.lock(func() {
		if !slices.ContainsFunc(f.calls, func(c string) bool {
			return strings.HasPrefix(c, "POST /session ") && strings.Contains(c, `"ralph_node":"bd-1-1"`) && strings.Contains(c, `"ralph_attempt":"2"`) && strings.Contains(c, `"ralph_epic":"bd-epic"`)
		}) {
			t.Errorf("no session says of whom it is: %q", f.calls)
		}
	})
}

func TestASessionThatBeginsSlowlyDidNotStop(t *testing.T) {
	f := newFake(t, nil)
	f.sessions["ses_1"] = &session{ID: "ses_1"}
	r := f.ask(t)
	begun, err := f.c.Base.Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	u := &turn{
		c: f.c, t: begun, run: r, id: "ses_1", mark: "m", family: map[string]bool{"ses_1": true}, known: map[string]bool{}, users: map[string]bool{},
		spent: map[string]cost{}, told: map[string]string{}, tries: map[string]status{}, spoke: map[string]bool{},
		api: api{url: f.url, password: strings.Repeat("x", 20), dir: r.Dir, http: http.DefaultClient},
	}
	long := time.Now().Add(-time.Hour)
	f.messages["ses_1"] = []message{
		{Info: info{ID: "msg_1", Role: "user"}, Parts: []part{{Type: "text", Metadata: json.RawMessage(`{"ralph":"m"}`)}}},
		{Info: info{ID: "msg_2", Role: "assistant"}},
	}
	u.calm = long // it was idle since the message was sent, and has begun just now
	if end := u.look(t.Context(), false); end != nil {
		t.Errorf("it ended as %+v", end)
	}
	u.calm = long
	if end := u.hear(t.Context(), heard{raw: []byte("{}"), event: event{Type: "message.part.delta", Properties: properties{SessionID: "ses_1"}}}); end != nil || !u.calm.IsZero() {
		t.Errorf("it ended as %+v, calm since %v", end, u.calm)
	}
	u.calm = long
	if end := u.look(t.Context(), false); end == nil || end.Final || end.Died == "" {
		t.Errorf("a session that stopped in the middle ended as %+v", end)
	}
	if _, err := begun.End(runner.End{}); classOf(err) != executor.FailCrash {
		t.Errorf("got %v", err)
	}
}
