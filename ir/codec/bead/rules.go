package bead

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Patterns of the format.
var (
	phasePattern  = lazyregexp.New(`^[0-9]+[a-z]*$`)
	sprintPattern = lazyregexp.New(`^[0-9]+[a-z]*\.[0-9]+[a-z]*$`)
	branchPattern = lazyregexp.New(`^[a-zA-Z0-9/_-]+$`)
	absolutePath  = lazyregexp.New(`^(/|[A-Za-z]:[/\\]|\\\\)`)
)

// Words of the format.
var (
	statuses = foreign.IssueStatuses[:4].Words()
	verdicts = []string{"pass", "fail", "stop"}
)

// demand is something that the format demands of a bead and a bead does not meet.
type demand struct {
	at      *foreign.Value // what does not meet it; of what is missing, the object that lacks it
	missing bool
	pointer string
	message string // "must be …"
}

// rules collects what one bead does not meet.
type rules struct{ found []demand }

// demands returns everything that the format demands of a bead and it does not meet,
// in the order of the format.
func demands(v *foreign.Value) []demand {
	var r rules
	r.text(v, "id", "the id of the bead")
	r.text(v, "title", "what is to be done, in a line")
	r.word(v, "status", statuses)
	r.whole(v, "priority", 0, 4)
	r.word(v, "issue_type", []string{TypeWork, TypeMerge})
	r.word(v, "assignee", []string{Assignee})
	if x := v.Any("dependencies"); x != nil {
		r.dependencies(x)
	}
	r.texts(v, "labels", leftOut, "")
	for _, key := range []string{"created_at", "updated_at", "closed_at"} {
		if x := v.Any(key); x != nil {
			if _, err := time.Parse(time.RFC3339, x.Text); x.Kind != 's' || err != nil {
				r.must(x, "a time such as 2026-01-31T18:00:00Z")
			}
		}
	}
	switch m := v.Any("metadata"); {
	case m == nil:
		r.lacks(v, "metadata", "an object with everything that scrum agents need")
	case m.Kind != '{':
		r.must(m, "an object")
	default:
		r.metadata(m)
	}
	return r.found
}

func (r *rules) metadata(m *foreign.Value) {
	if x := r.text(m, "worktree_path", "the absolute path of the worktree"); x != nil && !absolutePath.MatchString(x.Text) {
		r.must(x, "an absolute path")
	}
	if x := r.text(m, "branch", "the branch that the work is done on"); x != nil {
		switch why := ir.BadBranch(x.Text); {
		case !branchPattern.MatchString(x.Text):
			r.must(x, `of letters, digits, "/", "_" and "-"`)
		case why != "":
			r.must(x, "a name that git takes for a branch: it "+why)
		}
	}
	r.text(m, "source_branch", "the branch that the worktree starts from")
	phase := r.text(m, "phase", "the number of the phase, such as 1 or 3a")
	if phase != nil && !phasePattern.MatchString(phase.Text) {
		r.must(phase, "digits, then perhaps lower-case letters, such as 1 or 3a")
		phase = nil
	}
	sprint := r.text(m, "sprint", "the number of the sprint, such as 1.2 or 3a.2b")
	if sprint != nil && !sprintPattern.MatchString(sprint.Text) {
		r.must(sprint, "a phase, a dot, digits and perhaps lower-case letters, such as 1.2 or 3a.2b")
		sprint = nil
	}
	if phase != nil && sprint != nil {
		if of, _, _ := strings.Cut(sprint.Text, "."); of != phase.Text {
			r.must(sprint, fmt.Sprintf("a sprint of phase %s, such as %s.1", phase.Text, phase.Text))
		}
	}
	r.text(m, "plan_file", "the path of the plan")
	r.text(m, "plan_section", "where the plan speaks of it")
	if x := r.text(m, "plan_sprint_id", "the sprint's id in the plan"); x != nil && sprint != nil && x.Text != sprint.Text {
		r.must(x, "the sprint, "+sprint.Text)
	}
	r.agent(m, "dev_agent_path")
	r.word(m, "dev_model", models)
	r.texts(m, "dev_prompts", needed, "what the agent is told, a list of texts")
	r.texts(m, "branches_to_merge", leftOut, "")
	r.qaAgents(m)
	r.whole(m, "max_retry_attempts", 1, maxAttempts)
	r.whole(m, "attempt_count", 0, maxAttempts)
	for _, key := range []string{"dev_agent_executions", "qa_agent_executions"} {
		if x := m.Any(key); x != nil && x.Kind != '[' {
			r.must(x, "a list of executions")
		}
	}
}

func (r *rules) qaAgents(m *foreign.Value) {
	list := m.Any("qa_agents")
	switch {
	case list == nil:
		r.lacks(m, "qa_agents", "who judges the work, a list of QA agents")
		return
	case list.Kind != '[' || len(list.Items) == 0:
		r.must(list, "a list of at least one QA agent")
		return
	}
	for _, q := range list.Items {
		if q.Kind != '{' {
			r.must(q, "an object with agent_path, model, prompt and output_schema")
			continue
		}
		r.agent(q, "agent_path")
		r.word(q, "model", models)
		r.text(q, "prompt", "what the agent is asked")
		if x := q.Any("input_schema"); x != nil && x.Kind != '{' {
			r.must(x, "a JSON Schema")
		}
		r.outputSchema(q)
	}
}

func (r *rules) outputSchema(q *foreign.Value) {
	s := q.Any("output_schema")
	if s == nil {
		r.lacks(q, "output_schema", "a JSON Schema with status and message")
		return
	}
	if s.Kind != '{' {
		r.must(s, "a JSON Schema")
		return
	}
	props := s.Get("properties")
	if props == nil || props.Kind != '{' {
		r.lacks(s, "properties", "an object with status and message")
		return
	}
	if status := props.Get("status"); status == nil {
		r.lacks(props, "status", `the verdict: {"enum": ["pass", "fail", "stop"]}`)
	} else if !sameWords(status.Get("enum"), verdicts) {
		r.must(status, `{"enum": ["pass", "fail", "stop"]}, no word more and none less`)
	}
	if props.Get("message") == nil {
		r.lacks(props, "message", `what there is to say: {"type": "string"}`)
	}
}

// sameWords reports whether a list holds exactly these words, in any order.
func sameWords(list *foreign.Value, words []string) bool {
	if list == nil || list.Kind != '[' || len(list.Items) != len(words) {
		return false
	}
	for _, w := range words {
		if !slices.ContainsFunc(list.Items, func(x *foreign.Value) bool { return x.Kind == 's' && x.Text == w }) {
			return false
		}
	}
	return true
}

func (r *rules) dependencies(list *foreign.Value) {
	if list.Kind != '[' {
		r.must(list, "a list of ids")
		return
	}
	for _, x := range list.Items {
		if id, _ := dependencyOf(x); id == nil || strings.TrimSpace(id.Text) == "" {
			r.must(x, `the id of a bead, or {"depends_on_id": …, "type": …}`)
		}
	}
}

// agent demands the path of an agent file.
func (r *rules) agent(in *foreign.Value, key string) {
	x := r.text(in, key, "the path of an agent file, such as .claude/agents/backend-dev")
	if x != nil && (!strings.ContainsAny(x.Text, `/\`) && !strings.HasSuffix(x.Text, ".md") || strings.ContainsAny(x.Text, "\n\r\t")) {
		r.must(x, "the path of an agent file, such as .claude/agents/backend-dev")
	}
}

// text demands a text that says something, and returns it.
func (r *rules) text(in *foreign.Value, key, what string) *foreign.Value {
	return r.demand(in.Any(key), in, needed, key, what, what+", a text that is not empty", isSaid)
}

// word demands one of the words.
func (r *rules) word(in *foreign.Value, key string, words []string) {
	list := text.Or(words)
	r.demand(in.Any(key), in, needed, key, list, list, func(x *foreign.Value) bool { return isText(x) && slices.Contains(words, x.Text) })
}

// texts demands a list of texts that say something; with at least one where it is needed.
func (r *rules) texts(in *foreign.Value, key string, p presence, what string) {
	must := "a list of texts"
	if p == needed {
		must = "a list of at least one text"
	}
	list := r.demand(in.Any(key), in, p, key, what, must, func(x *foreign.Value) bool { return isList(x) && (p != needed || len(x.Items) > 0) })
	if list == nil {
		return
	}
	for _, item := range list.Items {
		if !isSaid(item) {
			r.must(item, "a text that is not empty")
		}
	}
}

// whole demands a whole number where there is one.
func (r *rules) whole(in *foreign.Value, key string, lo, hi int) {
	r.demand(in.Any(key), in, leftOut, key, "", fmt.Sprintf("a whole number from %d to %d", lo, hi), func(x *foreign.Value) bool {
		n, err := strconv.Atoi(x.Text)
		return x.Kind == 'n' && err == nil && n >= lo && n <= hi
	})
}

func (r *rules) must(x *foreign.Value, what string) {
	message := "must be " + what
	if x.Kind == 'n' || x.Kind == 's' && strings.TrimSpace(x.Text) != "" {
		message += fmt.Sprintf(", not %q", foreign.Clip(x.Text))
	}
	r.found = append(r.found, demand{at: x, pointer: x.Pointer, message: message})
}

func (r *rules) lacks(in *foreign.Value, key, what string) {
	r.found = append(r.found, demand{at: in, missing: true, pointer: in.Pointer + "/" + key, message: "is missing; it must be " + what})
}
