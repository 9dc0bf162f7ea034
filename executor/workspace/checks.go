package workspace

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// examine says what a collected commit holds and what ralph's own checks find:
// before any gate is paid for. Of a person's own fix, what is outside the
// sprint or is protected is only listed.
func (s *space) examine(ctx context.Context, e executor.Effect, n *ir.Node, step *ir.Step, commit string, problems []string) (executor.Collected, error) {
	c := executor.Collected{Problems: problems}
	var err error
	if c.Result, err = s.git.at(ctx, commit); err != nil {
		return c, err
	}
	files, changes, err := s.fileChanges(ctx, e.Start, commit)
	if err != nil {
		return c, err
	}
	own, room := files, roomChanges
	if e.Commit != "" && e.Commit != e.Start { // what earlier attempts left is not this one's work
		if own, _, err = s.fileChanges(ctx, e.Commit, commit); err != nil {
			return c, err
		}
		room /= 2
		c.Whole = append([]executor.FileChange{}, fitting(files, room)...)
	}
	if err := s.tell(&c, e, own, room); err != nil {
		return c, err
	}
	if len(changes) == 0 && step.Access != "read" && !step.AllowEmpty && !e.Person {
		c.Problems = append(c.Problems, executor.NothingChanged)
	}
	agents := changes
	if e.Given != "" {
		if agents, err = s.changes(ctx, e.Given, commit); err != nil {
			return c, err
		}
	}
	breaches := scopeProblems(n.Scope.Owns, agents)
	made, err := s.madeFiles(n)
	if err != nil {
		return c, err
	}
	for _, ch := range changes {
		switch {
		case ch.newMode == "160000" && (ch.status == 'A' || ch.status == 'T'):
			c.Problems = append(c.Problems, fmt.Sprintf("%s is an embedded git repository, which a commit cannot hold", ch.path))
		case ch.status == 'A' && slices.Contains(made, ch.path):
			c.Problems = append(c.Problems, fmt.Sprintf("%s comes from setup and must not be committed", ch.path))
		}
	}
	hit, fresh, err := s.protected(ctx, e, n, commit, agents)
	if err != nil {
		return c, err
	}
	breaches = append(breaches, hit...)
	found := fresh
	if e.Person {
		found = append(found, breaches...)
	} else {
		c.Problems = append(c.Problems, breaches...)
	}
	if len(changes) > 0 {
		markers, err := s.markersIn(ctx, e.Start, commit, changes)
		if err != nil {
			return c, err
		}
		c.Problems = append(c.Problems, markers...)
	}
	c.Problems = bounded(c.Problems, roomProblems)
	list(&c, found, len(fresh))
	return c, nil
}

// list bounds what is listed. The first fresh of it name new protected files; what says how many
// more there are does not.
func list(c *executor.Collected, all []string, fresh int) {
	c.Listed, c.Fresh = bounded(all, roomListed), fresh
	if len(all) > 1 && !slices.Equal(c.Listed, all) {
		c.Fresh = min(fresh, len(c.Listed)-1)
	}
}

func (s *space) madeFiles(n *ir.Node) ([]string, error) {
	if len(s.epic.Run.Worktree.Setup) == 0 && len(s.epic.Run.Worktree.Copy) == 0 {
		return nil, nil
	}
	w := s.own(n)
	_, err := s.find(w)
	return w.Made, err
}

// scopeProblems says which changes lie outside what the sprint owns. A sprint
// that owns nothing in particular may change anything.
func scopeProblems(owns []string, changes []change) []string {
	if len(owns) == 0 {
		return nil
	}
	outside := lists.Map(lists.Keep(changes, func(ch change) bool { return !glob.MatchAny(owns, ch.path) }), func(ch change) string { return ch.path })
	if len(outside) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("outside what the sprint owns (%s): %s", strings.Join(owns, ", "), listed(outside))}
}

// protected says which protected files the step changed: those that exist in the
// node's base, and new ones where a gate forbids them too. New ones that are
// allowed are returned apart. agents are the changes since e.Start or e.Given: what is under it
// was changed by somebody else, a person or a result that landed before, or passed its checks.
func (s *space) protected(ctx context.Context, e executor.Effect, n *ir.Node, commit string, agents []change) (problems, fresh []string, err error) {
	changes, known := agents, e.Base == e.Start && e.Given == ""
	own := map[string]bool{}
	for _, ch := range agents {
		own[ch.path] = true
	}
	for _, name := range s.gatesOf(n.ID) {
		g := s.epic.Gates[name]
		if len(g.Protect) == 0 {
			continue
		}
		if !known {
			if changes, err = s.changes(ctx, e.Base, commit); err != nil {
				return nil, nil, err
			}
			known = true
		}
		var hit, added []string
		for _, ch := range changes {
			switch {
			case !own[ch.path], !glob.MatchAny(g.Protect, ch.path):
			case ch.status == 'A' && g.ProtectNew:
				added = append(added, ch.path)
			default:
				hit = append(hit, ch.path)
			}
		}
		if len(hit) > 0 {
			problems = append(problems, fmt.Sprintf("gate %s protects what was changed: %s", name, listed(hit)))
		}
		if len(added) > 0 {
			fresh = append(fresh, fmt.Sprintf("new files that gate %s protects from now on: %s", name, listed(added)))
		}
	}
	return problems, fresh, nil
}

// markersIn is markers, without asking git where no changed file holds what looks
// like one.
func (s *space) markersIn(ctx context.Context, from, to string, changes []change) ([]string, error) {
	if len(changes) > maxRead {
		return s.markers(ctx, from, to)
	}
	for _, ch := range changes {
		if ch.status == 'D' || ch.newMode == "160000" {
			continue
		}
		blob, err := s.git.blob(ctx, to+":"+ch.path, maxBlob)
		if err != nil {
			return nil, err
		}
		if blob == nil || looksMarked(blob) {
			return s.markers(ctx, from, to)
		}
	}
	return nil, nil
}

// What is read of a commit to look for markers.
const (
	maxRead = 64      // files
	maxBlob = 1 << 20 // bytes of each
)

// looksMarked reports whether a line begins as a marker does.
func looksMarked(b []byte) bool {
	return slices.ContainsFunc([]string{"<<<<<<<", ">>>>>>>"}, func(m string) bool {
		return bytes.HasPrefix(b, []byte(m)) || bytes.Contains(b, []byte("\n"+m))
	})
}

// markers finds conflict markers that were added.
func (s *space) markers(ctx context.Context, from, to string) ([]string, error) {
	g, err := s.borrow()
	if err != nil {
		return nil, err
	}
	out, err := g.line(ctx, place{}, "diff-tree", "-r", "--check", "--no-renames", "--no-ext-diff", from, to)
	if rerr := os.RemoveAll(g.dir); rerr != nil {
		return nil, rerr
	}
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
	args = append(args, lists.Map(slices.Sorted(maps.Keys(files)), func(f string) string { return ":(top,literal)" + f })...)
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
