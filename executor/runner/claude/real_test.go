package claude

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// quick is a runner that stops programs without much patience.
var quick = Runner{runner.Base{Grace: 2 * time.Second}}

// world is one home of Claude Code, with a model of its own.
type world struct {
	bin, home string
	model     *modeltest.Server
}

func newWorld(t *testing.T) world {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real Claude Code")
	}
	t.Parallel() // the model waits more than the programs work
	return world{bin: runnertest.Binary(t, "claude"), home: t.TempDir(), model: modeltest.Start(t)}
}

// run asks for a turn in a new directory, in front of a model that plays the steps.
func (w world) run(t *testing.T, steps ...modeltest.Step) (r executor.AgentRun, base string) {
	t.Helper()
	base = w.model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{{Steps: steps}}})
	return w.ask(t, base), base
}

func (w world) ask(t *testing.T, base string) executor.AgentRun {
	t.Helper()
	r := executortest.AgentRun(t, ir.Runner{Kind: "claude", Run: []string{w.bin}, Env: []string{"PATH"}, Set: map[string]string{
		"HOME": w.home, "ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "dummy",
	}})
	r.Agent, r.Text, r.Model = "dev", "You are the developer of this test.", "sonnet"
	r.Step.Limits.TimeoutMS = 120_000
	return r
}

// facts keeps what a turn puts on record.
type facts struct {
	mu  sync.Mutex
	all []executor.Body
}

func (f *facts) record(_ context.Context, b executor.Body) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, b)
	return nil
}

func (f *facts) sessions() (out []executor.AgentSession) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.all {
		if s, ok := b.(executor.AgentSession); ok {
			out = append(out, s)
		}
	}
	return out
}

func (f *facts) people() (out []executor.HumanSpoke) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.all {
		if s, ok := b.(executor.HumanSpoke); ok {
			out = append(out, s)
		}
	}
	return out
}

const success = `{"result":"success","summary":"done"}`

func classIs(t *testing.T, err error, want executor.FailureClass) *executor.Failure {
	t.Helper()
	var f *executor.Failure
	if !errors.As(err, &f) || f.Class != want {
		t.Fatalf("got %v, want a failure of class %q", err, want)
	}
	return f
}

func slurp(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// S0-61, S0-67, S4-55, S4-63, execution §4: a turn, its session, its words and what it cost.
func TestRealTurn(t *testing.T) {
	w := newWorld(t)
	r, base := w.run(t,
		modeltest.Step{Text: "I will write it.", Do: []modeltest.Action{modeltest.Write("hello.txt", "hello\n")}, Usage: modeltest.Usage{Input: 100, Output: 10}},
		modeltest.Step{Do: []modeltest.Action{modeltest.Bash("cat hello.txt; echo $TMPDIR > tmp.txt")}, Usage: modeltest.Usage{Input: 200, Output: 20, CacheRead: 7}},
		modeltest.Step{Text: success, Usage: modeltest.Usage{Input: 300, Output: 30}})
	r.Prompt = []byte("/init is how this prompt begins, and @hello.txt is in it" + strings.Repeat("; it is long", 20_000))
	var f facts
	r.Record = f.record
	got, err := quick.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Outcome.Result != "success" || got.Outcome.Summary != "done" || got.End != executor.EndExited || got.ExitCode != 0 {
		t.Errorf("got %+v", got)
	}
	if got.Usage.Tokens == nil || *got.Usage.Tokens != 667 || got.Usage.USDMicro == nil || *got.Usage.USDMicro <= 0 {
		t.Errorf("it took %+v, want 667 tokens and their price", got.Usage)
	}
	if !strings.Contains(got.Model, "sonnet") || got.Model == "sonnet" {
		t.Errorf("model %q", got.Model)
	}
	if s := f.sessions(); len(s) != 1 || s[0].Session != got.Session || len(s[0].Session) != 36 || !s[0].Fresh || s[0].Agent != "dev" {
		t.Errorf("sessions on record: %+v", s)
	}
	if slurp(t, r.Dir, "hello.txt") != "hello\n" {
		t.Error("the file is wrong")
	}
	for _, want := range []string{"I will write it.", "→ Write ", "→ Bash cat hello.txt", "  hello"} {
		if out := slurp(t, r.Files, r.Turn()+runner.OutExt); !strings.Contains(out, want) {
			t.Errorf("the transcript lacks %q:\n%s", want, out)
		}
	}
	tmp := strings.TrimSpace(slurp(t, r.Dir, "tmp.txt"))
	if _, err := os.Stat(tmp); !os.IsNotExist(err) || !strings.Contains(tmp, "ralph-claude-") {
		t.Errorf("its temporary directory %q: %v", tmp, err)
	}
	for _, d := range []string{r.Files, r.Dir} {
		for _, e := range names(t, d) {
			if strings.HasSuffix(e, ".mcp.json") || strings.HasSuffix(e, ".agents.json") || strings.HasPrefix(e, ".claude") {
				t.Errorf("%s was left in %s", e, d)
			}
		}
	}
	first := w.model.Turns(base)[0]
	if !strings.Contains(first.System, "You are the developer of this test.") {
		t.Errorf("the system prompt is %.300q", first.System)
	}
	if h := first.Human(); !strings.Contains(h, "/init is how") || strings.Contains(h, "codebase") {
		t.Errorf("the prompt arrived as %.300q", h)
	}
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		out = append(out, e.Name())
	}
	return out
}

// S0-65, S4-102, K25: resumed and forked, also from another directory; the original
// of a fork stays as it is, and each turn is counted for itself.
func TestRealSessionsGoOn(t *testing.T) {
	w := newWorld(t)
	step := modeltest.Step{Text: success}
	r, base := w.run(t, step)
	r.Prompt = []byte("remember the word heron")
	one, err := quick.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	transcript := func() string {
		all, _ := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", one.Session+".jsonl"))
		if len(all) != 1 {
			t.Fatalf("transcripts %v", all)
		}
		return slurp(t, all[0])
	}
	again := func(fork bool) executor.AgentEnded {
		t.Helper()
		n := w.ask(t, base)
		n.Effect.Session, n.Fork, n.Prompt = one.Session, fork, []byte("which word?")
		got, err := quick.Run(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if got.Usage.Tokens == nil || *got.Usage.Tokens != *one.Usage.Tokens || *got.Usage.USDMicro != *one.Usage.USDMicro {
			t.Errorf("fork %v: it took %d tokens, %d micro; the first turn %d, %d", fork, *got.Usage.Tokens, *got.Usage.USDMicro, *one.Usage.Tokens, *one.Usage.USDMicro)
		}
		turns := w.model.Turns(base)
		if h := turns[len(turns)-1].Humans; len(h) < 2 || !strings.Contains(h[0], "heron") {
			t.Errorf("fork %v: the model was told %q", fork, h)
		}
		return got
	}
	before := transcript()
	if fork := again(true); fork.Session == one.Session || len(fork.Session) != 36 {
		t.Errorf("the fork is session %q", fork.Session)
	}
	if transcript() != before {
		t.Error("the fork changed the original")
	}
	if resumed := again(false); resumed.Session != one.Session {
		t.Errorf("resumed as %q, want %q", resumed.Session, one.Session)
	}
	gone := w.ask(t, base)
	gone.Effect.Session = newID()
	_, err = quick.Run(t.Context(), gone)
	classIs(t, err, executor.FailSession)
	gone.Effect.Session = "no such form"
	_, err = quick.Run(t.Context(), gone)
	classIs(t, err, executor.FailSession)
}

// execution §4: who is to blame.
func TestRealFailures(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		fault modeltest.Fault
		want  executor.FailureClass // "" is success
	}{
		"500 for ever":          {modeltest.Fault{Status: 500}, executor.FailTransient},
		"500, then fine":        {modeltest.Fault{Status: 500, Times: 1}, ""},
		"429 for ever":          {modeltest.Fault{Status: 429}, executor.FailLimit},
		"429, then fine":        {modeltest.Fault{Status: 429, Times: 1, Headers: map[string]string{"retry-after": "1"}}, ""},
		"400":                   {modeltest.Fault{Status: 400}, executor.FailConfig},
		"401":                   {modeltest.Fault{Status: 401}, executor.FailConfig},
		"404, an unknown model": {modeltest.Fault{Status: 404}, executor.FailConfig},
		"a cut connection":      {modeltest.Fault{Kind: modeltest.Drop}, executor.FailTransient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := w.run(t, modeltest.Step{Text: success, Fault: &c.fault})
			got, err := quick.Run(t.Context(), r)
			if c.want != "" {
				classIs(t, err, c.want)
			} else if err != nil || got.Outcome.Result != "success" {
				t.Errorf("got %+v, %v", got, err)
			}
			if out := slurp(t, r.Files, r.Turn()+runner.OutExt); c.fault.Times > 0 && !strings.Contains(out, "the model does not answer") {
				t.Errorf("its own tries are not shown:\n%s", out)
			}
		})
	}
}

// The limit of a subscription says when it ends.
func TestRealLimitSaysUntil(t *testing.T) {
	w := newWorld(t)
	r, _ := w.run(t, modeltest.Step{Text: success, Fault: &modeltest.Fault{Status: 429, Headers: map[string]string{
		"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "4102444800", "anthropic-ratelimit-unified-representative-claim": "five_hour",
	}}})
	delete(r.Runner.Set, "ANTHROPIC_API_KEY")
	r.Runner.Set["CLAUDE_CODE_OAUTH_TOKEN"] = "sk-ant-oat01-dummy"
	_, err := quick.Run(t.Context(), r)
	if f := classIs(t, err, executor.FailLimit); f.Until != "2100-01-01T00:00:00Z" {
		t.Errorf("until %q: %v", f.Until, f)
	}
}

// execution §4: what somebody has to mend.
func TestRealConfigurationFailures(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*executor.AgentRun){
		"not logged in":              func(r *executor.AgentRun) { delete(r.Runner.Set, "ANTHROPIC_API_KEY") },
		"an agent that is not there": func(r *executor.AgentRun) { r.Slug = "nobody" },
		"no MCP server": func(r *executor.AgentRun) {
			r.Tools = &executor.Tools{Name: "ralph_x1", URL: "http://127.0.0.1:1/", Token: "t"}
		},
		"a program that is missing": func(r *executor.AgentRun) { r.Runner.Run = []string{"/no/such/claude"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := w.run(t, modeltest.Step{Text: success})
			change(&r)
			_, err := quick.Run(t.Context(), r)
			classIs(t, err, executor.FailConfig)
		})
	}
}

// What an earlier agent wrote into the worktree runs nothing and says nothing.
func TestRealWorktreeDoesNotSteer(t *testing.T) {
	w := newWorld(t)
	r, base := w.run(t, modeltest.Step{Do: []modeltest.Action{modeltest.Bash("echo hello")}}, modeltest.Step{Do: []modeltest.Action{modeltest.Read("sub/x.txt")}}, modeltest.Step{Text: success})
	r.Raw, r.Read = true, true
	hook := func(name string) string {
		return `{"hooks":[{"type":"command","command":"touch ` + filepath.Join(w.home, name) + `"}]}`
	}
	files := map[string]string{
		".claude/settings.json":       `{"hooks":{"SessionStart":[` + hook("hooked-start") + `],"PreToolUse":[` + hook("hooked-tool") + `],"Stop":[` + hook("hooked-stop") + `]},"env":{"EVIL":"1"},"apiKeyHelper":"touch ` + filepath.Join(w.home, "hooked-key") + `"}`,
		".claude/settings.local.json": `{"hooks":{"SessionStart":[` + hook("hooked-local") + `]}}`,
		".claude/agents/dev.md":       "---\nname: dev\ndescription: EVIL agent\n---\nEVIL agent\n",
		".claude/skills/e/SKILL.md":   "---\nname: e\ndescription: EVIL skill\n---\nEVIL\n",
		".claude/commands/e.md":       "---\ndescription: EVIL command\n---\nEVIL\n",
		".claude/rules/e.md":          "EVIL rule",
		".mcp.json":                   `{"mcpServers":{"e":{"command":"touch","args":["` + filepath.Join(w.home, "hooked-mcp") + `"]}}}`,
		"CLAUDE.md":                   "EVIL notes", ".claude/CLAUDE.md": "EVIL notes", "CLAUDE.local.md": "EVIL notes", "AGENTS.md": "EVIL notes", "sub/CLAUDE.md": "EVIL notes", "sub/x.txt": "x",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.Dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var answer []byte
	r.Answer = &answer
	if _, err := quick.Run(t.Context(), r); err != nil || string(answer) != success {
		t.Fatalf("answered %q, %v", answer, err)
	}
	for _, e := range names(t, w.home) {
		if strings.HasPrefix(e, "hooked") {
			t.Errorf("%s ran", e)
		}
	}
	for i, q := range w.model.Requests(base) {
		if b, _ := json.Marshal(q); strings.Contains(string(b), "EVIL") {
			t.Errorf("request %d holds what the worktree says: %.400s", i, b)
		}
		if q.Offers("Write", "Edit", "NotebookEdit") {
			t.Errorf("an agent that reads is offered %v", q.ToolNames())
		}
	}
	if slices.ContainsFunc(names(t, w.home), func(n string) bool { return n == "memory" }) {
		t.Error("it keeps memories")
	}
	all, _ := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", "memory", "*"))
	if len(all) > 0 {
		t.Errorf("memories: %v", all)
	}
}
