package bead

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Validate checks beads against the format's own model: an error for exactly what that
// refuses, and nothing else. The model is typed: keys must have its spelling, unknown keys
// pass, and null is only allowed where it says so. What passes may still be of no use to
// ralph; import reports that.
func Validate(files []*diag.File) diag.List {
	var list diag.List
	beads := 0
	for _, f := range files {
		r := &foreign.Reader{File: f, Format: Format}
		for _, v := range r.Objects() {
			beads++
			var m rules
			m.bead(v)
			for _, d := range m.found {
				r.Diags.Add(d.diagnostic(r))
			}
		}
		list.Add(r.Diags...)
	}
	if beads == 0 && !list.HasErrors() {
		list.Add(noBead(files))
	}
	list.Sort()
	return list
}

// presence says whether a key may be left out or null.
type presence int

const (
	needed   presence = iota // it is there and not null
	leftOut                  // it may be left out
	optional                 // it may also be null
)

var executionStatuses = []string{"completed", "failed", "timeout"}

func (r *rules) bead(v *foreign.Value) {
	r.is(v, needed, "id", "a text", isText)
	r.is(v, needed, "title", "a text that is not blank", func(x *foreign.Value) bool { return isText(x) && strings.TrimFunc(x.Text, blank) != "" })
	r.is(v, needed, "description", "a text", isText)
	r.oneOf(v, "status", statuses)
	r.is(v, needed, "priority", "a whole number from 0 to 4", func(x *foreign.Value) bool { return isWhole(x, 0) && !isWhole(x, 5) })
	r.oneOf(v, "issue_type", []string{TypeWork, TypeMerge})
	r.oneOf(v, "assignee", []string{Assignee})
	r.is(v, optional, "owner", "a text or null", isText)
	r.each(v, leftOut, "dependencies", "a list of ids", r.item("the id of a bead, a text", isText))
	r.each(v, leftOut, "labels", "a list of texts", r.item("a text", isText))
	r.each(v, leftOut, "comments", "a list of objects", r.item("an object", isObject))
	if m := r.is(v, needed, "metadata", "an object", isObject); m != nil {
		r.work(m)
	}
	r.is(v, optional, "external_ref", "a text or null", isText)
	r.is(v, needed, "created_at", timeForm, isTime)
	r.is(v, needed, "updated_at", timeForm, isTime)
	r.is(v, optional, "closed_at", timeForm+", or null", isTime)
}

// work is the bead's metadata.
func (r *rules) work(m *foreign.Value) {
	for _, key := range []string{"worktree_path", "branch", "source_branch"} {
		r.is(m, needed, key, "a text", isText)
	}
	r.is(m, needed, "phase", phaseForm, matches(phasePattern))
	r.is(m, needed, "sprint", sprintForm, matches(sprintPattern))
	for _, key := range []string{"plan_file", "plan_section", "plan_sprint_id"} {
		r.is(m, needed, key, "a text", isText)
	}
	r.each(m, optional, "branches_to_merge", "a list of texts, or null", r.item("a text", isText))
	r.is(m, needed, "dev_agent_path", "a text", isText)
	r.oneOf(m, "dev_model", models)
	r.some(m, "dev_prompts", "a list of at least one text", r.item("a text", isText))
	r.some(m, "qa_agents", "a list of at least one QA agent", r.object(r.qaAgent))
	r.is(m, leftOut, "max_retry_attempts", "a whole number from 1", func(x *foreign.Value) bool { return isWhole(x, 1) })
	r.is(m, leftOut, "attempt_count", "a whole number from 0", func(x *foreign.Value) bool { return isWhole(x, 0) })
	r.is(m, optional, "scrum_master_session_id", "a text or null", isText)
	r.is(m, optional, "dev_agent_session_id", "a text or null", isText)
	r.each(m, leftOut, "dev_agent_executions", "a list of executions", r.object(r.devExecution))
	r.each(m, leftOut, "qa_agent_executions", "a list of executions", r.object(r.qaExecution))
	r.is(m, optional, "pr_url", "a text or null", isText)
	r.is(m, optional, "pr_number", "a whole number or null", isInt)
	if s := r.is(m, optional, "scrum_result", "an object or null", isObject); s != nil {
		r.result(s)
	}
}

func (r *rules) qaAgent(q *foreign.Value) {
	r.is(q, needed, "agent_path", "a text", isText)
	r.oneOf(q, "model", models)
	r.is(q, needed, "prompt", "a text", isText)
	r.is(q, optional, "input_schema", "a JSON Schema (an object) or null", isObject)
	if s := r.is(q, needed, "output_schema", "a JSON Schema (an object) with status and message", isObject); s != nil {
		r.answer(s)
	}
}

// answer is the schema of a QA agent's answer.
func (r *rules) answer(s *foreign.Value) {
	props := r.is(s, needed, "properties", "an object with status and message", isObject)
	if props == nil {
		return
	}
	status := lastOf(props, "status")
	switch {
	case status == nil:
		r.lacks(props, "status", `the verdict: {"enum": ["pass", "fail", "stop"]}`)
	case !allows(status):
		r.must(status, `{"enum": …} with no other words than pass, fail and stop`)
	}
	if lastOf(props, "message") == nil {
		r.lacks(props, "message", `what there is to say: {"type": "string"}`)
	}
}

// allows reports whether the model takes the schema of a status. It looks for an
// enum in whatever is there, and for its words in whatever that holds.
func allows(status *foreign.Value) bool {
	var enum *foreign.Value
	switch status.Kind {
	case '{':
		if enum = lastOf(status, "enum"); enum == nil {
			return true
		}
	case '[':
		return !slices.ContainsFunc(status.Items, func(x *foreign.Value) bool { return x.Text == "enum" })
	case 's':
		return !strings.Contains(status.Text, "enum")
	default:
		return false
	}
	verdict := func(s string) bool { return slices.Contains(verdicts, s) }
	switch enum.Kind {
	case '[':
		return !slices.ContainsFunc(enum.Items, func(x *foreign.Value) bool { return !verdict(x.Text) })
	case '{':
		return !slices.ContainsFunc(enum.Members, func(m foreign.Member) bool { return !verdict(m.Name) })
	case 's':
		return enum.Text == ""
	}
	return false
}

func (r *rules) devExecution(v *foreign.Value) {
	r.execution(v, executionStatuses)
	r.is(v, optional, "feedback_from_qa", "a text or null", isText)
}

func (r *rules) qaExecution(v *foreign.Value) {
	r.execution(v, verdicts)
	r.is(v, needed, "message", "a text", isText)
	r.is(v, leftOut, "details", "an object", isObject)
}

func (r *rules) execution(v *foreign.Value, words []string) {
	r.is(v, needed, "attempt", "a whole number from 1", func(x *foreign.Value) bool { return isWhole(x, 1) })
	r.is(v, needed, "session_id", "a text", isText)
	r.is(v, needed, "agent_path", "a text", isText)
	r.oneOf(v, "model", models)
	r.is(v, needed, "started_at", timeForm, isTime)
	r.is(v, needed, "completed_at", timeForm, isTime)
	r.oneOf(v, "status", words)
}

// result is the scrum result.
func (r *rules) result(v *foreign.Value) {
	r.is(v, needed, "bead_id", "a text", isText)
	r.is(v, needed, "success", "true or false", isBool)
	r.is(v, optional, "pr_url", "a text or null", isText)
	r.is(v, optional, "pr_number", "a whole number or null", isInt)
	r.is(v, needed, "bead_updated", "true or false", isBool)
	r.is(v, needed, "attempt_count", "a whole number from 0", func(x *foreign.Value) bool { return isWhole(x, 0) })
	r.each(v, leftOut, "qa_results", "a list of results", r.object(func(q *foreign.Value) {
		r.is(q, needed, "agent_path", "a text", isText)
		r.oneOf(q, "status", verdicts)
		r.is(q, needed, "message", "a text", isText)
		r.is(q, leftOut, "details", "an object", isObject)
	}))
	r.is(v, optional, "error", "a text or null", isText)
	r.is(v, needed, "fatal", "true or false", isBool)
}

// is demands a member of a kind, and returns it if it is there and of that kind.
func (r *rules) is(in *foreign.Value, p presence, key, what string, of func(*foreign.Value) bool) *foreign.Value {
	return r.demand(lastOf(in, key), in, p, key, what, what, of)
}

// demand reports the member x of an object if it is missing or not what it must be, and
// returns it otherwise.
func (r *rules) demand(x, in *foreign.Value, p presence, key, lacks, must string, of func(*foreign.Value) bool) *foreign.Value {
	switch {
	case x == nil && p == needed:
		r.lacks(in, key, lacks)
	case x == nil || x.Kind == '0' && p == optional:
	case !of(x):
		r.must(x, must)
	default:
		return x
	}
	return nil
}

func (r *rules) oneOf(in *foreign.Value, key string, words []string) {
	r.is(in, needed, key, text.Or(words), isOneOf(words))
}

// each demands a list and looks at its items.
func (r *rules) each(in *foreign.Value, p presence, key, what string, look func(*foreign.Value)) {
	r.items(r.is(in, p, key, what, isList), look)
}

// some is each of a list that is there and not empty.
func (r *rules) some(in *foreign.Value, key, what string, look func(*foreign.Value)) {
	r.items(r.is(in, needed, key, what, isFilled), look)
}

// items looks at the items of a list, if there is one.
func (r *rules) items(list *foreign.Value, look func(*foreign.Value)) {
	if list != nil {
		for _, x := range list.Items {
			look(x)
		}
	}
}

func (r *rules) item(what string, of func(*foreign.Value) bool) func(*foreign.Value) {
	return func(x *foreign.Value) {
		if !of(x) {
			r.must(x, what)
		}
	}
}

func (r *rules) object(look func(*foreign.Value)) func(*foreign.Value) {
	return func(x *foreign.Value) {
		if x.Kind != '{' {
			r.must(x, "an object")
			return
		}
		look(x)
	}
}

// lastOf is the last member of a name: the model's reader takes that.
func lastOf(in *foreign.Value, name string) *foreign.Value {
	for _, m := range slices.Backward(in.Members) {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

func isSaid(x *foreign.Value) bool   { return isText(x) && strings.TrimSpace(x.Text) != "" }
func isText(x *foreign.Value) bool   { return x.Kind == 's' }
func isBool(x *foreign.Value) bool   { return x.Kind == 'b' }
func isObject(x *foreign.Value) bool { return x.Kind == '{' }
func isList(x *foreign.Value) bool   { return x.Kind == '[' }
func isFilled(x *foreign.Value) bool { return len(x.Items) > 0 }

func isOneOf(words []string) func(*foreign.Value) bool {
	return func(x *foreign.Value) bool { return slices.Contains(words, x.Text) }
}

// isInt reports whether a number is written without a fraction and an exponent.
func isInt(x *foreign.Value) bool { return x.Kind == 'n' && !strings.ContainsAny(x.Text, ".eE") }

// isWhole reports whether it is a whole number from lo, which is not negative.
func isWhole(x *foreign.Value, lo int64) bool {
	if !isInt(x) {
		return false
	}
	n, err := strconv.ParseInt(x.Text, 10, 64)
	if err != nil { // it has more digits than that
		return !strings.HasPrefix(x.Text, "-")
	}
	return n >= lo
}

// matches is a pattern of the model; its $ also matches before a last line end.
func matches(pattern *lazyregexp.Regexp) func(*foreign.Value) bool {
	return func(x *foreign.Value) bool { return isText(x) && pattern.MatchString(strings.TrimSuffix(x.Text, "\n")) }
}

// blank are the characters that the model does not count as a title: white space,
// and the separators of ASCII.
func blank(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }

const timeForm = "a time such as 2026-01-31T18:00:00Z"

var (
	dateTime = lazyregexp.New(`^(\d{4}-\d\d-\d\d)[Tt _](\d\d:\d\d)(:\d\d)?(?:[.,]\d+)?(?:[Zz]|[+\x{2212}-](\d\d):?(\d\d))?$`)
	seconds  = lazyregexp.New(`^[+-]?(\d+)(\.\d*)?$`)
)

// Bounds of a time that is written as a number: small ones count seconds, the others
// milliseconds, which must lie within the years 1 to 9999.
const (
	firstMS = -62_135_596_800_000
	lastMS  = 253_402_300_799_999
)

// isTime reports whether a text is a time: a date with a time of day, with or
// without seconds and zone, or a number of seconds or milliseconds since 1970.
func isTime(x *foreign.Value) bool {
	if x.Kind != 's' {
		return false
	}
	if seconds.MatchString(x.Text) {
		whole, _, _ := strings.Cut(x.Text, ".")
		n, _ := strconv.ParseInt(whole, 10, 64) // beyond its range it is an end of that
		return n >= firstMS && n <= lastMS
	}
	m := dateTime.FindStringSubmatch(x.Text)
	if m == nil || m[3] == "" && strings.ContainsAny(x.Text, ".,") {
		return false
	}
	clock := cmp.Or(m[3], ":00")
	if t, err := time.Parse("2006-01-02 15:04:05", m[1]+" "+m[2]+clock); err != nil || t.Year() < 1 {
		return false
	}
	return m[4] < "24" && m[5] < "60"
}
