package journal

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/ralph-compiler/ralph/ir"
)

// Known returns the nodes that occur in the journal in dir: in events, commits found
// above its end, unanswered decisions. It trusts the file and does not check the chain.
// Without a journal there are none.
func Known(ctx context.Context, dir string, epic ir.NodeID) (ids []ir.NodeID, err error) {
	l, err := Read(dir, epic)
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	l.conn.SetInterrupt(ctx.Done())
	queries := []string{
		"SELECT DISTINCT body ->> 'node' FROM events",
		"SELECT DISTINCT o.value ->> 'node' FROM events, json_each(body -> 'data' -> 'found') o WHERE body ->> 'kind' = 'tail.lost'",
	}
	if l.format >= 2 {
		queries = append(queries, "SELECT DISTINCT node FROM inbox WHERE answered = 0")
	}
	for _, q := range queries {
		err := sqlitex.ExecuteTransient(l.conn, q, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
			if id := s.ColumnText(0); id != "" {
				ids = append(ids, ir.NodeID(id))
			}
			return nil
		}})
		if err != nil {
			return nil, fmt.Errorf("read journal %s: %w", File, err)
		}
	}
	return ids, nil
}
