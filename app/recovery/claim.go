package recovery

import (
	"context"
	"path/filepath"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// HoldClaim keeps the workers of this repository away from the issue whose run is recovered
// into a state directory. It fails while one is at work on it. The caller releases the lock.
func (r *Recovery) HoldClaim(ctx context.Context, state string) (*journal.Lock, error) {
	dir := r.claimDir(state)
	if err := regular.MkdirOwn(dir); err != nil {
		return nil, err
	}
	lock, err := run.Acquire(ctx, dir)
	if err != nil {
		return nil, exit.Inputf("%w\n  An issue that a worker is working on needs no recovery.", err)
	}
	return lock, nil
}

func (r *Recovery) claimDir(state string) string {
	return filepath.Join(filepath.Dir(state), "worker", r.Known.Bead.ID)
}

// WriteClaim creates the claim of the issue, from its bead: the next worker of this
// repository continues an issue that is in progress or waits for a person, and then gives it
// its own token. It is called after Write.
func (r *Recovery) WriteClaim(state string) error {
	i := r.Known.Bead
	c := &record.Claim{At: i.UpdatedAt.UTC(), Start: r.Epic.Nodes[0].Steps[0].Name, Dir: r.claimDir(state)}
	if was := record.ReadClaim(c.Dir); was != nil && was.Owns(i) { // only the journal was lost
		c = was
	}
	c.Issue, c.Epic, c.Token, c.State, c.Args = i.ID, r.Epic.Epic.ID, i.Token(), record.ClaimOver, nil
	if n := len(r.written); n > 0 {
		c.After = r.written[n-1].Seq
	}
	c.Wrote, _ = i.Phase()
	if r.goesOn() {
		c.State, c.Takes, c.Token = record.ClaimRecovered, c.Token, run.NewID()
	}
	return c.Save()
}

// goesOn reports whether a worker continues with the issue by itself.
func (r *Recovery) goesOn() bool {
	i := r.Known.Bead
	return i.Status == "in_progress" || i.AsksPerson()
}
