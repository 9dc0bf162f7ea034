package effects

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// mostLeft bounds how many files a prompt names.
const mostLeft = 50

// A leftover is a file of an earlier step that a prompt names.
type leftover struct{ path, line string }

// left are the files that agents of earlier steps wrote beside their outcome, for the
// agent of a step, and how its prompt names them. Only steps that are told something of their own are there to find out
// what others need.
func (w *Worker) left(n *ir.Node, reports []executor.StepReport) (lines, paths []string, err error) {
	var said, files []leftover
	for _, a := range reports {
		step := n.Step(a.Step)
		if step == nil || len(step.Prompt) == 0 {
			continue
		}
		s, f, err := leftIn(Files(w.State, n.ID, a.Step, a.Attempt), a.Step, a.Summary, len(step.Gates) > 0)
		if err != nil {
			return nil, nil, err
		}
		said, files = append(said, s...), append(files, f...)
	}
	all := append(said, files...)
	paths = lists.Map(all[:min(len(all), mostLeft)], func(l leftover) string { return l.path })
	return firstLeft(said, files), paths, nil
}

// leftIn names the files of an attempt: those that hold a report of which the prompt has
// the beginning, and those that the agent wrote.
func leftIn(dir, step, summary string, gates bool) (said, files []leftover, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if outcomeOf.MatchString(e.Name()) && len(said) < mostLeft && saysMore(path, summary) {
			said = append(said, leftover{path, "- " + shown(path) + ": all that " + step + " reported; above it is cut"})
		}
		if e.Type().IsRegular() && !ownFile(e.Name(), gates) {
			files = append(files, leftover{path, "- " + shown(path)})
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), executor.LeftDir) { // from a sandbox
			inner, err := os.ReadDir(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, err
			}
			for _, f := range inner {
				at := filepath.Join(path, f.Name())
				files = append(files, leftover{at, "- " + shown(at)})
			}
		}
	}
	return said, files, nil
}

// firstLeft are as many lines as a prompt holds, and how many there are besides.
func firstLeft(said, files []leftover) []string {
	lines := lists.Map(append(said, files...), func(l leftover) string { return l.line })
	if more := len(lines) - mostLeft; more > 0 {
		lines = append(lines[:mostLeft], fmt.Sprintf("- and %d more there", more))
	}
	return lines
}

// shown is a path as it is, or quoted as Go does it where it has signs that do not show
// or end a line.
func shown(path string) string {
	if q := strconv.Quote(path); q != `"`+path+`"` {
		return q
	}
	return path
}

// ownFile reports whether ralph, or the runner, writes a file of that name beside an
// agent's outcome; gates write some where the step has any.
func ownFile(name string, gates bool) bool {
	return strings.HasPrefix(name, ".") || ofTurn.MatchString(name) || gates && (strings.HasPrefix(name, "gate-") || strings.HasPrefix(name, "red-"))
}

var (
	ofTurn    = lazyregexp.New(`^(?:cut-[0-9]+-)?agent-[0-9]+\.`)
	outcomeOf = lazyregexp.New(`^agent-[0-9]+\.outcome\.json$`)
)

// saysMore reports whether an outcome's file holds the text of which a summary is the
// beginning.
func saysMore(path, summary string) bool {
	if len(summary) < executor.MaxNote/4 { // nothing that short was cut
		return false
	}
	b, err := regular.ReadMax(path, 1<<20)
	var said map[string]json.RawMessage
	if err != nil || json.Unmarshal(b, &said) != nil {
		return false
	}
	for _, raw := range said {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			continue
		}
		if text = executor.Clean(strings.TrimSpace(text)); len(text) > len(summary) && strings.HasPrefix(text, summary) {
			return true
		}
	}
	return false
}
