package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
)

// plan writes the whole plan into the directory of a review of a draft: the diff shows
// only what was changed. It returns what the prompt says of it, and of what the plan
// was first asked for; "" for other reviews.
func (q *question) plan(ctx context.Context) (string, error) {
	if q.r.Plan == nil {
		return "", nil
	}
	b, err := q.r.Plan(ctx)
	if err != nil {
		return "", fmt.Errorf("read the plan: %w", err)
	}
	shown, _ := reveal.Text(string(b))
	if err := regular.WriteOwn(filepath.Join(q.dir, planFile), []byte(shown), 0o600); err != nil {
		return "", err
	}
	said := ""
	if goal := q.r.Node.Goal; goal != "" && goal != strings.Join(q.r.Node.Acceptance, "\n") {
		said = "\n## What the plan was first asked for\n\n" + goal + "\n"
	}
	return said + "\n## Plan\n\nThe change makes or changes a plan. The whole of it, with the change, is in " + planFile + ".\n", nil
}
