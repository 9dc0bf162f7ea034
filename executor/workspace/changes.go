package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// change is one path that differs between two commits. A renamed file is two: one
// deleted, one added.
type change struct {
	path    string
	status  byte   // A added, D deleted, M modified, T other type
	newMode string // "160000" is an embedded repository
}

// changes lists what differs between two commits or trees, sorted by path.
func (s *space) changes(ctx context.Context, from, to string) ([]change, error) {
	_, changes, err := s.fileChanges(ctx, from, to)
	return changes, err
}

// fileChanges lists what differs between two commits or trees: once as people
// call it, with renames and counts of lines, once path by path.
func (g *git) fileChanges(ctx context.Context, from, to string) ([]executor.FileChange, []change, error) {
	out, err := g.line(ctx, place{}, "diff-tree", "-r", "-z", "--raw", "--numstat", "--find-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", from, to)
	if err != nil {
		return nil, nil, err
	}
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	if out == "" {
		return nil, nil, nil
	}
	var files []executor.FileChange
	var changes []change
	bad := func(what string) ([]executor.FileChange, []change, error) {
		return nil, nil, fmt.Errorf("git diff-tree printed %q", what)
	}
	i := 0
	for ; i < len(fields) && strings.HasPrefix(fields[i], ":"); i += 2 {
		meta := strings.Fields(fields[i])
		if len(meta) < 5 || i+1 >= len(fields) {
			return bad(fields[i])
		}
		f := executor.FileChange{Path: fields[i+1], Type: "modified"}
		switch status := meta[4][0]; status {
		case 'R', 'C':
			if i+2 >= len(fields) {
				return bad(fields[i])
			}
			f = executor.FileChange{Path: fields[i+2], From: fields[i+1], Type: "renamed"}
			changes = append(changes, change{f.From, 'D', "000000"}, change{f.Path, 'A', meta[1]})
			i++
		case 'A', 'D':
			f.Type = map[byte]string{'A': "created", 'D': "deleted"}[status]
			fallthrough
		default:
			changes = append(changes, change{f.Path, status, meta[1]})
		}
		files = append(files, f)
	}
	for k := 0; i < len(fields); i, k = i+1, k+1 {
		counts := strings.SplitN(fields[i], "\t", 3)
		if len(counts) != 3 || k >= len(files) {
			return bad(fields[i])
		}
		files[k].Added, files[k].Removed = lines(counts[0]), lines(counts[1])
		if counts[2] == "" { // of a renamed file both paths follow
			i += 2
		}
	}
	return files, changes, nil
}

// lines reads a count of lines; "-" is a binary file.
func lines(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return -1
}

// maxChanged bounds how many changed paths an event carries; the rooms bound
// what they take of its 4 KB.
const (
	maxChanged   = 20
	roomChanged  = 500
	roomChanges  = 1300
	roomProblems = 1300
	roomListed   = 500
)

// fitting is the first of the changed files, as far as they fit into room bytes.
func fitting(files []executor.FileChange, room int) []executor.FileChange {
	for i, f := range files {
		if room -= len(f.Path) + len(f.From) + 70; room < 0 || i == maxChanged {
			return files[:i:i]
		}
	}
	return files
}

// tell puts the files that an attempt changed into an event, as far as they fit
// into room, and all of them into changes.json among the attempt's files.
func (s *space) tell(c *executor.Collected, e executor.Effect, files []executor.FileChange, room int) error {
	c.Files = len(files)
	c.Changes = fitting(files, room)
	roomA := roomChanged
	for i, f := range files {
		if f.Added > 0 {
			c.Added += f.Added
		}
		if f.Removed > 0 {
			c.Removed += f.Removed
		}
		roomA -= len(f.Path) + 3
		if roomA >= 0 && i < maxChanged {
			c.Changed = append(c.Changed, f.Path)
		}
	}
	if files == nil {
		files = []executor.FileChange{}
	}
	kept := slices.Clone(files)
	for i := range kept {
		kept[i].Path, kept[i].From = s.redacted(kept[i].Path), s.redacted(kept[i].From)
	}
	b, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Join(s.state, "attempts", string(e.Node), fmt.Sprintf("%s-%d", component(e.Step), e.Attempt))
	if err := regular.MkdirOwn(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, "changes.json")
	if st, err := os.Lstat(path); err == nil && st.IsDir() { // someone put it there
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return atomicfile.WriteOwn(path, append(b, '\n'), 0o600)
}

// bounded keeps a list small enough for an event.
func bounded(list []string, room int) []string {
	for i, p := range list {
		if room -= len(p); room < 0 && i > 0 || i == maxChanged {
			return append(list[:i:i], fmt.Sprintf("and %d more", len(list)-i))
		} else if room < 0 {
			return []string{oneLine(p, roomProblems), fmt.Sprintf("and %d more", len(list)-1)}[:min(len(list), 2)]
		}
	}
	return list
}
