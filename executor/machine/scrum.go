package machine

import (
	"cmp"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// ScrumResult is how a node ended, in the form of a scrum master's report: one per
// node, at its end.
type ScrumResult struct {
	BeadID       ir.NodeID  `json:"bead_id"`
	Success      bool       `json:"success"`
	PRURL        string     `json:"pr_url"`
	PRNumber     int        `json:"pr_number"`    // 0: none
	BeadUpdated  bool       `json:"bead_updated"` // as seen in the tracker, not as reported
	AttemptCount int        `json:"attempt_count"`
	QAResults    []QAResult `json:"qa_results"` // the last verdict of each gate, in the order in which they were first judged
	Error        *string    `json:"error"`      // null on success
	Fatal        bool       `json:"fatal"`      // the agent asked for the whole run to stop
}

// QAResult is the last verdict of a gate.
type QAResult struct {
	AgentPath string `json:"agent_path"` // the agent's file; else the gate's name
	Status    string `json:"status"`     // pass, fail, stop
	Message   string `json:"message"`    // always written
	Gate      string `json:"gate"`       // its details stand in the attempts' files
}

// Scrum returns how a node ended; false before its end. A node that blocks, or that a
// person cancelled, has ended without success.
func (o Node) Scrum(beadUpdated bool) (ScrumResult, bool) {
	v, ok := o.r.View(o.id)
	if !ok || v.Status != executor.Done && v.Status != executor.Blocked && v.Status != executor.Skipped && v.Status != executor.Cancelled {
		return ScrumResult{}, false
	}
	out := ScrumResult{
		BeadID: o.id, Success: v.Status == executor.Done || v.Status == executor.Skipped, PRURL: v.Pull.URL, PRNumber: v.Pull.Number,
		BeadUpdated: beadUpdated, AttemptCount: len(v.Attempts), QAResults: []QAResult{},
	}
	if !out.Success {
		why := cmp.Or(v.Reason, v.Status.String())
		out.Error = &why
	}
	at := map[string]int{}
	for _, a := range v.Attempts {
		out.Fatal = out.Fatal || a.Outcome.Fatal
		for _, g := range a.Gates {
			path := cmp.Or(o.r.epic.Agents[o.r.epic.Gates[g.Gate].Agent].Path, g.Gate)
			q := QAResult{AgentPath: path, Status: string(g.Verdict), Message: g.Message, Gate: g.Gate}
			if g.Verdict == executor.ErrorJudged { // what gave no verdict did not pass
				q.Status = string(executor.Fail)
			}
			if i, seen := at[g.Gate]; seen {
				out.QAResults[i] = q
				continue
			}
			at[g.Gate] = len(out.QAResults)
			out.QAResults = append(out.QAResults, q)
		}
	}
	return out, true
}
