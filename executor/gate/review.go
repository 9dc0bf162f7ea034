package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Review judges blind: the agent works in a directory with the acceptance criteria and
// the diff, and gets nothing else: no plan, no chat, no worktree, no word of the worker.
// It may be used concurrently.
type Review struct {
	Runners map[string]executor.Runner // by kind
}

var _ executor.Gate = Review{}

// Files of a review's directory.
const (
	acceptanceFile = "acceptance.md"
	diffFile       = "diff.patch"
	planFile       = "plan.md" // of a draft, as the attempt left it
)

// Judge implements executor.Gate. Besides the JSON object of its contract, a last line
// APPROVED, or REJECTED with the reason, is a verdict.
func (v Review) Judge(ctx context.Context, r executor.GateRun) (judged executor.GateJudged, err error) {
	q := &question{r: r, dir: r.Dir, node: &ir.Node{ID: r.Node.ID, Key: r.Node.Key, Git: ir.Git{Branch: r.Node.Git.Branch}}, read: readReview}
	q.r.Feedback, q.r.Earlier, q.r.Outcome, q.r.Effect.Session, q.r.Context = nil, nil, executor.Outcome{}, "", nil
	if q.dir == "" {
		if q.dir, err = regular.MkdirTemp("ralph-review-"); err != nil {
			return q.failed(err.Error()), nil
		}
		defer os.RemoveAll(q.dir)
	}
	// A directory of its own for its turns, too: what else was kept of the attempt
	// is not beside the files that its environment names.
	q.files = filepath.Join(r.Files, q.name())
	return q.judge(ctx, v.Runners, q.room)
}

// readReview reads a verdict in JSON, or one in words where none is meant as JSON.
func readReview(answers []string, schema *jsonschema.Schema) (verdict, error) {
	got, err := readVerdict(answers, schema)
	if slices.ContainsFunc(answers, func(a string) bool { return strings.Contains(a, `"status"`) }) {
		return got, err
	}
	word, also := readWord(answers, schema)
	if also != nil {
		return got, fmt.Errorf("%w, and %w", err, also)
	}
	return word, nil
}

// room fills the review's directory and writes what the prompt says of it.
func (q *question) room(ctx context.Context) (string, error) {
	if q.r.Diff == nil {
		return "", errors.New("there is no diff to review")
	}
	there, err := os.ReadDir(q.dir)
	if err != nil {
		return "", err
	}
	for _, e := range there {
		if e.Name() != acceptanceFile && e.Name() != diffFile && (e.Name() != planFile || q.r.Plan == nil) { // ours, of a run that was interrupted
			return "", fmt.Errorf("the directory of a review must be empty, and holds %s", text.Head(e.Name(), 100))
		}
	}
	criteria := "The sprint names no acceptance criteria: judge whether the change is correct and complete in itself.\n"
	switch {
	case q.r.Plan != nil: // what a plan has to do is a text, not a list
		criteria = fence("", strings.Join(q.r.Node.Acceptance, "\n"))
	case len(q.r.Node.Acceptance) > 0:
		criteria = "- " + strings.Join(q.r.Node.Acceptance, "\n- ") + "\n"
	}
	if err := regular.WriteOwn(filepath.Join(q.dir, acceptanceFile), []byte("# Acceptance criteria\n\n"+criteria), 0o600); err != nil {
		return "", err
	}
	diff, note, err := writeDiff(ctx, q.r, filepath.Join(q.dir, diffFile), diffFile)
	if err != nil {
		return "", err
	}
	plan, err := q.plan(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("You review a change without knowing who made it or why it was made this way.\n")
	fmt.Fprintf(&b, "Your directory holds the acceptance criteria (%s) and the diff (%s). That is all there is to judge.\n", acceptanceFile, diffFile)
	b.WriteString("\n## Acceptance criteria\n\n" + criteria + plan + "\n## Diff\n\n")
	if diff == "" {
		b.WriteString("The diff is empty: nothing was changed.\n")
	} else {
		b.WriteString(fence("diff", diff) + note)
	}
	return b.String(), nil
}

// readWord reads a verdict that was said in words: the last line is APPROVED or
// REJECTED, and no other line says something else.
func readWord(answers []string, schema *jsonschema.Schema) (verdict, error) {
	for i, a := range answers {
		m := takeApart(strings.TrimSpace(a))
		if len(m.own) == 0 {
			continue
		}
		last := m.own[len(m.own)-1]
		status, reason := word(last.of(m.text))
		if status == "" || last.to != len(m.text) {
			continue
		}
		for _, l := range m.own {
			if other, _ := word(l.of(m.text)); other != "" && other != status {
				return verdict{}, errors.New("it says APPROVED and REJECTED, so that neither counts")
			}
		}
		if reason == "" {
			lines := strings.Split(m.text[:last.from], "\n")
			reason = strings.TrimSpace(strings.Join(lines[max(0, len(lines)-20):], "\n"))
		}
		if reason == "" {
			reason = map[executor.Verdict]string{executor.Pass: "approved", executor.Fail: "rejected, without a reason"}[status]
		}
		b, err := marshal(map[string]string{"status": string(status), "message": text.Head(reason, executor.MaxNote)})
		if err != nil {
			return verdict{}, err
		}
		v, err := parseVerdict([]byte(strings.TrimSpace(string(b))), schema)
		if err != nil {
			return verdict{}, err
		}
		trimmed := slices.Clone(answers)
		trimmed[i] = m.text
		if err := contradicted(trimmed, i, v, last); err != nil {
			return verdict{}, err
		}
		return v, nil
	}
	return verdict{}, errors.New("its last line is neither APPROVED nor REJECTED")
}

// word reads a line that is a verdict in words.
func word(line string) (status executor.Verdict, reason string) {
	line = strings.Trim(strings.TrimSpace(line), "*_`# ")
	switch {
	case strings.TrimRight(line, ".!") == "APPROVED":
		return executor.Pass, ""
	case line == "REJECTED" || line == "REJECTED.":
		return executor.Fail, ""
	case strings.HasPrefix(line, "REJECTED:"):
		return executor.Fail, strings.Trim(strings.TrimPrefix(line, "REJECTED:"), "*_ ")
	}
	return "", ""
}
