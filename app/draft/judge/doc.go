// Package judge judges a drafted plan in its worktree: it reads the worktree's files and
// the record, compiles the plan, and applies the rules of app/draft/rules.
//
// In: the directory of a worktree. Out: a gate.PlanReport. app/run makes a gate of it.
package judge
