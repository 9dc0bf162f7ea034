package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// resultFor is how long a result counts while a run is at work: git is asked for it.
const resultFor = 5 * time.Second

// result is what has come of an epic: its branch, and its runs.
func (s *Server) result(ctx context.Context, l *live, _ *http.Request) (Result, error) {
	return remembered(ctx, l, "result", resultFor, func(ctx context.Context) (Result, error) { return s.resultOf(ctx, l) })
}

func (s *Server) resultOf(ctx context.Context, l *live) (Result, error) {
	l.mu.Lock()
	epic, space, landed := l.rec.Epic, l.rec.Space, record.Landed(l.rec.Run)
	l.mu.Unlock()
	leave, err := s.git(ctx)
	if err != nil {
		return Result{}, err
	}
	sight := record.LookAtBranch(ctx, epic, landed, space)
	moved, err := record.MovedOut(space, func(id ir.NodeID) string { return string(id) })
	space.Trees.Release()
	leave()
	if err != nil {
		return Result{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := Result{Base: l.rec.Run.Bases().Base().Commit, LeftOut: []Left{}, Older: []Left{}, Runs: l.past(), Moved: []Moved{}}
	for _, m := range moved {
		x := Moved{MovedJSON: m}
		if m.Node != "" { // else an earlier release moved them
			x.Key = ir.Key(l.rec.Key(m.Node))
		}
		out.Moved = append(out.Moved, x)
	}
	b := sight.Holds(epic, l.rec.Run)
	if b.Head == "" {
		return out, nil
	}
	out.Branch, out.Commit, out.Note = b.Name, b.Head, b.Shadowed()
	out.Review = []string{"git log --graph --oneline " + b.Typed(), "git diff HEAD..." + b.Typed()}
	out.Take = "git merge " + b.Typed()
	for _, x := range b.LeftOut {
		out.LeftOut = append(out.LeftOut, Left{x.Key, words.First(x.Why)})
	}
	for _, x := range b.Holds {
		if x.Older && !x.Like {
			out.Older = append(out.Older, Left{x.Key, fmt.Sprintf("%.7s (%s)", x.Commit, words.First(x.Why))})
		}
	}
	return out, nil
}

// past lists the runs of an epic, oldest first.
func (l *live) past() []PastRun {
	out := []PastRun{}
	var open *PastRun
	for _, e := range l.rec.Events {
		switch b := e.Body.(type) {
		case executor.RunStarted:
			out = append(out, PastRun{Started: e.At, By: b.By, Outcome: "did not end by itself"})
			open = &out[len(out)-1]
		case executor.RunEnded:
			if open == nil {
				continue
			}
			open.Ended, open.Outcome, open.Counts = timeOf(e.At), "", atEnd(b)
			if b.Interrupted {
				open.Outcome = "interrupted"
			}
			open = nil
		}
	}
	if open != nil && l.rec.Held {
		open.Outcome = "at work"
	}
	return out
}

// atEnd counts sprints by the status that they are shown under when a run has ended.
func atEnd(b executor.RunEnded) map[string]int {
	out := maps.Clone(b.Counts)
	move := func(from executor.NodeStatus, to string, n int) {
		if n > 0 {
			out[from.String()] -= n
			out[to] += n
		}
	}
	move(executor.Running, words.Interrupted, out[executor.Running.String()])
	move(executor.Waiting, words.GoesOn, b.GoesOn)
	return out
}
