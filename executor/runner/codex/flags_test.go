package codex

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// S4-73, S4-78
func TestWhatCodexIsTold(t *testing.T) {
	t.Parallel()
	p := play(t, captured(t, "turn.jsonl"), "", "")
	p.put("servers", `[{"name":"mine","enabled":true,"new":1},{"name":"off","enabled":false},{"name":"we.ird \"name"}]`)
	p.run.Text = "You are careful.\n"
	p.run.Tools = &executor.Tools{Name: "ralph_1", URL: "http://127.0.0.1:1/ralph_1", Token: "the-token"}
	if p.it(); p.err != nil {
		t.Fatal(p.err)
	}
	if got, want := p.file("stdin"), "You are careful.\n\nDo it.\n"; got != want {
		t.Errorf("the prompt is %q, want %q", got, want)
	}
	argv := strings.Split(strings.TrimSuffix(p.file("argv"), "\n"), "\n")
	want := []string{
		"exec", "--json", "--skip-git-repo-check", "-s", "workspace-write", "-C", p.run.Dir, "--add-dir", p.run.Files, "-m", "m1",
		"-c", `approval_policy="never"`, "-c", "analytics.enabled=false", "-c", "features.plugins=false", "-c", "features.apps=false",
		"-c", "features.unbounded_connection_retries=false", "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", untrusted(p.run.Dir), "-c", "project_doc_max_bytes=0",
		"-c", `shell_environment_policy.exclude=["RALPH_MCP_TOKEN"]`,
		"-c", `mcp_servers={"mine"={enabled=false},"we.ird \"name"={enabled=false},"ralph_1"={url="http://127.0.0.1:1/ralph_1",bearer_token_env_var="RALPH_MCP_TOKEN",required=true,default_tools_approval_mode="approve"}}`,
		"-",
	}
	if !slices.Equal(argv, want) {
		t.Errorf("got %q\nwant %q", argv, want)
	}
	if strings.Contains(strings.Join(argv, " "), "the-token") {
		t.Error("the token is among the arguments")
	}
	env := p.file("env")
	if !strings.Contains(env, "RALPH_MCP_TOKEN=the-token\n") || !strings.Contains(env, "RALPH_OUTCOME="+p.run.OutcomeFile()+"\n") {
		t.Errorf("the environment is %s", env)
	}
	if p.file("tmp") != "there\n" || !strings.Contains(env, "TMPDIR="+tempDir(p.run)+"\n") {
		t.Errorf("there was no directory of temporary files")
	}
	if _, err := os.Stat(tempDir(p.run)); !os.IsNotExist(err) {
		t.Errorf("the directory of temporary files is left: %v", err)
	}
}

// A judge runs what is judged: that cannot write what the judge reports, and tells it nothing.
func TestAJudgeIsToldNothingByTheWorktree(t *testing.T) {
	t.Parallel()
	step, judge := play(t, captured(t, "turn.jsonl"), "", ""), play(t, captured(t, "turn.jsonl"), "", "")
	judge.run.Effect.Gate = "qa"
	for _, p := range []*played{step, judge} {
		p.put("work/AGENTS.md", "Use tabs.\n")
		if p.it(); p.err != nil {
			t.Fatal(p.err)
		}
	}
	if got := step.file("stdin"); !strings.HasPrefix(got, "Do it.\n") || !strings.Contains(got, "AGENTS.md") {
		t.Errorf("the agent of a step is told %q", got)
	}
	if got := judge.file("stdin"); got != "Do it.\n" {
		t.Errorf("a judge is told %q", got)
	}
	if argv := step.file("argv"); !strings.Contains(argv, "--add-dir\n"+step.run.Files+"\n") || strings.Contains(argv, "skills.") {
		t.Errorf("the agent of a step has %s", argv)
	}
	if argv := judge.file("argv"); strings.Contains(argv, "--add-dir") || !strings.Contains(argv, "skills.include_instructions=false") {
		t.Errorf("a judge has %s", argv)
	}
}

func TestALongPromptIsCutAndSaysWhereTheRestIs(t *testing.T) {
	t.Parallel()
	p := play(t, captured(t, "turn.jsonl"), "", "")
	p.run.Prompt = append(bytes.Repeat([]byte("ü"), 600_000), "THE END"...)
	if p.it(); p.err != nil {
		t.Fatal(p.err)
	}
	got := p.file("stdin")
	if len(got) > maxPrompt || !strings.Contains(got, runner.File(p.run, runner.PromptExt)) || strings.Contains(got, "THE END") || strings.Contains(got, "\uFFFD") {
		t.Errorf("%d bytes, which end in %q", len(got), got[len(got)-300:])
	}
	if whole := p.read(runner.PromptExt); whole != string(p.run.Prompt) {
		t.Errorf("the prompt's file has %d bytes, want %d", len(whole), len(p.run.Prompt))
	}
}

// S4-76
func TestASlugIsAProfile(t *testing.T) {
	t.Parallel()
	p := play(t, captured(t, "turn.jsonl"), "", "")
	if err := os.Mkdir(filepath.Join(p.dir, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.put(".codex/dev.config.toml", "# careful\nmodel = \"gpt-x\"\nmodel_provider = 'azure'\n[features]\nmodel = \"no\"\n")
	p.put(".codex/config.toml", "model = \"other\"\n")
	all, err := p.runner.Natives(t.Context(), p.run)
	want := executor.Native{Name: "dev", Model: "gpt-x", Provider: "azure", Path: filepath.Join(p.dir, ".codex", "dev.config.toml"), Write: true}
	if err != nil || !slices.Equal(all, []executor.Native{want}) {
		t.Errorf("got %+v, %v; want %+v", all, err, want)
	}
	p.run.Slug, p.run.Model = "dev", ""
	if p.it(); p.err != nil {
		t.Fatal(p.err)
	}
	if argv := p.file("argv"); !strings.Contains(argv, "-p\ndev\n") || strings.Contains(argv, "-m\n") {
		t.Errorf("it was started as %s", argv)
	}
	for _, slug := range []string{"dve", "../dev", ".."} {
		p.run.Slug = slug
		if err := p.runner.Check(t.Context(), p.run); err == nil || !strings.Contains(err.Error(), "there are dev") {
			t.Errorf("%s: Check says %v", slug, err)
		}
		if p.it(); p.class() != executor.FailConfig {
			t.Errorf("%s: got %q, %v", slug, p.class(), p.err)
		}
	}
}

// In a sandbox Codex finds the profiles that the sandbox shows.
func TestASlugIsAProfileThatTheSandboxShows(t *testing.T) {
	t.Parallel()
	home, own := t.TempDir(), t.TempDir()
	file := filepath.Join(home, ".codex", "dev.config.toml")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home}
	r := executor.AgentRun{Agent: "ann", Slug: "dev", Node: &ir.Node{}, Runner: ir.Runner{Kind: "codex"}, Wall: &wall.Spec{Name: "default", Kind: wall.Namespaces, Home: own}}
	if err := checkProfile(r, env); err == nil || !strings.Contains(err.Error(), `sandbox "default" does not show it: add read = ["`+file+`"]`) {
		t.Errorf("nothing shows it: %v", err)
	}
	r.Wall.Mounts = []wall.Mount{{From: file}}
	if err := checkProfile(r, env); err != nil {
		t.Errorf("read shows it: %v", err)
	}
	r.Wall.Login = &wall.Login{Dir: t.TempDir(), Own: t.TempDir()}
	if err := checkProfile(r, env); err == nil || !strings.Contains(err.Error(), "give it a key") {
		t.Errorf("with ralph's login: %v", err)
	}
	if err := checkProfile(r, append(env, "CODEX_API_KEY=k")); err != nil {
		t.Errorf("with a key in place of it: %v", err)
	}
}

func TestCodexIsAskedForItsVersionAndJoined(t *testing.T) {
	t.Parallel()
	p := play(t, "", "", "")
	if v, err := p.runner.Version(t.Context(), p.run); err != nil || v != "0.169.0" {
		t.Errorf("got %q, %v", v, err)
	}
	if got := p.runner.Join(p.run, "01a1").Argv; !slices.Equal(got, []string{filepath.Join(p.dir, "codex"), "resume", "01a1"}) {
		t.Errorf("got %q", got)
	}
	p.run.Wall = &wall.Spec{Kind: wall.Namespaces}
	if got := p.runner.Join(p.run, "01a1").Argv; !slices.Equal(got, []string{filepath.Join(p.dir, "codex"), "-s", "danger-full-access", "resume", "01a1"}) {
		t.Errorf("in a sandbox: %q", got)
	}
	for _, inside := range []bool{true, false} { // where the user's own profile sets PATH, it is read
		if p.run.Wall = nil; inside {
			p.run.Wall = &wall.Spec{Kind: wall.Landlock}
		}
		if args := flags(p.run, nil); slices.Contains(args, "allow_login_shell=false") != inside {
			t.Errorf("inside %v: %q", inside, args)
		}
	}
	p.put("servers", "no JSON")
	if p.it(); p.class() != executor.FailConfig || !strings.Contains(p.err.Error(), "mcp list") {
		t.Errorf("got %q, %v", p.class(), p.err)
	}
}

// execution §4: limited_when
func TestALimitOfTheUsersIsSeen(t *testing.T) {
	t.Parallel()
	const text = "upstream says: come back after 2026-12-01T10:00:00Z"
	when := &ir.LimitedWhen{Output: `come back after (?P<until>\S+)`}
	p := play(t, captured(t, "status-400.jsonl"), text+"\n", "exit 1")
	p.run.Runner.LimitedWhen = when
	if p.it(); p.class() != executor.FailLimit || !strings.Contains(p.err.Error(), "come back") {
		t.Errorf("got %q, %v", p.class(), p.err)
	}
	p = play(t, captured(t, "turn.jsonl"), text+"\n", "")
	p.run.Runner.LimitedWhen = when
	if p.it(); p.err != nil {
		t.Errorf("a turn that went well is a limit: %v", p.err)
	}
}
