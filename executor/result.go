package executor

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// StepDone is the result of one step of a success: if its gates change, only they run
// again, on this commit.
type StepDone struct {
	Step   string `json:"step"`
	Judge  string `json:"judge"` // digest of its gates
	Result Tree   `json:"result"`
}

// Pull is a pull request.
type Pull struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
}

// Word is what people call it at its forge.
func (p Pull) Word() string { return PullWord(p.URL) }

// Ref is its number as its forge writes it.
func (p Pull) Ref() string {
	if p.Word() == mergeRequest {
		return "!" + strconv.Itoa(p.Number)
	}
	return "#" + strconv.Itoa(p.Number)
}

// Name is what it is called and its number: pull request #7, merge request !7.
func (p Pull) Name() string {
	if p.Number == 0 {
		return p.Word()
	}
	return p.Word() + " " + p.Ref()
}

// PullWord is what people call the pull request at an address: GitLab's are merge
// requests.
func PullWord(url string) string {
	if strings.Contains(url, "/merge_requests/") {
		return mergeRequest
	}
	return "pull request"
}

const mergeRequest = "merge request"

// SinceStart lists the first changes since the step's start: what gates judge.
func (c Collected) SinceStart() []FileChange {
	if c.Whole != nil {
		return c.Whole
	}
	return c.Changes
}

// Orphan is a collected commit that the journal does not know.
type Orphan struct {
	Node    ir.NodeID `json:"node"`
	Step    string    `json:"step"`
	Attempt int       `json:"attempt"`
	Start   string    `json:"start"` // its step's start commit
	Result  Tree      `json:"result"`
	Seq     int64     `json:"seq"`            // that it carries
	Work    string    `json:"work,omitempty"` // digest.work that it was made for

	Merged   []string `json:"merged,omitempty"`   // of the step "merge": its parents, in order
	Problems []string `json:"problems,omitempty"` // what ralph's own checks find: with any, it is not adopted
}

// Usage is what a runner reports as the cost of one turn. A nil figure is unknown, never
// zero.
type Usage struct {
	Tokens   *int64 `json:"tokens,omitempty"`
	USDMicro *int64 `json:"usd_micro,omitempty"` // millionths of a US dollar
}

// IsZero reports whether nothing is known.
func (u Usage) IsZero() bool { return u.Tokens == nil && u.USDMicro == nil }

// OrStated fills in unknown figures if the policy states that a turn of the agent costs
// nothing: a nonzero expected cost is not the actual cost.
func (u Usage) OrStated(expected *ir.Cost) Usage {
	fill := func(told, stated *int64) *int64 {
		if told == nil && stated != nil && *stated == 0 {
			return stated
		}
		return told
	}
	if expected != nil {
		u.Tokens, u.USDMicro = fill(u.Tokens, expected.Tokens), fill(u.USDMicro, expected.USDMicro)
	}
	return u
}

// FileChange is one changed file of a commit.
type FileChange struct {
	Path    string `json:"path"`
	Type    string `json:"type"`           // created, modified, deleted, renamed
	From    string `json:"from,omitempty"` // renamed: the old path
	Added   int    `json:"added"`          // lines; -1 for binary files
	Removed int    `json:"removed"`
}

// TestCounts counts test results.
type TestCounts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// Tree is a commit and the tree that it holds, as hexadecimal object names.
type Tree struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
}

// NamedTree is a pinned base named by some roots.
type NamedTree struct {
	Name string `json:"name"`
	Tree
}

// Result is what a node provides to its dependents.
type Result struct {
	Node ir.NodeID `json:"node"`
	Tree
	Same string `json:"same,omitempty"` // of the sum: commit with the same files that another result was made from; to join it changes nothing
}

// AgentEnd says how an agent's program ended.
type AgentEnd string

// Outcome is an agent's report on its work: a claim, never a verdict.
type Outcome struct {
	Result        string     `json:"result"`                // success, partial, failed, or "" if it gave none
	NextAction    string     `json:"next_action,omitempty"` // advance_phase, repeat_phase, need_human, none
	Summary       string     `json:"summary,omitempty"`     // at most MaxNote bytes
	SuggestedNext string     `json:"suggested_next_phase,omitempty"`
	NeedsHuman    bool       `json:"needs_human,omitempty"`
	Invalid       string     `json:"invalid,omitempty"` // why what it wrote is no outcome
	Promise       string     `json:"promise,omitempty"` // text of <promise>…</promise>: a claim
	Fatal         bool       `json:"fatal,omitempty"`   // drains the whole run
	Errors        []string   `json:"errors,omitempty"`
	Proposals     []Proposal `json:"created_issues,omitempty"` // work it found; never added to the graph by itself
	Pointers      []string   `json:"pointers,omitempty"`       // artifacts that it names
	Pull          Pull       `json:"pull,omitzero"`            // a pull request that it says it made
}

// Proposal is work found by an agent. The outcome file has the whole of it.
type Proposal struct {
	Title string `json:"title"`
	Text  string `json:"text,omitempty"`
}

// None reports whether nothing was reported.
func (o Outcome) None() bool {
	return o.Result == "" && o.Invalid == "" && o.Promise == "" && !o.NeedsHuman && !o.Fatal && o.NextAction == ""
}

// SaidOfTests is a gate's test result for people: passed/failed/skipped, or one word if
// they were not counted; "" if no tests were recognised in its output.
func (g GateJudged) SaidOfTests() string {
	if said := TestsOf([]GateJudged{g}); said != "skip" {
		return said
	}
	return ""
}

// TestsOf sums the test counts of an attempt's gates; if none printed numbers it is the
// worst of their words.
func TestsOf(gates []GateJudged) string {
	var sum TestCounts
	counted, word := false, "skip"
	for _, g := range gates {
		if g.Counts != nil {
			counted = true
			sum.Passed, sum.Failed, sum.Skipped = sum.Passed+g.Counts.Passed, sum.Failed+g.Counts.Failed, sum.Skipped+g.Counts.Skipped
		}
		if g.Tests == "fail" || g.Tests == "pass" && word == "skip" {
			word = g.Tests
		}
	}
	if counted {
		return fmt.Sprintf("%d/%d/%d", sum.Passed, sum.Failed, sum.Skipped)
	}
	return word
}

// ID identifies the files: their tree, or the commit if the tree is unknown.
func (t Tree) ID() string { return cmp.Or(t.Tree, t.Commit) }
