package bead_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
)

// metadata is the only node of a bead with these keys in its metadata.
func metadata(t *testing.T, keys string) ir.DraftNode {
	t.Helper()
	return decoded(t, `{"id": "a", "title": "T", "metadata": {`+keys+`}}`)
}

// What an agent is called, and which file of the project it has: none if it is only
// named, or outside the project. S0-46, S0-50, K10
func TestWhatAnAgentIsCalled(t *testing.T) {
	long := strings.Repeat("A", 100)
	for path, want := range map[string]string{
		`dev`:                   "dev@",
		`dev.md`:                "dev@dev.md",
		` .claude\\agents\\dev`: "dev@.claude/agents/dev",
		`.`:                     "agent@",
		`..`:                    "agent@",
		`../x/dev`:              "dev@ bead-place",
		`/x/dev`:                "dev@ bead-place",
		`/`:                     "agent@ bead-place",
		`~/dev`:                 "dev@ bead-place",
		`C:\\x\\dev`:            "dev@ bead-place",
		`a:b/dev`:               "dev@ bead-place",
		`x/a b`:                 "a-b@x/a b",
		`x/a<b`:                 "a-b@x/a<b",
		`x/a\u0007b`:            "a-b@x/a\ab",
		`x/a\ufffdb`:            "a-b@x/a\ufffdb",
		long:                    long + "@",
		long + "A":              "agent@",
		long + "!":              strings.ToLower(long) + "@",
	} {
		d, codes := imported(`{"id": "a", "title": "T", "metadata": {"dev_agent_path": "` + path + `"}}`)
		if d == nil {
			t.Errorf("%s: %s", path, codes)
			continue
		}
		a := d.Nodes[0].Agents[0]
		if got := strings.TrimSpace(a.Name + "@" + a.Path + " " + codes); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// Texts of the metadata that say nothing are none, line ends are \n, and what has no place
// in a draft is kept. S0-15, S0-23, S0-26, S0-47, S0-48, S0-51, S0-52, S0-59..63, S0-82
func TestWhatBecomesOfMetadata(t *testing.T) {
	model := func(n *ir.DraftNode) string {
		if len(n.Agents) > 0 {
			return n.Agents[0].Model
		}
		return n.Model.Value
	}
	section := func(n *ir.DraftNode) string { return n.Section }
	prompt := func(n *ir.DraftNode) string { return fmt.Sprintf("%q %d", strings.Join(n.Prompt, "\n"), len(n.Tasks)) }
	judge := func(n *ir.DraftNode) string {
		out := fmt.Sprint(len(n.QA))
		for _, q := range n.QA {
			out += fmt.Sprintf(" %s %q %q", q.Gate, q.Model, q.Note)
		}
		return out
	}
	for _, c := range []struct {
		keys string
		of   func(*ir.DraftNode) string
		want string
	}{
		{`"dev_model": " opus\n"`, model, "opus"},
		{`"dev_model": " opus\n", "dev_agent_path": "dev"`, model, "opus"},
		{`"plan_section": "A  b\nc"`, section, "A b c"},
		{`"plan_section": "A  b\nc"`, keeps, `{"metadata":{"plan_section":"A  b\nc"}}`},
		{`"plan_section": "A b c"`, keeps, ""},
		{`"plan_section": 5, "phase": " "`, keeps, ""},
		{`"dev_prompts": ["\r\nA\r\nb\n\n", " \n", "C"]`, prompt, `"A\nb\n\nC" 2`},
		{`"qa_agents": [{"agent_path": "x", "model": " opus ", "prompt": "\r\nA\r\nb\n"}]`, judge, `1 x "opus" "A\nb"`},
		{`"qa_agents": [{"agent_path": "x", "model": 5, "prompt": 7}]`, judge, `1 x "" ""`},
		{`"qa_agents": [{"agent_path": "x", "gate": "review"}]`, judge, `0`}, // the policy's
		{`"qa_agents": [{"agent_path": "x", "gate": 5}]`, judge, `1 x "" ""`},
		{``, keeps, ""},
		{`"plan_file": "x.md", "dev_agent_path": "dev.md"`, keeps, `{"metadata":{"dev_agent_path":"dev.md","plan_file":"x.md"}}`},
		{`"qa_agents": [{"agent_path": "x.md", "weight": 2}]`, keeps, `{"metadata":{"qa_agents":{"x":{"agent_path":"x.md","weight":2}}}}`},
		{
			`"attempt_count": 0, "pr_number": 0, "dev_agent_executions": [], "qa_agent_executions": [], "scrum_result": null`, keeps, "",
		},
		{
			`"attempt_count": 2, "pr_number": 7, "dev_agent_executions": [{}], "scrum_master_session_id": "0"`, keeps,
			`{"metadata":{"attempt_count":2,"dev_agent_executions":[{}],"pr_number":7,"scrum_master_session_id":"0"}}`,
		},
	} {
		n := metadata(t, c.keys)
		if got := c.of(&n); got != c.want {
			t.Errorf("%s: %s, want %s", c.keys, got, c.want)
		}
	}
}

// A schema is completed where an answer could lack a verdict, and nothing else of it
// changes. S0-53, S0-54, S0-95, K15
func TestSchemasAreCompleted(t *testing.T) {
	const verdict = `"status":{"enum":["pass","fail","stop"]}`
	const rest = `"required":["status","message"],"type":"object"}`
	for schema, want := range map[string]string{
		`{}`: `{"properties":{"message":{"type":"string"},` + verdict + `},` + rest,
		`{"type": ["object", "null"], "properties": {"status": 5, "message": 5}, "required": ["x", "message"]}`:                   `{"properties":{"message":{"type":"string"},` + verdict + `},"required":["x","message","status"],"type":["object","null"]}`,
		`{"properties": {"status": {"enum": ["stop", "fail", "pass"]}, "message": {"enum": ["m"]}}}`:                              `{"properties":{"message":{"enum":["m"]},"status":{"enum":["stop","fail","pass"]}},` + rest,
		`{"properties": {"status": {"enum": ["pass", "fail", "maybe"]}, "n": {"maximum": 12345678901234567890, "minimum": 1.0}}}`: `{"properties":{"message":{"type":"string"},"n":{"maximum":12345678901234567890,"minimum":1.0},` + verdict + `},` + rest,
		`{"properties": {"status": {"enum": ["pass", "pass", "stop"]}}}`:                                                          `{"properties":{"message":{"type":"string"},` + verdict + `},` + rest,
		`{"properties": {"status": {"enum": ["fail", "stop", "fail"]}}}`:                                                          `{"properties":{"message":{"type":"string"},` + verdict + `},` + rest,
	} {
		text := `{"id": "a", "title": "T", "metadata": {"qa_agents": [{"agent_path": "x", "output_schema": ` + schema + `}]}}`
		out := decoded(t, text).Outputs[0]
		if string(out.Schema) != want {
			t.Errorf("%s becomes\n%s, want\n%s", schema, out.Schema, want)
		}
		if at := text[out.Range.Start:out.Range.End]; at != schema {
			t.Errorf("%s is said to be at %s", schema, at)
		}
	}
	n := metadata(t, `"qa_agents": [{"agent_path": "x", "input_schema": {"a": 1}}, {"agent_path": "y"}]`)
	if len(n.Outputs) != 1 || n.Outputs[0].Gate != "x" || n.Outputs[0].Schema != nil || string(n.Outputs[0].Input) != `{"a":1}` {
		t.Errorf("of a schema of what goes in alone: %+v", n.Outputs)
	}
}

// The keys that the format reserves, at the edges of what they may hold. S0-152..157, K24
func TestReservedKeysAtTheirEdges(t *testing.T) {
	timeout := func(n *ir.DraftNode) string { return n.Timeout.Value }
	approval := func(n *ir.DraftNode) string { return n.Approval.Value }
	rollback := func(n *ir.DraftNode) string { return n.OnFailure.Value }
	for _, c := range []struct {
		keys  string
		of    func(*ir.DraftNode) string
		want  string
		codes string
	}{
		{`"timeout_minutes": 5270400`, timeout, "316224000s", ""},
		{`"timeout_minutes": "0.001"`, timeout, "1s", ""},
		{`"approval_required": "@ana"`, approval, "required from @ana", ""},
		{`"approval_required": {"why": "money"}`, approval, "required", ""},
		{`"approval_required": {"approvers": "ana"}`, approval, "required from @ana", ""},
		{`"approval_required": {"approvers": false}`, approval, "", ""},
		{`"rollback_strategy": "Reset"`, rollback, "reset", ""},
		{`"rollback_strategy": "revert"`, rollback, "reset", "bead-place"},
		{`"rollback_strategy": "none"`, rollback, "keep", ""},
		{`"rollback_strategy": "x"`, rollback, "", "bead-place"},
		{`"notification_config": {}`, rollback, "", "bead-place"},
		{`"resource_limits": {"cpu": 2}`, rollback, "", "bead-sandbox"},
		{`"docker_image": "x"}, "status": "closed", "x": {`, rollback, "", "bead-completed bead-unknown-key"},
		{`"worktree_path": "/tmp/x"`, rollback, "", "bead-place"},
		{`"worktree_path": "/tmp/x"}, "status": "closed", "x": {`, rollback, "", "bead-completed bead-unknown-key"},
		{`"qa_agents": [{"agent_path": "x", "gate": "review"}]`, rollback, "", "bead-policy-gate"},
	} {
		d, codes := imported(`{"id": "a", "title": "T", "metadata": {` + c.keys + `}}`)
		if d == nil || c.of(&d.Nodes[0]) != c.want || codes != c.codes {
			t.Errorf("%s: %v (%s), want %s (%s)", c.keys, d, codes, c.want, c.codes)
		}
	}
}

// What ralph cannot work with is an error at its place, and the only one. S0-127, S0-142, S0-143,
// S0-152..154, S0-157
func TestWhatRalphCannotWorkWith(t *testing.T) {
	for bead, pointer := range map[string]string{
		`"description": ""`: "/title",
		`"title": " "`:      "/title",
		`"title": "T", "description": "a\u0000b"`: "/description",
	} {
		refused(t, bead, pointer)
	}
	for keys, pointer := range map[string]string{
		`"dev_prompts": 5`:                                        "/dev_prompts",
		`"dev_prompts": ["x", 5]`:                                 "/dev_prompts/1",
		`"qa_agents": "qa"`:                                       "/qa_agents",
		`"qa_agents": ["qa"]`:                                     "/qa_agents/0",
		`"qa_agents": [{"agent_path": " "}]`:                      "/qa_agents/0/agent_path",
		`"qa_agents": [{"prompt": "x"}]`:                          "/qa_agents/0/agent_path",
		`"qa_agents": [{"agent_path": "x", "output_schema": []}]`: "/qa_agents/0/output_schema",
		`"timeout_minutes": 0`:                                    "/timeout_minutes",
		`"timeout_minutes": -1`:                                   "/timeout_minutes",
		`"timeout_minutes": 5270400.1`:                            "/timeout_minutes",
		`"timeout_minutes": 1e999`:                                "/timeout_minutes",
		`"timeout_minutes": "+5"`:                                 "/timeout_minutes",
		`"timeout_minutes": "long"`:                               "/timeout_minutes",
		`"timeout_minutes": true`:                                 "/timeout_minutes",
		`"approval_required": 5`:                                  "/approval_required",
		`"approval_required": []`:                                 "/approval_required",
		`"approval_required": " "`:                                "/approval_required",
		`"approval_required": ["ana", "", "bo"]`:                  "/approval_required",
		`"approval_required": ["ana bo", "cy"]`:                   "/approval_required",
		`"approval_required": {"approvers": ["a,b"]}`:             "/approval_required",
		`"docker_image": " "`:                                     "/docker_image",
		`"docker_image": 5`:                                       "/docker_image",
		`"resource_limits": 5`:                                    "/resource_limits",
		`"resource_limits": {"cpu": []}`:                          "/resource_limits/cpu",
	} {
		refused(t, `"title": "T", "metadata": {`+keys+`}`, "/metadata"+pointer)
	}
}

func refused(t *testing.T, keys, pointer string) {
	t.Helper()
	d, list := bead.Decode(files(`{"id": "a", ` + keys + `}`))
	var got []string
	for _, x := range list {
		if x.Severity == diag.Error {
			at, _, _ := strings.Cut(x.Detail, " ")
			got = append(got, at)
		}
	}
	if d != nil || len(got) != 1 || got[0] != pointer {
		t.Errorf("%s: errors at %q, want one at %s", keys, got, pointer)
	}
}
