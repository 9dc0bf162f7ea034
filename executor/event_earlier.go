package executor

import (
	"strings"
)

// fromProse is what an earlier release, which wrote only the reason, blocked by.
func (b NodeBlocked) fromProse() NodeBlocked {
	if b.By != "" {
		return b
	}
	why := b.Reason
	for _, before := range []string{" used up; last: ", " times in a row: "} {
		if _, last, ok := strings.Cut(why, before); ok {
			why = last
		}
	}
	gate := strings.HasPrefix(why, "gate ")
	switch {
	case strings.HasPrefix(why, BudgetReason), strings.HasPrefix(why, RunBudgetReason):
		b.By = ByBudget
	case gate && strings.Contains(why, " said stop"), strings.HasPrefix(why, "the agent reported a fatal result"):
		b.By = ByStop
	case gate && strings.Contains(why, " failed: nobody decided in "):
		b.By = ByPerson
	case gate && strings.Contains(why, " failed"):
		b.By = ByGates
	case strings.HasPrefix(why, "the agent "), strings.HasPrefix(why, "no valid outcome"):
		b.By = ByAgent
	case strings.HasPrefix(why, "pull request #"):
		b.By = ByPull
	}
	return b
}

// earlier completes an event that an earlier release wrote: what it said in prose
// alone is read here, and nowhere else.
func earlier(b Body) Body {
	switch b := b.(type) {
	case NodeBlocked:
		return b.fromProse()
	case NodeRecovered:
		b.Kept = b.Kept.fromProse()
		return b
	case Decided:
		b.Decision = b.Decision.Earlier()
		return b
	case AgentEnded:
		b.Sandbox.earlier()
	case GateJudged:
		b.Sandbox.earlier()
	case BaselineJudged:
		b.Sandbox.earlier()
	}
	return b
}

// Earlier completes a decision that an earlier release wrote: that it was made in bd
// only its ID says, and by what only its message.
func (d Decision) Earlier() Decision {
	if strings.HasPrefix(d.ID, ViaBd+":") {
		d.Via = ViaBd
	}
	if act, _, found := strings.Cut(d.Message, " in bd"); found && d.Via == ViaBd && d.Act == "" && d.Verb != Approve && d.Verb != Reject {
		d.Act = act
	}
	return d
}

// fromProse is what was kept before it said by what a node was blocked.
func (k Kept) fromProse() Kept {
	if k.Status == Blocked.String() && k.BlockedBy == "" {
		k.BlockedBy = NodeBlocked{Reason: k.Reason}.fromProse().By
	}
	return k
}
