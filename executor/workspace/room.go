package workspace

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// Room says, as a transient executor.Failure, that less space is free than
// worktree.min_free asks for, where worktrees are or where ralph keeps its state;
// nil if there is enough. It may be called from any goroutine.
func (s Trees) Room() error {
	for _, dir := range s.disks {
		if err := s.room(dir); err != nil {
			return err
		}
	}
	return nil
}

// disk is the directory on whose file system a worktree lies: the first one, beside
// the checkout or in it, of its path.
func (s *space) disk(worktree string) string {
	if rel, err := filepath.Rel(filepath.Dir(s.top), worktree); err == nil {
		return filepath.Join(filepath.Dir(s.top), firstOf(rel))
	}
	return s.top
}

// firstOf returns the first part of a relative path.
func firstOf(rel string) string {
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	return first
}

// room refuses to go on with less free space than the policy asks for.
func (s *space) room(dir string) error {
	floor := s.epic.Run.Worktree.MinFree
	if floor <= 0 {
		return nil
	}
	for {
		if there, err := exists(dir); err != nil || there {
			break
		}
		dir = filepath.Dir(dir)
	}
	have, err := s.free(dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if have < floor {
		return &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf(
			"%s are free in %s and worktree.min_free asks for %s: make room (ralph waits and tries again), or lower min_free", size(have), dir, size(floor))}
	}
	return nil
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d bytes", n)
}
