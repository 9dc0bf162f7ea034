package web

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/ir"
)

// list opens the epics that are new, and reports whether there is anything new to say.
func (h *house) list(ctx context.Context) bool {
	changed := false
	for _, repo := range h.repos {
		if err := repo.List(); err != nil {
			changed = h.says(repo, repo.Git, err.Error()) || changed
			continue
		}
		changed = h.says(repo, repo.Git, "") || changed
		if !slices.Equal(repo.Files, repo.listed) {
			repo.listed = slices.Clone(repo.Files)
			clear(repo.twice)
			changed = h.forget(repo) || changed
		}
		for _, file := range repo.Files {
			if h.follows(repo, file) || repo.twice[file] != "" && repo.twice[file] == markOfFile(file) {
				continue
			}
			rec, err := record.Follow(ctx, repo.Dir, file)
			if err != nil {
				changed = h.says(repo, file, fmt.Sprintf("%s cannot be read: %v", shortOf(file), err)) || changed
				continue
			}
			h.take(newLive(repo, rec))
			changed = true
		}
	}
	return changed
}

// follows reports whether the epic of a file is open.
func (h *house) follows(repo *repository, file string) bool {
	for _, l := range h.all() {
		if l.repo == repo && l.rec.Named() == file {
			return true
		}
	}
	return false
}

// take follows an epic. Of two files of a repository that hold one epic, and so have one
// journal, one is followed: the other is said.
func (h *house) take(l *live) {
	old, file, id := h.find(l.id), l.rec.Named(), l.rec.Given.Epic.ID
	if old == nil || !slices.Contains(l.repo.Files, old.rec.Named()) {
		h.says(l.repo, file, "")
		h.add(l)
		return
	}
	stays, goes := old, l
	if precedes(l.repo, id, file, old.rec.Named()) {
		stays, goes = l, old
		h.add(l)
	} else {
		l.close()
	}
	at := goes.rec.Named()
	l.repo.twice[at] = markOfFile(at)
	h.says(l.repo, stays.rec.Named(), "")
	h.says(l.repo, at, fmt.Sprintf("%s is not shown: it holds the epic %s, as %s does", shortOf(at), id, shortOf(stays.rec.Named())))
}

// precedes reports which of two files of an epic is followed: that which is where it belongs,
// else the more recent one.
func precedes(repo *repository, id ir.NodeID, a, b string) bool {
	belongs := func(file string) bool {
		dir := filepath.Dir(file)
		return dir == repo.Dir || filepath.Base(dir) == string(id)
	}
	if belongs(a) != belongs(b) {
		return belongs(a)
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err != nil || one.ModTime().After(other.ModTime())
}

// add takes an epic in, in the place of one of the same name.
func (h *house) add(l *live) {
	h.mu.Lock()
	old := h.lives[l.id]
	if old == nil {
		h.order = append(h.order, l.id)
	}
	h.lives[l.id] = l
	h.mu.Unlock()
	if old != nil {
		old.close()
	}
}

// trouble lists why runs of a repository are not shown.
func (h *house) trouble(r *repository) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Values(r.trouble))
}

// says keeps why a file is not shown, "" if it is; it reports whether that is new.
func (h *house) says(r *repository, file, why string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.trouble[file] == why {
		return false
	}
	if r.trouble[file] = why; why == "" {
		delete(r.trouble, file)
	}
	return true
}

// forget drops what was said of files that are not there any more.
func (h *house) forget(r *repository) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(r.trouble)
	maps.DeleteFunc(r.trouble, func(file, _ string) bool { return !slices.Contains(r.Files, file) })
	return len(r.trouble) != before
}

// markOfFile changes when a file does.
func markOfFile(file string) string {
	mark, _ := marks("", []string{file})
	return mark
}

// shortOf names a file with the directory that it is in.
func shortOf(file string) string {
	return strings.TrimPrefix(filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file)), string(filepath.Separator))
}
