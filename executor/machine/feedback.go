package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Feedback is ralph's report to the agent of the open attempt about the previous one of
// this life: the checks and gates it failed, with their output, and a person's words.
// It is empty on a first attempt.
func (o Node) Feedback() []string {
	n := o.r.byID[o.id]
	if n == nil || n.ir == nil {
		return nil
	}
	return n.openFeedback()
}

// openFeedback is the feedback for the open attempt, else for one that begins now.
func (n *node) openFeedback() []string {
	if k := len(n.logs) - 1; k >= n.life.first && n.logs[k].Status == executor.AttemptRunning {
		l := &n.logs[k]
		out := append(slices.Clip(l.Feedback), quoted(l.Meanwhile)...)
		if s := n.life.stage; s == stagePrepare || s == stageAgent { // else there is no turn that could be told
			out = append(out, quoted(n.people.said)...)
		}
		return append(out, l.spoken()...)
	}
	return n.feedback()
}

// feedback is the feedback for an attempt that begins now.
func (n *node) feedback() []string {
	out := append(n.told(), n.lastFailure()...)
	if k := len(n.logs) - 1; k > max(n.life.first, 0) && n.logs[k-1].kept() && n.logs[k].From == n.logs[k-1].Commit {
		out = append(out, "", "Your worktree holds what was kept of that attempt, and is checked again as a whole: what was found in it counts until you undo or fix it there.")
	}
	return out
}

// kept reports whether something of an attempt that failed a check is in its commit.
func (l *AttemptLog) kept() bool { return len(l.Problems) > 0 && l.Commit != l.From }

// told is what people said to the agent in this life.
func (n *node) told() []string {
	var out []string
	first := max(n.life.first, 0)
	for i := first; i < len(n.logs); i++ {
		if i > first && len(n.logs[i].Said) > 0 {
			out = append(out, n.logs[i-1].asked()...)
		}
		out = append(out, quoted(n.logs[i].Said)...)
		out = append(out, quoted(n.logs[i].Meanwhile)...)
		if n.logs[i].Status != executor.AttemptRunning {
			out = append(out, n.logs[i].spoken()...)
		}
	}
	return out
}

// quoted is what people said with their decisions.
func quoted(list []executor.Decision) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.By+" says:", "", quote(d.Message), "")
	}
	return out
}

// asked is the question with which an attempt ended: whom the answer is for may have no
// session in which it was asked.
func (l *AttemptLog) asked() []string {
	if l.Status != executor.AttemptCancelled || !l.Outcome.Asks() || l.Outcome.Summary == "" {
		return nil
	}
	return []string{fmt.Sprintf("Attempt %d of step %s asked:", l.Number, l.Step), "", quote(l.Outcome.Summary), ""}
}

// spoken is what people wrote in the session of an attempt's agent.
func (l *AttemptLog) spoken() []string {
	var out []string
	for _, s := range l.Spoken {
		if s.Gate == "" && s.Text != "" {
			out = append(out, fmt.Sprintf("A person wrote in the session of attempt %d of step %s:", l.Number, l.Step), "", quote(s.Text), "")
		}
	}
	return out
}

// lastFailure is what the last attempt of this life failed by, nothing if it passed.
func (n *node) lastFailure() []string {
	for i := len(n.logs) - 1; i >= n.life.first && i >= 0; i-- {
		switch l := n.logs[i]; l.Status {
		case executor.AttemptFailed, executor.AttemptTimeout, executor.AttemptStalled, executor.AttemptStopped:
			return feedback(l)
		case executor.AttemptError:
			if l.Diagnosed != nil {
				return feedback(l)
			}
		case executor.AttemptCancelled:
			if l.Taken {
				return feedback(l)
			}
		case executor.AttemptPassed:
			return nil
		}
	}
	return nil
}

func feedback(l AttemptLog) []string {
	out := []string{fmt.Sprintf("Attempt %d of step %s %s: %s.", l.Number, l.Step, pastTense(l.Status), strings.TrimRight(text.FirstLine(l.Reason), "."))}
	if l.Outcome.Summary != "" {
		out = append(out, "", "What the agent said:", "", quote(l.Outcome.Summary))
	}
	for _, p := range l.Problems {
		out = append(out, "", "ralph's own check: "+p)
	}
	out = append(out, refused("your programs", l.Sandbox)...)
	out = append(out, killed("your programs", l.Sandbox)...)
	for _, g := range l.Gates {
		out = append(out, "", fmt.Sprintf("Gate %s: %s", g.Gate, g.Verdict))
		if g.Verdict != executor.Pass && g.Message != "" {
			out = append(out, "", quote(g.Message))
		}
		if g.Verdict != executor.Pass {
			out = append(out, refused("gate "+g.Gate, g.Sandbox)...)
			out = append(out, killed("gate "+g.Gate, g.Sandbox)...)
		}
	}
	if l.Diagnosed != nil && l.Diagnosed.Note != "" {
		out = append(out, "", "An agent's diagnosis of the stall:", "", quote(l.Diagnosed.Note))
	}
	if len(l.Gates) == 0 && len(l.Problems) == 0 && l.Tail != "" {
		out = append(out, "", "The end of its output:", "", quote(l.Tail))
	}
	return out
}

// refused says which hosts a sandbox kept someone from.
func refused(whom string, s *executor.Sandboxed) []string {
	if s == nil || len(s.Refused) == 0 {
		return nil
	}
	return []string{"", fmt.Sprintf("ralph's sandbox %q kept %s from hosts that its network list does not name: %s. Do without them, or say which are needed and why: only a person can allow them.", s.Name, whom, executor.RefusedHosts(s.Refused, s.Others))}
}

// killed says that a sandbox had used up its memory.
func killed(whom string, s *executor.Sandboxed) []string {
	if s.OutOfMemory() == "" {
		return nil
	}
	return []string{"", fmt.Sprintf("ralph's sandbox %q gives %s %s of memory in all (limits.memory), files in /tmp included, and they used it up, so all of them were killed. Start less at once, or say what needs more and why: only a person can raise the limit.", s.Name, whom, s.Memory)}
}

func pastTense(s executor.AttemptStatus) string {
	switch s {
	case executor.AttemptTimeout:
		return "ran out of time"
	case executor.AttemptStalled:
		return "stalled"
	case executor.AttemptError, executor.AttemptCancelled:
		return "was given up"
	}
	return "failed"
}

// quote indents text from outside, so that it reads as a block of its own.
func quote(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
