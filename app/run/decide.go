package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// NewID returns a new id for a decision, so that the decision counts once.
func NewID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Decide sends a decision to the process that holds the lock; if none does, it takes the
// lock and records the decision itself. It returns the epic concerned and a text: what was
// decided and what comes next.
func Decide(ctx context.Context, file string, in io.Reader, key string, d executor.Decision) (epic *ir.Epic, said string, err error) {
	if err := RefuseMarked(); err != nil {
		return nil, "", err
	}
	t, err := OpenDesk(ctx, file, in, key == "")
	if err != nil {
		return nil, "", err
	}
	out, err := t.decide(ctx, file, key, d)
	return t.Epic, out.Printed(), err
}

// Said is what came of a decision that was not refused.
type Said struct {
	Text string // what was decided
	Next string // the command that goes on with the run; "" if there is none to type
	Held bool   // a process is at work on the run, and was told
	Open bool   // it has not answered yet
}

// Printed is all of it, as the commands print it.
func (s Said) Printed() string {
	if s.Next == "" {
		return s.Text
	}
	return s.Text + "  nothing runs now; to continue: " + s.Next + "\n"
}

// DecideIn is Decide about the epic of file in the repository that contains dir; people
// call it name.
func DecideIn(ctx context.Context, dir, file, name, key string, d executor.Decision) (Said, error) {
	if err := RefuseMarked(); err != nil {
		return Said{}, err
	}
	t, err := openDesk(ctx, dir, file, nil, key == "")
	if err != nil {
		return Said{}, err
	}
	defer t.Space.Trees.Release()
	return t.decide(ctx, name, key, d)
}

func (t *Desk) decide(ctx context.Context, file, key string, d executor.Decision) (out Said, err error) {
	first, held, err := t.holder()
	if err != nil {
		return out, err
	}
	node := ir.NodeID("")
	if key != "" {
		if node, err = t.find(key); err != nil {
			return out, err
		}
	}
	d.By = cmp.Or(d.By, d.User)
	if t.Run.Decisions().Heard(d.ID) {
		if !t.recorded(node, d) {
			return out, anotherWith(d.ID)
		}
		return t.said(reveal.Words(decided(key, d))+"\n  it was already on record\n", file, d, held), nil
	}
	if d, err = t.Bind(ctx, node, d); err == nil && !held {
		err = t.outdated(node, d)
	}
	if err != nil {
		return t.notTaken(file, key, d, held, err)
	}
	x := delivery{
		Desk: t, file: file, key: key, letter: executor.Letter{Node: node, Decision: d},
		first: first, begins: held && d.Verb.OfRun() && !t.begun(first), began: time.Now(),
	}
	for {
		owner, held, err := t.holder()
		if err != nil {
			return out, err
		}
		if held {
			if said, done, err := x.toHolder(ctx, owner); done || err != nil {
				return said, err
			}
			continue
		}
		event, err := t.Write(ctx, x.letter, x.sent)
		var busy *journal.Held
		switch {
		case errors.As(err, &busy): // another writer was faster
			pause(ctx)
			continue
		case err != nil:
			return t.notTaken(file, key, d, false, err)
		}
		note, err := t.unchanged(ctx, node, event)
		if err != nil {
			return out, err
		}
		out.Text, out.Next = fmt.Sprintf("%s\n%s", reveal.Words(decided(key, event)), note), t.afterwards(file, event)
		return out, nil
	}
}

// find is the sprint of a key: as the last run called it, else as epic.json calls it now.
func (t *Desk) find(key string) (ir.NodeID, error) {
	node, err := record.Find(t.Epic, key)
	if err == nil || !t.Changed {
		return node, err
	}
	if now, no := record.Find(t.Given, key); no == nil {
		if _, known := t.Run.View(now); known {
			return now, nil
		}
	}
	return node, err
}

// recorded reports whether a decision is on record as it is, and not only its id.
func (t *Desk) recorded(node ir.NodeID, d executor.Decision) bool {
	for _, e := range slices.Backward(t.Events) {
		if b, is := e.Body.(executor.Decided); is && b.Decision.ID == d.ID {
			was := b.Decision
			return e.Node == node && was.Verb == d.Verb && was.How == d.How && was.Tamper == d.Tamper && was.Budget == d.Budget &&
				executor.Note(was.Message) == executor.Note(d.Message)
		}
	}
	return false
}

// holder is who holds the lock, if anybody does. Agents decide nothing about their own run.
func (t *Desk) holder() (by journal.Owner, held bool, err error) {
	if by, held, err = journal.Holder(t.Space.State()); err != nil {
		return by, held, err
	}
	return by, held, checkCaller(by, held)
}

// delivery is a letter on its way to the process that holds the lock.
type delivery struct {
	*Desk
	file, key string
	letter    executor.Letter
	first     journal.Owner // of the lock
	begins    bool          // it is about to begin a run
	sent      bool
	began     time.Time
}

// toHolder sends the letter and says what came of it; done is false if that has to be
// tried again.
func (x *delivery) toHolder(ctx context.Context, by journal.Owner) (said Said, done bool, err error) {
	said.Held = true
	late := time.Since(x.began) > answerTime
	if x.begins && by == x.first && !x.sent { // its run is not on record yet
		switch ready, err := x.awaited(ctx, x.first, &x.letter); {
		case err != nil:
			return said, true, err
		case !ready && late:
			return said, true, exit.Inputf("ralph apply (process %d) has not started its run yet: repeat this once it has, or end it with Ctrl-C there", by.PID)
		case !ready:
			pause(ctx)
			return said, false, nil
		}
	}
	answer, err := x.send(ctx, x.letter, &x.sent)
	late = time.Since(x.began) > answerTime
	switch {
	case err == nil && answer == "":
		said.Text = fmt.Sprintf("%s\n  ralph apply (process %d) acts on it\n", decided(x.key, x.letter.Decision), by.PID)
		return said, true, nil
	case err == nil:
		said.Text, err = NotTaken(x.file, x.key, x.refusal(ctx, x.letter, answer))
		return said, true, err
	case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, journal.ErrNone):
		return said, true, err
	case late && x.sent:
		said.Open = true
		said.Text = fmt.Sprintf("%s\n  ralph apply (process %d) has not answered yet; the decision is in its inbox and counts if this run reads it\n", decided(x.key, x.letter.Decision), by.PID)
		return said, true, nil
	case late:
		return said, true, &journal.Held{By: by}
	case errors.Is(err, journal.ErrNone): // it is only just beginning
		pause(ctx)
	}
	return said, false, nil
}

// answerTime is how long to wait for an answer.
const answerTime = 15 * time.Second

func pause(ctx context.Context) {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// Desk takes decisions about the run of a record.
type Desk struct {
	*record.Record
	moving bool // the base that was tried last is not the pinned one: apply --rebase goes on
}

// OpenDesk opens the epic that decisions are about: that of the last run, which status
// shows. A decision about the whole (the plan) is about the present epic.json.
func OpenDesk(ctx context.Context, file string, in io.Reader, whole bool) (*Desk, error) {
	return openDesk(ctx, project.EpicDir(file), file, in, whole)
}

// openDesk is OpenDesk in the repository that contains dir.
func openDesk(ctx context.Context, dir, file string, in io.Reader, whole bool) (*Desk, error) {
	if !whole {
		r, err := record.OpenIn(ctx, dir, file, in)
		return &Desk{Record: r}, err
	}
	epic, _, err := record.Load(file, in)
	if err != nil {
		return nil, err
	}
	r, err := record.OpenAbout(ctx, dir, file, epic)
	return &Desk{Record: r}, err
}

// Bind binds a decision to what there is to decide now, according to the record: changes
// before it is read are not what the person saw. An approval of what could not have been
// seen is refused here; other refusals are left to the lock's holder, who may be ahead.
func (t *Desk) Bind(ctx context.Context, node ir.NodeID, d executor.Decision) (executor.Decision, error) {
	if d.Verb == executor.Approve && node == "" && d.How != executor.Baseline { // it names a change, or is about this plan
		if d.Tamper == "" {
			d.Digest = cmp.Or(d.Digest, t.Epic.Digest) // of what the person was shown, where that is said
		}
		return d, nil
	}
	bound, err := t.Run.Decisions().Bind(node, d)
	if d.Seen != (executor.Sight{Seq: d.Seen.Seq}) { // the person who decides was shown it, and answers that
		bound.Seen = d.Seen
	}
	if err != nil && d.Verb != executor.Approve && d.Verb != executor.Reject {
		return bound, nil
	}
	return bound, err
}

// begun reports whether the run of the lock's holder is on record and active.
func (t *Desk) begun(by journal.Owner) bool {
	o := t.Run.Overview()
	return o.Open && !o.Started.Before(by.Started.Truncate(time.Millisecond))
}

// awaited reports whether the run that a process is about to begin has begun; the
// letter is for that one then.
func (t *Desk) awaited(ctx context.Context, by journal.Owner, l *executor.Letter) (bool, error) {
	if err := t.Reload(ctx); err != nil || !t.begun(by) {
		return false, err
	}
	l.Decision = t.Run.Decisions().Rebind(l.Node, l.Decision)
	return true, nil
}

// refusal is the answer to a letter, and whether what it asked for is so already.
func (t *Desk) refusal(ctx context.Context, l executor.Letter, answer string) error {
	var no *executor.Refused
	if err := t.Reload(ctx); err != nil {
		return err
	}
	if _, err := t.Run.Decisions().Consider(l.Node, l.Decision, time.Now()); errors.As(err, &no) && no.Already {
		return no
	}
	return &executor.Refused{Why: answer}
}

// send puts the letter into the inbox, once, and waits briefly for an answer. The error is
// context.DeadlineExceeded if none came. What was sent before with the same id keeps the
// answer that it got.
func (t *Desk) send(ctx context.Context, letter executor.Letter, sent *bool) (string, error) {
	before := false
	if !*sent {
		err := journal.Send(ctx, t.Space.State(), t.Epic.Epic.ID, letter)
		if before = errors.Is(err, journal.ErrSent); err != nil && !before {
			return "", err
		}
		*sent = true
	}
	wait, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	answer, err := journal.Await(wait, t.Space.State(), t.Epic.Epic.ID, letter.Decision.ID)
	if err != nil || answer != "" || !before {
		return answer, err
	}
	if err := t.Reload(ctx); err != nil {
		return "", err
	}
	if !t.recorded(letter.Node, letter.Decision) {
		return "", anotherWith(letter.Decision.ID)
	}
	return "", nil
}

// anotherWith refuses a decision whose id another one has.
func anotherWith(id string) error {
	return &executor.Refused{Why: "another decision is on record with the id " + id, Hint: "a new decision takes a new id"}
}

// Write takes the lock and records the letters in the inbox and, unless it was sent
// there, this one. The error is a *journal.Held if another process has the lock, and an
// *executor.Refused if the decision does not apply.
func (t *Desk) Write(ctx context.Context, letter executor.Letter, sent bool) (d executor.Decision, err error) {
	r, err := enter(t.Space.State(), WhoAmI())
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, r.close(nil)) }()
	if err := r.replay(ctx, t.Epic); err != nil {
		return d, err
	}
	letters, err := r.log.Pending(ctx)
	if err != nil {
		return d, err
	}
	if !sent {
		letters = append(letters, letter)
	}
	t.moving = r.Run.Bases().TriesElsewhere()
	found := false
	for _, l := range letters {
		event, err := r.decide(ctx, t.Space, l)
		if l.Decision.ID != letter.Decision.ID {
			var no *executor.Refused
			if err != nil && !errors.As(err, &no) {
				return d, err
			}
			continue
		}
		if err != nil {
			return d, err
		}
		d, found = event, true
	}
	if found {
		return d, nil
	}
	answer, err := journal.Await(ctx, r.state, t.Epic.Epic.ID, letter.Decision.ID) // the run that ended meanwhile has answered it
	if err != nil {
		return d, err
	}
	if answer != "" {
		return d, &executor.Refused{Why: answer}
	}
	return letter.Decision, nil
}

// decide records a letter's decision and answers the letter. The error is an
// *executor.Refused, which is the answer, if the decision does not apply.
func (d *door) decide(ctx context.Context, space *workspace.Space, l executor.Letter) (out executor.Decision, err error) {
	event, err := local.Decide(ctx, d.Run, space, l.Node, l.Decision, time.Now())
	var no *executor.Refused
	answer := ""
	switch {
	case errors.As(err, &no):
		answer = no.Error()
	case err != nil:
		return out, err
	default:
		if event, err = d.put(ctx, event); err != nil {
			return out, err
		}
		out = event.Body.(executor.Decided).Decision
	}
	if err := d.log.Answer(ctx, l.Decision.ID, answer); err != nil {
		return out, err
	}
	if no != nil {
		return out, no
	}
	return out, nil
}
