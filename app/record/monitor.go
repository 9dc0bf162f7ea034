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
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
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

// Repository is a repository with its runs.
type Repository struct {
	Dir     string
	Epics   []*Record
	Trouble []string // runs that cannot be read
}

// Look reads what is on record in each repository.
func (m *Monitor) Look(ctx context.Context) ([]Repository, error) {
	var out []Repository
	known := map[string]bool{}
	for _, dir := range m.Dirs {
		at, err := workspace.StateDir(ctx, dir, "x")
		if err != nil {
			return nil, Refusal(err)
		}
		runs := filepath.Dir(at)
		if known[runs] {
			continue // two worktrees of one repository
		}
		known[runs] = true
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, exit.Inputf("%w", err)
		}
		repo := Repository{Dir: cmp.Or(project.GitRoot(abs), abs)}
		files, err := filepath.Glob(filepath.Join(project.GlobEscape(runs), "*", "epic.json"))
		if err != nil {
			return nil, exit.Inputf("%w", err)
		}
		slices.Sort(files)
		for _, file := range files {
			r, err := m.read(ctx, repo.Dir, file)
			if err != nil {
				repo.Trouble = append(repo.Trouble, fmt.Sprintf("%s cannot be read: %v", file, err))
				continue
			}
			repo.Epics = append(repo.Epics, r)
		}
		slices.SortStableFunc(repo.Epics, func(a, b *Record) int { return Rank(a) - Rank(b) })
		out = append(out, repo)
	}
	return out, nil
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
		if own := filepath.Join(dir, "epic.json"); project.EpicAt(own, rec.Epic.Epic.ID) != nil {
			rec.File = "epic.json" // what commands take in that directory without being told
		} else if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			rec.File = rel
		}
		rec.File = cmp.Or(IssueOf(state, rec.Epic), rec.File)
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

// Rank orders runs: active ones first, then interrupted, waiting or failed ones, then the rest.
func Rank(r *Record) int {
	switch {
	case r.Held:
		return 0
	case r.Run.Overview().Open, r.Cut():
		return 1
	case ExitCode(r.Run, false) != exit.Done:
		return 2
	}
	return 3
}

// LastSign is when a program of a node's present attempt last wrote something; zero if
// it never did.
func LastSign(r *Record, v machine.NodeView) time.Time {
	k := len(v.Attempts)
	if k == 0 {
		return time.Time{}
	}
	at, _ := LastActivity(effects.Files(r.Space.State(), v.ID, v.Attempts[k-1].Step, v.Attempts[k-1].Number))
	return at
}

// Stalled reports whether an agent has been silent for longer than its step allows.
func Stalled(r *Record, v machine.NodeView, sign time.Time) (time.Duration, bool) {
	step := r.Run.Node(v.ID).Step(v.Step)
	if step == nil || step.Stall.AfterMS == 0 || !v.Asked {
		return 0, false
	}
	if sign.IsZero() {
		sign = v.Since
	}
	limit := time.Duration(step.Stall.AfterMS) * time.Millisecond
	return limit, r.Now.Sub(sign) > limit
}

func MonitorOf(list []Repository) MonitorJSON {
	out := MonitorJSON{Version: MonitorVersion, Repositories: []RepositoryJSON{}}
	for _, repo := range list {
		r := RepositoryJSON{Dir: repo.Dir, Epics: []MonitoredJSON{}, Trouble: repo.Trouble}
		for _, rec := range repo.Epics {
			e := MonitoredJSON{File: rec.File, StatusJSON: StatusOf(rec)}
			for _, v := range rec.Run.Views() {
				if _, stalled := Stalled(rec, v, LastSign(rec, v)); stalled && rec.Held && v.Status == executor.Running {
					e.Stalled = append(e.Stalled, string(v.Key))
				}
			}
			r.Epics = append(r.Epics, e)
		}
		out.Repositories = append(out.Repositories, r)
	}
	return out
}
