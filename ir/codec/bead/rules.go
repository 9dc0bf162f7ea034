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

// What they say.
const (
	phaseForm  = "digits, then perhaps lower-case letters, such as 1 or 3a"
	sprintForm = "a phase, a dot, digits and perhaps lower-case letters, such as 1.2 or 3a.2b"
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
	r.items(r.any(v, leftOut, "dependencies", "", "a list of ids", isList), r.item(`the id of a bead, or {"depends_on_id": …, "type": …}`, func(x *foreign.Value) bool {
		id, _ := dependencyOf(x)
		return id != nil && strings.TrimSpace(id.Text) != ""
	}))
	r.texts(v, "labels", leftOut, "")
	for _, key := range []string{"created_at", "updated_at", "closed_at"} {
		r.any(v, leftOut, key, "", timeForm, func(x *foreign.Value) bool {
			_, err := time.Parse(time.RFC3339, x.Text)
			return err == nil
		})
	}
	if m := r.any(v, needed, "metadata", "an object with everything that scrum agents need", "an object", isObject); m != nil {
		r.metadata(m)
	}
	return r.found
}

func (r *rules) metadata(m *foreign.Value) {
	r.fits(r.text(m, "worktree_path", "the absolute path of the worktree"), absolutePath, "an absolute path")
	if x := r.text(m, "branch", "the branch that the work is done on"); x != nil {
		switch why := ir.BadBranch(x.Text); {
		case !branchPattern.MatchString(x.Text):
			r.must(x, `of letters, digits, "/", "_" and "-"`)
		case why != "":
			r.must(x, "a name that git takes for a branch: it "+why)
		}
	}
	r.text(m, "source_branch", "the branch that the worktree starts from")
	phase := r.fits(r.text(m, "phase", "the number of the phase, such as 1 or 3a"), phasePattern, phaseForm)
	sprint := r.fits(r.text(m, "sprint", "the number of the sprint, such as 1.2 or 3a.2b"), sprintPattern, sprintForm)
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
		r.any(m, leftOut, key, "", "a list of executions", isList)
	}
}

func (r *rules) qaAgents(m *foreign.Value) {
	list := r.any(m, needed, "qa_agents", "who judges the work, a list of QA agents", "a list of at least one QA agent", isFilled)
	if list == nil {
		return
	}
	for _, q := range list.Items {
		if q.Kind != '{' { // import refuses it
			continue
		}
		r.agent(q, "agent_path")
		r.word(q, "model", models)
		r.text(q, "prompt", "what the agent is asked")
		r.outputSchema(q)
	}
}

func (r *rules) outputSchema(q *foreign.Value) {
	s := r.any(q, needed, "output_schema", "a JSON Schema with status and message", "a JSON Schema", isObject)
	if s == nil {
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
	if list == nil || len(list.Items) != len(words) {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool {
		return !slices.ContainsFunc(list.Items, func(x *foreign.Value) bool { return x.Text == w })
	})
}

// fits demands that a text has a form, and returns one that has.
func (r *rules) fits(x *foreign.Value, form *lazyregexp.Regexp, what string) *foreign.Value {
	if x != nil && !form.MatchString(x.Text) {
		r.must(x, what)
		return nil
	}
	return x
}

// agent demands the path of an agent file.
func (r *rules) agent(in *foreign.Value, key string) {
	x := r.text(in, key, "the path of an agent file, such as .claude/agents/backend-dev")
	if x != nil && (!strings.ContainsAny(x.Text, `/\`) && !strings.HasSuffix(x.Text, ".md") || strings.ContainsAny(x.Text, "\n\r\t")) {
		r.must(x, "the path of an agent file, such as .claude/agents/backend-dev")
	}
}

// any demands a member in any spelling, and returns it if it is there and of a kind.
func (r *rules) any(in *foreign.Value, p presence, key, lacks, must string, of func(*foreign.Value) bool) *foreign.Value {
	return r.demand(in.Any(key), in, p, key, lacks, must, of)
}

// text demands a text that says something, and returns it.
func (r *rules) text(in *foreign.Value, key, what string) *foreign.Value {
	return r.any(in, needed, key, what, what+", a text that is not empty", isSaid)
}

// word demands one of the words.
func (r *rules) word(in *foreign.Value, key string, words []string) {
	list := text.Or(words)
	r.any(in, needed, key, list, list, isOneOf(words))
}

// texts demands a list of texts that say something; with at least one where it is needed.
func (r *rules) texts(in *foreign.Value, key string, p presence, what string) {
	must, is := "a list of texts", isList
	if p == needed {
		must, is = "a list of at least one text", isFilled
	}
	r.items(r.any(in, p, key, what, must, is), r.item("a text that is not empty", isSaid))
}

// whole demands a whole number where there is one.
func (r *rules) whole(in *foreign.Value, key string, lo, hi int) {
	r.any(in, leftOut, key, "", fmt.Sprintf("a whole number from %d to %d", lo, hi), func(x *foreign.Value) bool {
		n, err := strconv.Atoi(x.Text)
		return x.Kind == 'n' && err == nil && n >= lo && n <= hi
	})
}

func (r *rules) must(x *foreign.Value, what string) {
	message := "must be " + what
	if strings.TrimSpace(x.Text) != "" {
		message += fmt.Sprintf(", not %q", foreign.Clip(x.Text))
	}
	r.found = append(r.found, demand{at: x, pointer: x.Pointer, message: message})
}

func (r *rules) lacks(in *foreign.Value, key, what string) {
	r.found = append(r.found, demand{at: in, missing: true, pointer: in.Pointer + "/" + key, message: "is missing; it must be " + what})
}
