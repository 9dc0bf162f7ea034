package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Args are the flags of recover.
type Args struct {
	Out         string
	Force, JSON bool
}

// Recall reads an epic back from the beads database of this directory.
func Recall(ctx context.Context, id ir.NodeID) (*bd.Recalled, error) {
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return nil, err
	}
	return bd.Recall(ctx, c, id)
}

// Target is where epic.json belongs, and whether it is there. Another epic is
// never replaced; another version of this one stays, and the next apply takes it.
func Target(out string, epic *ir.Epic) (file string, there bool, err error) {
	if err := project.Confined(out); err != nil {
		return "", false, err
	}
	b, err := regular.ReadFile(out)
	if errors.Is(err, fs.ErrNotExist) {
		return out, false, nil
	}
	if err != nil {
		return "", false, err
	}
	old, err := ir.Decode(b)
	if err != nil || old.Epic.ID != epic.Epic.ID {
		return "", false, exit.Inputf("%s exists and is not the epic %s, so it is not replaced: name another file with -o", out, epic.Epic.ID)
	}
	return out, true, nil
}

// MakeRoom refuses if a journal has content, or sets it aside.
func MakeRoom(ctx context.Context, state string, id ir.NodeID, force bool) error {
	log, err := journal.Read(state, id)
	if errors.Is(err, journal.ErrNone) {
		return nil
	}
	var events int
	var last time.Time
	if err == nil {
		for e, read := range log.Events(ctx) {
			if err = read; err != nil {
				break
			}
			events++
			last = e.At
		}
		err = errors.Join(err, log.Close())
	}
	path := filepath.Join(state, journal.File)
	switch {
	case err == nil && events == 0:
	case err == nil && !force:
		return exit.Inputf("there is a journal of this epic here (%s, the last of %s): nothing is lost, ralph apply continues it.\n  What it has: ralph status. To move it aside and recover from the beads anyway: ralph recover %s --force",
			text.Count(events, "event"), last.Local().Format(time.DateTime), id)
	case err != nil && !force:
		return exit.Inputf("there is a journal of this epic here, which cannot be read: %w\n  To move it aside and recover from the beads: ralph recover %s --force", err, id)
	}
	aside := path + ".lost-" + time.Now().UTC().Format("20060102T150405")
	for _, end := range []string{"", "-wal", "-shm"} { // SQLite finds its log by the name of the file
		if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Write creates the refs, epic.json and the journal, in this order: recover can be
// restarted after any crash, until the journal exists.
func (r *Recovery) Write(ctx context.Context, state string) (err error) {
	if r.Refs, err = r.Space.Refs.Repin(ctx, r.pins); err != nil {
		return err
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	if r.run, err = machine.New(r.Epic); err != nil {
		return err
	}
	for _, e := range r.events() {
		if err := r.run.Apply(e); err != nil {
			return fmt.Errorf("what the beads record is inconsistent: %w", err)
		}
	}
	if !r.There {
		if dir := filepath.Dir(r.File); !project.IsDir(dir) {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if err := atomicfile.Write(r.File, r.Raw, 0o644); err != nil {
			return err
		}
	}
	if err := atomicfile.WriteOwn(filepath.Join(state, "epic.json"), r.Raw, 0o600); err != nil {
		return err
	}
	if r.written = r.events(); len(r.written) == 0 {
		return nil
	}
	log, err := journal.Open(state, r.Epic.Epic.ID)
	if err != nil {
		return err
	}
	for _, err := range log.Events(ctx) { // there are none: to be read before the first Append
		if err != nil {
			return errors.Join(err, log.Close())
		}
	}
	return errors.Join(log.Append(ctx, r.written), log.Close())
}

// IssueGoesOn says how a worker continues an issue.
func (r *Recovery) IssueGoesOn() string {
	id := words.QuoteArg(r.Known.Bead.ID)
	switch {
	case r.Known.Bead.Status == "closed":
		return "\nThe issue is closed: nothing is left to do.\n"
	case r.Known.Bead.Status == "open":
		return "\nTo continue: ralph worker --issue " + id + "\n"
	case r.goesOn():
		return "\nTo continue: ralph worker --issue " + id + "\nThe next worker here takes over the issue; another one that still has it stops and writes nothing more.\n"
	}
	return fmt.Sprintf("\nTo continue: bd update %s --status open && ralph worker --issue %s\n", id, id)
}
