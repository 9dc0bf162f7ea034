package bead_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// out is what an export has at a place, as JSON; "" if nothing is there.
func out(t *testing.T, e *ir.Epic, h *ir.History, place string) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := bead.Encode(&b, e, h); err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	for key := range strings.SplitSeq(strings.Trim(place, "/"), "/") {
		switch x := v.(type) {
		case map[string]any:
			var there bool
			if v, there = x[key]; !there {
				return ""
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				return ""
			}
			v = x[i]
		}
	}
	var s strings.Builder
	enc := json.NewEncoder(&s)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(s.String())
}

// written is a change to the worked example, of which the first sprint is n and the last,
// which merges, is m, and what then comes out at a place.
type written struct {
	name   string
	change func(e *ir.Epic, n, m *ir.Node, nh *ir.NodeHistory)
	at     string
	want   string
}

func check(t *testing.T, cases []written) {
	t.Helper()
	for _, c := range cases {
		e := irtest.Worked()
		nh := &ir.NodeHistory{Words: map[string]string{"issue": "in_progress"}}
		n, m := &e.Nodes[0], &e.Nodes[len(e.Nodes)-1]
		c.change(e, n, m, nh)
		h := &ir.History{Top: "/home/dev/app", Base: "trunk", Started: at(t, "09:59"), Nodes: map[ir.NodeID]*ir.NodeHistory{n.ID: nh}}
		if got := out(t, e, h, c.at); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.name, c.at, got, c.want)
		}
	}
}

// keep lets a node have what an import kept.
func keep(n *ir.Node, ext string) {
	n.Ext = map[string]json.RawMessage{bead.Format: json.RawMessage(ext)}
}

// What an issue says: what the bead came with until ralph begins it, by a start or by an
// attempt. S0-05..07, S0-09, S0-12, S0-13, S0-17
func TestIssuesAreWritten(t *testing.T) {
	const came = `{"status": "blocked", "assignee": "ana", "created_at": "2026-01-01T00:00:00Z", "metadata": {"branch": "main/x"}}`
	began := func(_ *ir.Epic, n, _ *ir.Node, nh *ir.NodeHistory) { keep(n, came); nh.Started = time.Unix(1, 0) }
	tried := func(_ *ir.Epic, n, _ *ir.Node, nh *ir.NodeHistory) {
		keep(n, came)
		nh.Attempts = make([]ir.Attempt, 1)
	}
	waits := func(_ *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { keep(n, came) }
	done := func(_ *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { keep(n, came); n.Done = true }
	same := func(*ir.Epic, *ir.Node, *ir.Node, *ir.NodeHistory) {}
	keeping := func(ext string) func(*ir.Epic, *ir.Node, *ir.Node, *ir.NodeHistory) {
		return func(_ *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { keep(n, ext) }
	}
	phase := func(s string) func(*ir.Epic, *ir.Node, *ir.Node, *ir.NodeHistory) {
		return func(_ *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { n.Phase = s }
	}
	prompt := func(lines ...string) func(*ir.Epic, *ir.Node, *ir.Node, *ir.NodeHistory) {
		return func(_ *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { n.Goal, n.Prompt = "Go.", lines }
	}
	related := func(_ *ir.Epic, _, m *ir.Node, _ *ir.NodeHistory) {
		m.After = append(m.After, ir.Edge{Key: "1.1", From: "explicit", Type: ir.Related})
	}
	check(t, []written{
		{"came with", waits, "/0/status", `"blocked"`},
		{"came with", waits, "/0/assignee", `"ana"`},
		{"came with", waits, "/0/metadata/branch", `"main/x"`},
		{"came with", waits, "/0/created_at", `"2026-01-01T00:00:00Z"`},
		{"began", began, "/0/status", `"in_progress"`},
		{"began", began, "/0/assignee", `"` + bead.Assignee + `"`},
		{"began", began, "/0/metadata/branch", `"ralph/x/1-1"`},
		{"began", began, "/0/created_at", `"2026-01-01T00:00:00Z"`},
		{"has an attempt", tried, "/0/assignee", `"` + bead.Assignee + `"`},
		{"done by the plan", done, "/0/status", `"closed"`},
		{"open", same, "/0/status", `"in_progress"`},
		{"its owner", keeping(`{"owner": "bo"}`), "/0/owner", `"bo"`},
		{"no owner", keeping(`{"owner": ""}`), "/0/owner", ""},
		{"the epic's owner", same, "/0/owner", `"ana"`},
		{"its priority", keeping(`{"priority": "high"}`), "/0/priority", `"high"`},
		{"a priority", same, "/0/priority", `2`},
		{"its pull request", keeping(`{"external_ref": "x"}`), "/0/external_ref", `"x"`},
		{"unknown keys", keeping(`{"x": [1]}`), "/0/x", `[1]`},
		{"its comments", keeping(`{"comments": [1]}`), "/0/comments", `[1]`},
		{"no comments", same, "/0/comments", ""},
		{"its times", keeping(`{"updated_at": "x"}`), "/0/updated_at", `"x"`},
		{"updated", func(_ *ir.Epic, n, _ *ir.Node, nh *ir.NodeHistory) {
			keep(n, `{"updated_at": "x"}`)
			nh.Updated = time.Unix(1, 0)
		}, "/0/updated_at", `"1970-01-01T00:00:01Z"`},
		{"a merge of one", func(_ *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { n.Kind = ir.Merge }, "/0/issue_type", `"beads-ralph-merge"`},
		{"of a run", same, "/0/created_at", `"2026-02-07T09:59:00Z"`},
		{"a title of separators", func(_ *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { n.Title = "\x1c" }, "/0/title", `"1.1"`},
		{"phase in one digit", phase("3a"), "/0/labels", `["phase-03a","sprint-1-1"]`},
		{"phase in words", phase("Sign in & out"), "/0/labels", `["phase-sign-in-out","sprint-1-1"]`},
		{"no phase", phase(""), "/0/labels", `["sprint-1-1"]`},
		{"related", related, "/3/dependencies", `["bd-000002","bd-000003"]`},
		{"related", related, "/3/metadata/branches_to_merge", `["ralph/x/1-2a","ralph/x/1-2b"]`},
		{
			"prose", prompt("# Phase 1", "", "# Sprint 1.1: Data model", "Go.", "", "See docs/.", "", "Tasks:", "- a", "", "Acceptance criteria:", "- b", "", "Files:", "- c", "", "At last."),
			"/0/description", `"Go.\n\nSee docs/.\n\nAt last."`,
		},
		{"prose at once", prompt("# Sprint 1.1: Data model", "", "See docs/."), "/0/description", `"Go.\n\nSee docs/."`},
		{"a prompt of others", prompt("Do it.", "", "See docs/."), "/0/description", `"Go."`},
	})
	e := irtest.Worked()
	if got := out(t, e, nil, "/0/created_at"); got != "" {
		t.Errorf("without a run created_at is %s", got)
	}
}

// What metadata says of the place, the plan and the agent. S0-20..22, S0-46..48, S0-97, S0-98
func TestMetadataAreWritten(t *testing.T) {
	base := func(node, epic string) func(*ir.Epic, *ir.Node, *ir.Node, *ir.NodeHistory) {
		return func(e *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { n.Git.Base, e.Epic.Base = node, epic }
	}
	model := func(name string) func(*ir.Epic, *ir.Node, *ir.Node, *ir.NodeHistory) {
		return func(e *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) {
			e.Models["fast"], e.Models["sonnet"] = ir.Model{ID: "haiku"}, ir.Model{ID: "opus"}
			n.Steps[0].Model = name
		}
	}
	agent := func(said, path string) func(*ir.Epic, *ir.Node, *ir.Node, *ir.NodeHistory) {
		return func(e *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) {
			e.Agents["dev"] = ir.Agent{Path: path}
			n.Steps[0].Agent = "dev"
			keep(n, fmt.Sprintf(`{"metadata": {"dev_agent_path": %q}}`, said))
		}
	}
	prompts := func(tasks []ir.Task, lines ...string) func(*ir.Epic, *ir.Node, *ir.Node, *ir.NodeHistory) {
		return func(_ *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { n.Tasks, n.Prompt = tasks, lines }
	}
	two := []ir.Task{{Text: "A", Detail: []string{"b", "", "c"}}, {Text: "D"}}
	check(t, []written{
		{"a plan", base("", ""), "/0/metadata/plan_file", `"plans/worked.md"`},
		{"a plan", base("", ""), "/0/metadata/plan_sprint_id", `"1.1"`},
		{"attempts", base("", ""), "/0/metadata/max_retry_attempts", `3`},
		{"unknown keys", func(_ *ir.Epic, n, _ *ir.Node, _ *ir.NodeHistory) { keep(n, `{"metadata": {"x": 1}}`) }, "/0/metadata/x", `1`},
		{"its own base", base("dev", "main"), "/0/metadata/source_branch", `"dev"`},
		{"the epic's", base("", "main"), "/0/metadata/source_branch", `"main"`},
		{"the run's", base("", ""), "/0/metadata/source_branch", `"trunk"`},
		{"a branch that git cannot have", func(e *ir.Epic, _, _ *ir.Node, _ *ir.NodeHistory) {
			keep(&e.Nodes[1], `{"metadata": {"branch": "main/x"}}`)
		}, "/3/metadata/branches_to_merge", `["main/x","ralph/x/1-2b"]`},
		{"branches of others", func(_ *ir.Epic, _, m *ir.Node, _ *ir.NodeHistory) {
			keep(m, `{"metadata": {"branches_to_merge": ["x", "ralph/x/1-2b"]}}`)
		}, "/3/metadata/branches_to_merge", `["ralph/x/1-2a","ralph/x/1-2b","x"]`},
		{"it waits for one", base("", ""), "/1/metadata/branches_to_merge", ""},
		{"it waits for one", base("", ""), "/1/issue_type", `"beads-ralph-work"`},
		{"an alias", model("fast"), "/0/metadata/dev_model", `"haiku"`},
		{"an alias that is a word", model("sonnet"), "/0/metadata/dev_model", `"sonnet"`},
		{"another model", model("gpt-5"), "/0/metadata/dev_model", `"gpt-5"`},
		{"nothing said", agent("", "team/dev.md"), "/0/metadata/dev_agent_path", `"team/dev.md"`},
		{"without .md", agent("team/dev", "team/dev.md"), "/0/metadata/dev_agent_path", `"team/dev"`},
		{"only named", agent("dev", ""), "/0/metadata/dev_agent_path", `"dev"`},
		{"outside", agent("../../dev.md", ""), "/0/metadata/dev_agent_path", `"../../dev.md"`},
		{"as Windows has it", agent(`.claude\agents\dev`, ".claude/agents/dev.md"), "/0/metadata/dev_agent_path", `".claude\\agents\\dev"`},
		{"outside, as Windows has it", agent(`C:\x\dev.md`, ""), "/0/metadata/dev_agent_path", `"C:\\x\\dev.md"`},
		{"declared with another file", agent(".claude/agents/dev", "team/dev.md"), "/0/metadata/dev_agent_path", `"team/dev.md"`},
		{"named, and declared with a file", agent("dev", "team/dev.md"), "/0/metadata/dev_agent_path", `"team/dev.md"`},
		{"another", agent("team/other", "team/dev.md"), "/0/metadata/dev_agent_path", `"team/dev.md"`},
		{"nothing but its tasks", prompts(two, "A", "b", "", "c", "", "D"), "/0/metadata/dev_prompts", `["A\nb\n\nc","D"]`},
		{"more than its tasks", prompts(two, "A", "b", "", "c", "", "D", "", "E"), "/0/metadata/dev_prompts", `["A\nb","c","D","E"]`},
		{"tasks of a plan", prompts(two, "# T", "", "", "", "Tasks:", "- A", "", "E"), "/0/metadata/dev_prompts", `["# T","A\nb\n\nc","D","E"]`},
		{"without tasks", prompts(nil, "Tasks:", "- A"), "/0/metadata/dev_prompts", `["Tasks:\n- A"]`},
		{"without a prompt", prompts(nil), "/0/metadata/dev_prompts", `[]`},
	})
	e := irtest.Worked()
	n := &e.Nodes[0]
	n.Git.Base, e.Epic.Base = "", ""
	for name, h := range map[string]*ir.History{"no run": nil, "a run somewhere": {Base: "trunk"}} {
		want := map[string]string{"source_branch": `""`, "worktree_path": `"../{repo}-worktrees/1-1"`}
		if h != nil {
			want["source_branch"] = `"trunk"`
		}
		for key, w := range want {
			if got := out(t, e, h, "/0/metadata/"+key); got != w {
				t.Errorf("%s: %s is %s, want %s", name, key, got, w)
			}
		}
	}
	m, err := bead.Metadata(e, &e.Nodes[3], nil)
	if got := string(m["branches_to_merge"]); err != nil || got != `["ralph/x/1-2a","ralph/x/1-2b"]` {
		t.Errorf("of a node alone: %s (%v)", got, err)
	}
}

// Who judges: the agents and reviews of all steps, each once, with what was kept of
// those that are the bead's own. S0-49..54, S0-159
func TestWhoJudgesIsWritten(t *testing.T) {
	e := irtest.Worked()
	n := &e.Nodes[0]
	e.Agents["qa"], e.Agents["lone"] = ir.Agent{Path: "team/qa.md"}, ir.Agent{}
	schema := json.RawMessage(`{"type":"object"}`)
	e.Gates["1.1/qa"] = ir.Gate{Kind: "agent", From: "plan", Agent: "qa", Model: "haiku", Prompt: []string{"Look at $${run.x}.", "", ir.Contract, "{}"}, OutputSchema: schema}
	e.Gates["qa"] = ir.Gate{Kind: "agent", From: "policy", Agent: "qa", Model: "opus", Prompt: []string{ir.Contract, "{}"}}
	e.Gates["1.1/lone"] = ir.Gate{Kind: "review", From: "plan", Agent: "lone", Prompt: []string{"Look."}, InputSchema: schema}
	first, second := n.Steps[0], n.Steps[0]
	first.Gates, second.Gates = []string{"unit", "1.1/qa", "qa"}, []string{"qa", "1.1/lone", "unit", "1.1/qa"}
	n.Steps = []ir.Step{first, second}
	keep(n, `{"metadata": {"qa_agents": {"qa": {"agent_path": "old/other", "weight": 2}, "lone": {"agent_path": "lone"}}}}`)
	want := `[{"agent_path":"team/qa.md","model":"haiku","output_schema":{"type":"object"},"prompt":"Look at ${run.x}.","weight":2},` +
		`{"agent_path":"team/qa.md","gate":"qa","model":"opus","output_schema":null,"prompt":""},` +
		`{"agent_path":"lone","input_schema":{"type":"object"},"model":"","output_schema":null,"prompt":"Look."}]`
	if got := out(t, e, nil, "/0/metadata/qa_agents"); got != want {
		t.Errorf("they are\n%s, want\n%s", got, want)
	}
}

// What the format's model refuses is a breach, too, and each place is one. S0-17, S0-18, K17
func TestBreachesOfTheModel(t *testing.T) {
	e := irtest.Worked()
	e.Nodes[0].Steps[0].Model = "gpt-5" // refused twice
	var b bytes.Buffer
	breaches, err := bead.Encode(&b, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, x := range breaches {
		got[fmt.Sprint(x.Node, x.Pointer)]++
	}
	for _, place := range []string{"1.1/created_at", "1.1/updated_at", "1.3/created_at", "1.1/metadata/dev_model", "1.3/metadata/qa_agents"} {
		if got[place] != 1 {
			t.Errorf("%s is refused %d times of %v", place, got[place], got)
		}
	}
}
