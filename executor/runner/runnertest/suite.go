package runnertest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/internal/temptest"
	"github.com/ralph-compiler/ralph/ir"
)

// suite is what the cases of one agent share.
type suite struct {
	agent   Agent
	inner   executor.Runner
	runner  executor.Runner // inner, with the outcome channel
	config  ir.Runner
	refused ir.Runner // the same with a model that is not there
	model   *modeltest.Server
	base    string
	root    string // of this suite
	home    string
	state   string      // as of a run: attempts' files lie below
	people  string      // a file that the user's own MCP server makes
	slug    string      // of the program's own agent
	mu      *sync.Mutex // guards git in the repository, and the rest
	stages  *int
}

// nativeMark is in the text of the program's own agent.
const nativeMark = "NATIVE-AGENT-MARK"

// Run plays all cases with an agent.
func Run(t *testing.T, a Agent) {
	binary := ""
	if a.Binary != "" {
		if testing.Short() {
			t.Skip("NOT TESTED with -short: real programs")
		}
		binary = Binary(t, a.Binary)
	}
	a = a.complete()
	all := cases(a)
	s := begin(t, a, binary, all)
	play := func(t *testing.T, last bool) {
		for _, c := range all {
			if c.last != last {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				temptest.Share(t, max(a.Parts, 1))
				if why := reason(a.Kind, s.inner, c.Needs); why != "" {
					t.Skipf("not supported: %s", why)
				}
				if !last {
					t.Parallel()
				}
				c.play(t, s.stage(t, c))
			})
		}
	}
	t.Run("cases", func(t *testing.T) { play(t, false) })
	if c, ok := s.inner.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Errorf("close the runner: %v", err)
		}
	}
	t.Run("in the end", func(t *testing.T) { play(t, true) })
}

// begin prepares what the cases share.
func begin(t *testing.T, a Agent, binary string, all []Case) *suite {
	t.Helper()
	root := filepath.Join(os.Getenv(rootVar), strings.ReplaceAll(a.Kind, " ", "-"))
	if os.Getenv(rootVar) == "" {
		t.Fatal("the package needs func TestMain(m *testing.M) { runnertest.Main(m, agent) }")
	}
	s := &suite{
		agent: a, root: root, home: filepath.Join(root, "home"), state: filepath.Join(root, "state"), people: filepath.Join(root, "people-was-started"),
		model: modeltest.Start(t), mu: &sync.Mutex{}, stages: new(int),
	}
	for _, d := range []string{s.home, s.state} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if a.Home != nil {
		if err := a.Home(s.home, []string{"/bin/sh", "-c", "echo started > " + s.people + "; cat > /dev/null"}); err != nil {
			t.Fatal(err)
		}
	}
	if a.Native != nil {
		var err error
		if s.slug, err = a.Native(s.home, nativeMark); err != nil {
			t.Fatal(err)
		}
	}
	s.repository(t)
	var sc modeltest.Scenario
	for _, c := range all {
		sc.Rules = append(sc.Rules, c.rules()...)
	}
	s.base = s.model.Load(t, sc)
	s.config = s.configure(a.Config(binary, s.base))
	s.refused = s.configure(a.Config(binary, "http://127.0.0.1:1"))
	s.inner = a.New(Base())
	tools := &mcp.Server{}
	s.runner = mcp.Serve(tools, s.inner)
	t.Cleanup(func() { _ = tools.Close() })
	return s
}

// configure adds what the suite needs to a runner's block.
func (s *suite) configure(r ir.Runner) ir.Runner {
	set := map[string]string{}
	for k, v := range r.Set {
		set[k] = v
	}
	set["HOME"], set["RUNNERTEST_SET"] = s.home, "set by the runner"
	r.Set = set
	r.Env = append(append([]string{}, r.Env...), letVar)
	return r
}

// Base is the suite's Base for runners: secrets are removed, and waits are short.
func Base() runner.Base {
	redact := func(text string) string { return strings.ReplaceAll(text, hidden, "[redacted]") }
	return runner.Base{
		Grace: 3 * time.Second, Redact: redact,
		Filter: func(w io.Writer) io.WriteCloser { return &filter{to: w, redact: redact} },
	}
}

// filter takes secrets out of lines.
type filter struct {
	to     io.Writer
	redact func(string) string
	line   []byte
}

func (f *filter) Write(b []byte) (int, error) {
	f.line = append(f.line, b...)
	at := strings.LastIndexByte(string(f.line), '\n') + 1
	if _, err := io.WriteString(f.to, f.redact(string(f.line[:at]))); err != nil {
		return 0, err
	}
	f.line = f.line[at:]
	return len(b), nil
}

func (f *filter) Close() error {
	_, err := io.WriteString(f.to, f.redact(string(f.line)))
	f.line = nil
	return err
}

// repository makes the repository of which the cases' directories are worktrees.
func (s *suite) repository(t testing.TB) {
	t.Helper()
	dir := filepath.Join(s.root, "repository")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("A project.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.git(t, dir, "init", "-q", "-b", "main")
	s.git(t, dir, "add", ".")
	s.git(t, dir, "commit", "-q", "-m", "first")
}

// worktree makes a worktree.
func (s *suite) worktree(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(s.root, "worktrees", name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.git(t, filepath.Join(s.root, "repository"), "worktree", "add", "-q", "-b", "ralph/"+name, dir)
	return dir
}

// git runs git as nobody in particular.
func (s *suite) git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.root, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// eventually waits for something that needs a moment, at most three minutes.
func eventually(t testing.TB, what string, ok func() (bool, string)) {
	t.Helper()
	k := time.NewTicker(20 * time.Millisecond)
	defer k.Stop()
	late := time.After(3 * time.Minute)
	for {
		good, state := ok()
		if good {
			return
		}
		select {
		case <-k.C:
		case <-late:
			t.Fatalf("waited three minutes until %s:\n%s", what, state)
		}
	}
}

func marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("runnertest: %v", err))
	}
	return b
}
