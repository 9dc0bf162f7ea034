package policies

import "github.com/ralph-compiler/ralph/diag"

// Rule is the block `rule "n"`: policy as code. Use Node, Edge or Plan, as Over
// says; they may be called concurrently.
type Rule struct {
	Decl
	Severity Value[string] // error, warning, note (default error)
	Over     Value[string] // node, edge, plan (default node)

	source *source
}

// Finding is a breach of a rule.
type Finding struct {
	Rule     *Rule
	Severity diag.Severity
	Message  string
}

// Waiver is the block `waive "rule"`: an accepted breach.
type Waiver struct {
	Decl                 // Name is the rule's
	Node   Value[string] // key of a node
	Reason Value[string]
	Owner  Value[string]
	Until  Value[string] // date, 2026-01-31: the last day on which it holds
}
