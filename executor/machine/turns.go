package machine

import (
	"slices"
	"strconv"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// turns is what is known of the turns of an attempt's agent.
type turns struct {
	iteration int
	extra     int    // turns that do not count as iterations of the step: a reminder, what follows on a takeover
	reminded  bool   // a valid outcome was asked for once more
	session   string // of the last turn, or what the first one is to continue with; "" if none is known
	resumes   bool   // the first turn goes on in the session of the attempt before
	spoken    bool   // a person wrote in the session while the present turn went on
	going     going  // the next turn, or the present one, goes on in session on the tree as it is
	lost      []int  // iterations whose session was lost
	losses    int    // of sessions that count as failures of the runner
}

// going says why a turn goes on on the tree as it is.
type going uint8

const (
	goesFresh going = iota // it does not
	goesCut                // the turn was cut
	goesTaken              // a person worked in the session
)

// turnName is the base name of the files of a turn of a step's agent. Most are the
// first of their attempt.
func turnName(iteration int) string {
	if iteration == 1 {
		return "agent-1"
	}
	return "agent-" + strconv.Itoa(iteration)
}

// cut records that a turn was cut. If its session is on record, the same turn goes
// on in it, on the tree as it is; else the work begins once more.
func (t *turns) cut(e executor.Effect) {
	if t.session == "" {
		t.anew()
		return
	}
	t.iteration = e.Iteration - 1
	if t.going == goesFresh {
		t.going = goesCut
	}
}

// anew lets the work begin once more, in a fresh session, on a tree that is put back.
func (t *turns) anew() { *t = turns{lost: t.lost, losses: t.losses} }

// shortTurn is what a turn that only has to report, in milliseconds, has at least.
const shortTurn = 2 * 60_000

// timeLeft is what the turns of the open attempt left of the step's time, in
// milliseconds; 0 is no limit. A turn that was cut, by a failure that is not the
// agent's, used none of it. What follows on a person's work begins anew.
func (n *node) timeLeft() int64 {
	limit := n.stepNow().Limits.TimeoutMS
	t := &n.life.attempt.turns
	if limit <= 0 || t.going == goesTaken {
		return max(limit, 0)
	}
	least := int64(1)
	if t.reminded {
		least = min(limit, shortTurn)
	}
	return max(limit-n.logs[len(n.logs)-1].Millis, least)
}

// sessionLost records that the session of a turn cannot be resumed. A turn
// loses one for nothing; after that it is a failure of the runner, so that one
// that cannot resume does not begin for ever.
func (t *turns) sessionLost(e executor.Effect) (counts bool) {
	t.anew()
	if e.Session != "" && !slices.Contains(t.lost, e.Iteration) {
		t.lost = append(slices.Clip(t.lost), e.Iteration)
		return false
	}
	t.losses++
	return true
}

// handle is the session that the next turn continues with, "" for a fresh one.
func (t *turns) handle(policy string, invalid bool) string {
	switch {
	case t.going != goesFresh, t.iteration == 0 && t.resumes, t.iteration > 0 && (policy == "resume" || invalid):
		return t.session
	}
	return ""
}

// takenOver applies that a person wrote in the agent's session: the session is
// theirs until they say so, or what they wrote is feedback, or the agent is asked
// to finish. It never costs an attempt, nor an iteration.
func (r *rules) takenOver(n *node) {
	l := &n.life
	n.logs[len(n.logs)-1].Taken = true
	switch r.epic.HITLOf(n.ir).OnHumanMessage {
	case "review":
		l.stage = stageCollect
	case "cooldown":
		l.stage = stagePrepare
		l.attempt.goOnTaken()
	default:
		l.stage = stageTaken
	}
}

// pausesForPeople reports whether a session of the node that a person wrote in is
// theirs until they say so.
func (r *rules) pausesForPeople(n *node) bool {
	on := r.epic.HITLOf(n.ir).OnHumanMessage
	return on != "review" && on != "cooldown"
}

// goOnTaken lets the session go on after a person had it.
func (t *turns) goOnTaken() { t.going, t.extra = goesTaken, t.extra+1 }

// GoesOnAsIs reports whether a node's open attempt continues on its worktree as it is:
// changes made there since belong to it.
func (o Node) GoesOnAsIs() bool {
	n := o.r.byID[o.id]
	return n != nil && n.life.attempt.status == executor.AttemptRunning && n.life.attempt.going != goesFresh
}

// spokenDecision ends an attempt whose agent a person told something else: its
// next one is given that.
func (n *node) spokenDecision() executor.Event {
	return n.attemptEvent(executor.AttemptEnded{
		Status: executor.AttemptCancelled, Free: true, Next: n.life.attempt.step,
		Reason: text.Head("a person wrote in the agent's session"+executor.Because(n.lastSpoken()), 300),
	})
}

// takenDecision waits for the person who has the session.
func (n *node) takenDecision() executor.Event {
	return n.event(executor.NodeWaiting{
		For: executor.ForHuman, Cause: executor.CauseTakeover,
		Detail: executor.Fitting("a person wrote in the session of agent " + n.life.attempt.agent + executor.Because(n.lastSpoken())),
	})
}

// answers reports whether the next attempt goes on from what the last one left, whatever
// on_failure says: a person was asked, or took the session over, or an agent said why it stalled.
func (n *node) answers() bool {
	last := n.lastEnded("")
	return last != nil && (last.Taken || last.Diagnosed != nil || last.Replaced && last.Outcome.Asks())
}

// lastSpoken is the last thing that a person wrote in a session of the open
// attempt's agent, "" if that is not known.
func (n *node) lastSpoken() string {
	if s := newest(n.logs[len(n.logs)-1].Spoken, func(s *executor.HumanSpoke) bool { return s.Gate == "" && s.Text != "" }); s != nil {
		return s.Text
	}
	return ""
}
