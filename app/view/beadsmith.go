package view

import (
	"context"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
)

// beadEvents reports a run in the events of a BeadManager, for --events beadsmith.
// docs/formats/beadsmith.md says what each of them means.
type beadEvents struct {
	out    io.Writer
	epic   *ir.Epic
	run    *machine.Run
	past   *record.Historian
	top    string
	nodes  map[ir.NodeID]*ir.Node
	judged map[ir.NodeID]beadOf // the bead of which a result was told, until it ends
	paused map[ir.NodeID]bool
	ended  map[ir.NodeID]bool // told as completed, failed or cancelled in its present life
	graph  beadsmith.Graph
}

// beadOf is an attempt of a node.
type beadOf struct {
	step   string
	number int
}

// BeadEvents returns the event writer for a run that continues; events already on record
// are not repeated.
func BeadEvents(r *run.Opened, out io.Writer) *beadEvents {
	b := &beadEvents{
		out: out, epic: r.Epic, run: r.Run, past: r.Historian(project.Detail{Files: true}), top: r.Space.Top(), nodes: map[ir.NodeID]*ir.Node{},
		judged: map[ir.NodeID]beadOf{}, paused: map[ir.NodeID]bool{}, ended: map[ir.NodeID]bool{},
	}
	for n := range lists.Refs(r.Epic.Nodes) {
		b.nodes[n.ID] = n
		if v, ok := r.Run.View(n.ID); ok {
			b.paused[n.ID] = isPaused(v)
			if last := len(v.Attempts) - 1; last >= 0 && asked(r, n.ID, v.Attempts[last]) {
				b.judged[n.ID] = beadOf{v.Attempts[last].Step, v.Attempts[last].Number}
			}
		}
	}
	return b
}

// asked reports whether a person was asked for an approval of an attempt, which may
// be given by now.
func asked(r *run.Opened, id ir.NodeID, a machine.AttemptLog) bool {
	for name, g := range r.Epic.Gates {
		of := record.GateOf{Node: id, Step: a.Step, Attempt: a.Number, Gate: name}
		if g.Kind == "human" && (len(r.Times.Gates[of]) > 0 || !r.Times.Open[of].IsZero()) {
			return true
		}
	}
	return false
}

func isPaused(v machine.NodeView) bool {
	return v.Paused != "" || v.Status == executor.Waiting && v.Word(executor.WordsTask) == "paused"
}

// events takes events that have become durable.
func (b *beadEvents) events(list []executor.Event) {
	moved := false // something moved in the graph: looking at all of it costs time
	for _, e := range list {
		switch e.Body.(type) {
		case executor.RunEnded:
			b.cancelled(e.At)
			moved = true
		case executor.RunStarted, executor.NodeStarted, executor.NodeWaiting, executor.NodeResumed, executor.NodeBlocked, executor.NodeDone, executor.Decided:
			moved = true
		}
		if n := b.nodes[e.Node]; n != nil { // the sum of all results is no task
			b.event(e, n)
		}
	}
	if moved {
		b.update(list[len(list)-1].At)
	}
}

func (b *beadEvents) say(name string, at time.Time, n *ir.Node, payload beadsmith.Payload) {
	line, err := beadsmith.NewEvent(name, at, n, payload).Line()
	if err != nil {
		panic("an event that cannot be written: " + err.Error()) // it is plain
	}
	_, _ = b.out.Write(reveal.JSON(line)) // a reader that went away does not end the run
}

func (b *beadEvents) event(e executor.Event, n *ir.Node) {
	v, _ := b.run.View(n.ID)
	switch body := e.Body.(type) {
	case executor.NodeStarted:
		delete(b.ended, n.ID)
		b.say(beadsmith.TaskStarted, e.At, n, beadsmith.Definition(b.epic, n, b.top))
	case executor.AttemptStarted:
		b.say(beadsmith.BeadStarted, e.At, n, beadsmith.BeadNumber(b.number(v, e)))
	case executor.NodeWaiting:
		b.waits(e, body, n, v)
	case executor.NodeResumed:
		b.resumed(e.At, n)
	case executor.AttemptEnded:
		b.attemptEnded(e, n, v)
	case executor.Decided:
		b.decided(e, body.Verb, n, v)
	case executor.NodeDone:
		b.completed(e.At, n)
	case executor.NodeBlocked:
		b.ended[n.ID] = true
		b.say(beadsmith.TaskFailed, e.At, n, beadsmith.Problem{Message: body.Reason, Code: v.FailureCode()})
	}
}

// number is the number of the bead that an attempt is; 0 if there is none.
func (b *beadEvents) number(v machine.NodeView, e executor.Event) int {
	i := v.AttemptIndex(e.Step, e.Attempt)
	if i < 0 {
		return 0
	}
	return beadsmith.Imported(b.nodes[v.ID]) + i + 1
}

// result is what came of an attempt so far.
func (b *beadEvents) result(v machine.NodeView, i int) (ir.Attempt, beadsmith.BeadResult) {
	n := b.nodes[v.ID]
	a := b.past.Attempt(context.Background(), v.ID, v.Attempts[i])
	return a, beadsmith.Result(b.epic, n, &a, beadsmith.Imported(n)+i+1)
}

// waits reports a wait: for a person's approval, for a person for another reason
// (which is among the errors), or paused. Timers and limits are work in progress.
func (b *beadEvents) waits(e executor.Event, body executor.NodeWaiting, n *ir.Node, v machine.NodeView) {
	switch {
	case body.For == executor.ForBudget || body.Cause == executor.CausePaused || body.Cause == executor.CauseHeld:
		b.pauses(e.At, n)
	case body.For == executor.ForHuman:
		result := beadsmith.BeadResult{BeadNumber: beadsmith.Imported(n), FilesChanged: []string{}, Errors: []string{}}
		if last := len(v.Attempts) - 1; last >= 0 {
			_, result = b.result(v, last)
			of := beadOf{v.Attempts[last].Step, v.Attempts[last].Number}
			if body.Cause == executor.CauseApproval && b.judged[n.ID] != of {
				b.judged[n.ID] = of
				b.say(beadsmith.BeadComplete, e.At, n, result)
			}
		}
		switch body.Cause {
		case executor.CauseApproval, executor.CauseManual, executor.CausePull: // nothing is wrong
		default:
			result.Errors = append(result.Errors, strings.TrimSpace(string(body.Cause)+": "+body.Detail))
			result.Success = false
		}
		b.say(beadsmith.AwaitingApproval, e.At, n, result)
	}
}

// attemptEnded reports the result of a bead, and whether it was approved.
func (b *beadEvents) attemptEnded(e executor.Event, n *ir.Node, v machine.NodeView) {
	i := v.AttemptIndex(e.Step, e.Attempt)
	if i < 0 {
		return
	}
	a, result := b.result(v, i)
	if len(result.Errors) > 0 {
		b.say(beadsmith.BeadFailed, e.At, n, beadsmith.BeadError{BeadNumber: result.BeadNumber, Error: beadsmith.Problem{Message: strings.Join(result.Errors, "\n")}})
	}
	if b.judged[n.ID] != (beadOf{e.Step, e.Attempt}) {
		b.say(beadsmith.BeadComplete, e.At, n, result)
	}
	delete(b.judged, n.ID)
	if a.Status == executor.AttemptPassed.String() {
		b.say(beadsmith.BeadApproved, e.At, n, beadsmith.BeadNumber(result.BeadNumber))
		return
	}
	b.say(beadsmith.BeadRejected, e.At, n, beadsmith.Rejection{BeadNumber: result.BeadNumber, Feedback: beadsmith.Feedback(&a)})
}

// decided reports a person's decision if no other event of the run does.
func (b *beadEvents) decided(e executor.Event, verb executor.Verb, n *ir.Node, v machine.NodeView) {
	switch {
	case verb == executor.Pause:
		b.pauses(e.At, n)
	case verb == executor.Resume && !isPaused(v):
		b.resumed(e.At, n)
	case verb == executor.Skip:
		b.completed(e.At, n)
	case verb == executor.Cancel:
		b.cancel(e.At, n)
	}
}

func (b *beadEvents) pauses(at time.Time, n *ir.Node) {
	if !b.paused[n.ID] {
		b.paused[n.ID] = true
		b.say(beadsmith.TaskPaused, at, n, nil)
	}
}

func (b *beadEvents) resumed(at time.Time, n *ir.Node) {
	if b.paused[n.ID] {
		b.paused[n.ID] = false
		b.say(beadsmith.TaskResumed, at, n, nil)
	}
}

func (b *beadEvents) completed(at time.Time, n *ir.Node) {
	h := b.past.Node(context.Background(), n.ID)
	if h == nil || b.ended[n.ID] {
		return
	}
	b.ended[n.ID] = true
	if h.Ended.IsZero() {
		h.Ended = at
	}
	b.say(beadsmith.TaskCompleted, at, n, beadsmith.Summary(n, h))
}

func (b *beadEvents) cancel(at time.Time, n *ir.Node) {
	delete(b.judged, n.ID)
	if !b.ended[n.ID] {
		b.ended[n.ID] = true
		b.say(beadsmith.TaskCancelled, at, n, nil)
	}
}

// cancelled reports each task that was open when a person cancelled the run.
func (b *beadEvents) cancelled(at time.Time) {
	if b.run.Overview().Cancelled == "" {
		return
	}
	for n := range lists.Refs(b.epic.Nodes) {
		v, ok := b.run.View(n.ID)
		if ok && (v.Status == executor.Running || v.Status == executor.Waiting) && !v.Started.IsZero() {
			b.cancel(at, n)
		}
	}
}

// update reports what can be done in the graph now, if that has changed.
func (b *beadEvents) update(at time.Time) {
	g := beadsmith.Graph{Ready: []ir.Key{}, Running: []ir.Key{}, Waiting: []ir.Key{}, Blocked: []ir.Key{}}
	for _, v := range b.run.Views() {
		if b.nodes[v.ID] == nil {
			continue
		}
		switch v.Status {
		case executor.Ready:
			g.Ready = append(g.Ready, v.Key)
		case executor.Running:
			g.Running = append(g.Running, v.Key)
		case executor.Waiting:
			g.Waiting = append(g.Waiting, v.Key)
		case executor.Blocked:
			g.Blocked = append(g.Blocked, v.Key)
		case executor.Pending:
			g.Pending++
		default:
			g.Settled++
		}
	}
	if !reflect.DeepEqual(g, b.graph) {
		b.graph = g
		b.say(beadsmith.DAGUpdated, at, nil, g)
	}
}
