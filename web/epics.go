package web

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/version"
	"github.com/ralph-compiler/ralph/ir"
)

func (s *Server) session() (any, error) {
	return Session{Version: version.Ralph(), User: project.UserName(), ReadOnly: s.readOnly, Repositories: s.repositories()}, nil
}

func (s *Server) repositories() []Repository {
	out := []Repository{}
	lives := s.house.all()
	for _, r := range s.house.repos {
		line := Repository{ID: r.id, Dir: r.Dir, Name: filepath.Base(r.Dir), Epics: []EpicLine{}, Trouble: s.house.trouble(r)}
		for _, l := range lives {
			if l.repo == r {
				line.Epics = append(line.Epics, locked(l, l.line))
			}
		}
		slices.SortStableFunc(line.Epics, func(a, b EpicLine) int { return cmp.Compare(a.Rank, b.Rank) })
		out = append(out, line)
	}
	return out
}

// locked returns what read returns, under the epic's mutex.
func locked[T any](l *live, read func() T) T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return read()
}

// rank orders epics: those that wait for a person first, then those that failed or were
// interrupted, those at work, those that can begin, and those that have ended.
func rank(e EpicLine) int {
	switch {
	case e.Waits > 0:
		return 0
	case e.Failed > 0, e.Run.State == "interrupted":
		return 1
	case e.Run.AtWork():
		return 2
	case e.Run.State != "ended":
		return 3
	}
	return 4
}

func (l *live) line() EpicLine {
	r, run := l.rec, record.RunOf(l.rec.Record)
	h := r.Epic.Epic
	out := EpicLine{
		ID: l.id, Epic: h.ID, Title: h.Title, Slug: h.Slug, Plan: h.Plan, File: r.File, Changed: r.Changed, Draft: record.IsDraft(r.Epic),
		Seq: r.Run.Seq(), Run: run, Says: run.Says, Counts: r.Run.Summary().Counts(), Total: len(r.Epic.Nodes), Broken: l.broken,
		Spent: words.SpentOfRun(run.View), Apply: "ralph apply" + record.Applies(r.File),
	}
	for _, v := range l.views() {
		if record.WaitsForPerson(v) {
			out.Waits++
		}
		goesOn := v.GoesOn && v.Status == executor.Waiting // "waiting" is for somebody
		if v.Key != executor.Integration && (goesOn || v.Interrupted) {
			out.Counts[v.Status.String()]--
			out.Counts[map[bool]string{true: words.GoesOn, false: words.Interrupted}[goesOn]]++
		}
		if failed(v) {
			out.Failed++
		}
	}
	out.Waits += len(l.aboutRun(run))
	if !run.AtWork() {
		out.Ended = l.ended()
	}
	out.Rank = rank(out)
	return out
}

// failed reports whether a sprint is blocked by something that went wrong in itself.
func failed(v machine.NodeView) bool { return v.Status == executor.Blocked }

func sprintLine(v machine.NodeView) SprintLine {
	return SprintLine{
		Key: v.Key, Title: v.Title, Phase: v.Phase, Status: v.Status.String(), Shown: words.Shown(v), Word: words.Status(v), Human: record.WaitsForPerson(v), Free: v.Free, For: string(v.For), Doing: v.Doing, Reason: words.First(v.Reason),
		Since: past(v.Since), Tries: v.Tries(), Spent: words.SpentShort(v.Spent), WorkMS: v.Worked.Milliseconds(),
	}
}

// epic is everything about an epic but its graph.
func (l *live) epic() Epic {
	r := l.rec
	out := Epic{
		EpicLine: l.line(), Repo: filepath.Base(l.repo.Dir), Dir: l.repo.Dir, Digest: r.Given.Digest,
		Inbox: l.inbox(), Failures: l.failures(), Running: []SprintLine{}, Upcoming: []SprintLine{}, Sprints: []SprintLine{},
		Proposals: orEmpty(r.Run.Overview().Proposals), Changes: orEmpty(l.changes()), Doubts: orEmpty(record.DoubtsIn(r.Run, l.views())), Offers: record.RunOffersOf(r.Record),
	}
	if out.Stuck = l.stuck(out.Run); out.Stuck == "" {
		out.Forecast = l.foretold()
	}
	if l.continues(out.Run.State) {
		out.Command = out.Apply
	}
	for _, v := range l.views() {
		line := sprintLine(v)
		out.Sprints = append(out.Sprints, line)
		switch {
		case v.Status == executor.Running:
			out.Running = append(out.Running, line)
		case v.Status == executor.Ready && len(out.Upcoming) < 20:
			out.Upcoming = append(out.Upcoming, line)
		}
	}
	return out
}

// continues reports whether ralph apply would begin anything now.
func (l *live) continues(state string) bool {
	if l.rec.Held {
		return false
	}
	return state != "ended" || l.rec.Changed || slices.ContainsFunc(l.views(), func(v machine.NodeView) bool {
		return v.GoesOn || v.Status == executor.Ready
	})
}

// ended is when the last run ended; nil if none did. Decisions come later.
func (l *live) ended() *time.Time {
	for _, e := range slices.Backward(l.rec.Events) {
		if _, is := e.Body.(executor.RunEnded); is {
			return past(e.At)
		}
	}
	return nil
}

// past is a time, or now if it lies ahead: the clock was set back since.
func past(t time.Time) *time.Time {
	if now := time.Now(); t.After(now) {
		t = now
	}
	return record.TimeJSON(t)
}

// orEmpty is a list that is never null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// held counts the sprints that cannot start because of some of them.
func (l *live) held(keys ...ir.Key) (n int) {
	seen := map[ir.Key]bool{}
	queue := slices.Clone(keys)
	for len(queue) > 0 {
		key := queue[0]
		queue = queue[1:]
		for _, next := range l.shape().next[key] {
			if seen[next] {
				continue
			}
			seen[next] = true
			queue = append(queue, next)
			if v, is := l.byKey(next); is && (v.Status == executor.Pending || v.Status == executor.Ready) {
				n++
			}
		}
	}
	return n
}

func (l *live) byKey(key ir.Key) (machine.NodeView, bool) {
	if key == executor.Integration {
		return l.rec.Run.View(executor.Integration)
	}
	id, is := l.shape().ids[key]
	if !is {
		return machine.NodeView{}, false
	}
	return l.rec.Run.View(id)
}

// failures are the blocked sprints, those with the same cause together, the costliest first.
func (l *live) failures() []Failure {
	out := []Failure{}
	at := map[string]int{}
	for _, v := range l.views() {
		if !failed(v) {
			continue
		}
		gate, tests := failedGate(v)
		reason := words.First(v.Reason)
		i, known := at[gate+"\x00"+reason]
		if !known {
			i = len(out)
			at[gate+"\x00"+reason] = i
			out = append(out, Failure{
				Epic: l.id, EpicTitle: l.rec.Epic.Epic.Title, Repo: filepath.Base(l.repo.Dir), Reason: v.Reason, Title: v.Title, Gate: gate, Failed: tests,
				Offers: record.OffersOf(l.rec.Record, v), Seq: l.rec.Run.Seq(),
			})
		}
		f := &out[i]
		f.Keys = append(f.Keys, v.Key)
		f.Tries += v.Tries()
	}
	for i := range out {
		out[i].Holds, out[i].Behind = l.held(out[i].Keys...), l.behindAll(out[i].Keys)
	}
	slices.SortStableFunc(out, func(a, b Failure) int { return cmp.Compare(b.Holds+len(b.Keys), a.Holds+len(a.Keys)) })
	return out
}

// failedGate is the gate that the last attempt failed at, with the names of its tests.
func failedGate(v machine.NodeView) (gate string, tests []string) {
	k := len(v.Attempts)
	if k == 0 {
		return "", nil
	}
	for _, g := range v.Attempts[k-1].Gates {
		if g.Verdict != executor.Pass {
			return g.Gate, g.Failed
		}
	}
	return "", nil
}

// since is a time for sorting: what has none comes last.
func since(t *time.Time) time.Time {
	if t == nil {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return *t
}
