package journal

import (
	"context"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Verified is the content of a sound journal.
type Verified struct {
	Format  int64     `json:"format"`
	Events  int64     `json:"events"`
	Last    int64     `json:"last"` // sequence number of the last event
	Hash    string    `json:"hash"` // of that event: the whole journal's fingerprint
	At      time.Time `json:"at,omitzero"`
	Gaps    []Gap     `json:"gaps"`    // each is a lost tail that was put on record
	Letters int64     `json:"letters"` // unanswered decisions in the inbox
}

// Gap is a range of sequence numbers without events.
type Gap struct {
	After  int64 `json:"after"` // the events around it
	Before int64 `json:"before"`
	Found  int   `json:"found"` // commits that showed it
}

// Verify reads the whole journal in dir as a reader would: SQLite's own check of the
// file, the format, every event, the hash chain, the gaps. The error for a wrong event
// is a *Damage with its sequence number.
func Verify(ctx context.Context, dir string, epic ir.NodeID) (v Verified, err error) {
	l, err := Read(dir, epic)
	if err != nil {
		return v, err
	}
	defer l.Close()
	v.Format, v.Gaps = l.format, []Gap{}
	told := false // by the event before, of a gap
	for e, err := range l.Events(ctx) {
		if err != nil {
			return v, err
		}
		lost, ok := e.Body.(executor.TailLost)
		if ok && e.Seq > v.Last+1 {
			v.Gaps = append(v.Gaps, Gap{After: v.Last, Before: e.Seq, Found: len(lost.Found)})
		} else if ok && told { // the rest of what was found
			v.Gaps[len(v.Gaps)-1].Found += len(lost.Found)
		}
		told = ok && len(v.Gaps) > 0
		v.Events++
		v.Last, v.At = e.Seq, e.At
	}
	v.Hash = l.hash
	// After the events: a damaged one is better named by its number.
	if err := l.sound(); err != nil {
		return v, err
	}
	if l.format >= 2 {
		v.Letters, err = l.number("SELECT count(*) FROM inbox WHERE answered = 0")
	}
	return v, err
}

// sound asks SQLite whether the file's pages are in order.
func (l *Log) sound() error {
	var found string
	err := sqlitex.ExecuteTransient(l.conn, "PRAGMA integrity_check(1)", &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { found = s.ColumnText(0); return nil },
	})
	if err != nil {
		return fmt.Errorf("check journal: %w", err)
	}
	if found != "ok" {
		return fmt.Errorf("journal %s is damaged: %s", File, found)
	}
	return nil
}
