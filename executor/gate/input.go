package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// input writes the part of the prompt that says what is judged: a JSON object,
// which must fit the gate's input schema, and the diff.
func (q *question) input(ctx context.Context) (string, error) {
	r := q.r
	all := q.facts()
	var diff, note string
	var err error
	if q.sees("diff") && r.Diff != nil {
		path := filepath.Join(q.files, q.name()+".diff")
		if diff, note, err = writeDiff(ctx, r, path, path); err != nil {
			return "", err
		}
		all["diff_file"] = path
	}
	given := all
	if !noSchema(r.Gate.InputSchema) {
		if given, err = pick(all, r.Gate.InputSchema); err != nil {
			return "", err
		}
	}
	b, err := marshal(given)
	if err != nil {
		return "", err
	}
	if _, err := keep(filepath.Join(q.files, q.name()+".input.json"), b, q.r.Redact); err != nil {
		return "", err
	}
	out := "## What you judge\n\n" + fence("json", string(b))
	if diff != "" {
		out += "\n## The change\n\n" + fence("diff", diff) + note
	}
	return out, nil
}

// sees reports whether the gate shows something. One that says nothing about it
// shows what QA needs.
func (q *question) sees(what string) bool {
	if len(q.r.Gate.Sees) == 0 {
		return what == "acceptance" || what == "diff" || what == "tasks"
	}
	return slices.Contains(q.r.Gate.Sees, what)
}

// facts are all that a judge may be given, by name.
func (q *question) facts() map[string]any {
	r := q.r
	paths := lists.Map(r.Changed, func(c executor.FileChange) string { return c.Path })
	m := map[string]any{
		"worktree_path": r.Dir, "branch": r.Node.Git.Branch, "changed_files": paths, "changes": orEmpty(r.Changed),
		"gate": r.Name, "sprint": string(r.Node.Key), "id": string(r.Node.ID), "title": r.Node.Title,
		"step": r.Effect.Step, "attempt": r.Effect.Attempt, "commit": r.Effect.Commit, "base_commit": r.Effect.Base,
		"listed": orEmpty(r.Listed), "feedback": orEmpty(r.Feedback), "summary": r.Outcome.Summary,
	}
	type said struct {
		Gate    string               `json:"gate"`
		Verdict executor.Verdict     `json:"verdict"`
		Message string               `json:"message"`
		Counts  *executor.TestCounts `json:"tests,omitempty"`
	}
	m["verdicts"] = lists.Map(r.Earlier, func(g executor.GateJudged) said { return said{g.Gate, g.Verdict, text.Head(g.Message, 300), g.Counts} })
	if q.sees("acceptance") {
		m["acceptance"] = orEmpty(r.Node.Acceptance)
	}
	if q.sees("tasks") {
		m["tasks"] = lists.Map(r.Node.Tasks, func(t ir.Task) string { return strings.Join(append([]string{t.Text}, t.Detail...), "\n") })
	}
	if q.sees("prompt") {
		m["prompt"] = strings.Join(r.Node.Prompt, "\n")
	}
	if q.sees("plan") {
		m["section"], m["goal"] = r.Node.Section, r.Node.Goal
	}
	return m
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// pick takes the facts that an input schema names, and checks them against it.
func pick(all map[string]any, schema json.RawMessage) (map[string]any, error) {
	const mend = " Fix input_schema in the policy and compile again."
	s, err := jsonschema.Compile(schema)
	if err != nil {
		return nil, fmt.Errorf("input_schema of the gate cannot be used: %w.%s", err, mend)
	}
	var named struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &named) // true is a schema too: it names nothing
	given := all
	if len(named.Properties) > 0 {
		given = map[string]any{}
		for name := range named.Properties {
			if v, ok := all[name]; ok {
				given[name] = v
			}
		}
	}
	b, err := marshal(given)
	if err != nil {
		return nil, err
	}
	if broken := s.Validate(b); len(broken) > 0 {
		return nil, fmt.Errorf("the input that ralph can give does not fit the gate's input_schema: %s. What can be asked for: %s.%s",
			text.Head(broken[0].String(), 300), strings.Join(slices.Sorted(maps.Keys(all)), ", "), mend)
	}
	return given, nil
}

// task is the gate's own prompt with what run.* stands for; it ends with the
// contract of the answer.
func (q *question) task() (string, error) {
	r := q.r
	run := executor.AgentRun{Files: q.files, Name: q.name(), Wall: r.Wall}
	at := filepath.Join(run.Seen(), run.Turn()) // as the runner names them
	values := map[string]string{
		"worktree": q.dir, "branch": q.node.Git.Branch, "model": r.Model, "attempt": strconv.Itoa(r.Effect.Attempt),
		"prompt_file": at + ".prompt.md", "outcome_file": at + ".outcome.json", "feedback": at + ".feedback.md",
	}
	text, err := executor.Fill(strings.Join(r.Gate.Prompt, "\n"), func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	})
	if err != nil {
		return "", fmt.Errorf("the gate's prompt: %w", err)
	}
	if noSchema(r.Gate.OutputSchema) { // else the compiler has written the contract
		text = join(text, "Answer with one JSON object and nothing after it:\n"+
			`- "status" (one of "pass", "fail", "stop")`+"\n"+`- "message" (string)`)
	}
	if q.tooled() {
		text = join(text, "Give that object to the tool report_outcome, if you have it, once you have your verdict: what you report there\n"+
			"is what counts, and you need not write it again. If you do not have the tool, answer with the JSON object alone.")
	}
	return "## Your task\n\n" + text + "\n", nil
}

// fence puts text into a fenced block that it cannot end itself.
func fence(kind, text string) string {
	longest, here := 2, 0
	for _, c := range text {
		here++
		if c != '`' {
			here = 0
		}
		longest = max(longest, here)
	}
	mark := strings.Repeat("`", longest+1)
	return mark + kind + "\n" + strings.TrimRight(text, "\n") + "\n" + mark + "\n"
}

// join puts sections of a prompt below each other.
func join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p = strings.Trim(p, "\n"); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n") + "\n"
}
