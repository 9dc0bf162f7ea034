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
	Required     Value[string]   `hcl:"required" doc:"a version constraint such as \">= 0.1\""`                         // version constraint, ">= 0.1"
	Plans        Value[[]string] `hcl:"plans" is:"globs" doc:"globs of the plans, such as [\"plans/*.md\"]"`            // globs
	Dialect      Value[string]   `hcl:"dialect" doc:"the dialect of the plans, such as \"sprint\" or \"task:PR,Unit\""` // as --dialect takes it
	Capabilities Value[[]string] `hcl:"capabilities" doc:"capabilities beyond the built-in vocabulary"`                 // declared beyond Vocabulary
	Lanes        Value[[]string] `hcl:"lanes" doc:"the lanes that plans may name"`                                      // declared; empty: any lane is fine
	Override     Value[[]string] `hcl:"override" doc:"the labels that a plan may set, in lower case"`                   // labels that a plan may set; not Set: all
	Strict       Value[bool]     `hcl:"strict=false" doc:"true makes some warnings errors"`
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

var ralphBlock = &block{of: (*Ralph)(nil), name: "ralph", doc: "what concerns the policy as a whole"}

func (out *Ralph) check(r *reader) {
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
		r.checkVersion(out.Required, r.d.version)
	}
}

func (r *reader) checkVersion(required Value[string], running string) {
	want, err := version.NewConstraint(required.V)
	if err != nil {
		r.invalid("required", required.Range, fmt.Errorf("%s is not a version constraint", quoted(required.V)))
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
