package codex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/ir"
)

// fake stands for Codex: it keeps what it was told, and plays what it is given.
const fake = `#!/bin/sh
for a; do
  case $a in
  list) cat "$FAKE/servers"; exit;;
  --version) echo 'codex-cli 0.169.0'; exit;;
  esac
done
printf '%s\n' "$@" > "$FAKE/argv"
env > "$FAKE/env"
cat > "$FAKE/stdin"
test -d "$TMPDIR" && echo there > "$FAKE/tmp" && echo rest > "$TMPDIR/rest"
cat "$FAKE/stderr" >&2
cat "$FAKE/stdout"
. "$FAKE/then"
`

// played is a turn of a fake Codex.
type played struct {
	t      *testing.T
	runner Runner
	run    executor.AgentRun
	dir    string // of the fake

	mu       sync.Mutex // guards sessions
	sessions []executor.AgentSession
	ended    executor.AgentEnded
	err      error
}

// play prepares a turn in which Codex says what is in a file of testdata (or lines).
func play(t *testing.T, stdout, stderr, then string) *played {
	t.Helper()
	dir := t.TempDir()
	p := &played{t: t, dir: dir, runner: Runner{Base: runner.Base{Grace: 200 * time.Millisecond}}}
	for name, text := range map[string]string{"codex": fake, "stdout": stdout, "stderr": stderr, "then": then, "servers": "[]"} {
		p.put(name, text)
	}
	if err := os.Chmod(filepath.Join(dir, "codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	p.run = executor.AgentRun{
		Node: &ir.Node{Key: "1.1", ID: "bd-1"}, Step: &ir.Step{Name: "implement"}, Agent: "builder", Model: "m1",
		Alias:  ir.Model{ID: "m1", PriceInput: 3_000_000, PriceOutput: 15_000_000},
		Runner: ir.Runner{Kind: "codex", Run: []string{filepath.Join(dir, "codex")}, Set: map[string]string{"FAKE": dir, "HOME": dir}},
		Effect: executor.Effect{Attempt: 1}, Dir: work, Files: filepath.Join(dir, "files"), Keep: filepath.Join(dir, "keep"), Prompt: []byte("Do it.\n"),
		Record: func(_ context.Context, b executor.Body) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if s, ok := b.(executor.AgentSession); ok {
				p.sessions = append(p.sessions, s)
			}
			return nil
		},
	}
	return p
}

func (p *played) put(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *played) file(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// it runs the turn.
func (p *played) it() *played {
	p.ended, p.err = p.runner.Run(p.t.Context(), p.run)
	return p
}

// class is the class of the failure, "" if there was none.
func (p *played) class() executor.FailureClass {
	var f *executor.Failure
	if errors.As(p.err, &f) {
		return f.Class
	}
	return ""
}

func (p *played) read(ext string) string {
	p.t.Helper()
	b, err := os.ReadFile(runner.File(p.run, ext))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

func captured(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// S0-65, S0-67, S4-63, S4-105, execution §4
func TestATurnIsReadFromItsStream(t *testing.T) {
	t.Parallel()
	p := play(t, captured(t, "turn.jsonl"), "", "exit 1") // the final word counts, not the exit code
	var said []byte
	p.run.Raw, p.run.Answer = true, &said
	p.it()
	if p.err != nil || p.ended.End != executor.EndExited || p.ended.ExitCode != 0 {
		t.Fatalf("got %+v, %v", p.ended, p.err)
	}
	if string(said) != "All done: made.txt is there." {
		t.Errorf("the answer is %q", said)
	}
	const thread = "01a1ffe4-b44c-70a3-a070-48efc420acd2"
	if len(p.sessions) != 1 || p.sessions[0].Session != thread || !p.sessions[0].Fresh || p.ended.Session != thread {
		t.Errorf("sessions on record are %+v, the turn ended in %q", p.sessions, p.ended.Session)
	}
	if u := p.ended.Usage; u.Tokens == nil || *u.Tokens != 6300 || u.USDMicro == nil || *u.USDMicro != 22_500 {
		t.Errorf("used %+v", u)
	}
	want := []string{
		"[codex] Model metadata for `m1` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.",
		"I look around first.", "$ cat AGENTS.md", "AGENTSMARK be nice", "[files] add /w/made.txt", "$ echo bad; exit 3", "bad", "[exit code 3]",
		`[ralph_1.report_outcome] {"verdict":"maybe","issues":[]}`, `[ralph_1.report_outcome: failed] schema violation: verdict must be pass or fail, got "maybe"`,
		`[ralph_1.report_outcome] {"verdict":"pass","issues":[]}`, "[ralph_1.report_outcome: completed] outcome recorded", "All done: made.txt is there.",
	}
	if got := strings.Split(strings.TrimSpace(p.read(runner.OutExt)), "\n"); !slices.Equal(got, want) {
		t.Errorf("people read %q\nwant %q", got, want)
	}
	var lines []string
	for line := range strings.Lines(p.read(runner.StreamExt)) {
		var kept struct {
			At   time.Time       `json:"at"`
			Line json.RawMessage `json:"line"`
		}
		if err := json.Unmarshal([]byte(line), &kept); err != nil || kept.At.IsZero() {
			t.Fatalf("%s: %v", line, err)
		}
		lines = append(lines, string(kept.Line)+"\n")
	}
	if got := strings.Join(lines, ""); got != captured(t, "turn.jsonl") {
		t.Errorf("the stream is kept as %s", got)
	}
}

// execution §4
func TestFailuresAreTold(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]executor.FailureClass{
		"status-500.jsonl": executor.FailTransient, "status-503.jsonl": executor.FailTransient, "cut.jsonl": executor.FailTransient, "refused.jsonl": executor.FailTransient,
		"status-429.jsonl": executor.FailLimit, "usage-limit.jsonl": executor.FailLimit, "rate-limit.jsonl": executor.FailLimit, "quota.jsonl": executor.FailLimit,
		"status-400.jsonl": executor.FailConfig, "status-401.jsonl": executor.FailConfig, "unknown-model.jsonl": executor.FailConfig, "no-key.jsonl": executor.FailConfig,
		"context-window.jsonl": executor.FailCrash,
		"mcp-dead.stderr":      executor.FailConfig, "config-wrong.stderr": executor.FailConfig, "provider-unknown.stderr": executor.FailConfig,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p *played
			if strings.HasSuffix(name, ".stderr") {
				p = play(t, "", captured(t, name), "exit 1").it()
			} else {
				p = play(t, captured(t, name), "", "exit 1").it()
			}
			if p.class() != want {
				t.Errorf("got %q (%v), want %q", p.class(), p.err, want)
			}
		})
	}
}

// execution §4: "until the stated time"
func TestALimitSaysWhenItEnds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 20, 30, 0, 0, time.UTC)
	p := play(t, captured(t, "usage-limit.jsonl"), "", "exit 1")
	p.runner.Base.Now = func() time.Time { return now }
	p.it()
	var f *executor.Failure
	if !errors.As(p.err, &f) || f.Until != "2026-11-21T22:26:00Z" {
		t.Errorf("got %+v", f)
	}
	for text, want := range map[string]string{
		"try again at 8:45 PM.":                 "2026-11-21T20:45:00Z",
		"try again at 8:29 AM.":                 "2026-11-22T08:29:00Z",
		"try again at 8:30 PM.":                 "2026-11-21T20:30:00Z",
		"Try again at Nov 25th, 2026 3:04 PM":   "2026-11-25T15:04:00Z",
		"Please try again in 90s.":              "2026-11-21T20:31:30Z",
		"try again in 1 day 2 hours 3 minutes.": "2026-11-22T22:33:00Z",
		"try again later.":                      "",
	} {
		at, ok := until(text, now)
		got := ""
		if ok {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if at, ok := until("try again at 8:30 PM.", now.Add(30*time.Second)); !ok || at.Sub(now) > time.Hour {
		t.Errorf("the minute that has begun is taken for tomorrow's: %s", at)
	}
}

// execution §4, S4-102: a session that is gone is told; so is one that is full.
func TestASessionThatCannotBeGoneOnWithIsTold(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*played{
		"unknown": play(t, "", captured(t, "session-unknown.stderr"), "exit 1"),
		"full":    play(t, captured(t, "context-window.jsonl"), "", "exit 1"),
	} {
		p.run.Effect.Session = "01a1f88a-39e8-7601-81ff-d5011c1575e9"
		if p.it(); p.class() != executor.FailSession {
			t.Errorf("%s: got %q, %v", name, p.class(), p.err)
		}
	}
	p := play(t, "", captured(t, "mcp-dead.stderr"), "exit 1")
	p.put("stderr", "Error: thread/resume: thread/resume failed: error creating thread: required MCP servers failed to initialize: ours\n")
	p.run.Effect.Session = "01a1f88a-39e8-7601-81ff-d5011c1575e9"
	if p.it(); p.class() != executor.FailConfig {
		t.Errorf("a dead MCP server: got %q, %v", p.class(), p.err)
	}
}

// S4-65: what waits for ever is ended, although no clock of the step is set.
func TestWaitingForANetworkEnds(t *testing.T) {
	t.Parallel()
	p := play(t, captured(t, "waiting.jsonl"), "", "exec sleep 600")
	p.runner.Patience = 50 * time.Millisecond
	if p.it(); p.class() != executor.FailTransient || !strings.Contains(p.err.Error(), "Connection failed") {
		t.Errorf("got %q, %v", p.class(), p.err)
	}
	p = play(t, `{"type":"turn.started"}`+"\n"+`{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}`+"\n", "", "exec sleep 600")
	p.runner.Patience = 50 * time.Millisecond
	if p.it(); p.class() != executor.FailLimit {
		t.Errorf("got %q, %v", p.class(), p.err)
	}
}

func TestAProgramThatStaysAfterItsFinalWordIsEnded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]executor.FailureClass{"turn.jsonl": "", "status-400.jsonl": executor.FailConfig} {
		p := play(t, captured(t, name), "", "exec sleep 600")
		p.runner.Linger = 50 * time.Millisecond
		if p.it(); p.class() != want || want == "" && p.err != nil {
			t.Errorf("%s: got %q, %v; want %q", name, p.class(), p.err, want)
		}
	}
}

// execution §4: gone without a final word is a crash, whatever the exit code says.
func TestWithoutAFinalWordItIsACrash(t *testing.T) {
	t.Parallel()
	whole := captured(t, "turn.jsonl")
	cut := whole[:strings.LastIndex(whole, `{"type":"turn.completed"`)]
	for name, p := range map[string]*played{
		"it ends":           play(t, cut, "", "exit 0"),
		"it is killed":      play(t, cut, "", "kill -9 $$"),
		"a torn final word": play(t, whole[:len(whole)-40], "", "exit 0"),
		"it says nothing":   play(t, "", "", "exit 0"),
	} {
		if p.it(); p.class() != executor.FailCrash {
			t.Errorf("%s: got %q, %v", name, p.class(), p.err)
		}
	}
}

// What a later version says more, or says otherwise, does not hold a turn up.
func TestWhatIsNotKnownIsLeftOut(t *testing.T) {
	t.Parallel()
	odd := `not JSON` + "\n" + `{"type":"new.event","x":{"y":[1]}}` + "\n" + `[]` + "\n" + `{"type":"item.started","item":{"id":7,"type":"hologram","text":["a"]}}` + "\n" +
		`{"type":"item.completed","item":null}` + "\n" + `{"type":"item.completed","item":{"id":"h","type":"hologram","command":{"a":1},"error":"x"}}` + "\n" + "\x00\xff\n\n" + `{"type":"thread.started"}` + "\n"
	var lines []string
	for line := range strings.Lines(captured(t, "turn.jsonl")) {
		lines = append(lines, odd, strings.Replace(line, `{"type"`, `{"new_field":{"a":[1,2]},"type"`, 1))
	}
	p := play(t, strings.Join(lines, ""), "", "")
	var said []byte
	p.run.Raw, p.run.Answer = true, &said
	if p.it(); p.err != nil || string(said) != "All done: made.txt is there." || len(p.sessions) != 1 {
		t.Errorf("got %q, %v, sessions %+v", said, p.err, p.sessions)
	}
}

func TestAFloodAndAHugeLineAreTaken(t *testing.T) {
	t.Parallel()
	whole := captured(t, "turn.jsonl")
	at := strings.LastIndex(whole, `{"type":"turn.completed"`)
	huge := `{"type":"item.completed","item":{"id":"item_9","type":"command_execution","command":"yes","exit_code":0,"aggregated_output":"` + strings.Repeat("y", maxLine) + `"}}` + "\n"
	flood := strings.Repeat(`{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"true","aggregated_output":"","exit_code":0}}`+"\n", 20_000)
	p := play(t, whole[:at]+huge+flood+whole[at:], "", "")
	p.runner.Base.Cap = 1 << 20
	if p.it(); p.err != nil || p.ended.Outcome.Invalid == "" {
		t.Fatalf("got %+v, %v", p.ended.Outcome, p.err)
	}
	for _, ext := range []string{runner.OutExt, runner.StreamExt} {
		if n := len(p.read(ext)); n > 1<<20+200 {
			t.Errorf("%s has %d bytes", ext, n)
		}
	}
}

// S4-102, S0-114: how a session is gone on with, and what it used.
func TestASessionIsGoneOnWithOrCopied(t *testing.T) {
	t.Parallel()
	const thread, copied = "01a1ffe4-b44c-70a3-a070-48efc420acd2", "01a1ffe4-b44c-70a3-a070-48efc420acd3"
	first := play(t, captured(t, "turn.jsonl"), "", "").it()
	again := func(session string, fork bool, used int) *played {
		text := strings.ReplaceAll(captured(t, "turn.jsonl"), thread, session)
		p := play(t, strings.Replace(text, `"input_tokens":6000`, fmt.Sprintf(`"input_tokens":%d`, used), 1), "", "")
		p.run.Keep, p.run.Effect.Session, p.run.Fork = first.run.Keep, thread, fork
		return p.it()
	}
	second := again(thread, false, 7000)
	if got := *second.ended.Usage.Tokens; got != 1000 {
		t.Errorf("the second turn used %d tokens", got)
	}
	if argv := second.file("argv"); !strings.HasSuffix(argv, "\nresume\n"+thread+"\n-\n") {
		t.Errorf("it was started as %s", argv)
	}
	if second.sessions[0].Fresh {
		t.Error("the session is said to be new")
	}
	third := again(copied, true, 7700)
	if got := *third.ended.Usage.Tokens; got != 700 {
		t.Errorf("the turn in the copy used %d tokens", got)
	}
	if argv := third.file("argv"); !strings.HasSuffix(argv, "\nfork\n"+thread+"\n-\n") {
		t.Errorf("it was started as %s", argv)
	}
	if third.ended.Session != copied || !third.sessions[0].Fresh {
		t.Errorf("the copy is %q, on record %+v", third.ended.Session, third.sessions)
	}
}

// A tool that the stream says to run is a sign of life, and no more when it has ended.
func TestToolsThatRunAreTold(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"command_execution": true, "mcp_tool_call": true, "web_search": true, "something_new": true, "todo_list": false, "agent_message": false, "reasoning": false, "error": false} {
		if got := (&item{ID: "i", Type: kind}).runs(); got != want {
			t.Errorf("%s: got %v", kind, got)
		}
	}
}

// A Codex that starts while another does may lose the links by which its sandbox calls it.
func TestACodexWithoutItsLinksIsStartedAnew(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("its sandbox needs links on Linux alone")
	}
	const lost = "WARNING: failed to clean up stale arg0 temp dirs\n" + linksLost + "operation would block"
	for name, c := range map[string]struct {
		fails int    // of its starts
		first string // what is done before the warning
		says  string
		times int // that it is started
		want  executor.FailureClass
	}{
		"it is well":              {0, "", lost, 1, ""},
		"once":                    {1, "", lost, 2, ""},
		"always":                  {99, "", lost, starts, executor.FailTransient},
		"because of its home":     {99, "", linksLost + "Permission denied", 1, executor.FailConfig},
		"another warning":         {99, "", "WARNING: failed to clean up stale arg0 temp dirs", 1, ""},
		"a tool says so":          {99, "", "2026-11-25 ERROR exec error\n" + lost, 1, ""},
		"behind other words":      {99, "", "it said: " + lost, 1, ""},
		"when a thread has begun": {99, `head -n 1 "$FAKE/stdout"; sleep 0.3`, lost, 1, executor.FailTransient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, captured(t, "turn.jsonl"), "", "exit 0")
			p.put("says", c.says+"\n")
			p.put("codex", strings.Replace(fake, "printf", fmt.Sprintf(`echo >> "$FAKE/starts"
if [ $(wc -l < "$FAKE/starts") -le %d ]; then %s; cat "$FAKE/says" >&2; sleep 1; fi
printf`, c.fails, cmp.Or(c.first, "true")), 1))
			if p.it(); p.class() != c.want {
				t.Errorf("got %+v, %v", p.ended, p.err)
			}
			if n := strings.Count(p.file("starts"), "\n"); n != c.times {
				t.Errorf("it was started %d times, want %d", n, c.times)
			}
			if c.want == "" && (!strings.HasPrefix(p.file("stdin"), "Do it.\n") || len(p.sessions) != 1) {
				t.Errorf("it was told %q; sessions %+v", p.file("stdin"), p.sessions)
			}
		})
	}
}
