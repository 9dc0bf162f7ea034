package local_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/ir"
)

func TestARedGateIsRunBeforeTheAgent(t *testing.T) { // L3-02
	b := newBench(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { g := e.Gates["check"]; g.RedFirst = true; e.Gates["check"] = g }))
	var order []string
	b.runner.Do = func(context.Context, executor.AgentRun) (executor.AgentEnded, error) {
		order = append(order, "agent")
		return executortest.Success(), nil
	}
	b.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
		order = append(order, string(r.Effect.Kind))
		if r.Effect.Kind == executor.EffectRed {
			return executortest.Verdict(r.Name, executor.Fail), nil
		}
		if len(r.Earlier) > 0 {
			t.Errorf("what was red counts as an earlier verdict: %+v", r.Earlier)
		}
		return executortest.Verdict(r.Name, executor.Pass), nil
	}
	run, err := b.apply()
	if err != nil {
		t.Fatal(err)
	}
	b.want(run, "1.1 done\nintegration done")
	// The sum has no gates of its own here.
	if got := strings.Join(order, " "); got != "red agent gate" {
		t.Errorf("order %s", got)
	}
	for _, e := range b.journal.Kept {
		if j, ok := e.Body.(executor.GateJudged); ok && j.Red != (j.Verdict == executor.Fail) {
			t.Errorf("on record: %+v", j)
		}
	}
}

func TestAnAgentThatStalledIsDiagnosed(t *testing.T) { // execution §4, §6; S4-67
	for name, c := range map[string]struct{ answer, action, note, reported string }{
		"a report, and words":  {`I would {"action": "retry", "note": "no"}`, "fail", "it waits", `{"action":"fail","note":"it waits"}`},
		"plain JSON":           {`{"action": "fail", "note": "it waits for input"}`, "fail", "it waits for input", ""},
		"a fenced block":       {"I looked.\n```json\n{\"action\": \"fail\", \"note\": \"a loop\"}\n```\n", "fail", "a loop", ""},
		"words before it":      {"Well: {\"action\": \"human\", \"note\": \"ask ann\"}", "human", "ask ann", ""},
		"an unknown action":    {`{"action": "reboot", "note": "x"}`, "human", "reboot", ""},
		"no answer":            {"", "human", "not a JSON object", ""},
		"garbage":              {"{{{{", "human", "not a JSON object", ""},
		"an action of no kind": {`{"action": ["fail"]}`, "human", "not a JSON object", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
					e.Agents["doctor"] = ir.Agent{Runner: "sh", Access: "read", Model: "m"}
					e.Nodes[0].Steps[0].Stall = ir.Stall{AfterMS: 1000, Action: "diagnose", Agent: "doctor"}
				}))
				b.runner.Do = func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
					if r.Effect.Kind != executor.EffectDiagnose {
						if r.Effect.Attempt > 1 {
							return executortest.Success(), nil
						}
						return executor.AgentEnded{End: executor.EndStalled, Tail: "Continue? [y/n]"}, nil
					}
					if r.Context != nil {
						t.Errorf("who looks at a stalled agent has a task to ask for: %s", r.Context)
					}
					if r.Agent != "doctor" || r.Model != "m" || !r.Raw || !r.Read || r.Step.Limits.TimeoutMS != 60_000 {
						t.Errorf("asked %+v", r)
					}
					p := string(r.Prompt)
					for _, name := range []string{"agent-1.out", "agent-1.stream.jsonl"} { // the session, to be read
						if !strings.Contains(p, filepath.Join(r.Files, name)) {
							t.Errorf("%s is not named:\n%s", name, p)
						}
					}
					if !strings.Contains(p, "Continue? [y/n]") || !strings.Contains(p, `"implement"`) {
						t.Errorf("asked %q", p)
					}
					*r.Answer = []byte(c.answer)
					if c.reported != "" {
						*r.Reported = []byte(c.reported)
					}
					return executor.AgentEnded{End: executor.EndExited}, nil
				}
				if _, err := b.apply(); err != nil {
					t.Fatal(err)
				}
				for _, e := range b.journal.Kept {
					if d, ok := e.Body.(executor.Diagnosed); ok {
						if d.Action != c.action || !strings.Contains(d.Note, c.note) {
							t.Errorf("got %+v, want %s with %q", d, c.action, c.note)
						}
						return
					}
				}
				t.Error("nobody was asked")
			})
		})
	}
}

func TestANodeLandsAndItsPullRequestSaysWhatItIs(t *testing.T) { // execution §5
	var texts []executor.PullText
	b := newBench(t, executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3: 1.1 1.2"}, func(e *ir.Epic) {
		e.Epic.Integration.PR = "node"
		e.Nodes[1].Acceptance = []string{"it works"}
	}))
	ws := &pulls{Workspace: b.ws, texts: &texts}
	if _, err := b.apply(func(c *local.Config, _ *executor.RunStarted) { c.Workspace = ws }); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"1.1: Sprint 1.1": "ralph/x/integration", "1.2: Sprint 1.2": "ralph/x/1-1", "1.3: Sprint 1.3": "ralph/x/integration",
	}
	if len(texts) != len(want) {
		t.Errorf("%d pull requests", len(texts))
	}
	for _, p := range texts {
		if onto, ok := want[p.Title]; !ok || onto != p.Onto {
			t.Errorf("%q asks to be merged into %q", p.Title, p.Onto)
		}
		if !strings.Contains(p.Body, "What the agent reported") || !strings.Contains(p.Body, "- check: pass") || !strings.Contains(p.Body, "\nAgents and gates ran without a sandbox.\n") || strings.Contains(p.Body, "it works") != strings.HasPrefix(p.Title, "1.2") {
			t.Errorf("%s says\n%s", p.Title, p.Body)
		}
	}

	b = newBench(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) { e.Epic.Integration.Mode = "branch" }))
	if _, err := b.apply(func(_ *local.Config, s *executor.RunStarted) { s.Head = "base" }); err != nil {
		t.Fatal(err)
	}
	landed := 0
	for _, e := range b.journal.Kept {
		if _, ok := e.Body.(executor.Landed); ok {
			landed++
		}
	}
	if landed != 2 {
		t.Errorf("%d nodes landed, want 2", landed)
	}
}

// pulls notes what pull requests say.
type pulls struct {
	*executortest.Workspace
	texts *[]executor.PullText
}

func (p *pulls) Pull(ctx context.Context, e executor.Effect, t executor.PullText) (executor.Pulled, error) {
	*p.texts = append(*p.texts, t)
	return p.Workspace.Pull(ctx, e, t)
}

func TestWhatIsLostOfTheJournalIsWrittenDownFirst(t *testing.T) { // execution §1
	b := newBench(t, executortest.Epic([]string{"1.1"}))
	orphan := executor.Orphan{Node: "bd-1-1", Step: "implement", Attempt: 3, Start: "base", Result: executor.Tree{Commit: "c", Tree: "t"}, Seq: 40}
	if _, err := b.apply(func(c *local.Config, _ *executor.RunStarted) { c.Orphans = []executor.Orphan{orphan} }); err != nil {
		t.Fatal(err)
	}
	first := b.journal.Kept[0]
	if lost, ok := first.Body.(executor.TailLost); !ok || first.Seq != 41 || lost.After != 0 || len(lost.Found) != 1 {
		t.Errorf("the first event is %+v", first)
	}
	if second := b.journal.Kept[1]; second.Seq != 42 {
		t.Errorf("the second event is %d", second.Seq)
	}
}

func TestThePullRequestOfThePlanSaysWhatWasDone(t *testing.T) { // S2-66, S0-81, S0-82; execution §5: pr = plan
	for _, mode := range []string{"dag", "branch"} {
		var texts []executor.PullText
		b := newBench(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
			e.Epic.Integration.Mode, e.Epic.Integration.PR, e.Epic.Target = mode, "plan", "main"
			e.Epic.Description = []string{"What it is about."}
			e.Nodes[1].Title = "this | that"
		}))
		run, err := b.apply(func(c *local.Config, s *executor.RunStarted) {
			s.Head, c.Workspace = "base", &pulls{Workspace: b.ws, texts: &texts}
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(texts) != 1 {
			t.Fatalf("%s: %d pull requests, want the plan's", mode, len(texts))
		}
		p := texts[0]
		if p.Title != "An epic" || p.Onto != "main" {
			t.Errorf("%s: %q asks to be merged into %q", mode, p.Title, p.Onto)
		}
		for _, want := range []string{"What it is about.", "| 1.1 | Sprint 1.1 | done | 1 | check: pass |", `| 1.2 | this \| that | done |`, "Spent: tokens unknown, cost unknown.", "Made from plan.md."} {
			if !strings.Contains(p.Body, want) {
				t.Errorf("%s: it lacks %q:\n%s", mode, want, p.Body)
			}
		}
		if v, ok := run.View(executor.Integration); !ok || v.Pull.URL == "" || v.Pull.Number == 0 || v.Status != executor.Done {
			t.Errorf("%s: on record is %+v, %s", mode, v.Pull, v.Status)
		}
	}
}
