package command

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/ir"
)

func num(n int64) *int64 { return &n }

func TestOutcomesAreRead(t *testing.T) { // S4-41..47, S0-84..92, L0-17
	for name, c := range map[string]struct {
		text  string
		want  executor.Outcome
		usage executor.Usage
	}{
		"everything of an outcome": {
			`{"result":"partial","next_action":"repeat_phase","summary":"half","suggested_next_phase":"plan","needs_human":false,
			"created_issues":["one",{"title":"two","description":"more","priority":1}],"pointers":["docs/x.md",{"path":"out/y","kind":"log"}],"errors":[{"message":"e1"},"e2"],"usage":{"tokens":12,"usd":0.25}}`,
			executor.Outcome{
				Result: "partial", NextAction: "repeat_phase", Summary: "half", SuggestedNext: "plan", Errors: []string{"e1", "e2"},
				Proposals: []executor.Proposal{{Title: "one"}, {Title: "two", Text: "more"}}, Pointers: []string{"docs/x.md", "out/y"},
			},
			executor.Usage{Tokens: num(12), USDMicro: num(250_000)},
		},
		"a scrum result": {
			`{"bead_id":"bd-1","success":true,"pr_url":"https://forge.example/pull/4","pr_number":4,"bead_updated":true,"attempt_count":2,"qa_results":[{"agent_path":"a","status":"pass"}],"error":null,"fatal":false}`,
			executor.Outcome{Result: "success", Pull: executor.Pull{Number: 4, URL: "https://forge.example/pull/4"}},
			executor.Usage{},
		},
		"a scrum result that failed": {
			`{"success":false,"error":"no test ran"}`, executor.Outcome{Result: "failed", Summary: "no test ran", Errors: []string{"no test ran"}}, executor.Usage{},
		},
		"a fatal one drains the run": {
			`{"success":false,"fatal":true,"error":"the key is gone"}`,
			executor.Outcome{Result: "failed", Fatal: true, Summary: "the key is gone", Errors: []string{"the key is gone"}},
			executor.Usage{},
		},
		"null is not said":                {`{"result":"success","next_action":null,"suggested_next_phase":null,"errors":null,"usage":null}`, executor.Outcome{Result: "success"}, executor.Usage{}},
		"a byte order mark is no text":    {"\xef\xbb\xbf" + `{"result":"success"}`, executor.Outcome{Result: "success"}, executor.Usage{}},
		"unknown usage is not zero":       {`{"result":"success","usage":{"tokens":5}}`, executor.Outcome{Result: "success"}, executor.Usage{Tokens: num(5)}},
		"usage that cannot be is unknown": {`{"result":"success","usage":{"tokens":-1,"usd":1e300}}`, executor.Outcome{Result: "success"}, executor.Usage{}},
		"no result is invalid":            {`{"summary":"hm"}`, executor.Outcome{Invalid: `it has no "result": write "success", "partial" or "failed"`}, executor.Usage{}},
		"two results that differ":         {`{"result":"failed","success":true}`, executor.Outcome{Invalid: `"result" is "failed" and "success" is true: one of them is wrong`}, executor.Usage{}},
		"fatal and successful":            {`{"success":true,"fatal":true}`, executor.Outcome{Invalid: `"success" and "fatal" are both true: one of them is wrong`}, executor.Usage{}},
	} {
		o, u := executor.ParseOutcome([]byte(c.text))
		if !reflect.DeepEqual(o, c.want) || !reflect.DeepEqual(u, c.usage) {
			t.Errorf("%s: got %+v, %+v; want %+v, %+v", name, o, u, c.want, c.usage)
		}
	}
}

func TestPromises(t *testing.T) { // S1-62, execution §4
	long := strings.Repeat("line\n", 30)
	for name, c := range map[string]struct {
		script string
		want   string
		result string
	}{
		"a promise in the last lines":       {"echo work; echo '<promise>DONE</promise>'", "DONE", ""},
		"a promise over two lines":          {"printf '<promise>\\nDONE\\n</promise>\\n'", "DONE", ""},
		"the last promise counts":           {"echo '<promise>NO</promise>'; echo '<promise>DONE</promise>'", "DONE", ""},
		"a promise long before is none":     {"echo '<promise>DONE</promise>'; printf '" + strings.ReplaceAll(long, "\n", "\\n") + "'", "", "success"},
		"a promise of a failed run is none": {"echo '<promise>DONE</promise>'; exit 1", "", ""},
		"an outcome outranks a promise":     {`echo '<promise>DONE</promise>'; echo '{"result":"failed"}' > "$RALPH_OUTCOME"`, "", "failed"},
		"a promise beside a success":        {`echo '<promise>DONE</promise>'; echo '{"result":"success"}' > "$RALPH_OUTCOME"`, "DONE", "success"},
		"the word alone is no promise":      {"echo DONE", "", "success"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := quick.Run(t.Context(), executortest.AgentRun(t, script(c.script)))
			if err != nil || got.Outcome.Promise != c.want || got.Outcome.Result != c.result || got.Outcome.Invalid != "" {
				t.Errorf("got %+v, %v; want promise %q, result %q", got, err, c.want, c.result)
			}
		})
	}
	r := script("echo '<promise>DONE</promise>'")
	r.Outcome = "required"
	if got, err := quick.Run(t.Context(), executortest.AgentRun(t, r)); err != nil || got.Outcome.Promise != "DONE" || got.Outcome.Invalid != "" {
		t.Errorf("where an outcome is required: got %+v, %v", got, err)
	}
}

func TestRateLimits(t *testing.T) { // execution §4
	now := time.Date(2026, 11, 21, 17, 30, 0, 0, time.UTC)
	run := Runner{runner.Base{Grace: 100 * time.Millisecond, Now: func() time.Time { return now }}}
	code := 75
	for name, c := range map[string]struct {
		script string
		when   *ir.LimitedWhen
		until  string
		not    bool
	}{
		"an exit code":                      {script: "exit 75", when: &ir.LimitedWhen{ExitCode: &code}},
		"a text":                            {script: "echo 'HTTP 429' >&2; exit 1", when: &ir.LimitedWhen{Output: `\b429\b`}},
		"a text although it ended well":     {script: "echo 'usage limit reached, resets 9pm'", when: &ir.LimitedWhen{Output: `limit reached, resets (?P<until>.+)`}, until: "2026-11-21T21:00:00Z"},
		"a time with its zone":              {script: "echo 'try again at 2026-11-21T20:00:00+01:00'; exit 75", when: &ir.LimitedWhen{ExitCode: &code, Output: `try again at (?P<until>\S+)`}, until: "2026-11-21T19:00:00Z"},
		"seconds from now":                  {script: "echo 'retry-after: 90'; exit 1", when: &ir.LimitedWhen{Output: `retry-after: (?P<until>\d+)`}, until: "2026-11-21T17:31:30Z"},
		"a span":                            {script: "echo 'try again in 1h 30m.'; exit 1", when: &ir.LimitedWhen{Output: `again in (?P<until>.+)`}, until: "2026-11-21T19:00:00Z"},
		"seconds since 1970":                {script: "echo 'limit|1795287600'; exit 1", when: &ir.LimitedWhen{Output: `limit\|(?P<until>\d+)`}, until: "2026-11-21T19:00:00Z"},
		"a time of tomorrow":                {script: "echo 'resets 08:15'; exit 1", when: &ir.LimitedWhen{Output: `resets (?P<until>.+)`}, until: "2026-11-22T08:15:00Z"},
		"a time that cannot be read":        {script: "echo 'resets soon'; exit 1", when: &ir.LimitedWhen{Output: `resets (?P<until>.+)`}},
		"the last of several counts":        {script: "echo 'wait 10'; echo 'wait 20'; exit 1", when: &ir.LimitedWhen{Output: `wait (?P<until>\d+)`}, until: "2026-11-21T17:30:20Z"},
		"another exit code is no limit":     {script: "exit 1", when: &ir.LimitedWhen{ExitCode: &code}, not: true},
		"both must hold":                    {script: "echo other; exit 75", when: &ir.LimitedWhen{ExitCode: &code, Output: "limit"}, not: true},
		"a valid outcome outranks it":       {script: `echo '{"result":"failed"}' > "$RALPH_OUTCOME"; exit 75`, when: &ir.LimitedWhen{ExitCode: &code}, not: true},
		"nothing that is said is no limit":  {script: "exit 75", when: &ir.LimitedWhen{}, not: true},
		"a flood before it is no matter":    {script: "yes x | head -c 3000000; echo 'HTTP 429'; exit 1", when: &ir.LimitedWhen{Output: `429`}},
		"an invalid outcome is not a valid": {script: `echo 'no' > "$RALPH_OUTCOME"; exit 75`, when: &ir.LimitedWhen{ExitCode: &code}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := script(c.script)
			r.LimitedWhen = c.when
			_, err := run.Run(t.Context(), executortest.AgentRun(t, r))
			var f *executor.Failure
			limited := errors.As(err, &f) && f.Class == executor.FailLimit
			if limited == c.not || limited && f.Until != c.until {
				t.Errorf("got %v %+v; want until %q", err, f, c.until)
			}
		})
	}
	r := script("true")
	r.LimitedWhen = &ir.LimitedWhen{Output: "("}
	var f *executor.Failure
	if err := run.Check(t.Context(), executortest.AgentRun(t, r)); !errors.As(err, &f) || f.Class != executor.FailConfig {
		t.Errorf("a broken pattern: got %v", err)
	}
}

func TestAnEventStaysSmall(t *testing.T) { // below 4 KB, whatever is reported
	for name, text := range map[string]string{
		"long lists":  `{"result":"success","summary":"` + strings.Repeat("s", 5000) + `","errors":["` + strings.Repeat(strings.Repeat("e", 500)+`","`, 50) + `"],"created_issues":[` + strings.Repeat(`{"title":"`+strings.Repeat("t", 400)+`","text":"`+strings.Repeat("x", 900)+`"},`, 50) + `"z"],"pointers":["` + strings.Repeat(strings.Repeat("p", 300)+`","`, 50) + `"]}`,
		"escapes":     `{"result":"success","summary":"` + strings.Repeat("<", 5000) + `"}`,
		"wide signs":  `{"result":"failed","summary":"` + strings.Repeat("\u2028", 3000) + `"}`,
		"no outcome":  "",
		"not an JSON": strings.Repeat("<", 9000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask := executortest.AgentRun(t, script(`cp o "$RALPH_OUTCOME"; yes '<<<<' | head -c 9000; yes '>>>>' | head -c 9000 >&2; exit 1`))
			if err := os.WriteFile(filepath.Join(ask.Dir, "o"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := quick.Run(t.Context(), ask)
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(got)
			if err != nil || len(b) > 3800 {
				t.Errorf("%d bytes, %v", len(b), err)
			}
			if kept, err := os.ReadFile(ask.OutcomeFile()); err != nil || string(kept) != text {
				t.Errorf("the whole outcome is not kept: %v", err)
			}
			if name == "long lists" && (len(got.Outcome.Proposals) == 0 || len(got.Outcome.Summary) < 1000) {
				t.Errorf("too much was cut: %+v", got.Outcome)
			}
		})
	}
}

func TestSignsOfLifeComeFromOutput(t *testing.T) {
	ask := executortest.AgentRun(t, script("echo one; echo two; printf 'three\\n\\n'"))
	var bytes atomic.Int64
	var line atomic.Value
	ask.Activity = func(a executor.Activity) { bytes.Store(a.Bytes); line.Store(a.Line) }
	if _, err := quick.Run(t.Context(), ask); err != nil {
		t.Fatal(err)
	}
	if bytes.Load() != 15 || line.Load() != "three" {
		t.Errorf("last told of %d bytes and %q", bytes.Load(), line.Load())
	}
}

func TestWhoRanIsSaid(t *testing.T) { // S0-75, S4-52
	ask := executortest.AgentRun(t, script(`test "$1" = m-1`))
	ask.Runner.Run = append(ask.Runner.Run, "sh", "${run.model}")
	ask.Agent, ask.Model, ask.Name = "second", "m-1", "agent-1-second"
	got, err := quick.Run(t.Context(), ask)
	if err != nil || got.Agent != "second" || got.Model != "m-1" || got.Outcome.Result != "success" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(ask.Files, "agent-1-second.out")); err != nil {
		t.Error(err)
	}
}

func TestARawRunReturnsItsAnswer(t *testing.T) {
	ask := executortest.AgentRun(t, script(`echo '{"result":"failed"}' > "$RALPH_OUTCOME"; yes answer | head -c 6000000; echo END`))
	ask.Raw, ask.Answer = true, new([]byte)
	got, err := quick.Run(t.Context(), ask)
	if err != nil || !got.Outcome.None() || got.ExitCode != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if a := string(*ask.Answer); len(a) > 2<<20+100 || !strings.HasPrefix(a, "answer\n") || !strings.HasSuffix(a, "END\n") || !strings.Contains(a, "left out") {
		t.Errorf("answer of %d bytes", len(a))
	}
	if b, err := os.ReadFile(ask.OutcomeFile()); err != nil || len(b) == 0 {
		t.Errorf("the file is not left for whoever asked: %q, %v", b, err)
	}
}

func TestAShellThatLostItsProgramToASignalCrashed(t *testing.T) { // execution §4: killed by a signal, out of memory
	for _, text := range []string{"sh -c 'kill -9 $$'; exit $?", "sh -c 'kill -15 $$'; exit $?"} {
		var f *executor.Failure
		if _, err := quick.Run(t.Context(), executortest.AgentRun(t, script(text))); !errors.As(err, &f) || f.Class != executor.FailCrash {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func FuzzOutcome(f *testing.F) {
	for _, s := range []string{
		`{"result":"success"}`, `{"success":false,"error":"x","fatal":true}`, `{"result":"partial","created_issues":[{"title":1}],"pointers":{"a":1}}`,
		`{"result":"failed","errors":"e","usage":{"tokens":1e400}}`, "\xef\xbb\xbf{}", `{"result":"\ud800"}`, `[`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, u := executor.ParseOutcome(b)
		if (o.Result != "") == (o.Invalid != "") {
			t.Errorf("result %q and invalid %q", o.Result, o.Invalid)
		}
		if len(o.Summary) > executor.MaxNote || len(o.Invalid) > 300 {
			t.Errorf("unbounded: %+v", o)
		}
		if u.Tokens != nil && *u.Tokens < 0 || u.USDMicro != nil && *u.USDMicro < 0 {
			t.Errorf("negative usage")
		}
		e := executor.AgentEnded{Outcome: o, Usage: u}
		e.Bound()
		if text, err := json.Marshal(e); err != nil || len(text) > 4000 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	})
}

func FuzzMoment(f *testing.F) {
	for _, s := range []string{"90", "1795287600", "9pm", "1h 30m", "2026-11-21T20:00:00Z", "-1", "NaN", "1e99", ""} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 21, 17, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if at, ok := runner.Moment(s, now); ok {
			_ = at.Format(time.RFC3339)
		}
	})
}
