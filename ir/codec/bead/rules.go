package bead

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
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
	statuses = []string{"open", "in_progress", "closed", "blocked"}
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
	if x := at(v, "dependencies"); x != nil {
		r.dependencies(x)
	}
	r.texts(v, "labels", false, "")
	for _, key := range []string{"created_at", "updated_at", "closed_at"} {
		if x := at(v, key); x != nil {
			if _, err := time.Parse(time.RFC3339, x.Text); x.Kind != 's' || err != nil {
				r.must(x, "a time such as 2026-01-31T18:00:00Z")
			}
		}
	}
	switch m := at(v, "metadata"); {
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
		switch why := badBranch(x.Text); {
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
	r.texts(m, "dev_prompts", true, "what the agent is told, a list of texts")
	r.texts(m, "branches_to_merge", false, "")
	r.qaAgents(m)
	r.whole(m, "max_retry_attempts", 1, maxAttempts)
	r.whole(m, "attempt_count", 0, maxAttempts)
	for _, key := range []string{"dev_agent_executions", "qa_agent_executions"} {
		if x := at(m, key); x != nil && x.Kind != '[' {
			r.must(x, "a list of executions")
		}
	}
}

func (r *rules) qaAgents(m *foreign.Value) {
	list := at(m, "qa_agents")
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
		if x := at(q, "input_schema"); x != nil && x.Kind != '{' {
			r.must(x, "a JSON Schema")
		}
		r.outputSchema(q)
	}
}

func (r *rules) outputSchema(q *foreign.Value) {
	s := at(q, "output_schema")
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
	x := at(in, key)
	switch {
	case x == nil:
		r.lacks(in, key, what)
		return nil
	case x.Kind != 's' || strings.TrimSpace(x.Text) == "":
		r.must(x, what+", a text that is not empty")
		return nil
	}
	return x
}

// word demands one of the words.
func (r *rules) word(in *foreign.Value, key string, words []string) {
	list := text.Or(words)
	switch x := at(in, key); {
	case x == nil:
		r.lacks(in, key, list)
	case x.Kind != 's' || !slices.Contains(words, x.Text):
		r.must(x, list)
	}
}

// texts demands a list of texts that say something; needed: with at least one.
func (r *rules) texts(in *foreign.Value, key string, needed bool, what string) {
	x := at(in, key)
	switch {
	case x == nil && needed:
		r.lacks(in, key, what)
		return
	case x == nil:
		return
	case x.Kind != '[' || needed && len(x.Items) == 0:
		if needed {
			r.must(x, "a list of at least one text")
		} else {
			r.must(x, "a list of texts")
		}
		return
	}
	for _, item := range x.Items {
		if item.Kind != 's' || strings.TrimSpace(item.Text) == "" {
			r.must(item, "a text that is not empty")
		}
	}
}

// whole demands a whole number where there is one.
func (r *rules) whole(in *foreign.Value, key string, lo, hi int) {
	x := at(in, key)
	if x == nil {
		return
	}
	if n, err := strconv.Atoi(x.Text); x.Kind != 'n' || err != nil || n < lo || n > hi {
		r.must(x, fmt.Sprintf("a whole number from %d to %d", lo, hi))
	}
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

// at returns a member by its name in any spelling; a null is absent.
func at(v *foreign.Value, name string) *foreign.Value {
	if x := v.Get(name); x != nil {
		return notNull(x)
	}
	name = foreign.Plain(name)
	for i := range v.Members {
		if foreign.Plain(v.Members[i].Name) == name {
			return notNull(v.Members[i].Value)
		}
	}
	return nil
}

func notNull(v *foreign.Value) *foreign.Value {
	if v.Kind == '0' {
		return nil
	}
	return v
}

// badBranch says why git would refuse a branch; "" if it would not.
func badBranch(name string) string {
	switch {
	case name == "" || name == "@" || name == "HEAD":
		return "is a name that git uses itself, or empty"
	case len(name) > 200:
		return "is longer than 200 bytes"
	case strings.HasPrefix(name, "-"):
		return `begins with "-"`
	case strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Contains(name, "//"):
		return "has an empty part between slashes"
	case strings.Contains(name, ".."), strings.Contains(name, "@{"), strings.HasSuffix(name, "."), strings.HasPrefix(name, "refs/"):
		return "holds what git reads as something else"
	case strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c == 0x7f || c == 0xFFFD || strings.ContainsRune(`~^:?*[\{}`, c)
	}):
		return "holds a character that git refuses"
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return `has a part that begins with "." or ends with ".lock"`
		}
	}
	return ""
}
