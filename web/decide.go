package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/ir"
)

// mostBody bounds what a POST may send, in bytes.
const mostBody = 64 << 10

// decide takes a decision, by the door of the commands.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	l, ok := s.epic(w, r)
	if !ok {
		return
	}
	if !isJSON(r) {
		fail(w, http.StatusUnsupportedMediaType, Fault{Error: "a decision is application/json", Reason: "invalid"})
		return
	}
	peer, err := l.peerOf(r)
	if err != nil {
		fail(w, http.StatusForbidden, Fault{Error: err.Error(), Reason: "agent"})
		return
	}
	var body Decide
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody))
	in.DisallowUnknownFields()
	if err := in.Decode(&body); err != nil {
		status := http.StatusBadRequest
		if big := new(http.MaxBytesError); errors.As(err, &big) {
			status = http.StatusRequestEntityTooLarge
		}
		fail(w, status, Fault{Error: "the decision cannot be read: " + err.Error(), Reason: "invalid"})
		return
	}
	unhurried(w)
	key := r.PathValue("key")
	d, fault := decisionOf(body, key, peer)
	if fault != nil {
		fail(w, fault.status, fault.Fault)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	if no := s.unseen(ctx, l, ir.Key(key), body); no != nil {
		fail(w, no.status, no.Fault)
		return
	}
	name := locked(l, func() string { return l.rec.File })
	said, err := run.DecideIn(ctx, l.repo.Dir, l.rec.Named(), name, key, d)
	if err != nil {
		s.look(ctx, l) // it is refused because of what has happened meanwhile
		no := l.refused(key, body.Seen, err)
		fail(w, no.status, no.Fault)
		return
	}
	s.look(ctx, l)
	out := Decided{Taken: !said.Open, Text: said.Text, Command: said.Next, Dir: l.repo.Dir, User: d.User, By: cmp.Or(d.By, d.User)}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // of strings
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if said.Open {
		w.WriteHeader(http.StatusAccepted)
	}
	_, _ = w.Write(b)
}

// look reads what is new in a journal now, and tells it.
func (s *Server) look(ctx context.Context, l *live) {
	if l.look(context.WithoutCancel(ctx)) {
		s.house.tell()
	}
}

// unseen refuses a decision that does not say what was shown, or that was shown what this
// journal does not hold.
func (s *Server) unseen(ctx context.Context, l *live, key ir.Key, b Decide) *refusal {
	s.look(ctx, l)
	l.mu.Lock()
	defer l.mu.Unlock()
	invalid := func(text string) *refusal {
		return &refusal{http.StatusBadRequest, Fault{Error: text, Reason: "invalid"}}
	}
	plain := b.Verb == executor.Approve && b.How == executor.HowPlain && b.Tamper == ""
	switch v, is := l.byKey(key); {
	case b.Seen > l.rec.Run.Seq():
		return &refusal{http.StatusConflict, Fault{Error: fmt.Sprintf("event %d was shown, and the journal ends with event %d: it is another one", b.Seen, l.rec.Run.Seq()), Reason: "stale"}}
	case b.Seen == 0 && (key != "" || b.Verb == executor.Resume):
		return invalid("a decision about a sprint, or to resume the run, names the last event that was shown: seen")
	case plain && key == "" && b.Digest == "":
		return invalid("an approval of the plan names the digest of the epic that was shown")
	case plain && is && v.Changed <= b.Seen && v.Cause == executor.CauseApproval && l.rec.Run.Node(v.ID).Change().Bound.Gate != "" && (b.Gate == "" || b.Result == ""):
		return invalid("an approval names the gate, the result and the base that were shown")
	}
	return nil
}

// decisionOf is what a body decides.
func decisionOf(b Decide, key, via string) (executor.Decision, *refusal) {
	d := executor.Decision{
		ID: b.ID, Verb: b.Verb, How: b.How, Message: b.Message, By: b.As, User: project.UserName(), From: via, At: executor.Millis(time.Now()),
		Tamper: b.Tamper, Gate: b.Gate, Digest: b.Digest, Result: b.Result, Base: b.Base, Seen: executor.Sight{Seq: b.Seen},
	}
	invalid := func(status int, format string, args ...any) (executor.Decision, *refusal) {
		return d, &refusal{status, Fault{Error: fmt.Sprintf(format, args...), Reason: "invalid"}}
	}
	switch {
	case len(b.ID) < 8 || len(b.ID) > 64 || strings.Trim(b.ID, "0123456789abcdefghijklmnopqrstuvwxyz-") != "":
		return invalid(http.StatusBadRequest, "a decision has an id of 8 to 64 lower-case letters, digits and hyphens: with the same id it counts once")
	case len(executor.Note(b.Message)) < len(executor.Clean(strings.TrimSpace(b.Message))):
		return invalid(http.StatusRequestEntityTooLarge, "the message has %d bytes; %d of them fit: put the rest into a file of the worktree and name it", len(b.Message), len(executor.Note(b.Message)))
	case b.Seen < 0:
		return invalid(http.StatusBadRequest, "seen is the number of an event")
	case key != "" && b.Tamper != "":
		return invalid(http.StatusBadRequest, "a change is accepted for the whole run, not for a sprint")
	}
	if b.Budget != "" {
		budget, err := run.ParseBudget(b.Budget)
		if err != nil {
			return invalid(http.StatusBadRequest, "budget: %v", err)
		}
		d.Budget = budget
	}
	return d, nil
}

// refused is the answer to a decision that was not taken: 409 if what it is about has
// changed since it was shown.
func (l *live) refused(key string, seen int64, err error) *refusal {
	var no *executor.Refused
	var held *journal.Held
	var said *exit.Error
	out := &refusal{http.StatusInternalServerError, Fault{Error: err.Error(), Reason: "broken"}}
	changed := locked(l, func() bool {
		if o := l.rec.Run.Overview(); key == "" {
			return seen > 0 && o.Held.For == executor.ForHuman && o.HeldBy > seen
		}
		v, is := l.byKey(ir.Key(key))
		return is && seen > 0 && v.Changed > seen
	})
	switch {
	case errors.As(err, &no) && changed:
		out.status, out.Fault = http.StatusConflict, Fault{Error: no.Why, Hint: no.Hint, Reason: "stale"}
	case errors.As(err, &no):
		out.status, out.Fault = http.StatusUnprocessableEntity, Fault{Error: no.Why, Hint: no.Hint, Reason: "refused"}
	case errors.As(err, &held):
		out.status, out.Fault = http.StatusServiceUnavailable, Fault{Error: err.Error(), Reason: "busy"}
	case errors.As(err, &said):
		out.status, out.Fault = http.StatusUnprocessableEntity, Fault{Error: err.Error(), Reason: "refused"}
	}
	if changed && out.status == http.StatusUnprocessableEntity {
		out.status, out.Reason = http.StatusConflict, "stale"
	}
	return out
}
