package beadsmith

import (
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// beadWords gives the word of a bead for each status of an attempt. Only the last
// attempt of a task can be something else: see beadStatus.
var beadWords = map[string]string{
	"running":   "running",
	"passed":    "approved",
	"failed":    "rejected",
	"stopped":   "rejected",
	"timeout":   "rejected",
	"stalled":   "rejected",
	"cancelled": "rejected", // unless its task was skipped
	"error":     "rejected",
}

// beadStatus is the word for attempt i of a node. An open attempt is where its
// node is, which may wait for a person; the last attempt of a node that a person
// skipped is skipped, unless it has passed.
func beadStatus(n *ir.NodeHistory, i int) string {
	status := n.Attempts[i].Status
	if status == "running" && n.Words["bead"] != "" {
		return n.Words["bead"]
	}
	if i == len(n.Attempts)-1 && n.Status == "skipped" && status != "passed" {
		return "skipped"
	}
	if w := beadWords[status]; w != "" {
		return w
	}
	return "rejected"
}

// taskErrors says what kept an attempt from running to its end: what its agent
// reported, how it ended when no gate judged it, and gates without a verdict. A gate
// that says fail is not one: the bead is rejected, which is not an error.
func taskErrors(a *ir.Attempt) []string {
	out := append([]string{}, a.Errors...)
	judged := false
	for _, g := range a.Gates {
		judged = judged || g.Verdict == "fail" || g.Verdict == "stop"
		if g.Verdict == "error" {
			out = append(out, strings.TrimSpace("gate "+g.Gate+" could not be judged: "+g.Message))
		}
	}
	switch a.Status {
	case "timeout", "stalled", "error", "cancelled":
		out = append(out, reasonOf(a))
	case "failed", "stopped":
		if !judged && len(out) == 0 {
			out = append(out, reasonOf(a))
		}
	}
	return out
}

func reasonOf(a *ir.Attempt) string {
	if a.Reason == "" {
		return a.Status
	}
	return a.Reason
}

// feedback is why attempt i was rejected: what the next one was told, else what the
// gates said, else its reason. "" if it was not rejected.
func feedback(n *ir.NodeHistory, i int) string {
	a := &n.Attempts[i]
	if beadStatus(n, i) != "rejected" {
		return ""
	}
	if i+1 < len(n.Attempts) && len(n.Attempts[i+1].Feedback) > 0 {
		return strings.Join(n.Attempts[i+1].Feedback, "\n")
	}
	return Feedback(a)
}

// Feedback is why an attempt did not pass; never "" for one that has ended.
func Feedback(a *ir.Attempt) string {
	var said []string
	for _, g := range a.Gates {
		if g.Verdict != "pass" && strings.TrimSpace(g.Message) != "" {
			said = append(said, g.Gate+": "+strings.TrimSpace(g.Message))
		}
	}
	if len(said) > 0 {
		return strings.Join(said, "\n")
	}
	return reasonOf(a)
}
