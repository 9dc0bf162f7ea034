package web

import (
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// inboxes is what waits in all epics.
func (s *Server) inboxes() (any, error) {
	out := Inbox{Items: []InboxItem{}, Failures: []Failure{}}
	for _, l := range s.house.all() {
		l.mu.Lock()
		out.Items = append(out.Items, l.inbox()...)
		out.Failures = append(out.Failures, l.failures()...)
		l.mu.Unlock()
	}
	slices.SortStableFunc(out.Items, func(a, b InboxItem) int { return since(a.Since).Compare(since(b.Since)) })
	return out, nil
}

// inbox is what waits for people in an epic, oldest first.
func (l *live) inbox() []InboxItem {
	out := l.aboutRun(record.RunOf(l.rec.Record))
	others := l.others()
	for _, v := range l.views() {
		if record.WaitsForPerson(v) {
			i := l.item(v)
			i.Other = others[v.ID]
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b InboxItem) int { return since(a.Since).Compare(since(b.Since)) })
	return out
}

// item is a sprint that waits.
func (l *live) item(v machine.NodeView) InboxItem {
	out := l.blank(string(v.Cause), words.Asked(v))
	out.Key, out.Title, out.Status, out.Reason = v.Key, v.Title, v.Status.String(), v.Reason
	out.Since, out.Gate, out.Approvers = past(v.Since), v.Gate, v.Approvers
	out.Offers, out.Next, out.Holds = record.OffersOf(l.rec.Record, v), orEmpty(l.rec.NextSteps(v)), l.held(v.Key)
	out.Behind, out.Begin = l.behind(v)
	if out.Cause == "" {
		out.Cause = string(v.For)
	}
	if k := len(v.Attempts) - 1; k >= 0 {
		a := record.AttemptOf(l.rec.Record, v.ID, v.Attempts[k])
		out.Verdicts, out.Files, out.Added, out.Removed = orEmpty(a.Gates), a.FilesChanged, a.Added, a.Removed
	}
	return out
}

func (l *live) blank(cause, asks string) InboxItem {
	return InboxItem{
		Epic: l.id, EpicTitle: l.rec.Epic.Epic.Title, Repo: filepath.Base(l.repo.Dir), Status: executor.Waiting.String(), Cause: cause, Asks: asks,
		Verdicts: []record.GateJSON{}, Offers: []record.Offer{}, Next: []record.NextStep{}, Behind: []ir.Key{}, Begin: []ir.Key{}, Seq: l.rec.Run.Seq(),
	}
}

// aboutRun is what waits for a person about the whole run.
func (l *live) aboutRun(run record.RunJSON) []InboxItem {
	out := []InboxItem{}
	for _, q := range record.QuestionsOf(l.rec.Record, run) {
		i := l.blank(q.Cause, q.Asks)
		i.Title, i.Reason, i.Since = q.Title, q.Reason, past(q.Since)
		i.Offers, i.Next = orEmpty(q.Offers), orEmpty(q.Next)
		out = append(out, i)
	}
	return out
}
