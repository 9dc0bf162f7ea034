// Package judge judges the plan that a draft wrote, where it lies: it reads the files of
// a worktree and what is on record, compiles, and calls the rules of app/draft.
//
// In: the directory of a worktree. Out: a gate.PlanReport. app/run makes the gate of it.
package judge
