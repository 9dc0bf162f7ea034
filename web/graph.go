package web

import (
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// shape is what is looked up in an epic again and again.
type shape struct {
	of   *ir.Epic
	ids  map[ir.Key]ir.NodeID
	next map[ir.Key][]ir.Key // who waits for it
}

// shape is made once for each epic.json.
func (l *live) shape() *shape {
	if l.known != nil && l.known.of == l.rec.Epic {
		return l.known
	}
	epic := l.rec.Epic
	s := &shape{of: epic, ids: make(map[ir.Key]ir.NodeID, len(epic.Nodes)), next: make(map[ir.Key][]ir.Key, len(epic.Nodes))}
	for i := range epic.Nodes {
		n := &epic.Nodes[i]
		s.ids[n.Key] = n.ID
		for _, e := range n.After {
			if e.Type == ir.Blocks {
				s.next[e.Key] = append(s.next[e.Key], n.Key)
			}
		}
	}
	l.known = s
	return s
}

func (l *live) graph() (any, error) {
	epic := l.rec.Epic
	out := Graph{Digest: epic.Digest, Phases: []Phase{}, Nodes: make([]GraphNode, 0, len(epic.Nodes)), Critical: orEmpty(epic.Stats().Critical)}
	titles, known := epic.PhaseTitles(), map[string]bool{}
	for i := range epic.Nodes {
		n := &epic.Nodes[i]
		if !known[n.Phase] {
			known[n.Phase] = true
			out.Phases = append(out.Phases, Phase{Key: n.Phase, Title: titles[n.Phase]})
		}
		g := GraphNode{Key: n.Key, Title: n.Title, Phase: n.Phase, Kind: n.Kind, After: make([]GraphEdge, 0, len(n.After))}
		for _, e := range n.After {
			g.After = append(g.After, GraphEdge{Key: e.Key, Type: string(e.Type)})
		}
		out.Nodes = append(out.Nodes, g)
	}
	return out, nil
}

func (l *live) statuses() (any, error) {
	views := l.views()
	out := Statuses{Seq: l.rec.Run.Seq(), State: make(map[ir.Key]string, len(views))}
	for _, v := range views {
		if out.State[v.Key] = v.Status.String(); v.Interrupted {
			out.State[v.Key] = words.Interrupted
		}
		if record.WaitsForPerson(v) {
			out.State[v.Key] += " human"
		}
	}
	return out, nil
}

// runs are the attempts as a graph: of a sprint one after the other, behind those of what
// it depends on.
func (l *live) runs() (any, error) {
	out := RunGraph{Runs: []AgentRun{}, Edges: []RunEdge{}}
	all := map[ir.Key][]AgentRun{} // attempts of each sprint
	for _, v := range l.views() {
		for _, a := range v.Attempts {
			all[v.Key] = append(all[v.Key], l.agentRun(v, a))
		}
	}
	for _, v := range l.views() {
		before := ""
		for i, a := range v.Attempts {
			run := all[v.Key][i]
			out.Runs = append(out.Runs, run)
			if before != "" {
				kind := "next"
				if a.Number > 1 {
					kind = "retry"
				}
				out.Edges = append(out.Edges, RunEdge{From: before, To: run.ID, Type: kind})
			} else {
				for _, e := range l.rec.Node(v.ID).After {
					if from := lastBefore(all[e.Key], run); from != "" && e.Type == ir.Blocks {
						out.Edges = append(out.Edges, RunEdge{From: from, To: run.ID, Type: "blocks"})
					}
				}
			}
			before = run.ID
		}
	}
	slices.SortStableFunc(out.Runs, func(a, b AgentRun) int { return since(a.Started).Compare(since(b.Started)) })
	return out, nil
}

// lastBefore is the attempt whose result a run began with: the last one that had ended
// then, "" if none had.
func lastBefore(list []AgentRun, run AgentRun) string {
	for _, a := range slices.Backward(list) {
		if a.Ended != nil && run.Started != nil && !a.Ended.After(*run.Started) {
			return a.ID
		}
	}
	return ""
}

func (l *live) agentRun(v machine.NodeView, a machine.AttemptLog) AgentRun {
	j := record.AttemptOf(l.rec.Record, v.ID, a)
	out := AgentRun{
		ID: fmt.Sprintf("%s/%s/%d", v.Key, a.Step, a.Number), Key: v.Key, Title: v.Title, Step: a.Step, Attempt: a.Number, Agent: a.Agent,
		Status: words.Attempt(v, a), Shown: words.ShownAttempt(v, a), Reason: words.First(a.Reason), Session: a.Session, Started: j.Started, Ended: j.Ended, WorkMS: a.Work.Milliseconds(),
		Spent: spentOn(a), Commit: a.Commit, Verdicts: []Verdict{},
	}
	if out.Started != nil && out.Ended != nil && out.Ended.Before(*out.Started) { // the clock was set back
		out.Ended = out.Started
	}
	for _, g := range a.Gates {
		out.Verdicts = append(out.Verdicts, Verdict{g.Gate, string(g.Verdict)})
	}
	return out
}
