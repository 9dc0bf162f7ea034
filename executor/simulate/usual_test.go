package simulate_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// everything is an epic with each kind of node and gate, with little time, and
// people wherever they may come in.
func everything(e *ir.Epic) {
	cent := int64(10_000)
	e.Agents["judge"] = ir.Agent{Runner: "sh", Access: "read", Expect: &ir.Cost{USDMicro: &cent}}
	e.Agents["ann"] = ir.Agent{Human: true}
	e.Gates["qa"] = ir.Gate{Kind: "agent", Agent: "judge", OnFailure: "retry"}
	e.Gates["blind"] = ir.Gate{Kind: "review", Agent: "judge", OnFailure: "stop"}
	e.Gates["said"] = ir.Gate{Kind: "outcome", Promise: "DONE", OnFailure: "retry"}
	e.Gates["red"] = ir.Gate{Kind: "command", Run: "false", RedFirst: true, OnFailure: "retry"}
	e.Gates["boss"] = ir.Gate{Kind: "human", Approvers: []string{"@ada", "@bob"}, TimeoutMS: 60_000, OnTimeout: "stop"}
	e.Run.HITL.Plan, e.Run.HITL.Approvers = "required", []string{"@ada"}
	e.Run.Budget.USDMicro, e.Run.OnExceed = 1_000_000, "stop"
	e.Epic.Integration.Gates = []string{"check", "qa", "boss"}
	for i := range e.Nodes {
		s := &e.Nodes[i].Steps[0]
		s.Limits.TimeoutMS, s.Limits.Attempts = 60_000, 1
		s.Gates = []string{"red", "check", "qa", "blind", "said", "boss"}
	}
	e.Nodes[1].Kind, e.Nodes[1].Steps = ir.Manual, nil
	e.Nodes[2].Kind = ir.GateKind
	e.Nodes[2].Steps[0].Agent, e.Nodes[2].Steps[0].Gates = "", []string{"check", "boss"}
	review := executortest.Step("human_review", "boss")
	review.Agent, review.Access, review.Next = "ann", "read", "implement"
	e.Nodes[3].Steps = append(e.Nodes[3].Steps, review)
	e.Nodes[4].Kind = ir.Merge
}

func TestWithoutAScenarioEverythingIsDone(t *testing.T) { // the simulation's promise: what is not said goes well
	lines := []string{"1.1", "1.2", "1.3: 1.1", "1.4: 1.2", "1.5: 1.3 1.4"}
	for _, mode := range []string{"dag", "branch", "wait"} {
		for _, pr := range []string{"none", "plan", "node"} {
			t.Run(mode+" "+pr, func(t *testing.T) {
				epic := executortest.Epic(lines, everything, func(e *ir.Epic) {
					e.Epic.Integration.Mode, e.Epic.Integration.PR = mode, pr
				})
				res, all := play(t, epic, parse(t, "{}"))
				for _, v := range res.Run.Views() {
					if v.Status != executor.Done {
						t.Errorf("%s is %s: %s", v.Key, v.Status, v.Reason)
					}
				}
				if res.Open != "" || len(res.Refused) > 0 || !res.Run.Overview().PlanApproved {
					t.Errorf("open %q, refused %v, plan approved %v", res.Open, res.Refused, res.Run.Overview().PlanApproved)
				}
				for _, e := range all {
					if d, ok := e.Body.(executor.Decided); ok && d.By != "@ada" && d.By != "somebody" {
						t.Errorf("%s decides about %s", d.By, e.Node)
					}
				}
				if got := res.Run.Overview().Spent; got.USDMicro == 0 {
					t.Error("what the policy expects is not what turns cost")
				}
			})
		}
	}
}

func TestNobodyComesWhereTheScenarioSaysSo(t *testing.T) {
	for _, text := range []string{"people: []", "people: [{cause: question, does: retry}]", "wait: false"} {
		epic := executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) { e.Nodes[1].Kind, e.Nodes[1].Steps = ir.Manual, nil })
		res, all := play(t, epic, parse(t, text))
		if _, ended := all[len(all)-1].Body.(executor.RunEnded); !ended || res.Open != "" {
			t.Errorf("%s: it does not end as a run: %q", text, res.Open)
		}
		if v, _ := res.Run.View(executor.Integration); v.Status != executor.Done {
			t.Errorf("%s: what is done is not joined: %s", text, v.Status)
		}
		if v, _ := res.Run.View("bd-1-2"); v.Status != executor.Waiting || v.Cause != executor.CauseManual {
			t.Errorf("%s: 1.2 is %s (%s)", text, v.Status, v.Cause)
		}
	}
}

// A plan that a person has to approve is not begun before one does: execution §5.
func TestAPlanThatNobodyApprovesDoesNotBegin(t *testing.T) {
	for text, want := range map[string]struct {
		starts int
		after  string
	}{
		"people: []": {0, ""},
		"people: [{cause: manual, does: approve}]":                       {0, ""},
		"people: [{node: \"1.1\", cause: approval, does: approve}]":      {0, ""},
		"people: [{at: 1h, does: approve, by: eve}]":                     {0, ""},
		"people: [{at: 1h, does: approve, by: ada}]":                     {1, "1h0m0s"},
		"people: [{cause: approval, does: approve, after: 2h, by: ada}]": {1, "2h0m0s"},
		"people: [{at: 0s, does: approve, by: ada}]":                     {1, "0s"},
		"{}": {1, "0s"},
		"people: [{at: 1h, does: approve, by: ada}]\ncrashes: [61m]": {2, "1h0m0s"},
	} {
		epic := executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
			e.Run.HITL.Plan, e.Run.HITL.Approvers = "required", []string{"@ada"}
		})
		res, all := play(t, epic, parse(t, text))
		if res.Starts != want.starts || (res.Open == "") != (want.starts > 0) {
			t.Errorf("%s: %d starts, %q", text, res.Starts, res.Open)
		}
		began := ""
		for _, e := range all {
			if _, ok := e.Body.(executor.RunStarted); ok && began == "" {
				began = e.At.Sub(res.Began).String()
			}
		}
		if began != want.after {
			t.Errorf("%s: it begins after %q, want %q", text, began, want.after)
		}
		if v, _ := res.Run.View("bd-1-1"); (v.Status == executor.Done) != (want.starts > 0) {
			t.Errorf("%s: 1.1 is %s", text, v.Status)
		}
	}
}
