package machine

import (
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
)

// Doubt is the reason to look at a gate's pass, "" if there is none: no test passed, or
// fewer than on a base of the run. The command's verdict counts all the same.
func (x Summary) Doubt(g executor.GateJudged) string {
	if g.Verdict != executor.Pass || g.Red {
		return ""
	}
	before, c := x.r.pre.passedOnBase(g.Gate), g.Counts
	was := ""
	if before > 0 {
		was = fmt.Sprintf(" (%d → 0 passed, compared with the base)", before)
	}
	switch {
	case c == nil && before > 0 && g.Tests == "skip":
		return "passed, but no test was recognised in its output" + was
	case c == nil:
		return ""
	case c.Passed == 0 && c.Failed == 0:
		return fmt.Sprintf("passed, but no test ran: 0 of %d; %d skipped%s", c.Skipped, c.Skipped, was)
	case c.Passed == 0:
		return fmt.Sprintf("passed, but no test passed: 0 of %d; %d failed, %d skipped%s", c.Failed+c.Skipped, c.Failed, c.Skipped, was)
	case c.Passed < before:
		return fmt.Sprintf("passed, with fewer tests than on the base: %d → %d passed", before, c.Passed)
	}
	return ""
}

// passedOnBase is how many tests a gate passed on the run's bases, by the preflight; 0 if
// that is not on record.
func (p *preflight) passedOnBase(gate string) (most int) {
	digest := p.gateDigest(gate)
	for k, b := range inOrderOf(p.known, executor.Binding.Compare) {
		if k.Digest == digest && b.Verdict == executor.Pass && b.Counts != nil && p.runs.isBase(b.Base) {
			most = max(most, b.Counts.Passed)
		}
	}
	return most
}

func (r *runs) isBase(t executor.Tree) bool {
	return t == r.started.Base || slices.ContainsFunc(r.started.Bases, func(b executor.NamedTree) bool { return t == b.Tree })
}

// NodeDoubts lists the doubts about gates passed by a node's last attempts, each with
// its gate.
func (x Summary) NodeDoubts(v NodeView) (out []string) {
	last := map[string]int{}
	for i, a := range v.Attempts {
		last[a.Step] = i
	}
	for i, a := range v.Attempts {
		if last[a.Step] != i {
			continue
		}
		for _, g := range a.Gates {
			if d := x.r.Summary().Doubt(g); d != "" {
				out = append(out, "gate "+g.Gate+" "+d)
			}
		}
	}
	return out
}
