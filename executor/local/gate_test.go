package local_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/ir"
)

// traced is a workspace whose gates leave something behind.
type traced struct {
	*executortest.Workspace
	trace executor.Trace
	mu    sync.Mutex // guards open and most
	open  int
}

func (w *traced) Open(ctx context.Context, e executor.Effect) (string, error) {
	w.mu.Lock()
	w.open++
	w.mu.Unlock()
	return w.Workspace.Open(ctx, e)
}

func (w *traced) Close(context.Context, executor.Effect) (executor.Trace, error) {
	w.mu.Lock()
	w.open--
	w.mu.Unlock()
	return w.trace, nil
}

// withGate makes "check" a gate of another kind.
func withGate(g ir.Gate) func(*ir.Epic) {
	return func(e *ir.Epic) { e.Gates["check"] = g }
}

func TestWhatAGateDidToTheTree(t *testing.T) { // execution §3
	for name, c := range map[string]struct {
		gate    ir.Gate
		trace   executor.Trace
		verdict executor.Verdict
		removed string
	}{
		"new files of an agent's gate are removed and listed, the verdict stands": {
			ir.Gate{Kind: "agent", Agent: "dev", Access: "read", OnFailure: "retry"},
			executor.Trace{New: []string{"notes.txt", "out/x"}},
			executor.Pass, "notes.txt out/x",
		},
		"an agent's gate that changed tracked files is an error": {
			ir.Gate{Kind: "agent", Agent: "dev", Access: "read", OnFailure: "retry"},
			executor.Trace{Changed: []string{"a.go"}},
			executor.ErrorJudged, "",
		},
		"one that moved HEAD too": {
			ir.Gate{Kind: "agent", Agent: "dev", Access: "read", OnFailure: "retry"},
			executor.Trace{Changed: []string{"HEAD"}},
			executor.ErrorJudged, "",
		},
		"what a command changed is undone, and its verdict stands": {
			ir.Gate{Kind: "command", Run: "true", OnFailure: "retry"},
			executor.Trace{New: []string{"cover.out"}, Changed: []string{"go.sum"}},
			executor.Pass, "cover.out",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, executortest.Epic([]string{"1.1"}, withGate(c.gate)))
			ws := &traced{Workspace: b.ws, trace: c.trace}
			if _, err := b.apply(func(cfg *local.Config, _ *executor.RunStarted) {
				cfg.Workspace = ws
				cfg.Gates = map[string]executor.Gate{"agent": b.gate, "command": b.gate}
			}); err != nil {
				t.Fatal(err)
			}
			if ws.open != 0 {
				t.Errorf("%d directories stayed open", ws.open)
			}
			for _, e := range b.journal.Kept {
				j, ok := e.Body.(executor.GateJudged)
				if !ok {
					continue
				}
				if j.Verdict != c.verdict || strings.Join(j.Removed, " ") != c.removed {
					t.Errorf("verdict %s, removed %v; want %s, %s", j.Verdict, j.Removed, c.verdict, c.removed)
				}
				if j.Verdict == executor.ErrorJudged && !strings.Contains(j.Message, c.trace.Changed[0]) {
					t.Errorf("the message does not name what changed: %q", j.Message)
				}
				return
			}
			t.Error("no gate was judged")
		})
	}
}

func TestAGateIsToldEverythingThatItMayAskFor(t *testing.T) { // S0-50, S0-51, L2-04, execution §3
	epic := executortest.Epic([]string{"1.1"}, withGate(ir.Gate{Kind: "review", Agent: "critic", Model: "fast", Access: "read", OnFailure: "retry"}), func(e *ir.Epic) {
		e.Agents["critic"] = ir.Agent{Runner: "sh", Access: "read", Path: "critic.md"}
		e.Models = map[string]ir.Model{"fast": {ID: "vendor/fast-1"}}
	})
	b := newBench(t, epic)
	judged := 0
	b.gate.Do = func(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
		judged++
		if r.Agent != "critic" || r.Text != "Be strict." || r.Model != "vendor/fast-1" || r.Runner.Kind != "command" {
			t.Errorf("agent %q, text %q, model %q, runner %+v", r.Agent, r.Text, r.Model, r.Runner)
		}
		if r.Digest != ir.GateDigest(epic, "check") || r.Digest == "" || r.Step == nil || r.Outcome.Result != "success" {
			t.Errorf("digest %q, step %v, outcome %+v", r.Digest, r.Step, r.Outcome)
		}
		list, err := os.ReadDir(r.Dir)
		if err != nil || len(list) != 0 {
			t.Errorf("a review's directory holds %v, %v", list, err)
		}
		if strings.HasPrefix(r.Dir, b.state) {
			t.Errorf("a review's directory %s has neighbours that say something", r.Dir)
		}
		var diff bytes.Buffer
		if err := r.Diff(ctx, &diff); err != nil || diff.String() != "diff "+r.Effect.Base+" "+r.Effect.Commit+"\n" {
			t.Errorf("diff %q, %v", diff.String(), err)
		}
		t.Cleanup(func() {
			if _, err := os.Stat(r.Dir); !os.IsNotExist(err) {
				t.Errorf("a review's directory stayed: %v", err)
			}
		})
		return executortest.Verdict(r.Name, executor.Pass), nil
	}
	if _, err := b.apply(func(cfg *local.Config, _ *executor.RunStarted) {
		cfg.Agents = map[string]string{"critic": "Be strict."}
		cfg.Gates = map[string]executor.Gate{"review": b.gate}
	}); err != nil {
		t.Fatal(err)
	}
	if judged == 0 {
		t.Error("no gate was asked")
	}
}

func TestAnAgentIsToldItsNameItsModelAndItsTask(t *testing.T) { // S1-62
	b := newBench(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Models = map[string]ir.Model{"fast": {ID: "vendor/fast-1"}}
		e.Nodes[0].Steps[0].Model = "fast"
		sh := e.Runners["sh"]
		sh.Run = append(sh.Run, "${run.model}") // else it would use none
		e.Runners["sh"] = sh
	}))
	elsewhere := t.TempDir()
	files := effects.Files(b.state, b.epic.Nodes[0].ID, "implement", 1)
	if err := errors.Join(os.MkdirAll(filepath.Dir(files), 0o700), os.Symlink(elsewhere, files)); err != nil {
		t.Fatal(err)
	}
	b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
		if st, err := os.Lstat(r.Files); !errors.Is(err, fs.ErrNotExist) { // the link below is gone, and who writes makes the directory
			t.Errorf("its files' directory is %v, %v", st, err)
		}
		if !strings.Contains(string(r.Prompt), "Do 1.1.") {
			t.Errorf("prompt %q", r.Prompt)
		}
		if r.Agent != "dev" || r.Model != "vendor/fast-1" || r.Name != "agent-1" || r.Read {
			t.Errorf("agent %q, model %q, name %q, read %v", r.Agent, r.Model, r.Name, r.Read)
		}
		return executortest.Success(), nil
	}
	if _, err := b.apply(); err != nil {
		t.Fatal(err)
	}
	for _, e := range b.journal.Kept {
		if a, ok := e.Body.(executor.AgentEnded); ok && (a.Agent != "dev" || a.Model != "vendor/fast-1") {
			t.Errorf("on record: agent %q, model %q", a.Agent, a.Model)
		}
	}
}
