package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/ralph-compiler/ralph/diag"
)

// Ralph is the block `ralph {}`: what concerns the policy as a whole.
type Ralph struct {
	Decl
	Required     Value[string]   // version constraint, ">= 0.1"
	Plans        Value[[]string] // globs
	Dialect      Value[string]   // as --dialect takes it
	Capabilities Value[[]string] // declared beyond Vocabulary
	Lanes        Value[[]string] // declared; empty: any lane is fine
	Override     Value[[]string] // labels that a plan may set; not Set: all
	Strict       Value[bool]
}

// Vocabulary are the capabilities that need no declaration.
var Vocabulary = []string{"analyze", "browsertest", "code", "debug", "doc", "explore", "human_review", "implement", "plan", "review", "test"}

// Overrides are the words of `override`: what a plan may be kept from setting by
// a label, a directive or a fence.
var Overrides = []string{
	"access", "agent", "allow_empty", "approval", "attempts", "branch", "breaker", "budget", "capability", "complexity",
	"concurrency", "deadline", "gate_mode", "gates", "git", "hitl", "integration", "iterations", "limits", "model", "next",
	"on_failure", "policy", "retry", "sandbox", "session", "source_branch", "stall", "tags", "timeout", "waive", "worktree",
}

// sameWord are other spellings: the labels as plans write them.
var sameWord = map[string]string{
	"agents": "agent", "dev_agent": "agent", "dev_agents": "agent", "capabilities": "capability", "iteration": "iterations",
	"attempt": "attempts", "gate": "gates", "waivers": "waive", "limit": "limits",
}

// alwaysFree are labels that say what the work is, or that only add to what
// judges it: a plan may always set them, so listing them changes nothing.
var alwaysFree = []string{
	"acceptance", "blocks", "depends_on", "description", "estimate", "files", "goal", "implements", "integration_branch", "labels",
	"lane", "manual", "owns", "priority", "prompt", "qa_agent", "qa_agents", "reads", "tasks", "type", "verify",
}

var ralphBlock = &block{
	name: "ralph",
	doc:  "what concerns the policy as a whole",
	attrs: []attr{
		{name: "required", kind: kString, doc: `a version constraint such as ">= 0.1"`},
		{name: "plans", kind: kGlobs, doc: `globs of the plans, such as ["plans/*.md"]`},
		{name: "dialect", kind: kString, doc: `the dialect of the plans, such as "sprint" or "task:PR,Unit"`},
		{name: "capabilities", kind: kStrings, doc: "capabilities beyond the built-in vocabulary"},
		{name: "lanes", kind: kStrings, doc: "the lanes that plans may name"},
		{name: "override", kind: kStrings, doc: "the labels that a plan may set, in lower case"},
		{name: "strict", kind: kBool, doc: "true makes some warnings errors"},
	},
}

func (r *reader) ralph(decl Decl, running string) Ralph {
	out := Ralph{
		Decl:         decl,
		Required:     r.str("required"),
		Plans:        r.globs("plans"),
		Dialect:      r.str("dialect"),
		Capabilities: r.strs("capabilities"),
		Lanes:        r.strs("lanes"),
		Override:     r.strs("override"),
		Strict:       or(r.boolean("strict"), false),
	}
	for i, o := range out.Override.V {
		o = strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(o)))
		if same, ok := sameWord[o]; ok {
			o = same
		}
		if err := oneOf(o, Overrides); err != nil && !slices.Contains(alwaysFree, o) {
			r.invalid("override", out.Override.Range, err)
			break
		}
		out.Override.V[i] = o
	}
	if out.Required.Set {
		r.checkVersion(out.Required, running)
	}
	return out
}

func (r *reader) checkVersion(required Value[string], running string) {
	want, err := version.NewConstraint(required.V)
	if err != nil {
		r.invalid("required", required.Range, fmt.Errorf("%s is no version constraint", quoted(required.V)))
		return
	}
	have, err := version.NewVersion(running)
	if err != nil || have.Core().Equal(version.Must(version.NewVersion("0"))) { // a build without a release
		return
	}
	// A pre-release stands for the release it leads to.
	if !want.Check(have.Core()) {
		r.d.diags.Add(diag.New("policy-version", required.Range, "another version of ralph is needed").
			WithDetail("The policy asks for %s, this is ralph %s. Install a version that fits, or change the constraint.", printable(required.V), have.Core()))
	}
}
