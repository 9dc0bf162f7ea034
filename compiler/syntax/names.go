package syntax

import (
	"slices"
	"strings"
	"sync"
)

// LabelName is the canonical name of a label.
type LabelName string

// Labels of the plan language.
const (
	Goal              LabelName = "goal"
	Description       LabelName = "description"
	Worktree          LabelName = "worktree"
	Branch            LabelName = "branch"
	SourceBranch      LabelName = "source_branch"
	IntegrationBranch LabelName = "integration_branch"
	DevAgents         LabelName = "dev_agents"
	QAAgents          LabelName = "qa_agents"
	Tasks             LabelName = "tasks"
	Acceptance        LabelName = "acceptance"
	Verify            LabelName = "verify"
	Owns              LabelName = "owns"
	Files             LabelName = "files"
	Reads             LabelName = "reads"
	Complexity        LabelName = "complexity"
	Priority          LabelName = "priority"
	Lane              LabelName = "lane"
	LabelsLabel       LabelName = "labels"
	Type              LabelName = "type"
	Policy            LabelName = "policy"
	Attempts          LabelName = "attempts"
	Iterations        LabelName = "iterations"
	Timeout           LabelName = "timeout"
	Deadline          LabelName = "deadline"
	Budget            LabelName = "budget"
	Estimate          LabelName = "estimate"
	Approval          LabelName = "approval"
	Capability        LabelName = "capability"
	Access            LabelName = "access"
	Model             LabelName = "model"
	Session           LabelName = "session"
	Prompt            LabelName = "prompt"
	Implements        LabelName = "implements"
	Manual            LabelName = "manual"

	DependsOn      LabelName = "depends_on"
	Blocks         LabelName = "blocks"
	Related        LabelName = "related"
	DiscoveredFrom LabelName = "discovered_from"
	Parent         LabelName = "parent"

	Status    LabelName = "status"
	SessionID LabelName = "session_id"
	PR        LabelName = "pr"
	Outcome   LabelName = "outcome"
	Progress  LabelName = "progress"
	Review    LabelName = "review"
)

// shape says what may follow a label.
type shape uint8

const (
	scalar shape = iota // a word or two; twice with different values is an error
	list                // a list, also after a value
	prose               // text, a list or a fence
	state               // what belongs to the journal
	checks              // fences, lists, code spans
)

type labelSpec struct {
	name    LabelName
	shape   shape
	written []string // the first one is what a directive is told to write
}

var labelSpecs = []labelSpec{
	{Goal, prose, []string{"Goal", "Objective"}},
	{Description, prose, []string{"Description"}},
	{Worktree, scalar, []string{"Worktree"}},
	{Branch, scalar, []string{"Branch"}},
	{SourceBranch, scalar, []string{"Source Branch"}},
	{IntegrationBranch, scalar, []string{"Integration Branch"}},
	{DevAgents, list, []string{"Dev Agents", "Agent", "Dev Agent(s)"}},
	{QAAgents, list, []string{"QA Agents", "QA Agent(s)"}},
	{Tasks, list, []string{"Tasks", "Deliverables"}},
	{Acceptance, list, []string{"Acceptance Criteria", "Definition of Done", "Success Criteria"}},
	{Verify, checks, []string{"Verify", "Tests"}},
	{Owns, list, []string{"Owns"}},
	{Files, list, []string{"Files"}},
	{Reads, list, []string{"Reads"}},
	{Complexity, scalar, []string{"Complexity"}},
	{Priority, scalar, []string{"Priority"}},
	{Lane, scalar, []string{"Lane"}},
	{LabelsLabel, list, []string{"Labels"}},
	{Type, scalar, []string{"Type"}},
	{Policy, scalar, []string{"Policy"}},
	{Attempts, scalar, []string{"Attempts"}},
	{Iterations, scalar, []string{"Iterations"}},
	{Timeout, scalar, []string{"Timeout"}},
	{Deadline, scalar, []string{"Deadline"}},
	{Budget, scalar, []string{"Budget"}},
	{Estimate, scalar, []string{"Estimate"}},
	{Approval, scalar, []string{"Approval"}},
	{Capability, list, []string{"Capability"}},
	{Access, scalar, []string{"Access"}},
	{Model, scalar, []string{"Model"}},
	{Session, scalar, []string{"Session"}},
	{Prompt, prose, []string{"Prompt"}},
	{Implements, list, []string{"Implements"}},
	{Manual, scalar, []string{"Manual"}},
	{DependsOn, list, []string{"Depends on", "Dependencies", "Dependency", "Prerequisites", "Pre-requisites", "After", "Blocked by"}},
	{Blocks, list, []string{"Blocks", "Unblocks", "Unlocks"}},
	{Related, list, []string{"Related"}},
	{DiscoveredFrom, list, []string{"Discovered from"}},
	{Parent, list, []string{"Parent"}},
	{Status, state, []string{"Status"}},
	{SessionID, state, []string{"Session ID"}},
	{PR, state, []string{"PR"}},
	{Outcome, state, []string{"Outcome"}},
	{Progress, state, []string{"Progress"}},
	{Review, state, []string{"Review"}},
}

// IsDependency reports whether the label is about other items.
func (n LabelName) IsDependency() bool {
	switch n {
	case DependsOn, Blocks, Related, DiscoveredFrom, Parent:
		return true
	}
	return false
}

// IsState reports whether the label is left out of prompts and digests.
func (n LabelName) IsState() bool { return shapeOf(n) == state }

// IsScalar reports whether a section may state the label only once.
func (n LabelName) IsScalar() bool { return shapeOf(n) == scalar }

var specs = sync.OnceValue(func() map[LabelName]labelSpec {
	m := make(map[LabelName]labelSpec, len(labelSpecs))
	for _, s := range labelSpecs {
		m[s.name] = s
	}
	return m
})

func shapeOf(n LabelName) shape { return specs()[n].shape }

// labelTitle is how a label is written.
func labelTitle(n LabelName) string { return specs()[n].written[0] }

var labelsByStem = sync.OnceValue(func() map[string]LabelName {
	m := map[string]LabelName{}
	for _, s := range labelSpecs {
		for _, w := range s.written {
			m[stems(w)] = s.name
		}
	}
	return m
})

// LabelNames lists how the labels are written, sorted: for suggestions and help.
var LabelNames = sync.OnceValue(func() []string {
	var out []string
	for _, s := range labelSpecs {
		out = append(out, s.written...)
	}
	slices.Sort(out)
	return out
})

// LookupLabel returns the label with a written name: in any case, singular or plural,
// words joined by spaces, "-" or "_".
func LookupLabel(written string) (LabelName, bool) {
	if len(written) > 64 {
		return "", false
	}
	key := stems(written)
	if n, ok := labelsByStem()[key]; ok {
		return n, true
	}
	if strings.HasSuffix(key, " review") { // Agent-Teams Review
		return Review, true
	}
	return "", false
}

// stems writes a name in one form: lower case, words in the singular, single
// spaces, without what is in parentheses at its end.
func stems(s string) string {
	words := nameWords(s)
	for i, w := range words {
		words[i] = singular(w)
	}
	return strings.Join(words, " ")
}

// nameWords returns the words of a name in lower case, without what stands in
// parentheses at its end.
func nameWords(s string) []string {
	s = strings.TrimSpace(s)
	if strings.HasSuffix(s, ")") {
		if i := strings.LastIndexByte(s, '('); i > 0 {
			s = s[:i]
		}
	}
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return r == ' ' || r == '\t' || r == '-' || r == '_' || r == '\u00a0'
	})
}

func singular(w string) string {
	switch {
	case w == "criteria":
		return "criterion"
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "sses"):
		return w[:len(w)-2]
	case len(w) > 2 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		return w[:len(w)-1]
	}
	return w
}

// Written lists how a label may be written, the usual form first.
func (n LabelName) Written() []string { return slices.Clone(specs()[n].written) }
