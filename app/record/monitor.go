package record

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
)

// Monitor looks at the runs of repositories.
type Monitor struct {
	Dirs []string
	seen map[string]*seenEpic // by directory of the run
}

// seenEpic is a run as it was last read. An unchanged journal is not read again.
type seenEpic struct {
	mark string
	rec  *Record
}

// Look reads the record of each repository. Whole asks for what only git and the system
// know.
func (m *Monitor) Look(ctx context.Context) (MonitorJSON, error) {
	out := MonitorJSON{Version: MonitorVersion, Repositories: []RepositoryJSON{}}
	known := map[string]bool{}
	for _, dir := range m.Dirs {
		at, err := workspace.StateDir(ctx, dir, "x")
		if err != nil {
			return out, err
		}
		runs := filepath.Dir(at)
		if known[runs] {
			continue // two worktrees of one repository
		}
		known[runs] = true
		abs, err := filepath.Abs(dir)
		if err != nil {
			return out, err
		}
		repo := RepositoryJSON{Dir: cmp.Or(project.GitRoot(abs), abs), Epics: []MonitoredJSON{}}
		files, err := runFiles(runs)
		if err != nil {
			return out, err
		}
		for _, file := range files {
			r, err := m.read(ctx, repo.Dir, file)
			if err != nil {
				repo.Trouble = append(repo.Trouble, fmt.Sprintf("%s cannot be read: %v", file, err))
				continue
			}
			repo.Epics = append(repo.Epics, monitored(r))
		}
		slices.SortStableFunc(repo.Epics, func(a, b MonitoredJSON) int { return a.Rank - b.Rank })
		out.Repositories = append(out.Repositories, repo)
	}
	return out, nil
}

// runFiles lists what the runs of a repository were started with, by the directory of
// their states.
func runFiles(runs string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(project.GlobEscape(runs), "*", "epic.json"))
	slices.Sort(files)
	return files, err
}

// read returns a run, from its journal only if that has moved.
func (m *Monitor) read(ctx context.Context, dir, file string) (*Record, error) {
	state := filepath.Dir(file)
	mark := JournalMark(state)
	s := m.seen[state]
	if s == nil || s.mark != mark {
		rec, err := OpenIn(ctx, dir, file, nil)
		if err != nil {
			return nil, err
		}
		rec.File = shortFile(dir, file, rec)
		s = &seenEpic{mark, rec}
		if m.seen == nil {
			m.seen = map[string]*seenEpic{}
		}
		m.seen[state] = s
	}
	var err error
	s.rec.Now = time.Now()
	s.rec.Holder, s.rec.Held, err = journal.Holder(state)
	return s.rec, err
}

// Whole adds to each epic what git and the system know of it, which is not watched.
func (m *MonitorJSON) Whole() {
	for i := range m.Repositories {
		for k := range m.Repositories[i].Epics {
			e := &m.Repositories[i].Epics[k]
			e.StatusJSON = StatusOf(e.rec)
		}
	}
}

// monitored is what is on record of an epic, and whose agents are silent for too long.
func monitored(r *Record) MonitoredJSON {
	e := MonitoredJSON{File: r.File, StatusJSON: statusOf(r), Rank: rank(r), rec: r}
	for _, n := range e.Nodes {
		if _, stalled := e.Stall(n); stalled && r.Held && n.View.Status == executor.Running {
			e.Stalled = append(e.Stalled, string(n.Key))
		}
	}
	return e
}

// rank orders runs: active ones first, then interrupted, waiting or failed ones, then the rest.
func rank(r *Record) int {
	switch {
	case r.Held:
		return 0
	case r.Run.Overview().Open, r.cut():
		return 1
	case ExitCode(r.Run, false) != exit.Done:
		return 2
	}
	return 3
}

// Stall reports whether an agent has been silent for longer than its step allows.
func (e MonitoredJSON) Stall(n NodeJSON) (time.Duration, bool) { return StallOf(e.rec, n) }

// StallOf reports whether a sprint's agent has been silent for longer than its step allows.
func StallOf(r *Record, n NodeJSON) (time.Duration, bool) {
	step := r.Run.Node(n.ID).Step(n.Step)
	if step == nil || step.Stall.AfterMS == 0 || !n.View.Asked {
		return 0, false
	}
	sign := n.View.Since
	if n.LastActivity != nil {
		sign = *n.LastActivity
	}
	limit := time.Duration(step.Stall.AfterMS) * time.Millisecond
	return limit, r.Now.Sub(sign) > limit
}
