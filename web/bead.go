package web

import (
	"context"
	"net/http"

	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// beadOf is the bead of a sprint as the run tells it; the caller holds the mutex.
func (l *live) beadOf(v machine.NodeView) *run.Bead {
	return run.BeadOf(l.rec.Epic, v, l.rec.Run.Node(v.ID).Comments())
}

// bead is the bead of a sprint as bd says it.
func (s *Server) bead(ctx context.Context, l *live, r *http.Request) (run.Bead, error) {
	key := ir.Key(r.PathValue("key"))
	l.mu.Lock()
	v, is := l.byKey(key)
	bead, comments := l.beadOf(v), l.rec.Run.Node(v.ID).Comments()
	epic, state, hide := l.rec.Epic, l.rec.Space.State(), l.agents().Redact
	l.mu.Unlock()
	if !is || bead == nil {
		return run.Bead{}, unknown("%s has no bead", key)
	}
	if err := s.beads.Ask(ctx, epic, l.repo.Dir, state, bead, comments); err != nil {
		return run.Bead{}, err
	}
	return hidden(hide, *bead)
}
