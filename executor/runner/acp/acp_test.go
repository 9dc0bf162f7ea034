package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/ir"
)

func TestContract(t *testing.T) { // S4-55, S4-56
	t.Parallel()
	executortest.RunnerContract(t, quick, ask)
}

func classOf(err error) executor.FailureClass {
	var f *executor.Failure
	if errors.As(err, &f) {
		return f.Class
	}
	return ""
}

// The whole of a turn: what counts is the last message; what is not known is left
// alone; every line is kept.
func TestATurnIsHeard(t *testing.T) { // S0-65, S0-67, S1-12, S4-56
	t.Parallel()
	r := ask(t, "a story")
	var recorded []executor.Body
	r.Record = func(_ context.Context, b executor.Body) error { recorded = append(recorded, b); return nil }
	r.Text = "You are careful."
	got, err := quick.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Outcome.Promise != "DONE" || got.Session != "ses_1" || got.Model != "really-1" || got.End != executor.EndExited {
		t.Errorf("got %+v", got)
	}
	if got.Usage.Tokens == nil || *got.Usage.Tokens != 3150 || got.Usage.USDMicro == nil || *got.Usage.USDMicro != 20_000 {
		t.Errorf("usage: got %+v", got.Usage)
	}
	if len(recorded) != 1 || recorded[0] != (executor.AgentSession{Session: "ses_1", Agent: "dev", Turn: "agent-1", Fresh: true}) {
		t.Errorf("recorded %+v", recorded)
	}
	out := shown(t, r)
	for _, want := range []string{"Warning: something\n", "plan: write it\n", "I will write.\nNow\n", "> edit write made.txt\n", "  it was completed\n", "All done.\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "of a helper") {
		t.Errorf("another session's words are shown:\n%s", out)
	}
	stream, err := os.ReadFile(runner.File(r, runner.StreamExt))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(stream)), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d of the stream is no JSON: %s", i, line)
		}
	}
	for _, want := range []string{`"a log line on stdout"`, `"{torn"`, `"telepathy"`, `"stopReason":"end_turn"`} {
		if !strings.Contains(string(stream), want) {
			t.Errorf("%s is not in the stream", want)
		}
	}
	told := sent(t, r)
	if !strings.Contains(told, `You are careful.\n\nthe prompt`) || strings.Contains(told, "TextFile") {
		t.Errorf("it was told:\n%s", told)
	}
}

func TestWhatAProgramSaysOfItsTokens(t *testing.T) { // S1-12; facts: OpenCode tells the last request's
	t.Parallel()
	got, err := quick.Run(t.Context(), ask(t, "last step only"))
	if err != nil || got.Usage.Tokens != nil || got.Usage.USDMicro == nil || *got.Usage.USDMicro != 11_250 {
		t.Errorf("got %+v, %v; want unknown tokens", got.Usage, err)
	}
	for name, c := range map[string]struct {
		k    tokens
		want runner.Totals
	}{
		"nothing said of caches":        {tokens{Input: 100, Output: 10, Total: 110}, runner.Totals{Input: 100, Output: 10}},
		"all apart":                     {tokens{Input: 100, Output: 10, Thought: 5, CacheRead: 40, CacheWrite: 3, Total: 158}, runner.Totals{Input: 100, Output: 15, CacheRead: 40, CacheWrite: 3}},
		"caches and thoughts are parts": {tokens{Input: 100, Output: 10, Thought: 5, CacheRead: 40, Total: 110}, runner.Totals{Input: 60, Output: 10, CacheRead: 40}},
		"only caches are parts":         {tokens{Input: 100, Output: 10, Thought: 5, CacheRead: 40, Total: 115}, runner.Totals{Input: 60, Output: 15, CacheRead: 40}},
		"only thoughts are a part":      {tokens{Input: 100, Output: 10, Thought: 5, CacheRead: 40, Total: 150}, runner.Totals{Input: 100, Output: 10, CacheRead: 40}},
		"no total":                      {tokens{Input: 100, Output: 10, CacheRead: 40}, runner.Totals{Input: 100, Output: 10, CacheRead: 40}},
	} {
		if got := c.k.totals(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestCostIsCountedForTheTurn(t *testing.T) { // K35: programs tell it for the whole session
	t.Parallel()
	keep := t.TempDir()
	for _, c := range []struct {
		name, what, session string
		fork                bool
		want                int64
	}{
		{"a first turn", "last step only", "", false, 11_250},
		{"a second one", "dearer", "ses_1", false, 20_000},
		{"a copy, which begins with what the original cost", "dearer still", "ses_1", true, 8750},
		{"another copy, which is counted from nothing", "last step only", "ses_1", true, 11_250},
		{"a history that is told again with its cost", "loads dearly", "ses_2", false, 20_000},
	} {
		r := ask(t, c.what)
		r.Keep, r.Effect.Session, r.Fork = keep, c.session, c.fork
		got, err := quick.Run(t.Context(), r)
		if err != nil || got.Usage.USDMicro == nil || *got.Usage.USDMicro != c.want {
			t.Errorf("%s: got %+v, %v; want %d", c.name, got.Usage, err, c.want)
		}
		if c.fork { // the next copy is another session
			if err := os.Rename(filepath.Join(keep, "session-ses_copy.json"), filepath.Join(keep, "session-ses_copy_of.json")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheLastWordsMayComeLate(t *testing.T) {
	t.Parallel()
	p := Runner{Base: runner.Base{Grace: time.Minute}} // it ends by itself
	got, err := p.Run(t.Context(), ask(t, "late words"))
	if err != nil || got.Outcome.Result != "success" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAFloodIsNoEnd(t *testing.T) { // 20 000 updates at once, and a line of 12 MiB
	t.Parallel()
	r := ask(t, "flood")
	got, err := quick.Run(t.Context(), r)
	if err != nil || got.Outcome.Result != "success" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if out := shown(t, r); !strings.Contains(out, "line 0\n") || !strings.Contains(out, "line 19999\n") {
		t.Errorf("%d bytes are shown", len(out))
	}
}

func TestNobodyIsAskedForEver(t *testing.T) { // execution §3; S4-73
	t.Parallel()
	r := ask(t, "write")
	if _, err := quick.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if told := sent(t, r); !strings.Contains(told, `"optionId":"yes"`) {
		t.Errorf("it was told:\n%s", told)
	}
	r = ask(t, "write")
	r.Read = true
	if _, err := quick.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "made.txt")); err == nil || !strings.Contains(shown(t, r), "refused: this agent may not change files: made.txt") {
		t.Errorf("a read agent's edit was not refused; shown:\n%s", shown(t, r))
	}
	r = ask(t, "edit in other words")
	r.Read, r.Raw, r.Answer = true, true, new([]byte)
	if _, err := quick.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if a := string(*r.Answer); !strings.Contains(a, `"no"`) || strings.Index(a, `"yes"`) < strings.Index(a, `"no"`) {
		t.Errorf("an edit, then a command: answered %s", a)
	}
	if got, err := quick.Run(t.Context(), ask(t, "questions")); err != nil || got.Outcome.Summary != "answered: 0" {
		t.Errorf("what was not offered: got %+v, %v", got.Outcome, err)
	}
}

func TestHowATurnEnds(t *testing.T) { // execution §4
	t.Parallel()
	for what, want := range map[string]struct {
		class  executor.FailureClass
		words  string // of the error, or of the outcome's reason
		result string
	}{
		"killed":        {class: executor.FailCrash, words: "killed by signal 9"},
		"exits":         {class: executor.FailCrash, words: "ended with exit code 3: out of luck"},
		"exits well":    {class: executor.FailCrash, words: "ended with exit code 0"}, // the exit code is not the final word
		"no program":    {class: executor.FailConfig, words: "usage: fake COMMAND"},
		"cancels":       {class: executor.FailCrash, words: "cancelled, and not by ralph"},
		"no reason":     {class: executor.FailConfig, words: "without a reason"},
		"another time":  {class: executor.FailConfig, words: "version 7"},
		"logged out":    {class: executor.FailConfig, words: "not logged in: Authentication required; Run `fake login`; then: ralph retry"},
		"asleep":        {class: executor.FailTransient, words: "did not answer as a program that speaks ACP"},
		"not listening": {class: executor.FailTransient, words: "did not answer as a program that speaks ACP"},
		"refuses":       {result: "failed", words: "the model refused to go on"},
		"too long":      {result: "partial", words: "may write no more"},
		"too often":     {result: "partial", words: "no more often"},
		"deaf":          {result: "success"},
		"second try":    {result: "success"}, // programs that are first started at once fail on each other's database
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := quick
			if want.class == executor.FailTransient {
				p.patience = 300 * time.Millisecond
			}
			r := ask(t, what)
			got, err := p.Run(t.Context(), r)
			if classOf(err) != want.class || got.Outcome.Result != want.result && want.class == "" {
				t.Fatalf("got %+v, %v", got, err)
			}
			if said := got.Outcome.Summary + fmt.Sprint(err); !strings.Contains(said, want.words) {
				t.Errorf("got %q; want %q in it", said, want.words)
			}
			gone(t, r)
		})
	}
}

// gone checks that the child of a fake is gone, if it had one.
func gone(t *testing.T, r executor.AgentRun) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Dir, "child"))
	if err != nil {
		return
	}
	var pid int
	_, _ = fmt.Sscan(string(b), &pid)
	if _, state, _ := strings.Cut(stat(pid), ") "); strings.HasPrefix(state, "Z") {
		return // whoever adopted it has not reaped it yet
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d survives", pid)
	}
}

// stat is what Linux says of a process, "" if there is none.
func stat(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return string(b)
}

func TestACancelledTurnLeavesNothing(t *testing.T) { // execution §8; L3-03
	t.Parallel()
	for _, what := range []string{"with a child", "stubborn"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := ask(t, what)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			p := Runner{Base: runner.Base{Grace: 3 * time.Second}} // on a loaded machine it has to hear of it
			go func() { _, err := p.Run(ctx, r); ended <- err }()
			for {
				if _, err := os.Stat(filepath.Join(r.Dir, "child")); err == nil {
					break
				}
				select {
				case err := <-ended:
					t.Fatalf("it ended before: %v", err)
				case <-time.After(time.Millisecond):
				}
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			gone(t, r)
			if !strings.Contains(sent(t, r), `"session/cancel"`) {
				t.Error("it was not asked to cancel first")
			}
		})
	}
}

func TestSilenceIsStallingAndARunningToolIsNot(t *testing.T) { // S4-65
	t.Parallel()
	for what, want := range map[string]executor.AgentEnd{"asleep": executor.EndTimeout, "silent": executor.EndStalled, "half a tool": executor.EndStalled, "long tool": executor.EndTimeout} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := ask(t, what)
			step := *r.Step
			step.Stall, step.Limits.TimeoutMS = ir.Stall{AfterMS: 3000, Action: "fail"}, 120_000
			if want == executor.EndTimeout {
				step.Limits.TimeoutMS = 8000
			}
			r.Step = &step
			got, err := quick.Run(t.Context(), r)
			if err != nil || got.End != want {
				t.Errorf("got %+v, %v; want %s", got, err, want)
			}
			if out := shown(t, r); strings.Contains(out, "error") {
				t.Errorf("shown: %s", out)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	r := ask(t, "succeed")
	if err := quick.Check(t.Context(), r); err != nil {
		t.Error(err)
	}
	r.Runner.Run = nil
	if err := quick.Check(t.Context(), r); classOf(err) != executor.FailConfig || !strings.Contains(err.Error(), `run = ["opencode", "acp"]`) {
		t.Errorf("without run: got %v", err)
	}
	if _, err := quick.Run(t.Context(), r); classOf(err) != executor.FailConfig {
		t.Errorf("without run: got %v", err)
	}
	r.Runner.Run = []string{"no-such-agent", "acp"}
	if err := quick.Check(t.Context(), r); classOf(err) != executor.FailConfig || !strings.Contains(err.Error(), "no-such-agent") {
		t.Errorf("a missing program: got %v", err)
	}
	if _, err := quick.Run(t.Context(), r); classOf(err) != executor.FailConfig {
		t.Errorf("a missing program: got %v", err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if v, err := quick.Version(t.Context(), ask(t, "succeed")); v != "1.2.3" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
	if v, err := quick.Version(t.Context(), ask(t, "second try")); v != "1.2.3" || err != nil { // it failed on another one's database
		t.Errorf("second try: got %q, %v", v, err)
	}
	for what, words := range map[string]string{"no program": "ended with exit code 2 before it answered: usage: fake COMMAND: does it speak ACP?", "another time": "version 7", "not so bound": "does not say its version"} {
		if v, err := quick.Version(t.Context(), ask(t, what)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %q, %v", what, v, err)
		}
	}
	p := quick
	p.patience = 200 * time.Millisecond
	if _, err := p.Version(t.Context(), ask(t, "asleep")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("asleep: got %v", err)
	}
}

func TestItsTemporaryFilesGoWithIt(t *testing.T) { // facts: agents leave megabytes there
	r := ask(t, "succeed")
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	if _, err := quick.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
