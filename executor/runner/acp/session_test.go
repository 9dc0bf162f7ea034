package acp

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/ir"
)

func TestSessionsAreGoneOnWith(t *testing.T) { // S4-101, S4-102, K25, execution §6
	t.Parallel()
	for name, c := range map[string]struct {
		what, session string
		fork          bool
		method        string // that was asked for
		class         executor.FailureClass
		recorded      string // handle
	}{
		"a fresh one":                           {what: "succeed", method: "session/new", recorded: "ses_1"},
		"one that cannot be found again":        {what: "not so bound", method: "session/new"},
		"resumed":                               {what: "succeed", session: "ses_old", method: "session/resume", recorded: "ses_old"},
		"loaded, which tells its history again": {what: "loads", session: "ses_old", method: "session/load", recorded: "ses_old"},
		"copied":                                {what: "forks", session: "ses_old", fork: true, method: "session/fork", recorded: "ses_copy"},
		"not known any more":                    {what: "forgets", session: "ses_old", method: "session/resume", class: executor.FailSession},
		"of a program that cannot":              {what: "not so bound", session: "ses_old", class: executor.FailSession},
		"copied by a program that cannot":       {what: "loads", session: "ses_old", fork: true, class: executor.FailSession},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ask(t, c.what)
			r.Effect.Session, r.Fork = c.session, c.fork
			r.Raw, r.Answer = true, new([]byte)
			var recorded []string
			r.Record = func(_ context.Context, b executor.Body) error {
				if s, ok := b.(executor.AgentSession); ok && s.Fresh == (s.Session != c.session) {
					recorded = append(recorded, s.Session)
				}
				return nil
			}
			got, err := quick.Run(t.Context(), r)
			if classOf(err) != c.class {
				t.Fatalf("got %+v, %v", got, err)
			}
			if strings.Join(recorded, " ") != c.recorded {
				t.Errorf("recorded %v, want %q", recorded, c.recorded)
			}
			told := sent(t, r)
			if c.method != "" && !strings.Contains(told, `"`+c.method+`"`) {
				t.Errorf("%s was not asked for:\n%s", c.method, told)
			}
			if a := string(*r.Answer); (c.what == "loads" || c.what == "forks") && c.class == "" && (a != "only this" || shown(t, r) != "only this\n") {
				t.Errorf("answered %q, and showed:\n%s", a, shown(t, r))
			}
		})
	}
}

func TestTheHandleIsOnRecordBeforeThePrompt(t *testing.T) { // execution §9
	t.Parallel()
	r := ask(t, "succeed")
	early := false
	r.Record = func(context.Context, executor.Body) error {
		early = !strings.Contains(sent(t, r), `"session/prompt"`)
		return nil
	}
	if _, err := quick.Run(t.Context(), r); err != nil || !early {
		t.Errorf("early: %v, %v", early, err)
	}
}

func TestTheOutcomeServerIsHandedOver(t *testing.T) { // S4-39
	t.Parallel()
	tools := &executor.Tools{Name: "ralph_1", URL: "http://127.0.0.1:9/mcp", Token: "tok", Proxy: []string{"/bin/ralph", "mcp"}, ProxyEnv: map[string]string{"B": "2", "A": "1"}}
	for what, want := range map[string]string{
		"succeed":      `"mcpServers":[{"headers":[{"name":"Authorization","value":"Bearer tok"}],"name":"ralph_1","type":"http","url":"http://127.0.0.1:9/mcp"}]`,
		"not so bound": `"mcpServers":[{"args":["mcp"],"command":"/bin/ralph","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"name":"ralph_1"}]`,
	} {
		r := ask(t, what)
		r.Tools = tools
		if _, err := quick.Run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if told := sent(t, r); !strings.Contains(told, want) {
			t.Errorf("%s: want %s in\n%s", what, want, told)
		}
	}
	r := ask(t, "not so bound")
	r.Tools = &executor.Tools{Name: "ralph_1", URL: "http://127.0.0.1:9/mcp"}
	if _, err := quick.Run(t.Context(), r); classOf(err) != executor.FailConfig {
		t.Errorf("a program that cannot take it: got %v", err)
	}
	r = ask(t, "succeed")
	if _, err := quick.Run(t.Context(), r); err != nil || !strings.Contains(sent(t, r), `"mcpServers":[]`) {
		t.Errorf("without one: %v", err)
	}
}

func TestModelAndModeAreChosen(t *testing.T) { // S4-76, S4-77, S4-78
	t.Parallel()
	for name, c := range map[string]struct {
		what, model, provider, slug string
		run                         string // an argument of run
		told, nottold, words        string
		real                        string
	}{
		"by an option":                          {what: "chooses", model: "p/big", told: `"configId":"m","sessionId":"ses_1","value":"p/big"`, real: "p/big"},
		"by its provider":                       {what: "chooses", model: "big", provider: "p", told: `"value":"p/big"`, real: "p/big"},
		"as it is":                              {what: "chooses", model: "p/small", nottold: "set_config_option", real: "p/small"},
		"nothing is wanted":                     {what: "chooses", nottold: "set_config_option", real: "p/small"},
		"in the old way":                        {what: "old models", model: "b", told: `"session/set_model","params":{"modelId":"b","sessionId":"ses_1"}`, real: "b"},
		"unknown":                               {what: "chooses", model: "huge", words: `knows no model "huge"; it knows p/small, p/big`},
		"of a program that lets none be chosen": {what: "succeed", model: "m", words: "${run.model}"},
		"by an argument of the program":         {what: "succeed", model: "m", run: "${run.model}", real: "m"},
		"a mode by an option":                   {what: "chooses", slug: "review", told: `"configId":"mode","sessionId":"ses_1","value":"review"`, real: "p/small"},
		"a mode":                                {what: "old models", slug: "code", told: `"modeId":"code"`, real: "a"},
		"an unknown mode":                       {what: "old models", slug: "dream", words: `knows no mode "dream"; it knows ask, code`},
		"a mode of a program without any":       {what: "succeed", slug: "dream", words: "has no modes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ask(t, c.what)
			r.Model, r.Slug, r.Alias = c.model, c.slug, ir.Model{ID: c.model, Provider: c.provider}
			if c.run != "" {
				r.Runner.Run = append(r.Runner.Run, c.run)
			}
			got, err := quick.Run(t.Context(), r)
			if c.words != "" {
				if classOf(err) != executor.FailConfig || !strings.Contains(err.Error(), c.words) {
					t.Errorf("got %v; want %q in it", err, c.words)
				}
				return
			}
			told := sent(t, r)
			if err != nil || got.Model != c.real || !strings.Contains(told, c.told) || c.nottold != "" && strings.Contains(told, c.nottold) {
				t.Errorf("got model %q, %v; it was told:\n%s", got.Model, err, told)
			}
		})
	}
}

// errorsOf are errors as programs send them.
var errorsOf = map[string]struct {
	json  string
	class executor.FailureClass
	until string
}{
	"400 of OpenCode":         {json: `{"code":-32603,"message":"Internal error: bad request here","data":{"service":"session","errorName":"APIError"}}`, class: executor.FailConfig},
	"401 of OpenCode":         {json: `{"code":-32603,"message":"Internal error: bad key","data":{"service":"session","errorName":"APIError"}}`, class: executor.FailConfig},
	"400 of Claude":           {json: `{"code":-32603,"message":"Internal error: API Error: 400 bad request here"}`, class: executor.FailConfig},
	"500 of Claude":           {json: `{"code":-32603,"message":"Internal error: API Error: 500 boom"}`, class: executor.FailTransient},
	"529":                     {json: `{"code":-32603,"message":"API Error: 529 {\"type\":\"overloaded_error\"}"}`, class: executor.FailTransient},
	"a status in the data":    {json: `{"code":-32603,"message":"Internal error","data":{"status":403}}`, class: executor.FailConfig},
	"429":                     {json: `{"code":429,"message":"status 429: slow down, retry after 90"}`, class: executor.FailLimit, until: "2026-11-21T17:31:30Z"},
	"429 in the data":         {json: `{"code":-32603,"message":"Internal error","data":{"statusCode":429,"retry_after":"120"}}`, class: executor.FailLimit, until: "2026-11-21T17:32:00Z"},
	"a limit in words":        {json: `{"code":-32603,"message":"You've hit your usage limit. Try again at 9pm."}`, class: executor.FailLimit, until: "2026-11-21T21:00:00Z"},
	"a refused connection":    {json: `{"code":-32603,"message":"Internal error: API Error: Unable to connect to API (ECONNREFUSED)"}`, class: executor.FailTransient},
	"a cut stream":            {json: `{"code":-32603,"message":"stream disconnected before completion: error sending request"}`, class: executor.FailTransient},
	"an unknown model":        {json: `{"code":-32603,"message":"The model gpt-0 does not exist: model gpt-0 not found"}`, class: executor.FailConfig},
	"no login":                {json: `{"code":-32000,"message":"Authentication required"}`, class: executor.FailConfig},
	"a key":                   {json: `{"code":-32603,"message":"Invalid API key · Please run /login"}`, class: executor.FailConfig},
	"an unknown method":       {json: `{"code":-32601,"message":"Method not found"}`, class: executor.FailConfig},
	"wrong parameters":        {json: `{"code":-32602,"message":"Invalid params"}`, class: executor.FailConfig},
	"what nobody knows":       {json: `{"code":-32603,"message":"Internal error"}`, class: executor.FailTransient},
	"data that is no object":  {json: `{"code":-32603,"message":"Internal error","data":[1]}`, class: executor.FailTransient},
	"a number that is no one": {json: `{"code":-32603,"message":"file 500 of 600 is odd"}`, class: executor.FailTransient},
}

func TestErrorsAreClassified(t *testing.T) { // execution §4, facts of each program
	t.Parallel()
	now := time.Date(2026, 11, 21, 17, 30, 0, 0, time.UTC)
	p := Runner{Base: runner.Base{Grace: 200 * time.Millisecond, Now: func() time.Time { return now }}}
	for name, c := range errorsOf {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := p.Run(t.Context(), ask(t, "error: "+name))
			f, _ := err.(*executor.Failure)
			if f == nil || f.Class != c.class || f.Until != c.until {
				t.Errorf("got %+v; want %s until %q", f, c.class, c.until)
			}
		})
	}
}

func TestALimitThatTheUserDescribes(t *testing.T) { // execution §4: limited_when
	t.Parallel()
	r := ask(t, "error: what nobody knows")
	r.Runner.LimitedWhen = &ir.LimitedWhen{Output: `session/prompt: Internal (?P<until>.*)`}
	if _, err := quick.Run(t.Context(), r); classOf(err) != executor.FailLimit {
		t.Errorf("got %v", err)
	}
	r = ask(t, "exits")
	code := 3
	r.Runner.LimitedWhen = &ir.LimitedWhen{ExitCode: &code}
	if _, err := quick.Run(t.Context(), r); classOf(err) != executor.FailLimit {
		t.Errorf("got %v", err)
	}
}
