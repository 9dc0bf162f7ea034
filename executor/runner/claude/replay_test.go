package claude

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/ir"
)

// hasty is a runner that stops programs at once.
var hasty = Runner{runner.Base{Grace: 50 * time.Millisecond}}

// standIn asks for a turn of a program that plays a stream: a shell script that gets
// the prompt in $prompt, the arguments in $@ and the stream in $stream.
func standIn(t *testing.T, stream []byte, script string) executor.AgentRun {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "stream")
	if err := os.WriteFile(path, stream, 0o600); err != nil {
		t.Fatal(err)
	}
	r := executortest.AgentRun(t, ir.Runner{
		Kind: "claude", Run: []string{"sh", "-c", "read -r prompt\n" + script, "claude"},
		Set: map[string]string{"stream": path, "HOME": filepath.Join(dir, "home")},
	})
	r.Agent = "dev"
	return r
}

func capture(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const play = `cat "$stream"; `

// execution §4, S0-67: what each stream comes to.
func TestStreamsThatWereCaptured(t *testing.T) {
	work := capture(t, "work")
	rows := bytes.SplitAfter(work, []byte("\n"))
	for name, c := range map[string]struct {
		stream []byte
		script string
		tools  bool
		resume bool
		answer string
		class  executor.FailureClass
		tokens int64
		says   []string
	}{
		"work": {
			stream: work, answer: "All done.", tokens: 4200,
			says: []string{"I will write the file.\n→ Write /home/ann/tree/hello.txt\n  File created", "→ Bash cat hello.txt; exit 3\n✗ Exit code 3\n  hello\n", "→ mcp__ralph__report_outcome {\"verdict\":\"pass\"}\n  ok\n", "All done.\n"},
		},
		"the exit code does not count":     {stream: work, script: play + "exit 7", answer: "All done.", tokens: 4200},
		"a last line without its end":      {stream: bytes.TrimRight(work, "\n"), answer: "All done.", tokens: 4200},
		"a torn last line":                 {stream: work[:len(work)-400], class: executor.FailCrash, tokens: 4200},
		"no last line, exit code 0":        {stream: bytes.Join(rows[:12], nil), class: executor.FailCrash, tokens: 1050},
		"a tool is refused":                {stream: capture(t, "denied"), answer: "I could not.", tokens: 2100, says: []string{"[refused: Write] Path is outside allowed working directories"}},
		"a subagent":                       {stream: capture(t, "subagent"), answer: "parent done", tokens: 4200, says: []string{"→ Task sub\n", "│ → Bash echo child\n│   child\n"}},
		"the server's error":               {stream: capture(t, "server-error"), script: play + "exit 1", class: executor.FailTransient, says: []string{"[the model does not answer: 500 server error; try 1 of 2 in "}},
		"a limit":                          {stream: capture(t, "limit"), script: play + "exit 1", class: executor.FailLimit},
		"not logged in":                    {stream: capture(t, "not-logged-in"), script: play + "exit 1", class: executor.FailConfig},
		"a session that is not there":      {stream: capture(t, "no-session"), script: play + "exit 1", resume: true, class: executor.FailSession},
		"a server that is not there":       {stream: capture(t, "no-server"), script: play, tools: true, class: executor.FailConfig},
		"broken off":                       {stream: capture(t, "interrupted"), script: play + "exit 1", class: executor.FailCrash, tokens: 1050},
		"an id that is taken":              {script: "echo 'Error: Session ID x is already in use.' >&2; exit 1", class: executor.FailSession},
		"an option that is not known":      {script: "echo \"error: unknown option '--agents'\" >&2; exit 1", class: executor.FailConfig},
		"killed before its first word":     {script: "kill -9 $$", class: executor.FailCrash},
		"nothing, and exit code 0":         {script: "exit 0", class: executor.FailCrash},
		"it stays when it has had its say": {stream: work, script: play + "while :; do sleep 1; done", answer: "All done.", tokens: 4200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.script == "" {
				c.script = play
			}
			r := standIn(t, c.stream, c.script)
			var answer []byte
			r.Raw, r.Answer = true, &answer
			if c.tools {
				r.Tools = &executor.Tools{Name: "ralph", URL: "http://127.0.0.1:1/", Token: "t"}
			}
			if c.resume {
				r.Effect.Session = newID()
			}
			got, err := hasty.Run(t.Context(), r)
			if c.class != "" {
				classIs(t, err, c.class)
			} else if err != nil || string(answer) != c.answer || got.ExitCode != 0 || !strings.HasPrefix(got.Model, "claude-sonnet") {
				t.Errorf("got %q, %+v, %v", answer, got, err)
			}
			if c.tokens > 0 && (got.Usage.Tokens == nil || *got.Usage.Tokens != c.tokens) {
				t.Errorf("it took %+v, want %d tokens", got.Usage, c.tokens)
			}
			out := slurp(t, r.Files, r.Turn()+runner.OutExt)
			for _, want := range c.says {
				if !strings.Contains(out, want) {
					t.Errorf("the transcript lacks %q:\n%s", want, out)
				}
			}
		})
	}
}

// What a later version says beside it, or in another form, does not matter.
func TestStreamsOfLaterVersions(t *testing.T) {
	var out bytes.Buffer
	for row := range bytes.Lines(capture(t, "work")) {
		var m map[string]any
		if err := json.Unmarshal(row, &m); err != nil {
			t.Fatal(err)
		}
		m["brand_new"], m["errors"], m["rate_limit_info"] = []int{1}, "no list any more", []string{"x"}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "{\"type\":\"brand_new\",\"message\":7}\nno JSON at all\n[1,2]\n\"text\"\n{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"hologram\"},7]}}\n{\"type\":\"user\",\"message\":[]}\n{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":\"many\"}\n\n%s\n", b)
	}
	r := standIn(t, out.Bytes(), play)
	var answer []byte
	r.Raw, r.Answer = true, &answer
	if got, err := hasty.Run(t.Context(), r); err != nil || string(answer) != "All done." || *got.Usage.Tokens != 4200 {
		t.Errorf("got %q, %+v, %v", answer, got, err)
	}
	var lines int
	for row := range strings.Lines(slurp(t, r.Files, r.Turn()+runner.StreamExt)) {
		var kept struct {
			At   time.Time       `json:"at"`
			Line json.RawMessage `json:"line"`
		}
		if err := json.Unmarshal([]byte(row), &kept); err != nil || kept.At.IsZero() || len(kept.Line) == 0 {
			t.Fatalf("kept %.200q, %v", row, err)
		}
		lines++
	}
	if lines < 8*30 {
		t.Errorf("%d lines were kept", lines)
	}
}

func TestLongStreams(t *testing.T) {
	work := bytes.SplitAfter(capture(t, "work"), []byte("\n"))
	var out bytes.Buffer
	out.Write(work[0])
	long := strings.Repeat("x", 9<<20)
	fmt.Fprintf(&out, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"%s"}]}}`+"\n", long)
	events := 100_000
	if testing.Short() {
		events = 10_000
	}
	for i := range events {
		fmt.Fprintf(&out, `{"type":"assistant","message":{"id":"m%d","model":"claude-sonnet-5-5","content":[{"type":"text","text":"word %d"}]}}`+"\n", i%7, i)
	}
	out.Write(work[len(work)-2])
	r := standIn(t, out.Bytes(), play)
	var answer []byte
	r.Raw, r.Answer = true, &answer
	if got, err := hasty.Run(t.Context(), r); err != nil || string(answer) != "All done." || *got.Usage.Tokens != 4200 {
		t.Errorf("got %.200q, %+v, %v", answer, got, err)
	}
	if text := slurp(t, r.Files, r.Turn()+runner.OutExt); !strings.Contains(text, fmt.Sprintf("word %d\n", events-1)) || strings.Contains(text, long) {
		t.Error("the transcript is wrong")
	}
}

// Where a version tells only the whole session's figures, each turn is counted for
// itself all the same.
func TestFiguresOfTheWholeSession(t *testing.T) {
	stream := func(tokens int, usd string) []byte {
		return []byte(`{"type":"result","subtype":"success","is_error":false,"result":"ok","total_cost_usd":` + usd + fmt.Sprintf(`,"modelUsage":{"m":{"inputTokens":%d,"outputTokens":1,"costUSD":%s}}}`, tokens, usd) + "\n")
	}
	keep, id := t.TempDir(), newID()
	for i, c := range []struct {
		stream      []byte
		tokens, usd int64
	}{{stream(100, "0.5"), 101, 500_000}, {stream(300, "0.75"), 200, 250_000}} {
		r := standIn(t, c.stream, play)
		r.Keep, r.Effect.Session, r.Raw = keep, id, true
		got, err := hasty.Run(t.Context(), r)
		if err != nil || *got.Usage.Tokens != c.tokens || *got.Usage.USDMicro != c.usd {
			t.Errorf("turn %d: got %d tokens, %d, %v; want %d, %d", i, *got.Usage.Tokens, *got.Usage.USDMicro, err, c.tokens, c.usd)
		}
	}
}

// S4-68 to S4-70, execution §6, with the transcript of a person who joined.
func TestAPersonWhoTypes(t *testing.T) {
	const types = `while [ "$1" != --session-id ]; do shift; done
mkdir -p "$HOME/.claude/projects/-tree"; to=$HOME/.claude/projects/-tree/$2.jsonl
head -n 5 "$stream" > "$to"; sleep 0.5; echo 'no JSON' >> "$to"; tail -n +6 "$stream" >> "$to"
trap 'echo asked > asked' TERM; while :; do sleep 1; done`
	person := bytes.ReplaceAll(capture(t, "transcript-person"), []byte(`"timestamp":"2026`), []byte(`"timestamp":"2999`))
	own := []byte(`{"type":"user","timestamp":"2999-11-21T20:25:43Z","entrypoint":"sdk-cli","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"y"}]}}` + "\n")
	for name, c := range map[string]struct {
		human      ir.HITL
		transcript []byte
		want       executor.AgentEnd
	}{
		"pause":                     {ir.HITL{OnHumanMessage: "pause"}, person, executor.EndTakenOver},
		"review":                    {ir.HITL{OnHumanMessage: "review"}, person, executor.EndTakenOver},
		"cooldown":                  {ir.HITL{OnHumanMessage: "cooldown", IdleCooldownMS: 3500}, person, executor.EndTakenOver},
		"the turn's own last words": {ir.HITL{OnHumanMessage: "review"}, append(bytes.Clone(person), own...), executor.EndTakenOver},
		"nobody cares":              {ir.HITL{}, person, executor.EndTimeout},
		"words from before":         {ir.HITL{OnHumanMessage: "pause"}, capture(t, "transcript-person"), executor.EndTimeout},
		"a transcript of no form":   {ir.HITL{OnHumanMessage: "pause"}, []byte(strings.Repeat("[{\"type\":7}]\n{\"type\":\"user\",\"origin\":\"human\"}\n", 20)), executor.EndTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := standIn(t, c.transcript, types)
			r.Human, r.Step.Limits.TimeoutMS = c.human, 2500
			if c.want == executor.EndTakenOver {
				r.Step.Limits.TimeoutMS = 60_000
			}
			var f facts
			r.Record = f.record
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, err := hasty.Run(ctx, r)
			if err != nil || got.End != c.want {
				t.Fatalf("got %+v, %v", got, err)
			}
			people := f.people()
			if c.want != executor.EndTakenOver {
				if len(people) > 0 {
					t.Errorf("on record: %+v", people)
				}
				return
			}
			if len(people) != 1 || people[0].Text != "please stop and use bcrypt" || people[0].Session != got.Session || people[0].Said.Year() != 2999 {
				t.Errorf("on record: %+v", people)
			}
			if _, err := os.Stat(filepath.Join(r.Dir, "asked")); err == nil {
				t.Error("the program was asked to end: it would have written behind the person's words")
			}
		})
	}
}

// S4-107: what the program is told, and what it is not.
func TestWhatTheProgramIsTold(t *testing.T) {
	const dump = `for a in "$@"; do printf '%s\n' "$a"; done > args.txt; printf '%s' "$prompt" > prompt.txt; env > env.txt
for a in "$@"; do case $a in *.mcp.json) cp "$a" mcp.txt; ls -l "$a" > mode.txt;; *.agents.json) cp "$a" agents.txt;; esac; done
` + play
	tools := &executor.Tools{Name: "ralph", URL: "http://127.0.0.1:7/mcp", Token: "sesame"}
	told := func(t *testing.T, change func(*executor.AgentRun)) (args string, r executor.AgentRun) {
		t.Helper()
		own := fmt.Sprintf(`"agents":["ralph-dev-%x",`, sha256Of("Be good."))
		r = standIn(t, bytes.Replace(capture(t, "work"), []byte(`"agents":[`), []byte(own), 1), dump)
		r.Text, r.Tools, r.Model, r.Raw = "Be good.", tools, "opus", true
		if err := os.WriteFile(filepath.Join(r.Dir, "CLAUDE.md"), []byte("notes"), 0o600); err != nil {
			t.Fatal(err)
		}
		change(&r)
		if _, err := hasty.Run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return slurp(t, r.Dir, "args.txt"), r
	}
	has := func(t *testing.T, args string, want ...string) {
		t.Helper()
		if !strings.Contains("\n"+args, "\n"+strings.Join(want, "\n")+"\n") {
			t.Errorf("the arguments lack %q:\n%s", want, args)
		}
	}
	t.Run("a write agent", func(t *testing.T) {
		args, r := told(t, func(r *executor.AgentRun) { r.Raw = false })
		has(t, args, "--setting-sources", "user", "--strict-mcp-config", "--permission-mode", "acceptEdits")
		has(t, args, "--model", "opus")
		has(t, args, "--name", "ralph 1.1 implement/2 agent-1")
		if strings.Contains(args, "sesame") || strings.Contains(slurp(t, r.Dir, "env.txt"), "sesame") {
			t.Error("the token can be seen")
		}
		if m := slurp(t, r.Dir, "mcp.txt"); m != `{"mcpServers":{"ralph":{"alwaysLoad":true,"headers":{"Authorization":"Bearer sesame"},"type":"http","url":"http://127.0.0.1:7/mcp"}}}` {
			t.Errorf("the MCP server is %s", m)
		}
		if m := slurp(t, r.Dir, "mode.txt"); !strings.HasPrefix(m, "-rw-------") {
			t.Errorf("its file is %s", m)
		}
		if a := slurp(t, r.Dir, "agents.txt"); !strings.Contains(a, `"prompt":"Be good."`) {
			t.Errorf("the agent is %s", a)
		}
		if !strings.Contains(args, "--append-system-prompt\nThe project keeps notes for agents in CLAUDE.md") || !strings.Contains(args, ",mcp__ralph,Edit(/"+r.OutcomeFile()+")\n") {
			t.Errorf("the arguments are\n%s", args)
		}
		for _, n := range names(t, r.Files) {
			if strings.HasSuffix(n, ".mcp.json") || strings.HasSuffix(n, ".agents.json") {
				t.Errorf("%s stays", n)
			}
		}
		var p message
		if err := json.Unmarshal([]byte(slurp(t, r.Dir, "prompt.txt")), &p); err != nil || p.Type != "user" || p.Message.Content[0].Text != "the prompt" {
			t.Errorf("the prompt is %+v, %v", p, err)
		}
	})
	t.Run("a read agent", func(t *testing.T) {
		args, _ := told(t, func(r *executor.AgentRun) { r.Read = true })
		if !strings.Contains(args, "--disallowedTools\nEdit,MultiEdit,NotebookEdit,Write,") || strings.Contains(args, "Edit(/") || strings.Contains(args, "CLAUDE.md") {
			t.Errorf("the arguments are\n%s", args)
		}
	})
	t.Run("an agent of the user's own", func(t *testing.T) {
		args, _ := told(t, func(r *executor.AgentRun) { r.Slug = "claude" })
		has(t, args, "--agent", "claude")
		if strings.Contains(args, "--agents") {
			t.Errorf("the arguments are\n%s", args)
		}
	})
	t.Run("a fork", func(t *testing.T) {
		old := newID()
		args, _ := told(t, func(r *executor.AgentRun) { r.Effect.Session, r.Fork = old, true })
		has(t, args, "--resume", old, "--fork-session", "--session-id")
	})
	t.Run("tools over stdio", func(t *testing.T) {
		_, r := told(t, func(r *executor.AgentRun) {
			r.Tools = &executor.Tools{Name: "ralph", Proxy: []string{"/bin/ralph", "mcp"}, ProxyEnv: map[string]string{"TOKEN": "sesame"}}
		})
		if m := slurp(t, r.Dir, "mcp.txt"); m != `{"mcpServers":{"ralph":{"alwaysLoad":true,"args":["mcp"],"command":"/bin/ralph","env":{"TOKEN":"sesame"},"type":"stdio"}}}` {
			t.Errorf("the MCP server is %s", m)
		}
	})
	t.Run("what the runner's block sets", func(t *testing.T) {
		_, r := told(t, func(r *executor.AgentRun) { r.Runner.Set["CLAUDE_CODE_MAX_RETRIES"] = "9" })
		if env := slurp(t, r.Dir, "env.txt"); !strings.Contains(env, "CLAUDE_CODE_MAX_RETRIES=9\n") || !strings.Contains(env, "DISABLE_AUTOUPDATER=1\n") {
			t.Errorf("the environment is\n%s", env)
		}
	})
	t.Run("an agent whose name Claude Code does not know", func(t *testing.T) {
		r := standIn(t, capture(t, "work"), play)
		r.Slug, r.Raw = "nobody", true
		_, err := hasty.Run(t.Context(), r)
		classIs(t, err, executor.FailConfig)
	})
}

func sha256Of(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:4]
}

// A question of the program's is answered: nothing blocks.
func TestQuestionsAreRefused(t *testing.T) {
	r := standIn(t, capture(t, "work"), `echo '{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool"}}'; read -r answer; printf '%s' "$answer" > answer.txt; `+play)
	r.Raw = true
	if _, err := hasty.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if a := slurp(t, r.Dir, "answer.txt"); !strings.Contains(a, `"request_id":"q1"`) || !strings.Contains(a, `"subtype":"error"`) {
		t.Errorf("answered %s", a)
	}
}

// S4-79: the session is on record before the program begins, or it does not begin.
func TestNoSessionWithoutRecord(t *testing.T) {
	r := standIn(t, capture(t, "work"), "touch began; "+play)
	broken := errors.New("the disk is full")
	r.Record = func(context.Context, executor.Body) error { return broken }
	if _, err := hasty.Run(t.Context(), r); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "began")); err == nil {
		t.Error("it began all the same")
	}
}

// execution §4: limited_when of the runner's block counts as well.
func TestLimitedWhen(t *testing.T) {
	code := 75
	r := standIn(t, nil, "echo 'come back at 2100-01-01T00:00:00Z' >&2; exit 75")
	r.Runner.LimitedWhen = &ir.LimitedWhen{ExitCode: &code, Output: `come back at (?P<until>\S+)`}
	_, err := hasty.Run(t.Context(), r)
	if f := classIs(t, err, executor.FailLimit); f.Until != "2100-01-01T00:00:00Z" {
		t.Errorf("until %q", f.Until)
	}
}

// A program that does not read what it is told holds nobody up.
func TestALongPromptThatNobodyReads(t *testing.T) {
	r := standIn(t, nil, "")
	r.Runner.Run = []string{"sh", "-c", "echo no >&2; exit 1", "claude"}
	r.Prompt = bytes.Repeat([]byte("word "), 1<<20)
	_, err := hasty.Run(t.Context(), r)
	classIs(t, err, executor.FailConfig)
}
