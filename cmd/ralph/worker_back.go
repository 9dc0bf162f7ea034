package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
)

// How a worker leaves an issue.
const (
	issueClosed  = "closed"
	issueOpen    = "open again"
	issueBlocked = "blocked"
	issueWaiting = "waiting for a person"
	issueAgain   = "again" // the process ended without a word: another one goes on
	issueLeft    = "left"  // somebody else wrote it meanwhile
)

const (
	humanReview    = "human_review" // phase of an issue that waits for a person
	mostEndedSilly = 3              // processes of a run that may end without a word
)

// issueEnd is what has come of a run.
type issueEnd struct {
	kind string
	why  string // of the close, or in a comment
	hold bool   // open: not taken again before it was changed
	pull executor.Pull
	rec  *record // nil: it was never run
}

// settle writes back what has ended. What bd does not take stays, and is tried again
// with the next poll.
func (w *issueWorker) settle(ctx context.Context) {
	var ids []string
	for id, r := range w.runs {
		if r.over {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		r := w.runs[id]
		if r.verdict == nil {
			r.verdict = w.judge(ctx, r)
		}
		if r.verdict.kind == issueAgain {
			r.verdict = nil
			r.tries++
			w.say.linef(id, "its ralph apply ended without a word; another one goes on")
			if err := w.start(r, nil); err != nil {
				r.verdict = &issueEnd{kind: issueBlocked, why: err.Error()}
			} else {
				continue
			}
		}
		if err := w.writeBack(ctx, r); err != nil {
			if r.said != err.Error() {
				r.said = err.Error()
				w.say.failf("%s: what came of it cannot be written to bd yet: %v", id, err)
			}
			if w.drain > 1 { // the next worker does it
				delete(w.runs, id)
				_ = r.claim.locked.Release()
			}
			continue
		}
		delete(w.runs, id)
		if err := r.claim.locked.Release(); err != nil {
			w.say.failf("%s: %v", id, err)
		}
	}
}

// judge says what has come of a run, from its journal.
func (w *issueWorker) judge(ctx context.Context, r *issueRun) *issueEnd {
	rec, err := openRecord(ctx, r.file, nil)
	if err != nil {
		return &issueEnd{kind: issueBlocked, why: err.Error()}
	}
	if !begunAfter(rec.events, r.claim.After) {
		switch {
		case r.code == exitWaiting:
			return &issueEnd{kind: issueWaiting, why: "its plan waits for approval:\n  ralph approve" + rec.about(), rec: rec}
		case w.drain > 0:
			return &issueEnd{kind: issueOpen, why: "the worker ended before it began", rec: rec}
		}
		w.failed++
		return &issueEnd{kind: issueBlocked, why: "ralph apply could not begin:\n" + r.tailOf(), rec: rec}
	}
	w.failed = 0
	end := w.judgeNode(rec, r)
	end.rec = rec
	return end
}

func (w *issueWorker) judgeNode(rec *record, r *issueRun) *issueEnd {
	n := &rec.epic.Nodes[0]
	v, _ := rec.run.View(n.ID)
	sum, joined := rec.run.View(executor.Integration)
	o := rec.run.Overview()
	waits := func(v executor.NodeView) bool {
		return v.Status == executor.Waiting && (v.For == executor.ForHuman || v.For == executor.ForBudget)
	}
	settled := v.Status == executor.Done || v.Status == executor.Skipped
	switch {
	case v.Status == executor.Cancelled || o.Cancelled != "" && !settled:
		return &issueEnd{kind: issueOpen, hold: true, why: "cancelled" + doneBy(o.Cancelled)}
	case settled && joined && sum.Status == executor.Blocked:
		return &issueEnd{kind: issueBlocked, why: "it is done, and does not pass on the integration branch: " + w.ask(rec, sum)}
	case settled && joined && waits(sum):
		return &issueEnd{kind: issueWaiting, why: w.ask(rec, sum)}
	case settled:
		return &issueEnd{kind: issueClosed, why: closeReason(v, n), pull: v.Pull}
	case waits(v):
		return &issueEnd{kind: issueWaiting, why: w.ask(rec, v)}
	case v.Status == executor.Blocked && partial(v):
		return &issueEnd{kind: issueOpen, hold: true, why: "partly done, and given up: " + first(v.Reason)}
	case v.Status == executor.Blocked:
		return &issueEnd{kind: issueBlocked, why: w.ask(rec, v)}
	case r.moved != "":
		return &issueEnd{kind: issueOpen, hold: r.moved == "excluded", why: "it was " + r.moved}
	case w.drain > 0:
		return &issueEnd{kind: issueOpen, why: "interrupted; what was done is kept, the next worker goes on with it"}
	case !o.Open && o.Held.For != "":
		return &issueEnd{kind: issueWaiting, why: fmt.Sprintf("nothing new starts (%s): %s\n  %s%s", o.Held.For, first(o.Held.Detail), resumeCommand(o.Held.For), rec.about())}
	case r.tries < mostEndedSilly:
		return &issueEnd{kind: issueAgain}
	}
	return &issueEnd{kind: issueBlocked, why: fmt.Sprintf("ralph apply ended without a word %d times:\n%s", mostEndedSilly, r.tailOf())}
}

func doneBy(name string) string {
	if name == "" {
		return ""
	}
	return " by " + name
}

// partial reports whether the last agent said that it did a part.
func partial(v executor.NodeView) bool {
	return len(v.Attempts) > 0 && v.Attempts[len(v.Attempts)-1].Outcome.Result == "partial"
}

// ask says what a node wants from a person, and what to type.
func (w *issueWorker) ask(rec *record, v executor.NodeView) string {
	var b strings.Builder
	text := asks(v)
	for _, said := range []string{"waiting: ", "blocked: "} {
		text = strings.TrimPrefix(text, said)
	}
	b.WriteString(text)
	if steps := nextSteps(v, rec.space.Dir(v.ID), rec.about()); len(steps) > 0 {
		b.WriteString("\nWhat you can type:\n")
		writeSteps(&b, steps)
	}
	if w.tracker.Approvals && v.Status == executor.Waiting && v.Cause == executor.CauseApproval {
		fmt.Fprintf(&b, "Or here, as one of those who may: bd label add %s %s; to have it changed, comment it and add %s.", v.ID, w.labels.Approved, w.labels.Changes)
	}
	return strings.TrimRight(b.String(), "\n")
}

func closeReason(v executor.NodeView, n *ir.Node) string {
	if v.Status == executor.Skipped {
		return "skipped: " + first(v.Reason)
	}
	out := "done by ralph"
	if v.Result.Commit != "" {
		out += fmt.Sprintf(": commit %.12s on %s", v.Result.Commit, n.Git.Branch)
	}
	if v.Pull.URL != "" {
		out += ", pull request " + v.Pull.URL
	}
	return out
}

// writeBack tells bd what has come of a run. Done again, it writes nothing twice.
func (w *issueWorker) writeBack(ctx context.Context, r *issueRun) error {
	end, c := r.verdict, r.claim
	i, there, err := w.bd.Show(ctx, c.Issue)
	if err != nil {
		return err
	}
	if !there || !c.owns(i) || i.Status != "in_progress" {
		if there && i.Status == "closed" && end.kind == issueClosed {
			return w.over(r, claimOver, issueClosed, end.why) // written before a crash
		}
		return w.over(r, claimOver, issueLeft, fmt.Sprintf("is not this worker's any more (%s in bd) and is left as it is; its run: %s", i.Status, end.kind))
	}
	if err := w.tellStory(ctx, r, end); err != nil {
		return err
	}
	switch end.kind {
	case issueClosed:
		if end.pull.URL != "" && i.ExternalRef != end.pull.URL {
			if _, err := w.bd.Update(ctx, i.ID, bd.Change{ExternalRef: end.pull.URL}); err != nil && !w.passOver(r, err) {
				return err
			}
		}
		_, err := w.bd.Close(ctx, i.ID, end.why)
		if err != nil && w.passOver(r, err) { // a person made it wait for something meanwhile
			end.kind, end.why = issueBlocked, fmt.Sprintf("%s. bd does not close it: %v\nOnce it does, nothing has to run again: bd close %s", end.why, err, i.ID)
			r.refused = 0
			return w.writeBack(ctx, r)
		}
		if err != nil {
			return err
		}
		return w.over(r, claimOver, issueClosed, end.why)
	case issueOpen:
		if err := w.write(ctx, i, c.Start, bd.Change{Status: "open", Unassign: true}); err != nil {
			return w.lost(r, err)
		}
		state := claimOver
		if end.hold {
			state = claimReleased
		}
		return w.over(r, state, issueOpen, end.why)
	case issueWaiting:
		c.Mark, c.Wrote = journalMark(r.state), humanReview
		if err := c.save(); err != nil {
			return err
		}
		// What was said before the question answers another one. It is taken away also
		// where it was not seen: it may have come since.
		if err := w.write(ctx, i, humanReview, bd.Change{Status: "blocked", Add: []string{w.labels.Needs}, Remove: []string{w.labels.Approved, w.labels.Changes}}); err != nil {
			return w.lost(r, err)
		}
		return w.over(r, claimWaiting, issueWaiting, first(end.why))
	}
	step, _ := i.Phase()
	if err := w.write(ctx, i, step, bd.Change{Status: "blocked"}); err != nil {
		return w.lost(r, err)
	}
	return w.over(r, claimOver, issueBlocked, first(end.why))
}

// mostRefused is how often bd may refuse something about an issue before that is
// passed over.
const mostRefused = 3

// passOver reports whether something that bd does not take is left out: it answers, and
// refuses this again and again. Nobody waits for it then.
func (w *issueWorker) passOver(r *issueRun, err error) bool {
	var no *bd.Refused
	if !errors.As(err, &no) || no.Exit <= 0 {
		return false
	}
	if r.refused++; r.refused < mostRefused {
		return false
	}
	w.say.failf("%s: bd refuses it: %v", r.issue.ID, err)
	return true
}

// write changes an issue that is still being worked on.
func (w *issueWorker) write(ctx context.Context, i bd.Issue, step string, ch bd.Change) error {
	ch.If = "in_progress"
	_, err := w.bd.UpdatePhase(ctx, i, step, ch)
	return err
}

// lost is what to do when somebody else changed the issue in that very moment.
func (w *issueWorker) lost(r *issueRun, err error) error {
	if bd.Guarded(err) {
		return w.over(r, claimOver, issueLeft, "was changed in bd meanwhile, and is left as it is")
	}
	return err
}

// over ends a claim.
func (w *issueWorker) over(r *issueRun, state, kind, why string) error {
	r.claim.State = state
	if err := r.claim.save(); err != nil {
		return err
	}
	w.left[r.claim.Issue] = kind
	if kind == issueLeft {
		w.say.linef(r.issue.ID, "%s", why)
		return nil
	}
	w.say.linef(r.issue.ID, "%s: %s", kind, why)
	return nil
}

// tellStory writes the comments that an issue lacks: what happened in its run, and
// what came of it. Proposals go into beads of their own.
func (w *issueWorker) tellStory(ctx context.Context, r *issueRun, end *issueEnd) error {
	var texts []string
	if end.rec != nil {
		for _, c := range end.rec.run.Comments(end.rec.epic.Nodes[0].ID) {
			if !c.At.Before(r.claim.At) {
				texts = append(texts, c.Text)
			}
		}
		if list := end.rec.run.Overview().Proposals; w.tracker.Proposals && len(list) > 0 {
			made, err := w.bd.Propose(ctx, end.rec.epic, list)
			if err != nil && !w.passOver(r, err) {
				return fmt.Errorf("proposals: %w", err)
			}
			if len(made) > 0 {
				w.say.linef(r.issue.ID, "proposes %s", strings.Join(made, ", "))
			}
		}
	}
	switch end.kind {
	case issueWaiting, issueBlocked, issueOpen:
		texts = append(texts, end.kind+": "+end.why)
	}
	there, err := w.bd.Comments(ctx, r.claim.Issue)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if slices.ContainsFunc(there, func(c bd.Comment) bool {
			return !c.At.Before(r.claim.At.Truncate(1e9)) && strings.TrimSpace(c.Text) == strings.TrimSpace(text)
		}) {
			continue
		}
		if err := w.bd.Comment(ctx, r.claim.Issue, text); err != nil && !w.passOver(r, err) {
			return err
		}
	}
	return nil
}

// peopleLabels are the labels of a wait that is over.
func (w *issueWorker) peopleLabels(i bd.Issue) []string {
	var out []string
	for _, l := range i.Labels {
		if l == w.labels.Needs || l == w.labels.Approved || l == w.labels.Changes {
			out = append(out, l)
		}
	}
	return out
}

// decidedThere lists the issues on which a label says a decision; none if the policy
// does not let people decide in bd.
func (w *issueWorker) decidedThere(ctx context.Context) ([]bd.Issue, error) {
	if !w.tracker.Approvals {
		return []bd.Issue{}, nil
	}
	list, err := w.bd.List(ctx, "--status", "blocked", "--label-any", w.labels.Approved+","+w.labels.Changes)
	if list == nil {
		list = []bd.Issue{}
	}
	return list, err
}

// wake goes on with an issue that waited for a person, once that is over.
func (w *issueWorker) wake(ctx context.Context, id string, decided []bd.Issue) (bool, error) {
	at := slices.IndexFunc(decided, func(i bd.Issue) bool { return i.ID == id })
	c := w.lookUp(id)
	if c == nil || at < 0 && journalMark(stateOf(w.epicFile(c.Epic))) == c.Mark {
		return false, nil
	}
	l, got, err := w.lock(id)
	if err != nil || !got {
		return false, err
	}
	c = w.lookUp(id)
	r, err := w.woken(ctx, c, func() *bd.Issue {
		if at < 0 {
			return nil
		}
		return &decided[at]
	}())
	if err != nil || r == nil {
		return false, errors.Join(err, l.Release())
	}
	c.locked = l
	w.runs[id] = r
	w.say.linef(id, "goes on: %s (decided)", r.issue.Title)
	if err := w.start(r, nil); err != nil {
		return true, w.blocked(ctx, r, err)
	}
	return true, nil
}

// woken claims an issue again whose wait is over; nil if it is not, or it is not the
// worker's to go on with.
func (w *issueWorker) woken(ctx context.Context, c *claim, decided *bd.Issue) (*issueRun, error) {
	if c == nil || c.State != claimWaiting {
		return nil, nil
	}
	r := &issueRun{claim: c, file: w.epicFile(c.Epic), code: -1}
	r.state = stateOf(r.file)
	if decided != nil && c.owns(*decided) {
		if err := w.carryOver(ctx, r, *decided); err != nil {
			return nil, err
		}
	}
	rec, err := openRecord(ctx, r.file, nil)
	if err != nil {
		return nil, faulty(err)
	}
	v, _ := rec.run.View(rec.epic.Nodes[0].ID)
	sum, joined := rec.run.View(executor.Integration)
	still := func(v executor.NodeView) bool {
		return v.Status == executor.Waiting && (v.For == executor.ForHuman || v.For == executor.ForBudget)
	}
	o := rec.run.Overview()
	if still(v) || joined && still(sum) || o.Held.For != "" || !o.Begun && rec.epic.Run.HITL.Plan == "required" && !o.PlanApproved {
		c.Mark = journalMark(r.state)
		return nil, c.save()
	}
	i, there, err := w.bd.Show(ctx, c.Issue)
	if err != nil {
		return nil, err
	}
	if !there || !c.owns(i) || i.Status != "blocked" {
		c.State = claimOver // a person took it, or opened it: then it is ready
		return nil, c.save()
	}
	if n := len(rec.events); n > 0 {
		c.After = rec.events[n-1].Seq
	}
	c.State, c.Args, c.Wrote = claimTaken, nil, v.Step
	if c.Wrote == "" {
		c.Wrote = rec.epic.Nodes[0].Steps[0].Name
	}
	if err := c.save(); err != nil {
		return nil, err
	}
	if i, err = w.bd.UpdatePhase(ctx, i, c.Wrote, bd.Change{Status: "in_progress", If: "blocked", Remove: w.peopleLabels(i)}); err != nil {
		if bd.Guarded(err) {
			c.State = claimOver
			return nil, c.save()
		}
		return nil, err
	}
	r.issue, r.epic, r.step = i, rec.epic, c.Wrote
	return r, nil
}

// carryOver puts on record what a label in bd decides; bd's actor is only a claim.
func (w *issueWorker) carryOver(ctx context.Context, r *issueRun, i bd.Issue) error {
	d := executor.Decision{Verb: executor.Approve, Message: "label " + w.labels.Approved + " in bd"}
	label := w.labels.Approved
	if hasLabel(i, w.labels.Changes) {
		label, d.Verb = w.labels.Changes, executor.Reject
	}
	events, err := w.bd.Events(ctx, i.ID)
	if err != nil {
		return err
	}
	who := ""
	for _, e := range events {
		if e.Type == "label_added" && strings.HasSuffix(e.Comment, ": "+label) {
			who = e.Actor
			break
		}
	}
	if who == "" || who == w.actor || who == bd.AgentActor {
		return nil // nobody's word
	}
	d.By = who + executor.InTracker
	if d.Verb == executor.Reject {
		if d.Message, err = w.saidSince(ctx, i.ID, r.claim.At); err != nil {
			return err
		}
		if d.Message == "" {
			d.Message = "changes requested in bd"
		}
	}
	rec, err := openRecord(ctx, r.file, nil)
	if err != nil {
		return faulty(err)
	}
	if err := w.decide(ctx, r.file, string(rec.epic.Nodes[0].Key), d); err != nil {
		w.tell(i.ID, fmt.Sprintf("what %s says with %s does not count: %v", who, label, err))
		text := fmt.Sprintf("%s of %s does not count: %v", label, who, err)
		return errors.Join(w.commentOnce(ctx, i.ID, text, r.claim.At), w.unlabel(ctx, i))
	}
	return nil
}

func (w *issueWorker) unlabel(ctx context.Context, i bd.Issue) error {
	_, err := w.bd.Update(ctx, i.ID, bd.Change{Remove: slices.DeleteFunc(w.peopleLabels(i), func(l string) bool { return l == w.labels.Needs })})
	return err
}
