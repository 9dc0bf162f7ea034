package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/shepherd"
)

// shepherdRoutes are Agent Shepherd's three, with its field names: an issue is a sprint, a
// run an attempt, a phase a step.
func shepherdRoutes() []route {
	return []route{
		whole[[]Issue]("/issues", "the sprints of all epics, as Agent Shepherd names things", (*Server).issues),
		{
			method: http.MethodGet, path: "/issues/{id}/runs", answer: reflect.TypeFor[[]Raw](), serve: (*Server).issueRuns,
			about: "the attempts of a sprint, oldest first, as a line of Agent Shepherd's runs.jsonl each, with how to join their sessions",
		},
		{
			method: http.MethodGet, path: "/runs/{id}", answer: reflect.TypeFor[Raw](), serve: (*Server).shepherdRun,
			about: "an attempt, in the same form",
		},
	}
}

// issues are the sprints of all epics.
func (s *Server) issues() (any, error) {
	out := []Issue{}
	for _, l := range s.house.all() {
		l.mu.Lock()
		for _, v := range l.views() {
			if v.ID != executor.Integration {
				out = append(out, l.issue(v))
			}
		}
		l.mu.Unlock()
	}
	return out, nil
}

func (l *live) issue(v machine.NodeView) Issue {
	n := l.rec.Node(v.ID)
	out := Issue{
		ID: v.ID, Title: v.Title, Status: v.Word(executor.WordsShepherd), Priority: n.Priority, Phase: v.Step, Policy: n.Policy,
		Labels: orEmpty(n.Labels), Dependencies: []IssueEdge{}, Runs: len(v.Attempts),
		Ralph: IssueOf{Epic: l.id, Key: v.Key, Status: v.Status.String()},
	}
	for _, e := range n.After {
		if id, is := l.shape().ids[e.Key]; is {
			out.Dependencies = append(out.Dependencies, IssueEdge{ID: id, Type: string(e.Type)})
		}
	}
	return out
}

// issueRuns are the attempts of a sprint.
func (s *Server) issueRuns(w http.ResponseWriter, r *http.Request) {
	id := ir.NodeID(r.PathValue("id"))
	l := s.having(id)
	if l == nil {
		send(w, r, nil, "", unknown("there is no issue %s here", id))
		return
	}
	body, etag, err := l.answer(r.URL.Path, func() (any, error) { return l.shepherdRuns(r.Context(), id) })
	send(w, r, body, etag, err)
}

// shepherdRun is one attempt: its id is made of the sprint's, the step and the number.
func (s *Server) shepherdRun(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	for _, l := range s.house.all() {
		node := locked(l, func() ir.NodeID {
			for _, v := range l.views() {
				for _, a := range v.Attempts {
					if id == runID(v.ID, a) {
						return v.ID
					}
				}
			}
			return ""
		})
		if node == "" {
			continue
		}
		body, etag, err := l.answer(r.URL.Path, func() (any, error) {
			runs, err := l.shepherdRuns(r.Context(), node)
			for _, run := range runs {
				if isRun(string(run), id) {
					return run, err
				}
			}
			return nil, unknown("there is no run %s here", id)
		})
		send(w, r, body, etag, err)
		return
	}
	send(w, r, nil, "", unknown("there is no run %s here", id))
}

// runID is the name of an attempt, as ir/codec/shepherd has it.
func runID(id ir.NodeID, a machine.AttemptLog) string {
	return fmt.Sprintf("run-%s-%s-%d", id, a.Step, a.Number)
}

// isRun reports whether a line of runs.jsonl is about an attempt.
func isRun(line, id string) bool {
	return strings.HasPrefix(line, `{"id":`+string(mustJSON(id))+`,`)
}

// having finds the epic with a sprint; of two clones the one in which it was run.
func (s *Server) having(id ir.NodeID) (found *live) {
	for _, l := range s.house.all() {
		l.mu.Lock()
		v, is := l.rec.Run.View(id)
		l.mu.Unlock()
		switch {
		case is && len(v.Attempts) > 0:
			return l
		case is && found == nil:
			found = l
		}
	}
	return found
}

// shepherdRuns are the attempts of a sprint, each a line as `ralph export --as shepherd`
// writes it, and how to join its sessions.
func (l *live) shepherdRuns(ctx context.Context, id ir.NodeID) ([]Raw, error) {
	v, is := l.rec.Run.View(id)
	if !is {
		return nil, unknown("there is no issue %s here", id)
	}
	times := &record.Chronicle{}
	times.Tally.Key = record.KeysOf(l.rec.Epic)
	for _, e := range l.rec.Events {
		times.Add(e)
	}
	history := record.NewHistorian(project.Detail{}, l.rec.Epic, l.rec.Run, l.rec.Space, times)
	alone := *l.rec.Epic
	alone.Nodes = []ir.Node{*l.rec.Node(id)}
	var b bytes.Buffer
	if _, err := shepherd.Encode(&b, &alone, &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{id: history.View(ctx, v)}}); err != nil {
		return nil, err
	}
	joins := l.joins(v)
	out := []Raw{}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSpace(line)
		mine := []Joining{}
		for _, j := range joins {
			if isRun(line, runID(id, machine.AttemptLog{Step: j.Step, Number: j.Attempt})) {
				mine = append(mine, j)
			}
		}
		out = append(out, Raw(strings.TrimSuffix(line, "}")+`,"join":`+string(mustJSON(mine))+"}"))
	}
	return out, nil
}
