package bead

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// The keys of metadata that have a meaning.
var (
	// trackedKeys tell what was run before.
	trackedKeys = []string{
		"attempt_count", "scrum_master_session_id", "dev_agent_session_id", "dev_agent_executions", "qa_agent_executions", "gate_executions",
		"pr_url", "pr_number", "scrum_result",
	}
	// extensionKeys are those that the format reserves for later.
	extensionKeys = []string{
		"docker_image", "resource_limits", "timeout_minutes", "notification_config", "rollback_strategy", "approval_required", "cost_estimate",
	}
	// ownKeys are those that a node's own values fill.
	ownKeys = append([]string{
		"worktree_path", "branch", "source_branch", "phase", "sprint", "plan_file", "plan_section", "plan_sprint_id",
		"branches_to_merge", "dev_agent_path", "dev_model", "dev_prompts", "qa_agents", "max_retry_attempts",
	}, trackedKeys...)
	// typedKeys are those whose values are no texts: bd can hold them as JSON in a text.
	typedKeys = []string{
		"branches_to_merge", "dev_prompts", "qa_agents", "max_retry_attempts", "attempt_count", "dev_agent_executions", "qa_agent_executions", "gate_executions",
		"pr_number", "scrum_result", "resource_limits", "timeout_minutes", "notification_config", "approval_required", "cost_estimate",
	}
)

// metadata reads what scrum agents need to know.
func (d *decoding) metadata(b *bead, m *foreign.Value) {
	n := &b.node
	f := b.r.Fields(m, b.metadata, slices.Concat(ownKeys, extensionKeys)...)
	n.Phase, n.Section = b.oneLine(f, "phase"), b.oneLine(f, "plan_section")
	n.Branch, n.Base = b.said(f, "branch"), b.said(f, "source_branch")
	if s := b.said(f, "sprint"); s.Set() {
		b.sprint = s.Value
		if len(s.Value) <= foreign.MaxID && keyPattern.MatchString(s.Value) && s.Value != "integration" {
			n.Key, n.KeyRange = ir.Key(s.Value), s.Range
		}
	}
	if s := b.said(f, "worktree_path"); s.Set() {
		d.worktree(b, f.Get("worktree_path"), s.Value)
	}
	if b.planFile = b.said(f, "plan_file").Value; b.planFile != "" {
		b.metadata["plan_file"] = foreign.Raw(b.planFile)
	}
	if s := b.said(f, "plan_sprint_id").Value; s != "" && s != b.sprint {
		b.metadata["plan_sprint_id"] = foreign.Raw(s)
	}
	for _, name := range typedKeys {
		if x := f.Get(name); x != nil {
			f[foreign.Plain(name)] = x.Embedded()
		}
	}
	b.merges = f.Get("branches_to_merge")
	d.developer(b, f)
	if x := f.Get("qa_agents"); x != nil {
		d.judges(b, x)
	}
	if i, ok := b.r.Whole(f.Get("max_retry_attempts"), 1, maxAttempts); ok {
		n.Attempts = b.stated(f.Get("max_retry_attempts"), fmt.Sprint(i))
	}
	for _, name := range trackedKeys { // what was run before, where there is something to keep
		if x := f.Get(name); x != nil && (x.Kind != 'n' || x.Text != "0") && (x.Kind != '[' || len(x.Items) > 0) {
			b.metadata[name] = x.Plain()
		}
	}
	d.extensions(b, f)
}

// said is a text that says something, as it is.
func (b *bead) said(f foreign.Fields, name string) ir.Stated {
	if x := f.Get(name); x != nil && isSaid(x) {
		return b.stated(x, x.Text)
	}
	return ir.Stated{}
}

// oneLine is a text on one line; one that was on several is kept, too.
func (b *bead) oneLine(f foreign.Fields, name string) string {
	s := b.said(f, name).Value
	line := text.OneLine(s)
	if line != s {
		b.metadata[name] = foreign.Raw(s)
	}
	return line
}

// sibling is a worktree in the place that the format has for them: beside the
// repository, in a directory named for it.
var sibling = lazyregexp.New(`^(?:.*/)?[^/]+-worktrees/(.+)$`)

// worktree takes a place over without the machine that it was on.
func (d *decoding) worktree(b *bead, v *foreign.Value, s string) {
	m := sibling.FindStringSubmatch(strings.ReplaceAll(s, `\`, "/"))
	if m == nil || path.Clean(m[1]) != strings.TrimSuffix(m[1], "/") || strings.HasPrefix(m[1], "..") ||
		strings.ContainsFunc(m[1], unicode.IsControl) || strings.ContainsAny(m[1], "{}") {
		if !b.node.Done {
			d.unused(b, v, "bead-place", "the worktree's path is not allowed",
				"%s: ralph's worktrees are in ../REPOSITORY-worktrees/, where the template of the policy puts this one.", foreign.Clip(s))
		}
		return
	}
	b.node.Worktree = b.stated(v, "../{repo}-worktrees/"+strings.TrimSuffix(m[1], "/"))
}

// developer reads who does the work and what they are told.
func (d *decoding) developer(b *bead, f foreign.Fields) {
	n := &b.node
	n.Model = b.said(f, "dev_model")
	n.Model.Value = strings.TrimSpace(n.Model.Value)
	if s := b.said(f, "dev_agent_path"); s.Set() {
		ref := d.agent(b, f.Get("dev_agent_path"))
		ref.Model = n.Model.Value
		n.Agents, n.Model = []ir.AgentRef{ref}, ir.Stated{}
		b.metadata["dev_agent_path"] = foreign.Raw(s.Value)
	}
	x := f.Get("dev_prompts")
	switch {
	case x == nil:
	case x.Kind != '[':
		b.r.Wrong(x, "a list of texts")
	default:
		for _, p := range x.Items {
			if b.r.Is(p, 's', "a text") {
				b.prompt(p.Text)
			}
		}
	}
}

// prompt is a piece of work: a task, and a paragraph of exactly the agent's prompt.
func (b *bead) prompt(s string) {
	s = strings.Trim(foreign.Lines(s), "\n")
	if strings.TrimSpace(s) == "" {
		return
	}
	all := strings.Split(s, "\n")
	b.node.Tasks = append(b.node.Tasks, ir.Task{Text: all[0], Detail: all[1:]})
	if len(b.node.Prompt) > 0 {
		b.node.Prompt = append(b.node.Prompt, "")
	}
	b.node.Prompt = append(b.node.Prompt, all...)
}

// agent names the agent of a path: its file's stem, in all beads the same, for two
// paths never the same.
func (d *decoding) agent(b *bead, v *foreign.Value) ir.AgentRef {
	file := cleaned(v.Text)
	key := strings.TrimSuffix(file, ".md")
	ref := ir.AgentRef{Name: d.agents[key], Range: b.r.At(v)}
	if ref.Name == "" {
		stem := path.Base(key)
		if stem == "." || stem == ".." || len(stem) > 100 || strings.ContainsFunc(stem, func(c rune) bool {
			return unicode.IsSpace(c) || unicode.IsControl(c) || c == unicode.ReplacementChar || strings.ContainsRune(`/\<>|`, c)
		}) {
			if stem = foreign.Slug(stem); stem == "" || len(stem) > 100 {
				stem = "agent"
			}
		}
		ref.Name = stem
		for i := 2; d.paths[ref.Name] != ""; i++ {
			ref.Name = fmt.Sprintf("%s-%d", stem, i)
		}
		d.agents[key], d.paths[ref.Name] = ref.Name, key
	}
	switch {
	case isName(file):
	case isOutside(file):
		d.unused(b, v, "bead-place", "the agent's file is outside the project",
			"%s: agent files are inside the project. The agent %q is taken by its name, with the runner's own instructions for it.", foreign.Clip(file), ref.Name)
	default:
		ref.Path = file
	}
	return ref
}

// cleaned is the path of an agent without what spellings differ in.
func cleaned(said string) string {
	return path.Clean(strings.ReplaceAll(strings.TrimSpace(said), `\`, "/"))
}

// isName reports whether a path is only the name of an agent.
func isName(file string) bool { return !strings.Contains(file, "/") && !strings.HasSuffix(file, ".md") }

// isOutside reports whether a path leads out of the project.
func isOutside(file string) bool {
	return absolutePath.MatchString(file) || strings.HasPrefix(file, "~") || strings.HasPrefix(file, "../") || strings.Contains(file, ":")
}

// judges reads the QA agents: gates, one after another, a fail ends them.
func (d *decoding) judges(b *bead, list *foreign.Value) {
	if list.Kind != '[' {
		b.r.Wrong(list, "a list of QA agents")
		return
	}
	n := &b.node
	for _, q := range list.Items {
		if q.Kind != '{' {
			b.r.Wrong(q, "an object with agent_path, model, prompt and output_schema")
			continue
		}
		more := map[string]json.RawMessage{}
		f := b.r.Fields(q, more, "agent_path", "model", "prompt", "input_schema", "output_schema", "gate")
		if g := f.Get("gate"); g != nil && g.Kind == 's' {
			d.unused(b, g, "bead-policy-gate", "the policy's own gate is left to the policy",
				"%q was written by an export of ralph: its policy had the gate %q. Where this policy has it, it judges again.", q.Pointer, foreign.Clip(g.Text))
			continue
		}
		x := f.Get("agent_path")
		if x == nil || !isSaid(x) {
			b.r.Missing(q, "agent_path", "who judges: the path of an agent file")
			continue
		}
		ref := d.agent(b, x)
		more["agent_path"] = foreign.Raw(x.Text)
		if m := f.Get("model"); m != nil && m.Kind == 's' {
			ref.Model = strings.TrimSpace(m.Text)
		}
		if p := f.Get("prompt"); p != nil && p.Kind == 's' {
			ref.Note = strings.Trim(foreign.Lines(p.Text), "\n")
		}
		ref.Gate = ref.Name
		for i := 2; slices.ContainsFunc(n.QA, func(a ir.AgentRef) bool { return a.Gate == ref.Gate }); i++ {
			ref.Gate = fmt.Sprintf("%s-%d", ref.Name, i)
		}
		n.QA = append(n.QA, ref)
		out := ir.Output{Gate: ref.Gate, Range: b.r.At(q)}
		for name, to := range map[string]*json.RawMessage{"input_schema": &out.Input, "output_schema": &out.Schema} {
			if s := f.Get(name); s != nil {
				if s.Kind != '{' {
					b.r.Wrong(s, "a JSON Schema, an object")
					continue
				}
				if *to = s.Plain(); name == "output_schema" {
					*to = complete(*to)
					out.Range = b.r.At(s)
				}
			}
		}
		if out.Schema != nil || out.Input != nil {
			n.Outputs = append(n.Outputs, out)
		}
		b.qa[ref.Gate] = more
	}
}

// complete adds what a schema, an object, needs so that every answer holds a verdict.
func complete(raw json.RawMessage) json.RawMessage {
	var schema map[string]any
	exact := json.NewDecoder(bytes.NewReader(raw))
	exact.UseNumber()
	if err := exact.Decode(&schema); err != nil {
		panic(fmt.Sprintf("bead: %v", err)) // it was read from JSON
	}
	in := func(of map[string]any, key string) map[string]any {
		m, ok := of[key].(map[string]any)
		if !ok {
			m = map[string]any{}
			of[key] = m
		}
		return m
	}
	props := in(schema, "properties")
	status := in(props, "status")
	had, _ := status["enum"].([]any)
	same := len(had) == len(verdicts)
	for _, w := range verdicts {
		same = same && slices.Contains(had, any(w))
	}
	if !same {
		status["enum"] = []any{"pass", "fail", "stop"}
	}
	if _, ok := props["message"].(map[string]any); !ok {
		props["message"] = map[string]any{"type": "string"}
	}
	required, _ := schema["required"].([]any)
	schema["required"] = lists.Include(required, any("status"), "message")
	if schema["type"] == nil {
		schema["type"] = "object"
	}
	return rawJSON(schema)
}

// rawJSON is a value of the codec's own as JSON.
func rawJSON[V any](v V) json.RawMessage {
	raw, err := foreign.JSON(v)
	if err != nil {
		panic(fmt.Sprintf("bead: %v", err)) // it is plain
	}
	return raw
}
