package runnertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// These tests hold the ways of the real programs that runners work around. When one
// fails with a new version, its workaround may go: the failure says which.

// trap is a real program in a home directory of its own, in front of a scripted model.
type trap struct {
	binary, home, dir string
	env               []string
	model             *modeltest.Server
	base              string
}

func setTrap(t *testing.T, binary string, rules ...modeltest.Rule) trap {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT TESTED with -short: real programs")
	}
	path := Binary(t, binary)
	k := trap{binary: path, home: t.TempDir(), dir: t.TempDir(), model: modeltest.Start(t)}
	k.base = k.model.Load(t, modeltest.Scenario{Rules: rules})
	k.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + k.home, "TMPDIR=" + t.TempDir(), "ANTHROPIC_BASE_URL=" + k.base, "ANTHROPIC_API_KEY=dummy", "SCRIPTED_KEY=dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=0", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
	}
	return k
}

// command is the program with arguments; it is killed with everything that is in its
// group when the test ends.
func (k trap) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, k.binary, args...)
	cmd.Dir, cmd.Env = k.dir, k.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs it to its end and returns what it printed to stdout, and its exit code.
func (k trap) run(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := k.command(t, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	t.Logf("exit code %d\n%s%s", cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes())
	return stdout.String(), cmd.ProcessState.ExitCode()
}

// withTools calls do with an outcome channel that is open.
func withTools(t *testing.T, do func(executor.Tools)) {
	t.Helper()
	server := &mcp.Server{}
	defer server.Close()
	r := executor.AgentRun{
		Node: &ir.Node{Key: "1.1"}, Step: &ir.Step{Name: "implement"}, Effect: executor.Effect{Attempt: 1}, Files: t.TempDir(), Agent: "builder",
		Record: func(context.Context, executor.Body) error { return nil },
	}
	_, err := mcp.Serve(server, inside(func(r executor.AgentRun) { do(*r.Tools) })).Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
}

type inside func(executor.AgentRun)

func (inside) Check(context.Context, executor.AgentRun) error { return nil }

func (f inside) Run(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	f(r)
	return executor.AgentEnded{}, nil
}

// line finds the last of the JSON lines with that type.
func line(out, kind string) (found map[string]any) {
	for l := range strings.Lines(out) {
		var m map[string]any
		if json.Unmarshal([]byte(l), &m) == nil && m["type"] == kind {
			found = m
		}
	}
	return found
}

var (
	claudeArgs = []string{"-p", "Go on.", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits", "--allowedTools", "Bash,mcp__ralph"}
	hello      = modeltest.Rule{Steps: steps{{Text: "Hello."}}}
)

func TestRealClaudeSaysSuccessOfAnErrorTrap(t *testing.T) {
	k := setTrap(t, "claude", modeltest.Rule{Steps: steps{{Fault: &modeltest.Fault{Status: 500}}}})
	out, _ := k.run(t, claudeArgs...)
	if r := line(out, "result"); r["subtype"] != "success" || r["is_error"] != true {
		t.Errorf("got subtype %v, is_error %v: the subtype may be believed now", r["subtype"], r["is_error"])
	}
}

func TestRealClaudeExitsWellWhenItWasRefusedTrap(t *testing.T) {
	k := setTrap(t, "claude", modeltest.Rule{Steps: steps{do(modeltest.Write("x.txt", "x")), {Text: "Done."}}})
	out, code := k.run(t, "-p", "Go on.", "--output-format", "stream-json", "--verbose")
	if _, err := os.Stat(filepath.Join(k.dir, "x.txt")); err == nil {
		t.Error("it writes without being allowed to: acceptEdits may go")
	}
	if r := line(out, "result"); code != 0 || r["is_error"] != false {
		t.Errorf("exit code %d, is_error %v: a refusal can be seen now", code, r["is_error"])
	}
}

func TestRealClaudeDefersToolsTrap(t *testing.T) {
	k := setTrap(t, "claude", hello)
	withTools(t, func(tools executor.Tools) {
		server := obj{"type": "http", "url": tools.URL, "headers": obj{"Authorization": "Bearer " + tools.Token}}
		args := func(s obj) []string {
			return append(claudeArgs, "--strict-mcp-config", "--mcp-config", string(marshal(obj{"mcpServers": obj{"ralph": s}})))
		}
		k.run(t, args(server)...)
		server["alwaysLoad"] = true
		k.run(t, args(server)...)
	})
	all := k.model.Turns(k.base)
	if len(all) != 2 || all[0].Offers("report_outcome") || !all[1].Offers("report_outcome") {
		t.Errorf("of %d requests the tool is in the first: %v; alwaysLoad may go", len(all), len(all) > 0 && all[0].Offers("report_outcome"))
	}
}

func TestRealClaudeRunsWithoutItsServerTrap(t *testing.T) {
	k := setTrap(t, "claude", hello)
	out, code := k.run(t, append(claudeArgs, "--strict-mcp-config", "--mcp-config", `{"mcpServers":{"ralph":{"type":"http","url":"http://127.0.0.1:1/","alwaysLoad":true}}}`)...)
	if r := line(out, "result"); code != 0 || r["is_error"] != false {
		t.Errorf("exit code %d, is_error %v: a dead server shows in how it ends", code, r["is_error"])
	}
}

func TestRealClaudeLeavesItsToolsWhenItIsKilledTrap(t *testing.T) {
	k := setTrap(t, "claude", modeltest.Rule{Steps: steps{do(modeltest.Bash("echo $$ > pid.new; mv pid.new pid; while :; do sleep 1; done"))}})
	cmd := k.command(t, claudeArgs...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &stage{dir: k.dir}
	eventually(t, "the tool runs", func() (bool, string) { return s.has("pid"), "" })
	var pid int
	if err := json.Unmarshal([]byte(s.file(t, "pid")), &pid); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait() // it was killed
	if !alive(pid) {
		t.Error("the tool is dead, too: the group is enough")
	}
}

// codexArgs are the arguments of a turn; more stands before the prompt.
func (k trap) codexArgs(sub []string, more ...string) []string {
	args := append([]string{"exec"}, sub...)
	args = append(args, "--json", "-m", "m1", "--skip-git-repo-check", "--disable", "plugins",
		"-c", "model_provider=scripted", "-c", `model_providers.scripted.name="S"`, "-c", `model_providers.scripted.base_url="`+k.base+`/v1"`,
		"-c", `model_providers.scripted.env_key="SCRIPTED_KEY"`, "-c", `model_providers.scripted.wire_api="responses"`, "-c", "analytics.enabled=false",
		"-c", `sandbox_mode="workspace-write"`)
	return append(args, more...)
}

func TestRealCodexCountsTheWholeThreadTrap(t *testing.T) {
	k := setTrap(t, "codex", hello)
	out, _ := k.run(t, k.codexArgs(nil, "Go on.")...)
	thread, _ := line(out, "thread.started")["thread_id"].(string)
	used := func(out string) float64 {
		u, _ := line(out, "turn.completed")["usage"].(map[string]any)
		n, _ := u["input_tokens"].(float64)
		return n
	}
	first := used(out)
	out, _ = k.run(t, k.codexArgs([]string{"resume", thread}, "Go on.")...)
	if second := used(out); first != 1000 || second != 2000 {
		t.Errorf("the first turn says %v tokens, the second %v: if that is its own, nothing has to be subtracted", first, second)
	}
}

func TestRealCodexCannotCommitInAWorktreeTrap(t *testing.T) {
	k := setTrap(t, "codex", modeltest.Rule{Steps: steps{do(modeltest.Bash("echo x > x; git add x; git -c user.name=a -c user.email=a@b commit -m x")), {Text: "Done."}}})
	s := &suite{root: t.TempDir()}
	s.repository(t)
	k.dir = filepath.Join(t.TempDir(), "worktree")
	s.git(t, filepath.Join(s.root, "repository"), "worktree", "add", "-q", "-b", "x", k.dir)
	k.run(t, k.codexArgs(nil, "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true", "Go on.")...)
	if out := s.git(t, k.dir, "log", "--oneline"); strings.Count(out, "\n") != 1 {
		t.Errorf("it can commit: the prompt need not say otherwise\n%s", out)
	}
}
