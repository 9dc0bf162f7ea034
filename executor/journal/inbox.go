package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

var _ executor.Inbox = (*Log)(nil)

// maxLetter is the largest decision that is read, in bytes of JSON.
const maxLetter = 1 << 20

// Pending implements executor.Inbox. While no other process has written it costs one
// read of a counter.
func (l *Log) Pending(ctx context.Context) (_ []executor.Letter, err error) {
	if l.cut {
		return nil, l.dead
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer l.guard(&err)()
	version, err := l.number("PRAGMA data_version")
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	if version == l.seen {
		return nil, nil
	}
	var out []executor.Letter
	var odd []string
	err = sqlitex.Execute(l.conn, "SELECT id, node, CASE WHEN length(CAST(decision AS BLOB)) <= ? THEN decision ELSE '' END FROM inbox WHERE answered = 0 ORDER BY number LIMIT 1000", &sqlitex.ExecOptions{
		Args: []any{maxLetter},
		ResultFunc: func(s *sqlite.Stmt) error {
			id, letter := s.ColumnText(0), executor.Letter{Node: ir.NodeID(s.ColumnText(1))}
			if err := json.Unmarshal([]byte(s.ColumnText(2)), &letter.Decision); err != nil || letter.Decision.ID != id {
				odd = append(odd, id) // anybody can write into the file: it stops no run
				return nil            //nolint:nilerr // it is answered below
			}
			letter.Decision = letter.Decision.Earlier()
			out = append(out, letter)
			return nil
		},
	})
	for _, id := range odd {
		err = errors.Join(err, l.reply(id, "it is not a decision"))
	}
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	if len(out)+len(odd) == 0 {
		l.seen = version // what is not answered is given again
	}
	return out, nil
}

// Answer implements executor.Inbox. The first answer stays. Appending a decision to the
// journal already answers it.
func (l *Log) Answer(_ context.Context, id, refused string) (err error) {
	if l.cut {
		return l.dead
	}
	defer l.guard(&err)()
	if err := l.reply(id, refused); err != nil {
		return fmt.Errorf("answer in inbox: %w", err)
	}
	return nil
}

// taken answers the letter of a decision, if it came by one, in the same
// transaction that puts the decision on record.
func (l *Log) taken(id string) error { return l.reply(id, "") }

func (l *Log) reply(id, refused string) error {
	return sqlitex.Execute(l.conn, "UPDATE inbox SET answered = 1, refused = ? WHERE id = ? AND answered = 0",
		&sqlitex.ExecOptions{Args: []any{refused, id}})
}

// ErrSent is returned by Send for a decision whose id already exists.
var ErrSent = errors.New("this decision was sent already")

// Send puts a decision into the inbox of the journal in dir, for the holder of the lock;
// it is durable when Send returns. It returns ErrNone if there is no journal.
func Send(ctx context.Context, dir string, epic ir.NodeID, letter executor.Letter) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if letter.Decision.ID == "" {
		return errors.New("send a decision: it has no id")
	}
	body, err := json.Marshal(letter.Decision)
	if err != nil {
		return fmt.Errorf("send a decision: %w", err)
	}
	if len(body) > maxLetter {
		return fmt.Errorf("send a decision: it has %d bytes, more than %d", len(body), maxLetter)
	}
	conn, err := mail(dir, epic, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	err = sqlitex.Execute(conn, "INSERT INTO inbox(id, node, decision) VALUES (?, ?, ?)",
		&sqlitex.ExecOptions{Args: []any{letter.Decision.ID, string(letter.Node), string(body)}})
	if sqlite.ErrCode(err) == sqlite.ResultConstraintUnique {
		return ErrSent
	}
	if err != nil {
		return fmt.Errorf("send a decision: %w", err)
	}
	return nil
}

// awaitEvery is how often Await looks.
const awaitEvery = 100 * time.Millisecond

// Await waits until a sent decision is answered, and returns why it was refused, "" if
// accepted. If ctx ends first, its error is returned: the caller then checks whether the
// lock is free, and if so decides by itself.
func Await(ctx context.Context, dir string, epic ir.NodeID, id string) (refused string, err error) {
	conn, err := mail(dir, epic, sqlite.OpenReadOnly)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for {
		known, answered := false, false
		err := sqlitex.Execute(conn, "SELECT answered, refused FROM inbox WHERE id = ?", &sqlitex.ExecOptions{
			Args: []any{id},
			ResultFunc: func(s *sqlite.Stmt) error {
				known, answered, refused = true, s.ColumnInt(0) != 0, s.ColumnText(1)
				return nil
			},
		})
		switch {
		case err != nil:
			return "", fmt.Errorf("await an answer: %w", err)
		case !known:
			return "", fmt.Errorf("await an answer: decision %s was not sent", id)
		case answered:
			return refused, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-tick.C:
		}
	}
}

// mail opens the journal in dir for its inbox alone.
func mail(dir string, epic ir.NodeID, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	l, err := open(dir, epic, flags)
	if err != nil {
		return nil, err
	}
	if l.format < 2 {
		return nil, errors.Join(errors.New("the journal is of an older ralph and has no inbox: run ralph apply once"), l.Close())
	}
	for _, pragma := range []string{"PRAGMA synchronous=FULL", "PRAGMA busy_timeout=5000"} {
		if err := sqlitex.ExecuteTransient(l.conn, pragma, nil); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l.conn, nil
}
