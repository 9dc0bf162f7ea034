package runnertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
)

// processes: nothing survives, and what was cut goes on.
func processes() []Case {
	return []Case{
		{
			Name:  "a turn that is cancelled leaves no process",
			turns: [][]modeltest.Step{endless()},
			play: func(t *testing.T, s *stage) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				turn := s.start(ctx, turn{})
				pids := s.running(t, turn)
				cancel()
				if p := turn.wait(); !errors.Is(p.err, context.Canceled) {
					t.Errorf("got end %q, error %v", p.ended.End, p.err)
				}
				s.gone(t, pids)
				s.holds(t, "running")
			},
		},
		{
			Name:  "a turn has its time, and leaves no process",
			turns: [][]modeltest.Step{endless()},
			play: func(t *testing.T, s *stage) {
				p := s.run(t.Context(), turn{time: s.patient()})
				if p.err != nil || p.ended.End != executor.EndTimeout {
					t.Fatalf("got end %q, error %v\n%s", p.ended.End, p.err, p.evidence())
				}
				if !s.has("running") {
					t.Fatalf("its tool did not run in time\n%s", p.evidence())
				}
				s.gone(t, s.running(t, nil))
			},
		},
		{
			Name: "a tool that hides in the background is gone with its turn",
			turns: [][]modeltest.Step{well(do(modeltest.Bash(`(setsid env -i /bin/sh -c 'trap "" HUP INT TERM; echo $$ > hides; while :; do /bin/sleep 1; done' </dev/null >/dev/null 2>&1 &); ` +
				`while ! test -s hides; do sleep 0.1; done`)))},
			play: func(t *testing.T, s *stage) {
				s.success(t, turn{})
				s.gone(t, nil)
			},
		},
		{
			Name:  "a program that is killed is a crash, and is started again",
			turns: [][]modeltest.Step{endless(), well()},
			play: func(t *testing.T, s *stage) {
				own := *s.suite
				own.inner = s.agent.New(Base())
				tools := &mcp.Server{}
				defer tools.Close()
				own.runner = mcp.Serve(tools, own.inner)
				s.suite = &own
				config := s.configure(s.config)
				config.Set["RUNNERTEST_CRASH"] = s.dir // whole: suites of other kinds run beside this one
				first := s.start(t.Context(), turn{config: &config})
				pids := s.running(t, first)
				for _, pid := range programs("RUNNERTEST_CRASH="+config.Set["RUNNERTEST_CRASH"], pids) {
					_ = syscall.Kill(pid, syscall.SIGKILL) // gone is what we want
				}
				p := first.wait()
				if !isClass(p.err, executor.FailCrash) {
					t.Errorf("got end %q, error %v\n%s", p.ended.End, p.err, p.evidence())
				}
				s.gone(t, pids)
				s.success(t, turn{of: 2, config: &config})
				if c, ok := own.inner.(io.Closer); ok {
					if err := c.Close(); err != nil {
						t.Error(err)
					}
				}
			},
		},
		{
			Name:  "what a killed ralph left is swept",
			turns: [][]modeltest.Step{endless()},
			play:  func(t *testing.T, s *stage) { s.killRalph(t) },
		},
		{
			Name: "a session continues after ralph was killed", Needs: needs(executor.CanResume),
			turns: [][]modeltest.Step{append(steps{{Text: "The word is bcrypt.", Do: []modeltest.Action{modeltest.Bash("echo > before")}}}, endless()...), well(do(modeltest.Bash("echo > after")))},
			play: func(t *testing.T, s *stage) {
				left := s.killRalph(t)
				if left.Session == "" {
					t.Fatalf("no session was on record")
				}
				p := s.success(t, turn{of: 2, session: left.Session})
				if a := p.session(); a.Session != left.Session || a.Fresh {
					t.Errorf("it went on in %+v, want %q", a, left.Session)
				}
				if r := s.last(t, 2); !strings.Contains(strings.Join(r.Said, "\n"), "The word is bcrypt.") {
					t.Errorf("the model does not see what was before: it said %q", r.Said)
				}
				s.holds(t, "after", "before", "running")
			},
		},
		{
			Name:  "two nodes work at once in two worktrees",
			turns: [][]modeltest.Step{well(do(modeltest.Bash("pwd -P > where; echo > here; while ! test -e there; do sleep 0.1; done")))},
			play: func(t *testing.T, s *stage) {
				other := s.stage(t, s.c)
				theirs, mine := s.start(t.Context(), turn{other: other}), s.start(t.Context(), turn{})
				eventually(t, "both tools run", func() (bool, string) {
					theirs.still(t)
					mine.still(t)
					return s.has("here") && other.has("here"), ""
				})
				for _, at := range []*stage{s, other} {
					at.put(t, "there", "")
				}
				for _, p := range []played{mine.wait(), theirs.wait()} {
					if p.err != nil || p.ended.Outcome.Result != "success" {
						t.Errorf("%s: got %+v, error %v\n%s", p.run.Node.Key, p.ended.Outcome, p.err, p.evidence())
					}
				}
				for _, at := range []*stage{s, other} {
					if got := strings.TrimSpace(at.file(t, "where")); got != at.dir {
						t.Errorf("an agent of %s worked in %s", at.dir, got)
					}
					at.holds(t, "here", "there", "where")
				}
			},
		},
	}
}

// has reports whether a file is there, in the worktree if its path is relative.
func (s *stage) has(file string) bool {
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.dir, file)
	}
	_, err := os.Stat(file)
	return err == nil
}

func isClass(err error, class executor.FailureClass) bool {
	var f *executor.Failure
	return errors.As(err, &f) && f.Class == class
}

// ralphRun is what a ralph that will be killed runs, and where it puts what it records.
type ralphRun struct {
	Kind    string
	Records string // file
	Run     struct {
		Node   *ir.Node
		Step   *ir.Step
		Effect executor.Effect
		Runner ir.Runner
		Alias  ir.Model
		Model  string
		Dir    string
		Files  string
		Keep   string
		Prompt []byte
		Agent  string
	}
}

// beRalph is another process that runs one turn, until it is killed.
func beRalph(agents []Agent) int {
	b, err := os.ReadFile(os.Getenv(runVar))
	if err != nil {
		return 1
	}
	var k ralphRun
	if err := json.Unmarshal(b, &k); err != nil {
		return 1
	}
	records, err := os.OpenFile(k.Records, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 1
	}
	for _, a := range agents {
		if a.Kind != k.Kind {
			continue
		}
		r := executor.AgentRun{
			Node: k.Run.Node, Step: k.Run.Step, Effect: k.Run.Effect, Runner: k.Run.Runner, Alias: k.Run.Alias, Model: k.Run.Model,
			Dir: k.Run.Dir, Files: k.Run.Files, Keep: k.Run.Keep, Prompt: k.Run.Prompt, Agent: k.Run.Agent, Epic: "bd-epic",
			Record: func(_ context.Context, b executor.Body) error {
				if a, ok := b.(executor.AgentSession); ok {
					_, err := records.Write(append(marshal(a), '\n'))
					return err
				}
				return nil
			},
		}
		tools := &mcp.Server{}
		_, _ = mcp.Serve(tools, a.New(Base())).Run(context.Background(), r) // it is killed before
	}
	return 1
}

// killRalph starts a ralph that runs the first turn, kills it while its agent's tool
// runs, sweeps as the next apply does, and returns the session that was on record.
func (s *stage) killRalph(t *testing.T) executor.AgentSession {
	t.Helper()
	r := s.ask(turn{})
	k := ralphRun{Kind: s.agent.Kind, Records: filepath.Join(s.state, "records")}
	k.Run.Node, k.Run.Step, k.Run.Effect, k.Run.Runner, k.Run.Alias, k.Run.Model = r.Node, r.Step, r.Effect, r.Runner, r.Alias, r.Model
	k.Run.Dir, k.Run.Files, k.Run.Keep, k.Run.Prompt, k.Run.Agent = r.Dir, r.Files, filepath.Join(s.state, "runners"), r.Prompt, r.Agent
	file := filepath.Join(s.state, "run.json")
	if err := os.WriteFile(file, marshal(k), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(s.state, "tmp") // what a killed ralph leaves there is no error
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	ralph := exec.Command(exe)
	ralph.Env = append(os.Environ(), roleVar+"=ralph", runVar+"="+file, "TMPDIR="+temp)
	var said bytes.Buffer
	ralph.Stdout, ralph.Stderr = &said, &said
	if err := ralph.Start(); err != nil {
		t.Fatal(err)
	}
	ralphs := &playing{over: make(chan struct{})}
	go func() {
		ralphs.ended.err = ralph.Wait()
		close(ralphs.over)
	}()
	pids := s.running(t, ralphs)
	if err := ralph.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ralphs.wait()
	process.Sweep(s.state+string(filepath.Separator), runner.Mark)
	s.gone(t, pids)
	if left := living(runner.Mark+"="+r.OutcomeFile(), ""); len(left) > 0 {
		t.Errorf("what is marked lives:\n%s", strings.Join(left, "\n"))
	}
	if t.Failed() {
		t.Fatalf("ralph said: %s", said.Bytes())
	}
	var out executor.AgentSession
	b, err := os.ReadFile(k.Records)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if err := json.Unmarshal([]byte(line), &out); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
