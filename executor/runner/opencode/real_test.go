package opencode

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
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

// world is a real OpenCode with a scripted model, a home of its own, and a
// repository with worktrees.
type world struct {
	t      *testing.T
	c      *Runner
	model  *modeltest.Server
	base   string // of the model
	dir    string
	runner ir.Runner
	mu     sync.Mutex
	facts  []executor.Body
}

func realWorld(t *testing.T, rules ...modeltest.Rule) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("the real program takes its time")
	}
	path := runnertest.Binary(t, "opencode")
	w := &world{t: t, model: modeltest.Start(t), dir: t.TempDir()}
	w.base = w.model.Load(t, modeltest.Scenario{Rules: rules})
	home := filepath.Join(w.dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	w.runner = configured(path, w.base)
	w.runner.Set["HOME"] = home
	w.c = &Runner{Base: runner.Base{Grace: 2 * time.Second}}
	t.Cleanup(func() {
		if err := w.c.Close(); err != nil {
			t.Error(err)
		}
	})
	w.git(w.dir, "init", "-q", "-b", "main", "repo")
	w.git(filepath.Join(w.dir, "repo"), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "init")
	return w
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// ask is a turn in the worktree of this name, which is made.
func (w *world) ask(name, text string) executor.AgentRun {
	w.t.Helper()
	r := executortest.AgentRun(w.t, w.runner)
	r.Dir = filepath.Join(w.dir, name)
	if _, err := os.Stat(r.Dir); err != nil {
		w.git(filepath.Join(w.dir, "repo"), "worktree", "add", "-q", "--detach", r.Dir)
	}
	r.Node.Title = "Say hello"
	r.Agent, r.Model, r.Prompt, r.Keep = "dev", "scripted/m1", []byte(text), filepath.Join(w.dir, "keep")
	r.Step.Limits.TimeoutMS = 120_000
	r.Record = func(_ context.Context, b executor.Body) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.facts = append(w.facts, b)
		return nil
	}
	return r
}

func outcome(result string) string {
	return fmt.Sprintf("```json\n{\"result\":%q,\"summary\":\"s\"}\n```", result)
}

func TestRealTurn(t *testing.T) { // S4-101, S4-103, S4-104, S4-107, S0-67, S4-55
	w := realWorld(t, modeltest.Rule{Match: "please write", Steps: []modeltest.Step{
		{Text: "I will.", Do: []modeltest.Action{modeltest.Write("hello.txt", "hello\n")}},
		{Do: []modeltest.Action{modeltest.Bash("cat hello.txt; echo node $RALPH_NODE pw=$OPENCODE_SERVER_PASSWORD; pwd; echo $RALPH_OUTCOME")}},
		{Text: outcome("success")},
	}})
	r := w.ask("wt1", "please write")
	got, err := w.c.Run(t.Context(), r)
	if err != nil || got.Outcome.Result != "success" || got.End != executor.EndExited || got.ExitCode != 0 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if b, err := os.ReadFile(filepath.Join(r.Dir, "hello.txt")); err != nil || string(b) != "hello\n" {
		t.Errorf("hello.txt holds %q, %v", b, err)
	}
	if got.Model != "scripted/m1" || got.Usage.Tokens == nil || *got.Usage.Tokens != 3150 || got.Usage.USDMicro == nil || *got.Usage.USDMicro != 11250 {
		t.Errorf("model %s, usage %v %v", got.Model, got.Usage.Tokens, got.Usage.USDMicro)
	}
	if len(w.facts) != 1 || w.facts[0].(executor.AgentSession).Session != got.Session || !strings.HasPrefix(got.Session, "ses_") {
		t.Errorf("on record: %+v; session %s", w.facts, got.Session)
	}
	out, err := os.ReadFile(runner.File(r, runner.OutExt))
	for _, want := range []string{"I will.", "hello\n", "node 1.1 pw=\n", r.Dir + "\n", r.OutcomeFile()} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("the output lacks %q: %v\n%s", want, err, out)
		}
	}
	if s := w.git(r.Dir, "status", "--short"); s != "?? hello.txt\n" {
		t.Errorf("the worktree holds:\n%s", s)
	}
}

func TestRealSessions(t *testing.T) {
	const people = "MCP-SERVER-OF-THE-PROJECT"
	w := realWorld(t,
		modeltest.Rule{Match: "CHILD", Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Bash("cat /etc/hostname")}}, {Text: "the child is done"}}},
		modeltest.Rule{Match: "parent", Steps: []modeltest.Step{
			{Do: []modeltest.Action{modeltest.Call("task", map[string]string{"description": "sub", "prompt": "CHILD, do it", "subagent_type": "general"})}}, {Text: outcome("success")},
		}},
		modeltest.Rule{Match: "where", Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Write("here.txt", "x"), modeltest.Bash("pwd -P; cat /etc/hostname >/dev/null && echo readable")}}, {Text: outcome("success")}}},
		modeltest.Rule{Match: "outside", Steps: []modeltest.Step{
			{Do: []modeltest.Action{modeltest.Write("../outside.txt", "x")}},
			{Do: []modeltest.Action{modeltest.Bash(`printf '{"result":"failed","summary":"by file"}' > "$RALPH_OUTCOME"`)}},
			{Text: "done"},
		}},
		modeltest.Rule{Match: "hold", Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Bash("echo > held; while ! test -e spoken; do sleep 0.1; done")}}, {Text: outcome("success")}}},
		modeltest.Rule{Match: "a person", Steps: []modeltest.Step{{Text: "As you like."}}},
	)
	run := func(t *testing.T, r executor.AgentRun) executor.AgentEnded {
		t.Helper()
		got, err := w.c.Run(t.Context(), r)
		if err != nil {
			t.Fatalf("%v\n%s", err, got.Tail)
		}
		return got
	}
	t.Run("a subagent asks nobody, and what it costs counts", func(t *testing.T) {
		r := w.ask("wt1", "parent")
		got := run(t, r)
		if got.Outcome.Result != "success" || *got.Usage.Tokens != 4200 || *got.Usage.USDMicro != 15000 {
			t.Errorf("got %+v, %v tokens, %v", got.Outcome, *got.Usage.Tokens, *got.Usage.USDMicro)
		}
	})
	t.Run("a copy works in another worktree", func(t *testing.T) { // S0-114
		first := run(t, w.ask("wt1", "where"))
		r := w.ask("wt2", "where")
		r.Effect.Session, r.Fork = first.Session, true
		second := run(t, r)
		out, err := os.ReadFile(runner.File(r, runner.OutExt))
		if err != nil || second.Session == first.Session || !strings.Contains(string(out), r.Dir+"\n") || !strings.Contains(string(out), "readable") {
			t.Errorf("session %s of %s, %v:\n%s", second.Session, first.Session, err, out)
		}
		if _, err := os.Stat(filepath.Join(r.Dir, "here.txt")); err != nil {
			t.Error(err)
		}
		if *second.Usage.Tokens != 2100 {
			t.Errorf("the copy used %d tokens", *second.Usage.Tokens)
		}
	})
	t.Run("files are edited in the worktree alone, and the outcome file is the turn's", func(t *testing.T) {
		r := w.ask("wt1", "outside")
		if got := run(t, r); got.Outcome.Result != "failed" || got.Outcome.Summary != "by file" {
			t.Errorf("got %+v", got.Outcome)
		}
		if _, err := os.Stat(filepath.Join(w.dir, "outside.txt")); err == nil {
			t.Error("it wrote outside")
		}
	})
	t.Run("the project's settings do not count, but for AGENTS.md", func(t *testing.T) {
		r := w.ask("wt3", "where")
		for file, text := range map[string]string{
			"AGENTS.md": "PROJECT-INSTRUCTIONS\n",
			"opencode.json": marshal(map[string]any{"mcp": map[string]any{"project": map[string]any{
				"type": "local", "command": []string{"sh", "-c", "echo > " + filepath.Join(w.dir, people)},
			}}}),
		} {
			if err := put(filepath.Join(r.Dir, file), text); err != nil {
				t.Fatal(err)
			}
		}
		run(t, r)
		if _, err := os.Stat(filepath.Join(w.dir, people)); err == nil {
			t.Error("an MCP server was started")
		}
		if turns := w.model.Turns(w.base); !strings.Contains(turns[len(turns)-1].System, "PROJECT-INSTRUCTIONS") {
			t.Error("the agent is not told what the project tells all agents")
		}
	})
	t.Run("a person takes a session over with a client of their own", func(t *testing.T) { // S4-106, S4-68
		r := w.ask("wt1", "hold")
		r.Human.OnHumanMessage = "pause"
		sessions := make(chan string, 1)
		keep := r.Record
		r.Record = func(ctx context.Context, b executor.Body) error {
			if a, ok := b.(executor.AgentSession); ok {
				sessions <- a.Session
			}
			return keep(ctx, b)
		}
		over := make(chan executor.AgentEnded, 1)
		go func() {
			got, err := w.c.Run(t.Context(), r)
			if err != nil {
				t.Error(err)
			}
			over <- got
		}()
		session := <-sessions
		for range time.Tick(20 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(r.Dir, "held")); err == nil {
				break
			}
		}
		_, a, ok := serving(r.Keep, session, false)
		if join := w.c.Join(r, session).Argv; !ok || filepath.Base(join[0]) != attachFile {
			t.Fatalf("a person types %q", join)
		}
		person := exec.CommandContext(t.Context(), r.Runner.Run[0], "run", "--attach", a.URL, "--dir", r.Dir, "--session", session, "a person speaks")
		person.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.Runner.Set["HOME"], passwordVar + "=" + a.Password, "OPENCODE_DISABLE_MODELS_FETCH=1"}
		said := make(chan string, 1)
		go func() {
			out, err := person.CombinedOutput()
			said <- fmt.Sprintf("%s %v", out, err)
		}()
		if got := <-over; got.End != executor.EndTakenOver || got.Session != session {
			t.Errorf("got %+v", got)
		}
		if err := put(filepath.Join(r.Dir, "spoken"), ""); err != nil {
			t.Fatal(err)
		}
		<-said // it ends when the session is idle: the turn that was theirs was not aborted
		h := spoken(w.recorded())
		if len(h) != 1 || !strings.Contains(h[0].Text, "a person speaks") || h[0].Session != session {
			t.Errorf("on record: %+v", h)
		}
		list, err := serverOf(a, r.Dir).messages(t.Context(), session)
		if err != nil || words(list[len(list)-1]) != "As you like." {
			t.Errorf("the person was answered %+v, %v", list[len(list)-1], err)
		}
	})
}

func serverOf(a announced, dir string) api {
	return api{url: a.URL, password: a.Password, dir: dir, http: http.DefaultClient}
}

func (w *world) recorded() []executor.Body {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.facts)
}
