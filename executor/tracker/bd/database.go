package bd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// Imported is bd's answer to an import.
type Imported struct {
	Created   int      `json:"created"`
	IDs       []string `json:"ids"`
	Updated   int      `json:"updated"`
	Stale     []string `json:"stale_skipped_ids"`
	Tie       []string `json:"tie_kept_local_ids"`
	SkippedBy []string `json:"skipped_dependencies"`
}

// Import writes beads in bulk: lines of JSON in bd's import format. Every row must have
// an updated_at, a priority, and the type of each edge: bd takes missing ones for now,
// for 0 and for none. Dependencies that bd skips are an error.
func (c *Client) Import(ctx context.Context, lines []byte, limit time.Duration) (Imported, error) {
	file, done, err := stage(lines)
	if err != nil {
		return Imported{}, err
	}
	defer done()
	var out Imported
	if err := c.ask(ctx, limit, &out, "import", file); err != nil {
		return out, err
	}
	if len(out.SkippedBy) > 0 {
		return out, &Refused{[]string{"import"}, 0, "it left out dependencies: " + strings.Join(out.SkippedBy[:min(len(out.SkippedBy), 5)], "; ")}
	}
	return out, nil
}

// Batch carries out lines of bd's batch language (create, update, close, dep add,
// dep remove) in one transaction.
func (c *Client) Batch(ctx context.Context, lines []string, limit time.Duration) error {
	file, done, err := stage([]byte(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		return err
	}
	defer done()
	return c.ask(ctx, limit, nil, "batch", "-f", file)
}

// Config returns a setting of the database, "" if it is not set.
func (c *Client) Config(ctx context.Context, key string) (string, error) {
	var out struct{ Value string }
	err := c.ask(ctx, quick, &out, "config", "get", key)
	return out.Value, err
}

// SetConfig writes a setting of the database.
func (c *Client) SetConfig(ctx context.Context, key, value string) error {
	_, err := c.run(ctx, quick, "config", "set-many", key+"="+value)
	return err
}

// stage writes what is too long for a command line into a file of its own.
func stage(b []byte) (file string, done func(), err error) {
	dir, err := os.MkdirTemp("", "ralph-bd-")
	if err != nil {
		return "", nil, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	file = filepath.Join(dir, "input")
	if err := regular.WriteFile(file, b, 0o600); err != nil {
		done()
		return "", nil, err
	}
	return file, done, nil
}
