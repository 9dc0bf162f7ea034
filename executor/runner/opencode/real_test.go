package opencode

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	dir    string
	runner ir.Runner
	mu     sync.Mutex
	facts  []executor.Body
}

func realWorld(t *testing.T, rules ...modeltest.Rule) *world {
	t.Helper()
	path := runnertest.Binary(t, "opencode")
	w := &world{t: t, model: modeltest.Start(t), dir: t.TempDir()}
	base := w.model.Load(t, modeltest.Scenario{Rules: rules})
	home := filepath.Join(w.dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	w.runner = configured(path, base)
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

func TestRealOpenCodeTakesATurn(t *testing.T) { // S4-101, S4-103, S4-104, S4-107, S0-67, S4-55
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
