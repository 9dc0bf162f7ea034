package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// decideArgs are the flags that all decisions share.
type decideArgs struct {
	epic    epicFlag
	message string
	as      string
}

func (a *decideArgs) add(cmd *cobra.Command, message string) {
	a.epic.add(cmd)
	cmd.Flags().StringVar(&a.as, "as", "", "who decides (default: your user name); recorded beside it")
	if message != "" {
		cmd.Flags().StringVarP(&a.message, "message", "m", "", message+"; - reads standard input")
	}
}

// run decides: key "" is the run as a whole.
func (a *decideArgs) run(cmd *cobra.Command, key string, d executor.Decision) error {
	if a.message == "-" {
		b, err := readStdin(cmd.InOrStdin())
		if err != nil {
			return err
		}
		a.message = strings.TrimSpace(string(b))
	}
	if len(a.message) > executor.MaxNote {
		return usageErrorf("the message has %d bytes, and %d are kept; put the rest into a file of the worktree and name it", len(a.message), executor.MaxNote)
	}
	d.Message = a.message
	d.User = userName()
	d.By = a.as
	d.At = time.Now().UTC().Truncate(time.Millisecond)
	d.ID = newID()
	file, err := a.epic.path()
	if err != nil {
		return err
	}
	if key == "" && d.Verb == executor.Approve && d.How == "" && d.Tamper == "" {
		key = draftKey(file)
	}
	epic, err := decide(background(cmd), cmd.OutOrStdout(), file, cmd.InOrStdin(), key, d)
	if err != nil {
		return err
	}
	if key == "" && d.Verb == executor.Approve && d.How == "" && d.Tamper == "" {
		tellApproved(background(cmd), cmd.OutOrStdout(), file, epic)
	}
	return settleDraft(cmd, file, epic, key, d.Verb)
}

func newID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// decide hands a decision to whoever holds the lock and says what came of it; if
// nobody does, it takes the lock and puts it on record itself. It returns the epic that
// was decided about.
func decide(ctx context.Context, out io.Writer, file string, in io.Reader, key string, d executor.Decision) (*ir.Epic, error) {
	if err := refuseMarked(); err != nil {
		return nil, err
	}
	t, err := openTable(ctx, file, in, key == "")
	if err != nil {
		return nil, err
	}
	return t.epic, t.decide(ctx, out, file, key, d)
}

func (t *table) decide(ctx context.Context, out io.Writer, file, key string, d executor.Decision) error {
	first, held, err := journal.Holder(t.space.State())
	if err != nil {
		return inputErrorf("%w", err)
	}
	if err := refuseAgents(first, held); err != nil {
		return err
	}
	node := ir.NodeID("")
	if key != "" {
		if node, err = find(t.epic, key); err != nil {
			return err
		}
	}
	d.By = cmp.Or(d.By, d.User)
	if d, err = t.bind(ctx, node, d); err != nil {
		return notTaken(out, file, key, err)
	}
	letter := executor.Letter{Node: node, Decision: d}
	var by journal.Owner
	sent, begins := false, held && d.Verb.OfRun() && !t.begun(first)
	for began := time.Now(); ; {
		owner, held, err := journal.Holder(t.space.State())
		if err != nil {
			return inputErrorf("%w", err)
		}
		if err := refuseAgents(owner, held); err != nil {
			return err
		}
		if held {
			by = owner
			if begins && owner == first && !sent { // its run is not on record yet
				switch ready, err := t.awaited(ctx, first, &letter); {
				case err != nil:
					return err
				case !ready && time.Since(began) > answerTime:
					return inputErrorf("ralph apply (process %d) has not begun its run yet: say it again then, or end it with Ctrl-C there", by.PID)
				case !ready:
					pause(ctx)
					continue
				}
			}
			answer, err := t.send(ctx, letter, &sent)
			switch {
			case err == nil && answer == "":
				fmt.Fprintf(out, "%s\n  ralph apply (process %d) goes on with it\n", decided(key, d), by.PID)
				return nil
			case err == nil:
				return notTaken(out, file, key, t.refusal(ctx, letter, answer))
			case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, journal.ErrNone):
				return inputErrorf("%w", err)
			case time.Since(began) > answerTime && sent:
				fmt.Fprintf(out, "%s\n  ralph apply (process %d) has not answered yet; what was said is in its inbox and counts if this run reads it\n", decided(key, d), by.PID)
				return nil
			case time.Since(began) > answerTime:
				return inputErrorf("%w", &journal.Held{By: by})
			}
			if errors.Is(err, journal.ErrNone) { // it is only just beginning
				pause(ctx)
			}
			continue
		}
		event, err := t.record(ctx, letter, sent)
		var busy *journal.Held
		switch {
		case errors.As(err, &busy): // somebody was quicker
			pause(ctx)
			continue
		case err != nil:
			return notTaken(out, file, key, err)
		}
		note, err := t.unchanged(ctx, node, event)
		if err != nil {
			return inputErrorf("%w", err)
		}
		fmt.Fprintf(out, "%s\n%s%s", reveal.Words(decided(key, event)), note, t.afterwards(file, node, event))
		return nil
	}
}

// answerTime is how long an answer is waited for.
const answerTime = 15 * time.Second

func pause(ctx context.Context) {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// table is where decisions are taken: the epic that they are about, with its
// repository.
type table struct {
	epic   *ir.Epic
	space  *workspace.Space
	events []executor.Event // not read for a decision about the whole, before it is bound
	run    *executor.Run    // what the events give
	moving bool             // the base that was tried last is not the pinned one: apply --rebase goes on
}

// openTable opens the epic that decisions are about: what the last run was
// started with, which is what status shows. A decision about the whole (the plan)
// is about epic.json as it stands.
func openTable(ctx context.Context, file string, in io.Reader, whole bool) (*table, error) {
	epic, _, err := loadEpic(file, in)
	if err != nil {
		return nil, err
	}
	dir := epicDir(file)
	t := &table{epic: epic}
	if t.space, err = workspace.Open(ctx, dir, epic); err != nil {
		return nil, refusal(err)
	}
	if whole {
		return t, nil
	}
	if t.events, err = readEvents(ctx, t.space.State(), epic.Epic.ID); err != nil {
		return nil, inputErrorf("%w", err)
	}
	if was := appliedEpic(t.space.State(), lastDigest(t.events)); was != nil && was.Digest != epic.Digest {
		t.epic = was
		if t.space, err = workspace.Open(ctx, dir, was); err != nil {
			return nil, refusal(err)
		}
	}
	return t, nil
}

// bind says in a decision what there is to decide now, by the record: what comes before
// it is read is not what the person saw. An approval of what nobody could have seen is
// refused here; what else does not apply is for the holder of the lock, who may be ahead.
func (t *table) bind(ctx context.Context, node ir.NodeID, d executor.Decision) (executor.Decision, error) {
	if d.Verb == executor.Approve && node == "" && d.How != executor.Baseline { // it names a change, or is about this plan
		if d.Tamper == "" {
			d.Digest = t.epic.Digest
		}
		return d, nil
	}
	if err := t.look(ctx, node == ""); err != nil {
		return d, err
	}
	bound, err := t.run.Bind(node, d)
	if d.Seen != (executor.Sight{}) { // whoever decides was shown it, and answers that
		bound.Seen = d.Seen
	}
	if err != nil && d.Verb != executor.Approve && d.Verb != executor.Reject {
		return bound, nil
	}
	return bound, err
}

// look reads the record, again if it says so.
func (t *table) look(ctx context.Context, again bool) (err error) {
	if again {
		if t.events, err = readEvents(ctx, t.space.State(), t.epic.Epic.ID); err != nil {
			return inputErrorf("%w", err)
		}
	}
	t.run, err = replayed(t.epic, t.events)
	return err
}

// begun reports whether the run of whoever holds the lock is on record and goes on.
func (t *table) begun(by journal.Owner) bool {
	o := t.run.Overview()
	return o.Open && !o.Started.Before(by.Started.Truncate(time.Millisecond))
}

// awaited reports whether the run that a process is about to begin has begun; the
// letter is for that one then.
func (t *table) awaited(ctx context.Context, by journal.Owner, l *executor.Letter) (bool, error) {
	if err := t.look(ctx, true); err != nil || !t.begun(by) {
		return false, err
	}
	l.Decision = t.run.Rebind(l.Node, l.Decision)
	return true, nil
}

// refusal is the answer to a letter, and whether what it asked for is so already.
func (t *table) refusal(ctx context.Context, l executor.Letter, answer string) error {
	var no *executor.Refused
	if err := t.look(ctx, true); err != nil {
		return err
	}
	if _, err := t.run.Consider(l.Node, l.Decision, time.Now()); errors.As(err, &no) && no.Already {
		return no
	}
	return &executor.Refused{Why: answer}
}

// send puts the letter into the inbox, once, and waits a moment for an answer.
// The error is context.DeadlineExceeded when none came.
func (t *table) send(ctx context.Context, letter executor.Letter, sent *bool) (string, error) {
	if !*sent {
		if err := journal.Send(ctx, t.space.State(), t.epic.Epic.ID, letter); err != nil {
			return "", err
		}
		*sent = true
	}
	wait, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return journal.Await(wait, t.space.State(), t.epic.Epic.ID, letter.Decision.ID)
}

// record takes the lock and puts on record what the inbox holds and, unless it
// was sent there, the letter. The error is a *journal.Held if another has the
// lock, and a *executor.Refused if the decision does not apply.
func (t *table) record(ctx context.Context, letter executor.Letter, sent bool) (d executor.Decision, err error) {
	state := t.space.State()
	if err := regular.MkdirOwn(state); err != nil {
		return d, inputErrorf("%w", err)
	}
	lock, err := journal.Acquire(state, whoAmI())
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	log, err := journal.Open(state, t.epic.Epic.ID)
	if err != nil {
		return d, inputErrorf("%w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	run, err := replay(ctx, log, t.epic)
	if err != nil {
		return d, inputErrorf("%w", err)
	}
	letters, err := log.Pending(ctx)
	if err != nil {
		return d, inputErrorf("%w", err)
	}
	if !sent {
		letters = append(letters, letter)
	}
	t.moving = run.TriesElsewhere()
	found := false
	for _, l := range letters {
		event, err := local.Decide(ctx, run, t.space, l.Node, l.Decision, time.Now())
		mine := l.Decision.ID == letter.Decision.ID
		found = found || mine
		var no *executor.Refused
		switch {
		case errors.As(err, &no):
			if err := log.Answer(ctx, l.Decision.ID, no.Error()); err != nil {
				return d, inputErrorf("%w", err)
			}
			if mine {
				return d, no
			}
			continue
		case err != nil:
			return d, inputErrorf("%w", err)
		}
		event.Seq, event.At = run.Seq()+1, time.Now().UTC().Truncate(time.Millisecond)
		if err := run.Apply(event); err != nil {
			return d, &exitError{exitBug, fmt.Errorf("bug in ralph: %w", err)}
		}
		if err := log.Append(ctx, []executor.Event{event}); err != nil {
			return d, inputErrorf("%w", err)
		}
		if err := log.Answer(ctx, l.Decision.ID, ""); err != nil {
			return d, inputErrorf("%w", err)
		}
		if mine {
			d = event.Body.(executor.Decided).Decision
		}
	}
	if !found { // the run that ended meanwhile has answered it
		answer, err := journal.Await(ctx, state, t.epic.Epic.ID, letter.Decision.ID)
		if err != nil {
			return d, inputErrorf("%w", err)
		}
		if answer != "" {
			return d, &executor.Refused{Why: answer}
		}
		d = letter.Decision
	}
	return d, nil
}
