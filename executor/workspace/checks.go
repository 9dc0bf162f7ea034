package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/ir"
)

// change is one path that differs between two commits.
type change struct {
	path    string
	status  byte   // A added, D deleted, M modified, T other type
	newMode string // "160000" is an embedded repository
}

// maxChanged bounds how many changed paths an event carries.
const maxChanged = 20

// examine says what a collected commit holds and what ralph's own checks find:
// before any gate is paid for.
func (s *Space) examine(ctx context.Context, e executor.Effect, n *ir.Node, step *ir.Step, commit string, problems []string) (executor.Collected, error) {
	tree, err := s.git.tree(ctx, commit)
	if err != nil {
		return executor.Collected{}, err
	}
	c := executor.Collected{Result: executor.Tree{Commit: commit, Tree: tree}, Problems: problems}
	changes, err := s.changes(ctx, e.Start, commit)
	if err != nil {
		return c, err
	}
	c.Files = len(changes)
	room := executor.MaxNote / 2
	for _, ch := range changes[:min(len(changes), maxChanged)] {
		if room -= len(ch.path); room < 0 {
			break
		}
		c.Changed = append(c.Changed, ch.path)
	}
	if len(changes) == 0 && step.Access != "read" && !step.AllowEmpty && n.Kind != ir.Merge {
		c.Problems = append(c.Problems, "nothing changed since the step started")
	}
	c.Problems = append(c.Problems, scopeProblems(n.Scope.Owns, changes)...)
	made, err := s.madeFiles(n)
	if err != nil {
		return c, err
	}
	for _, ch := range changes {
		switch {
		case ch.newMode == "160000" && ch.status != 'D':
			c.Problems = append(c.Problems, fmt.Sprintf("%s is an embedded git repository, which a commit cannot hold", ch.path))
		case ch.status == 'A' && slices.Contains(made, ch.path):
			c.Problems = append(c.Problems, fmt.Sprintf("%s comes from setup and must not be committed", ch.path))
		}
	}
	more, err := s.protected(ctx, e, n, commit)
	if err != nil {
		return c, err
	}
	c.Problems = append(c.Problems, more...)
	markers, err := s.markers(ctx, e.Start, commit)
	if err != nil {
		return c, err
	}
	c.Problems = bounded(append(c.Problems, markers...))
	return c, nil
}

// bounded keeps the problems small enough for an event.
func bounded(problems []string) []string {
	left := executor.MaxNote
	for i, p := range problems {
		if left -= len(p); left < 0 || i == maxChanged {
			return append(problems[:i:i], fmt.Sprintf("and %d more problems", len(problems)-i))
		}
	}
	return problems
}

func (s *Space) madeFiles(n *ir.Node) ([]string, error) {
	if len(s.epic.Run.Worktree.Setup) == 0 && len(s.epic.Run.Worktree.Copy) == 0 {
		return nil, nil
	}
	w := s.own(n)
	_, err := s.find(w)
	return w.Made, err
}

// changes lists what differs between two commits, sorted by path.
func (s *Space) changes(ctx context.Context, from, to string) ([]change, error) {
	out, err := s.git.line(ctx, place{}, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", from, to)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	var changes []change
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(fields[i])
		if len(meta) < 5 {
			return nil, fmt.Errorf("git diff-tree printed %q", fields[i])
		}
		changes = append(changes, change{path: fields[i+1], status: meta[4][0], newMode: meta[1]})
	}
	return changes, nil
}

// scopeProblems says which changes lie outside what the sprint owns. A sprint
// that owns nothing in particular may change anything.
func scopeProblems(owns []string, changes []change) []string {
	if len(owns) == 0 {
		return nil
	}
	var outside []string
	for _, ch := range changes {
		if !glob.MatchAny(owns, ch.path) {
			outside = append(outside, ch.path)
		}
	}
	if len(outside) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("outside what the sprint owns (%s): %s", strings.Join(owns, ", "), listed(outside))}
}

// protected says which protected files were changed: those that exist in the
// node's base, and new ones where a gate forbids them too.
func (s *Space) protected(ctx context.Context, e executor.Effect, n *ir.Node, commit string) ([]string, error) {
	var problems []string
	var changes []change
	for i := range n.Steps {
		for _, name := range n.Steps[i].Gates {
			g := s.epic.Gates[name]
			if len(g.Protect) == 0 {
				continue
			}
			if changes == nil {
				var err error
				if changes, err = s.changes(ctx, e.Base, commit); err != nil {
					return nil, err
				}
			}
			var hit []string
			for _, ch := range changes {
				if glob.MatchAny(g.Protect, ch.path) && (ch.status != 'A' || !g.ProtectNew) {
					hit = append(hit, ch.path)
				}
			}
			if len(hit) > 0 {
				problems = append(problems, fmt.Sprintf("gate %s protects what was changed: %s", name, listed(hit)))
			}
		}
	}
	return problems, nil
}

// markers finds conflict markers that were added.
func (s *Space) markers(ctx context.Context, from, to string) ([]string, error) {
	out, err := s.git.line(ctx, place{}, "diff-tree", "-r", "--check", "--no-renames", "--no-ext-diff", from, to)
	if err != nil && exitCode(err) != 2 {
		return nil, err
	}
	var places []string
	files := map[string]bool{}
	for line := range strings.Lines(out) {
		if at, ok := strings.CutSuffix(strings.TrimRight(line, ".\n"), ": leftover conflict marker"); ok && len(places) < maxMarkers {
			places = append(places, at)
			files[fileOf(at)] = true
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	// A line of seven "=" is a heading in markdown: it counts only in a file that
	// has one of the other markers too.
	args := []string{"grep", "--name-only", "-z", "--text", "-E", "-e", "^(<{7}|>{7})", to, "--"}
	for _, f := range slices.Sorted(maps.Keys(files)) {
		args = append(args, ":(top,literal)"+f)
	}
	out, err = s.git.line(ctx, place{}, args...)
	if err != nil && exitCode(err) != 1 {
		return nil, err
	}
	real := map[string]bool{}
	for f := range strings.SplitSeq(out, "\x00") {
		real[strings.TrimPrefix(f, to+":")] = true
	}
	var problems []string
	for _, at := range places {
		if f := fileOf(at); (real[f] || strings.HasPrefix(f, `"`)) && len(problems) < maxChanged {
			problems = append(problems, "conflict marker at "+at)
		}
	}
	return problems, nil
}

// maxMarkers bounds how many suspicious lines are looked at.
const maxMarkers = 1000

// fileOf is "path:line" without the line.
func fileOf(at string) string { return at[:max(strings.LastIndexByte(at, ':'), 0)] }
