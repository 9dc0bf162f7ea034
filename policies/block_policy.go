package policies

import "github.com/ralph-compiler/ralph/diag"

// Policy is the block `policy "n"`: the steps of a workflow and the settings
// around them.
type Policy struct {
	Decl
	Default  Value[bool]
	Priority Value[int] // decides when several policies match; higher wins
	Match    *Match     // nil: only by name or as the default
	Steps    []*Step    // in order
	Settings Settings

	Dynamic bool       // mentions node.*: use For
	Files   []FileRead // filled by For for a dynamic policy

	source *source
}

// Step is the block `step "s"` of a policy.
type Step struct {
	Decl
	StepSettings
}

// Match is the block `match {}`: all attributes that are set must fit; of a
// list one element is enough.
type Match struct {
	Phase      Value[[]string]
	Lane       Value[[]string]
	Label      Value[[]string]
	Type       Value[[]string]
	Complexity Value[[]string]
	Priority   Value[[]int]
	Paths      Value[[]string] // globs, against what the node owns and forecasts
	Range      diag.Range
}

// Approval is what a step or a plan says about a person's consent.
type Approval struct {
	Required  bool
	Approvers []string // without @
	WithinMS  int64    // 0: no limit
}
