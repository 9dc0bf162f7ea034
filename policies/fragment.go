package policies

import "github.com/ralph-compiler/ralph/diag"

// Fragment is an hcl fence of a plan, decoded. It may hold the attributes of a
// step (they speak of every step in its scope), `step "s" {}` (of one step),
// retry, stall, limits, budget, hitl, worktree, git, `gate "n"` and waive; in
// the scope "plan" also integration, concurrency and rule. Anything else, an
// agent or a runner for instance, belongs into a policy file and is an error.
type Fragment struct {
	Scope       string // "plan", "phase 2", "sprint 1.2a"
	Range       diag.Range
	Steps       StepSettings // for every step; use StepSettings.OverlayFence
	Step        []*Step      // for the step of that name
	Settings    Settings
	Gates       map[string]*Gate // defined here
	Rules       []*Rule
	Waivers     []*Waiver
	Concurrency Concurrency
	Files       []FileRead
}
