package machine

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Action is what a run would do with a node.
type Action string

// Actions.
const (
	ActKeep    Action = "keep"       // its result is on record and still true
	ActRun     Action = "run"        // it has no result yet
	ActRerun   Action = "re-run"     // its result is not true any longer: Cause
	ActMay     Action = "may re-run" // something it needs runs again; if that comes out the same, it is kept
	ActJudge   Action = "judge"      // only its gates run again
	ActGoOn    Action = "go on"      // it was interrupted or waits for something that is tried again
	ActWait    Action = "wait"       // for a person
	ActBlocked Action = "blocked"    // it or something it needs; retry reopens it
	ActDone    Action = "done"       // by the plan or by the base
	ActSkip    Action = "skipped"    // by a person
	ActGone    Action = "gone"       // on record, not in the epic
	ActRunning Action = "running"    // now, by a run that is at work
	ActLeave   Action = "leave"      // not selected by --only
)

// Planned is what a run would do with one node.
type Planned struct {
	Node   ir.NodeID
	Key    ir.Key
	Title  string
	Action Action
	Needs  ir.Key // blocked: by this one, which it needs; "" if by itself
	Cause  string // "its text changed", "what it starts from changed (1.1)", "needs 1.2 (blocked)"
}

// Plan says what a run with this start would do with every node, in the epic's order,
// the sum last and removed nodes after it. While a run is at work it plans the next
// one, and what is running stays running. It consumes r, which must not be used
// afterwards.
func Plan(r *Run, start executor.RunStarted, now time.Time) ([]Planned, error) {
	if start.Digest != r.epic.Digest {
		return nil, &executor.Refused{Why: "the run would be of another epic.json than the one that is planned"}
	}
	doings := map[ir.NodeID]string{}
	for _, n := range r.nodes {
		if n.status == executor.Running && r.runs.begun && !r.runs.idle() {
			_, doings[n.id] = doing(n.life.flight)
		}
	}
	before := lists.Map(r.nodes, func(n *node) executor.NodeStatus { return n.status })
	if err := r.Apply(executor.Event{Seq: r.seq + 1, At: now, Body: start}); err != nil {
		return nil, err
	}
	p := planning{r: r, start: start, before: before, actions: make([]Action, len(r.nodes)), held: make([]hold, len(r.nodes))}
	out := make([]Planned, 0, len(r.nodes))
	works := false
	for i, n := range r.nodes {
		if n.sum {
			continue
		}
		action, cause := p.plan(i, n)
		if what, ok := doings[n.id]; ok && action == ActGoOn {
			action, cause = ActRunning, what
		}
		p.actions[i] = action
		works = works || action.Works()
		x := Planned{Node: n.id, Key: n.ir.Key, Title: n.ir.Title, Action: action, Cause: cause}
		if action == ActBlocked && p.held[i].key != x.Key {
			x.Needs = p.held[i].key
		}
		out = append(out, x)
	}
	if s, ok := r.sum.plan(works); ok {
		if what, runs := doings[s.Node]; runs && !works {
			s.Action, s.Cause = ActRunning, what
		}
		out = append(out, s)
	}
	for _, id := range r.gone() {
		n := r.byID[id]
		cause := "never done"
		if len(n.successes) > 0 {
			cause = "its result stays pinned and is left out of the integration"
		}
		out = append(out, Planned{Node: id, Key: r.keyOf(id), Action: ActGone, Cause: cause})
	}
	return out, nil
}

// Works reports whether something would be done in the next run.
func (a Action) Works() bool {
	return slices.Contains([]Action{ActRun, ActRerun, ActMay, ActJudge, ActGoOn, ActRunning}, a)
}

// planning goes through the nodes in order: what a node needs is planned before it.
type planning struct {
	r       *Run
	start   executor.RunStarted
	before  []executor.NodeStatus
	actions []Action
	held    []hold // the node itself, or what it needs, where that will not come by itself
}

func (p *planning) plan(i int, n *node) (Action, string) {
	r := p.r
	switch n.status {
	case executor.Done:
		if n.accepted != nil && !n.byBase {
			return ActKeep, ""
		}
		return ActDone, r.reason(n, executor.Done, nil)
	case executor.Skipped:
		return ActSkip, r.reason(n, executor.Skipped, nil)
	case executor.Cancelled:
		p.held[i] = holding(n, "cancelled")
		return ActBlocked, r.reason(n, executor.Cancelled, nil)
	case executor.Blocked:
		if first := p.judgedFirst(n); len(first) > 0 {
			return ActJudge, "its gates changed since it was blocked; after " + strings.Join(first, ", ")
		}
		p.held[i] = holding(n, "blocked")
		return ActBlocked, n.reason
	case executor.Waiting:
		if n.life.mended {
			return ActJudge, "its gates changed since it was blocked"
		}
		if n.wait.Timed() {
			return ActGoOn, n.wait.Detail
		}
		p.held[i] = holding(n, "waiting")
		return ActWait, r.reason(n, executor.Waiting, nil)
	case executor.Pending:
		return p.people(i, n)(p.pending(i, n))
	}
	a, because := p.cause(i, n)
	return p.people(i, n)(a, because.text)
}

// people says what becomes of what persons did for a node that is about to begin anew.
func (p *planning) people(i int, n *node) func(Action, string) (Action, string) {
	return func(a Action, cause string) (Action, string) {
		h := n.people.handed
		if a != ActRun && a != ActRerun && a != ActMay {
			if h.by != "" && a == ActBlocked {
				cause += "; what " + h.by + " handed in stays in its worktree"
			}
			return a, cause
		}
		if h.by != "" {
			p.held[i] = holding(n, "waiting")
			return ActWait, "what " + h.by + " handed in was made on another base or for another text: it stays in its worktree, for them to hand in again"
		}
		if p.r.byHandAlone(n) && len(n.logs) > 0 {
			cause += "; a person's work stays in its worktree, and is approved again"
		}
		if gates := p.r.approvedGates(n); len(gates) > 0 {
			cause += "; to be approved again: " + strings.Join(gates, ", ")
		}
		return a, strings.TrimPrefix(cause, "; ")
	}
}

// approvedGates are the human gates of a node that a person let pass.
func (r *rules) approvedGates(n *node) (out []string) {
	for _, d := range n.people.approvals {
		if g, there := r.epic.Gates[d.Gate]; there && g.Kind == "human" && !slices.Contains(out, d.Gate) {
			out = append(out, d.Gate)
		}
	}
	return out
}

// judgedFirst lists what a blocked node with other gates needs, where that is judged
// again, or may be, and nothing else holds the node back.
func (p *planning) judgedFirst(n *node) (keys []string) {
	if !n.otherGates() {
		return nil
	}
	for _, i := range n.deps {
		d := p.r.nodes[i]
		if d.status.Settled() {
			continue
		}
		if a := p.actions[i]; a != ActJudge && a != ActMay && (a != ActGoOn || !d.life.onlyJudges()) {
			return nil
		}
		keys = append(keys, string(d.ir.Key))
	}
	return keys
}

// pending is about nodes that something holds back.
func (p *planning) pending(i int, n *node) (Action, string) {
	switch {
	case !n.selected:
		return ActLeave, "not selected by --only"
	case n.people.paused != "":
		p.held[i] = holding(n, "paused")
		return ActWait, "paused by " + n.people.paused
	}
	var again []string
	for _, d := range n.deps {
		x := p.held[d]
		if x.key != p.r.nodes[d].ir.Key { // that is held by another
			x = x.through()
		}
		p.held[i] = p.held[i].or(x)
		if p.actions[d].Works() {
			again = append(again, string(p.r.nodes[d].ir.Key))
		}
	}
	switch {
	case p.held[i].rank > 0 && n.people.skip:
		return ActSkip, p.r.reason(n, executor.Skipped, nil)
	case p.held[i].rank > 0:
		return ActBlocked, "needs " + p.held[i].String()
	case n.people.skip:
		return ActSkip, p.r.reason(n, executor.Skipped, nil)
	case n.ir.Done && len(n.successes) == 0:
		return ActDone, "done by the plan"
	case n.asleep != nil && len(again) > 0:
		return ActMay, "goes on where it was if " + strings.Join(again, ", ") + " " + text.Form(len(again), "comes", "come") + " out the same"
	}
	a, because := p.cause(i, n)
	switch { // what it starts from is not known before what it needs has run
	case because.of == changedInputs:
	case because.of == changedGates && len(again) > 0:
	default:
		return a, because.text
	}
	return ActMay, "needs " + strings.Join(again, ", ") + " again"
}

// because is why something is planned.
type because struct {
	of   change
	text string
}

// change is what is not as it was when a node succeeded last.
type change int

const (
	changedOther  change = iota
	changedInputs        // what it starts from
	changedGates
)

// cause says why a node that can start would.
func (p *planning) cause(i int, n *node) (Action, because) {
	if slices.ContainsFunc(n.orphans, n.meant) && len(n.successes) == 0 {
		return ActJudge, because{text: "its commit was found, and the journal had lost its outcome"}
	}
	if changed := p.before[i] == executor.Blocked && !slices.Contains(p.start.Rerun, n.id); changed && n.match(n.ir.Digest.Work, fingerprint(p.r.inputs(n)), "") == nil {
		return ActRun, because{text: "changed since it was blocked"}
	}
	switch {
	case len(n.successes) == 0 && len(n.logs) > 0:
		return ActRun, because{text: "it has " + text.Count(len(n.logs), "attempt") + " and no result yet"}
	case len(n.successes) == 0:
		return ActRun, because{}
	}
	last := n.successes[len(n.successes)-1]
	if slices.Contains(p.start.Rerun, n.id) {
		return ActRerun, because{text: "--rerun"}
	}
	if n.after > 0 && last.seq <= n.after {
		return ActRerun, because{text: "its last success was put aside by --rerun"}
	}
	s := newest(n.successes, func(s *success) bool { return s.work == n.ir.Digest.Work && s.seq > n.after })
	if s == nil {
		return ActRerun, because{text: "its text changed"}
	}
	inputs := p.r.inputs(n)
	if m := n.match(n.ir.Digest.Work, fingerprint(inputs), ""); m != nil {
		return ActJudge, because{changedGates, "its gates changed"}
	}
	return ActRerun, because{changedInputs, "what it starts from changed" + p.r.differing(s.inputs, inputs)}
}

// differing names the nodes whose results are not what they were.
func (gr *graph) differing(old, now []executor.Result) string {
	name := func(id ir.NodeID) string {
		if id == "base" {
			return "the base"
		}
		if d := gr.byID[id]; d == nil || d.ir == nil {
			return "the former " + string(gr.keyOf(id))
		}
		return string(gr.keyOf(id))
	}
	var keys []string
	for _, in := range now {
		if !slices.ContainsFunc(old, func(o executor.Result) bool { return o.Node == in.Node && o.Tree.Tree == in.Tree.Tree }) {
			keys = append(keys, name(in.Node))
		}
	}
	for _, o := range old {
		if !slices.ContainsFunc(now, func(in executor.Result) bool { return in.Node == o.Node }) {
			keys = append(keys, "without "+name(o.Node))
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return " (" + strings.Join(keys, ", ") + ")"
}

// plan is about the branch that joins all results.
func (sm *sum) plan(works bool) (Planned, bool) {
	if sm.node == nil {
		return Planned{}, false
	}
	p := Planned{Node: sm.node.id, Key: sm.node.ir.Key, Title: sm.node.ir.Title}
	made := len(sm.node.successes) > 0
	inputs, due := sm.due()
	switch {
	case len(sm.runs.started.Only) > 0:
		p.Action, p.Cause = ActLeave, "not selected by --only"
	case works && made:
		p.Action, p.Cause = ActMay, "its parts may change"
		if theirs := sm.losesOthers(false); len(theirs) > 0 {
			p.Cause += "; if so it stays as it is and waits for you over " + sm.lostNames(theirs)
		}
	case works:
		p.Action = ActRun
	case due && sm.wouldLose():
		p.Action, p.Cause = ActWait, sm.losesText(sm.loses())
	case due && made && sm.joins() && sm.ref == "":
		p.Action, p.Cause = ActRerun, "its branch no longer exists: it is made again"
	case due && made && len(inputs) == 1 && inputs[0].Node == "base":
		p.Action, p.Cause = ActRerun, "nothing is left to integrate: it moves to the base"
	case due && made:
		p.Action, p.Cause = ActRerun, "its parts changed"
	case due:
		p.Action = ActRun
	case made:
		p.Action = ActKeep
	default:
		return p, false
	}
	return p, true
}
