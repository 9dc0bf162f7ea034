package claude

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// await waits until a file of the worktree says something.
func await(t *testing.T, ctx context.Context, path string) string {
	t.Helper()
	for {
		if b, err := os.ReadFile(path); err == nil && strings.HasSuffix(string(b), "\n") {
			return strings.TrimSpace(string(b))
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s did not come", path)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// sleeper is a turn whose tool runs for ever, and says its process.
func sleeper(t *testing.T, w world) (executor.AgentRun, string) {
	t.Helper()
	return w.run(t, modeltest.Step{Do: []modeltest.Action{modeltest.Bash("sh -c 'echo $$ > pid; exec sleep 1000'")}, Usage: modeltest.Usage{Input: 500, Output: 50}}, modeltest.Step{Text: success})
}

func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d of the tool survives: %v", n, err)
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}

// S3-31, execution §8, S2-43: cancelled in the middle of a tool, nothing survives,
// and the session goes on.
func TestRealCancelLeavesNothing(t *testing.T) {
	w := newWorld(t)
	r, base := sleeper(t, w)
	var f facts
	r.Record = f.record
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type end struct {
		got executor.AgentEnded
		err error
	}
	ended := make(chan end, 1)
	go func() { got, err := quick.Run(ctx, r); ended <- end{got, err} }()
	pid := await(t, t.Context(), filepath.Join(r.Dir, "pid"))
	cancel()
	e := <-ended
	if !errors.Is(e.err, context.Canceled) {
		t.Errorf("got %v", e.err)
	}
	gone(t, pid)
	if e.got.Usage.Tokens == nil || *e.got.Usage.Tokens != 550 {
		t.Errorf("it took %v tokens, want 550", e.got.Usage.Tokens)
	}
	again := w.ask(t, base)
	again.Effect.Session, again.Prompt = f.sessions()[0].Session, []byte("go on")
	base2 := w.model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{{Steps: []modeltest.Step{{Text: success}}}}})
	again.Runner.Set["ANTHROPIC_BASE_URL"] = base2
	if got, err := quick.Run(t.Context(), again); err != nil || got.Outcome.Result != "success" || got.Session != again.Effect.Session {
		t.Errorf("gone on with: %+v, %v", got, err)
	}
	if h := w.model.Turns(base2)[0].Humans; len(h) < 2 || h[0] != "the prompt" {
		t.Errorf("the model was told %q", h)
	}
}

// S4-65: a model that says nothing stalls the turn, and what it took is known.
func TestRealSilenceStalls(t *testing.T) {
	w := newWorld(t)
	r, _ := w.run(t, modeltest.Step{Text: success, Fault: &modeltest.Fault{Kind: modeltest.HangSilent}})
	r.Step.Stall = ir.Stall{AfterMS: 4000, Action: "fail"}
	if got, err := quick.Run(t.Context(), r); err != nil || got.End != executor.EndStalled {
		t.Errorf("got %+v, %v", got, err)
	}
}

// S4-64, S4-68, S4-69, S4-106; execution §6.
func TestRealPersonTakesOver(t *testing.T) {
	w := newWorld(t)
	for _, how := range []string{"pause", "review"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r, _ := sleeper(t, w)
			r.Human.OnHumanMessage = how
			var f facts
			r.Record = f.record
			spoken := make(chan error, 1)
			go func() {
				pid := filepath.Join(r.Dir, "pid")
				await(t, t.Context(), pid)
				spoken <- speak(w.home, f.sessions()[0].Session, "please use bcrypt")
			}()
			got, err := quick.Run(t.Context(), r)
			if err := <-spoken; err != nil {
				t.Fatal(err)
			}
			if err != nil || got.End != executor.EndTakenOver {
				t.Errorf("got %+v, %v", got, err)
			}
			gone(t, strings.TrimSpace(slurp(t, r.Dir, "pid")))
			if p := f.people(); len(p) != 1 || p[0].Text != "please use bcrypt" || p[0].Session != got.Session || time.Since(p[0].Said) > time.Minute {
				t.Errorf("on record: %+v", p)
			}
			// The session goes on at the last line of its transcript. That is the person's,
			// unless the program had a line on its way when they spoke: then only the next
			// prompt tells of them (see doc.go), and there is nothing to see here.
			if last, err := lastEntry(w.home, got.Session); err != nil || !strings.Contains(last, `"promptSource":"typed"`) && !strings.Contains(last, `"msg_1"`) {
				t.Logf("the program wrote behind the person: %.200s, %v", last, err)
				return
			}
			base := w.model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{{Steps: []modeltest.Step{{Text: success}}}}})
			next := w.ask(t, base)
			next.Effect.Session, next.Prompt = got.Session, []byte("finish and report")
			if _, err := quick.Run(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			if h := strings.Join(w.model.Turns(base)[0].Humans, "|"); !strings.Contains(h, "please use bcrypt") {
				t.Errorf("the model was told %q", h)
			}
		})
	}
}

// lastEntry is the last line of a session's transcript that others follow on.
func lastEntry(home, session string) (last string, err error) {
	all, err := filepath.Glob(filepath.Join(home, ".claude", "projects", "*", session+".jsonl"))
	if err != nil || len(all) != 1 {
		return "", errors.New("there is no transcript")
	}
	b, err := os.ReadFile(all[0])
	for row := range strings.Lines(string(b)) {
		if strings.Contains(row, `"parentUuid"`) {
			last = row
		}
	}
	return last, err
}

// speak adds to a transcript what a person types who has joined the session, as
// Claude Code writes it.
func speak(home, session, text string) error {
	all, err := filepath.Glob(filepath.Join(home, ".claude", "projects", "*", session+".jsonl"))
	if err != nil || len(all) != 1 {
		return errors.New("there is no transcript")
	}
	b, err := os.ReadFile(all[0])
	if err != nil {
		return err
	}
	leaf := ""
	for row := range strings.Lines(string(b)) {
		if _, rest, ok := strings.Cut(row, `"uuid":"`); ok && strings.Contains(row, `"parentUuid"`) {
			leaf = rest[:36]
		}
	}
	now := time.Now().UTC()
	row := func(parent, id string, at time.Time, rest string) string {
		return `{"parentUuid":"` + parent + `","isSidechain":false,"uuid":"` + id + `","timestamp":"` + at.Format("2006-01-02T15:04:05.000Z") + `","userType":"external","cwd":"/","sessionId":"` + session + `","version":"2.1.328",` + rest + "}\n"
	}
	said, err := json.Marshal(text)
	if err != nil {
		return err
	}
	one, two := newID(), newID()
	f, err := os.OpenFile(all[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(row(leaf, one, now, `"type":"user","message":{"role":"user","content":`+string(said)+`},"permissionMode":"auto","origin":{"kind":"human"},"promptSource":"typed","turnOrigin":"human","entrypoint":"cli"`) +
		row(one, two, now.Add(time.Millisecond), `"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"text","text":"I will."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"entrypoint":"cli"`))
	return err
}

// Permissions: what is refused ends no turn, and nobody is asked.
func TestRealPermissions(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(t.TempDir(), "x.txt")
	r, _ := w.run(t,
		modeltest.Step{Do: []modeltest.Action{modeltest.Write(outside, "x")}},
		modeltest.Step{Do: []modeltest.Action{modeltest.Write(".claude/settings.json", "{}")}},
		modeltest.Step{Do: []modeltest.Action{modeltest.Call("EnterWorktree", map[string]string{"name": "z"})}},
		modeltest.Step{Do: []modeltest.Action{modeltest.Ask("which?")}},
		modeltest.Step{Do: []modeltest.Action{modeltest.Bash("echo x > made.txt")}},
		modeltest.Step{Text: success})
	r.Files = t.TempDir()
	got, err := quick.Run(t.Context(), r)
	if err != nil || got.Outcome.Result != "success" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("it wrote outside the worktree with its editing tool")
	}
	if slurp(t, r.Dir, "made.txt") != "x\n" {
		t.Error("the shell does not work")
	}
	if out := slurp(t, r.Files, r.Turn()+runner.OutExt); !strings.Contains(out, "[refused: Write]") {
		t.Errorf("what was refused is not shown:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, ".claude")); err == nil {
		t.Error("there is a .claude in the worktree")
	}
}

// The tokens of subagents count, and a subagent ends before its turn does.
func TestRealSubagents(t *testing.T) {
	w := newWorld(t)
	base := w.model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
		{Match: "CHILD", Steps: []modeltest.Step{{Text: "child done", Usage: modeltest.Usage{Input: 40, Output: 4}}}},
		{Steps: []modeltest.Step{
			{Do: []modeltest.Action{modeltest.Call("Agent", map[string]string{"description": "sub", "prompt": "CHILD do it", "subagent_type": "general-purpose"})}, Usage: modeltest.Usage{Input: 100, Output: 10}},
			{Text: success, Usage: modeltest.Usage{Input: 200, Output: 20}},
		}},
	}})
	got, err := quick.Run(t.Context(), w.ask(t, base))
	if err != nil || got.Outcome.Result != "success" || got.Usage.Tokens == nil || *got.Usage.Tokens != 374 {
		t.Errorf("got %+v, %v, want 374 tokens", got, err)
	}
}

// What Describe says is tried is what runs here.
func TestRealVersion(t *testing.T) {
	w := newWorld(t)
	got, err := quick.Version(t.Context(), w.ask(t, "http://127.0.0.1:1"))
	if err != nil || !strings.HasPrefix(got, "2.1.") {
		t.Errorf("got %q, %v", got, err)
	}
}
