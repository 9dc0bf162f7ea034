// Package irtest makes epics for tests of what reads an ir.Epic: the worked
// example of the plan language, a plan of two dozen sprints with everything
// that can be drawn, and plans of any size.
//
// In: nothing, or a size. Out: sealed epics that ir.Verify accepts; each call
// returns a fresh one, which the test may change. Imports only ir. Only tests
// import it.
package irtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// Worked returns the worked example of the plan language: 1.1, then 1.2a and
// 1.2b, then 1.3.
func Worked() *ir.Epic {
	e := frame("worked", "The worked example")
	e.Nodes = []ir.Node{
		node("1.1", "Data model"),
		node("1.2a", "Import", blocks("1.1", "number")...),
		node("1.2b", "Export", blocks("1.1", "number")...),
		node("1.3", "Round trip", blocks("1.2a 1.2b", "number")...),
	}
	finish(e)
	return e
}

// Rich returns 24 sprints in six phases, with every kind of node, level of
// complexity and type of edge, finished sprints, human and review gates, a
// fallback, budgets and an embedded schema.
func Rich() *ir.Epic {
	e := frame("storefront", "Storefront: from prototype to launch")
	e.Agents["planner"] = ir.Agent{Runner: "claude", Model: "opus", Access: "read", Capabilities: []string{"plan"}}
	e.Agents["reviewer"] = ir.Agent{Runner: "claude", Model: "opus", Access: "read", Capabilities: []string{"review"}}
	e.Agents["frontend"] = ir.Agent{
		Path: ".claude/agents/frontend.md", Digest: digest("f"), Runner: "claude",
		Model: "sonnet", Access: "write", Capabilities: []string{"implement"},
	}
	e.Gates["blind-review"] = ir.Gate{
		Kind: "review", Agent: "reviewer", Model: "opus", Access: "read", Sees: []string{"acceptance", "diff"},
		OutputSchema: json.RawMessage(`{"properties":{"message":{"type":"string"},"score":{"maximum":1.0},"status":{"enum":["pass","fail","stop"]}},"required":["status","message"],"type":"object"}`),
		TimeoutMS:    600_000, OnFailure: "retry", ProtectNew: true, From: "builtin",
	}
	e.Gates["lead-approves"] = ir.Gate{
		Kind: "human", Approvers: []string{"@ana", "@bo"}, OnTimeout: "fail", TimeoutMS: 172_800_000,
		OnFailure: "retry", ProtectNew: true, From: "plan",
	}
	rows := []struct{ key, phase, title, after, kind, level, word string }{
		{"1.1", "1", "Repository, toolchain and continuous integration", "", "work", "simple", "toggle"},
		{"1.2", "1", "Data model for products, carts and orders", "1.1", "work", "standard", ""},
		{"1.3a", "1", "Catalogue API", "1.2", "work", "standard", ""},
		{"1.3b", "1", "Cart API", "1.2", "work", "standard", ""},
		{"1.3c", "1", "Order API with idempotency keys", "1.2", "work", "standard", ""},
		{"1.4", "1", "Join the APIs behind one gateway", "1.3a 1.3b 1.3c", "merge", "standard", ""},
		{"2.1", "2", "Sign in with one-time codes", "1.4", "work", "critical", "authentication"},
		{"2.2", "2", "Roles and permissions", "2.1", "work", "critical", "authorization"},
		{"2.3", "2", "Threat model is reviewed", "2.2", "gate", "critical", "security"},
		{"3a.1", "3a", "Design tokens and base components", "2.3", "work", "simple", "button"},
		{"3a.2a", "3a", "Product pages", "3a.1", "work", "standard", ""},
		{"3a.2b", "3a", "Cart and checkout pages", "3a.1", "work", "standard", ""},
		{"3b.1", "3b", "Payment provider: card payments", "2.3", "work", "critical", "payment"},
		{"3b.2", "3b", "Refunds and webhooks", "3b.1", "work", "critical", "payment"},
		{"4.1", "4", "Storefront against the real payment API", "3a.2a 3a.2b 3b.2", "merge", "critical", "payment"},
		{"4.2", "4", "Legal texts are approved", "4.1", "manual", "trivial", "comment"},
		{"5.1a", "5", "Search with typo tolerance", "4.1", "work", "standard", ""},
		{"5.1b", "5", "E-mail: order confirmation", "4.1", "work", "simple", ""},
		{"5.1c", "5", "Rename the legacy tables", "4.1", "work", "trivial", "rename"},
		{"5.2", "5", "Load test with 10 × the expected traffic", "5.1a 5.1b 5.1c", "work", "standard", ""},
		{"6.1a", "6", "Dashboards and alerts", "5.2", "work", "standard", ""},
		{"6.1b", "6", "Runbooks", "5.2", "work", "simple", ""},
		{"6.2", "6", "Launch rehearsal", "6.1a 6.1b", "work", "standard", ""},
		{"6.3", "6", "Launch", "4.2 6.2", "manual", "critical", "security"},
	}
	for _, r := range rows {
		from := "number"
		if strings.Contains(r.after, "4.2") {
			from = "explicit"
		}
		n := node(r.key, r.title, blocks(r.after, from)...)
		n.Phase = r.phase
		n.Kind = ir.Kind(r.kind)
		n.Complexity = ir.Complexity{Level: r.level, Word: r.word, From: "keyword"}
		n.Section = fmt.Sprintf("## Phase %s: %s > ### Sprint %s: %s", r.phase, phaseNames[r.phase], r.key, r.title)
		n.Done = r.phase == "1" && r.key != "1.4"
		n.Limits.EstimateMS = 3_600_000 * int64(1+len(r.title)%5)
		switch n.Kind {
		case ir.Manual:
			n.Steps, n.Limits.StepLimits = nil, ir.StepLimits{}
		case ir.GateKind:
			n.Steps[0].Agent, n.Steps[0].Why, n.Steps[0].Model = "", "", ""
			n.Steps[0].Name, n.Steps[0].Next, n.Steps[0].Access = "judge", "judge", "read"
			n.Steps[0].Gates = []string{"blind-review", "lead-approves"}
		default:
			if r.level == "critical" {
				n.Steps[0].Gates = []string{"unit", "blind-review"}
				n.Steps[0].Fallback = []string{"frontend"}
			}
		}
		e.Nodes = append(e.Nodes, n)
	}
	soft := func(key, on string, t ir.EdgeType) {
		for i := range e.Nodes {
			if e.Nodes[i].Key == ir.Key(key) {
				e.Nodes[i].After = append(e.Nodes[i].After, ir.Edge{Key: ir.Key(on), From: "explicit", Type: t})
			}
		}
	}
	soft("3a.2b", "1.3b", ir.Related)
	soft("5.1c", "1.2", ir.DiscoveredFrom)
	soft("3b.2", "3b.1", ir.ParentChild)
	finish(e)
	return e
}

var phaseNames = map[string]string{
	"1": "Foundations", "2": "Identity", "3a": "Shop front", "3b": "Payments",
	"4": "Joined", "5": "Quality", "6": "Launch",
}

// Large returns n sprints, in phases of ten with three parallel tracks each.
func Large(n int) *ir.Epic {
	e := frame("large", "A large plan")
	e.Nodes = make([]ir.Node, 0, n)
	end := ""
	for phase := 1; len(e.Nodes) < n; phase++ {
		add := func(key, after string) {
			if len(e.Nodes) == n {
				return
			}
			x := node(fmt.Sprintf("%d.%s", phase, key), fmt.Sprintf("Build part %s of component %d", key, phase), blocks(after, "number")...)
			x.Phase = fmt.Sprint(phase)
			x.Tasks = nil
			for i := range 4 {
				x.Tasks = append(x.Tasks, ir.Task{Text: fmt.Sprintf("Write `part_%s_%d.go` and the tests that hold its contract", key, i)})
				x.Prompt = append(x.Prompt, "- "+x.Tasks[i].Text)
			}
			x.Acceptance = []string{"All tests pass", "The public interface is documented"}
			x.Prompt = append(x.Prompt, x.Acceptance...)
			e.Nodes = append(e.Nodes, x)
		}
		p := fmt.Sprintf("%d.", phase)
		add("1", end)
		add("2a", p+"1")
		add("2b", p+"1")
		add("2c", p+"1")
		add("3", p+"2a "+p+"2b "+p+"2c")
		add("4", p+"3")
		add("5a", p+"4")
		add("5b", p+"4")
		add("6", p+"5a "+p+"5b")
		add("7", p+"6")
		end = p + "7"
	}
	finish(e)
	return e
}

func digest(s string) string { return "sha256:" + strings.Repeat(s, 64)[:64] }

func frame(slug, title string) *ir.Epic {
	return &ir.Epic{
		IR: ir.Version,
		Epic: ir.Header{
			ID: "bd-e00001", Slug: slug, Title: title, Description: []string{"Why: to have something to look at."},
			Plan: "plans/" + slug + ".md", Base: "main", Target: "main", Owner: "ana", Labels: []string{"demo"},
			Complexity: "standard",
			Integration: ir.Integration{
				Branch: "ralph/" + slug + "/integration", Mode: "dag", PR: "none",
				Gates: []string{"unit"}, ConflictAgent: "default",
			},
		},
		Run: ir.Run{
			Concurrency: ir.Concurrency{Nodes: 10, PerRunner: map[string]int{"claude": 4}},
			Budget:      ir.Budget{USDMicro: 50_000_000},
			OnExceed:    "pause",
			HITL:        ir.HITL{Level: "gates", Plan: "auto", OnHumanMessage: "pause", IdleCooldownMS: 60_000},
			Git:         ir.GitSettings{Cleanup: "never", Commit: "each", Remote: "origin"},
			Worktree:    ir.Worktree{Setup: []string{"make deps"}, Copy: []string{".env.example"}, Env: map[string]string{"CI": "1"}, Layout: "worktree"},
			Dialect:     "sprint",
			Policies:    []string{"ralph.hcl"},
		},
		Agents: map[string]ir.Agent{
			"default": {
				Path: ".claude/agents/default.md", Digest: digest("a"), Runner: "claude", Model: "sonnet",
				Access: "write", Capabilities: []string{"implement", "test"}, Session: "fresh",
			},
		},
		Gates: map[string]ir.Gate{
			"unit": {
				Kind: "command", Run: "go test ./...", TimeoutMS: 300_000, OnFailure: "retry",
				Protect: []string{"**/*_test.go"}, ProtectNew: true, From: "policy",
			},
		},
		Runners: map[string]ir.Runner{
			"claude": {
				Kind: "claude", Run: []string{"claude"}, Prompt: "stdin", Env: []string{"HOME", "PATH"},
				Secrets: []string{"anthropic"}, Outcome: "optional", Concurrent: 4, RPM: 60,
			},
		},
		Models:  map[string]ir.Model{"opus": {ID: "claude-opus", Provider: "anthropic"}, "sonnet": {ID: "claude-sonnet", Provider: "anthropic"}},
		Secrets: map[string]ir.Secret{"anthropic": {Env: "ANTHROPIC_API_KEY"}},
		Files:   []ir.FileDigest{{Path: "schemas/qa.json", Digest: digest("5"), For: "gate.unit.output_schema"}},
	}
}

func blocks(keys, from string) []ir.Edge {
	var out []ir.Edge
	for k := range strings.FieldsSeq(keys) {
		out = append(out, ir.Edge{Key: ir.Key(k), From: from, Type: ir.Blocks})
	}
	return out
}

func node(key, title string, after ...ir.Edge) ir.Node {
	phase, _, _ := strings.Cut(key, ".")
	limits := ir.StepLimits{Iterations: 20, Attempts: 3, Breaker: 2, RunnerRetries: 5, TimeoutMS: 1_200_000}
	return ir.Node{
		Key: ir.Key(key), Kind: ir.Work, Title: title, Phase: phase,
		Section:  fmt.Sprintf("## Phase %s: Phase %s > ### Sprint %s: %s", phase, phase, key, title),
		Goal:     "So that the next sprint can build on it.",
		Priority: 2, After: after,
		Git: ir.Git{
			Branch: "ralph/x/" + strings.ReplaceAll(key, ".", "-"), Base: "main",
			Worktree: "../{repo}-worktrees/" + strings.ReplaceAll(key, ".", "-"),
		},
		Tasks:      []ir.Task{{Text: "Do it", Detail: []string{"carefully"}}},
		Acceptance: []string{"It works"},
		Policy:     "default",
		Steps: []ir.Step{{
			Name: "implement", Agent: "default", Why: "the only agent with implement", Capabilities: []string{"implement"},
			Model: "sonnet", Access: "write", Session: "fresh", Gates: []string{"unit"}, GateMode: "parallel",
			Limits: limits, Retry: ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 300_000},
			Stall: ir.Stall{AfterMS: 300_000, Action: "fail"}, OnFailure: "keep", Next: "implement",
		}},
		Limits:     ir.NodeLimits{StepLimits: limits},
		Complexity: ir.Complexity{Level: "standard", From: "default"},
		Prompt:     []string{"# Sprint " + key + ": " + title, "", "So that the next sprint can build on it.", "", "- Do it", "- It works"},
	}
}

// finish fills what the compiler's last passes fill.
func finish(e *ir.Epic) {
	order, ok := ir.Order(e.Nodes)
	if !ok {
		panic("irtest: a cycle")
	}
	sorted := make([]ir.Node, len(order))
	for i, at := range order {
		sorted[i] = e.Nodes[at]
	}
	e.Nodes = sorted
	for i := range e.Nodes {
		n := &e.Nodes[i]
		n.ID = ir.NodeID(fmt.Sprintf("bd-%06x", i+1))
		ir.SortEdges(n.After)
		var merges []ir.Key
		for _, a := range n.After {
			if a.Type == ir.Blocks {
				merges = append(merges, a.Key)
			}
		}
		if len(merges) >= 2 {
			n.Merges = merges
			n.Steps = append([]ir.Step(nil), n.Steps...)
		}
	}
	ir.Seal(e)
}
