package web

import (
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// bars makes the rows of the timeline from events.
type bars struct {
	l    *live
	run  int // number of the run, from 1
	rows []TimelineRow
	at   map[string]int // row of a sprint's present attempt, by its id
	open map[int64]mark // effects that have not ended, by the number of their start
	wait map[string]int // index of the part in which a sprint waits, by its id

	last []time.Time // of each row: a clock that was set back does not turn it round
}

// mark is where a part of a row is.
type mark struct {
	row, part int
	node      ir.NodeID
	kind      executor.EffectKind
	gate      string
}

// timeline is what each attempt did, and when.
func (l *live) timeline() []TimelineRow {
	b := &bars{l: l, rows: []TimelineRow{}, at: map[string]int{}, open: map[int64]mark{}, wait: map[string]int{}}
	for _, e := range l.rec.Events {
		b.add(e)
	}
	if !l.rec.Held { // nothing goes on: what is open ended with the process
		for _, e := range slices.Backward(l.rec.Events) {
			b.cut(e.At)
			break
		}
	}
	b.until(time.Now())
	return b.rows
}

// until bounds all times: what lies ahead was written before the clock was set back.
func (b *bars) until(now time.Time) {
	bound := func(t *time.Time) {
		if t != nil && t.After(now) {
			*t = now.UTC()
		}
	}
	for i := range b.rows {
		r := &b.rows[i]
		bound(&r.Start)
		bound(r.End)
		for k := range r.Parts {
			bound(&r.Parts[k].Start)
			bound(r.Parts[k].End)
		}
	}
}

// in is a time as a row has it: not before what was in it last.
func (b *bars) in(row int, at time.Time) time.Time {
	if at.After(b.last[row]) {
		b.last[row] = at
	}
	return b.last[row]
}

func (b *bars) add(e executor.Event) {
	switch body := e.Body.(type) {
	case executor.RunStarted:
		b.run++
		b.cut(e.At)
	case executor.RunEnded:
		b.cut(e.At)
	case executor.AttemptStarted:
		b.begin(e)
	case executor.EffectStarted:
		b.start(e, body)
	case executor.AgentEnded, executor.Diagnosed, executor.Prepared, executor.Collected, executor.BaseMade:
		b.end(e, "", "")
	case executor.EffectFailed:
		b.end(e, body.Gate, "fail")
	case executor.GateJudged:
		verdict := "fail"
		if body.Verdict == executor.Pass {
			verdict = "pass"
		}
		b.end(e, body.Gate, verdict)
	case executor.NodeWaiting:
		if row, is := b.at[string(e.Node)]; is {
			b.wait[string(e.Node)] = b.part(row, "wait", e.At)
		}
	case executor.NodeResumed:
		b.resume(e)
	case executor.AttemptEnded:
		b.resume(e)
		if row, is := b.at[string(e.Node)]; is {
			b.rows[row].Status, b.rows[row].End = words.Ended(body.Status, body.Replaced()), timeOf(b.in(row, e.At))
			delete(b.at, string(e.Node))
		}
	case executor.NodeDone, executor.NodeBlocked:
		b.resume(e)
	}
}

// begin is a new row.
func (b *bars) begin(e executor.Event) {
	n := b.l.rec.Node(e.Node)
	if row, is := b.at[string(e.Node)]; is { // its sprint starts again
		b.rows[row].Status = words.Ended(executor.AttemptCancelled, true)
	}
	b.at[string(e.Node)] = len(b.rows)
	b.last = append(b.last, e.At)
	b.rows = append(b.rows, TimelineRow{
		Key: ir.Key(b.l.rec.Key(e.Node)), Title: n.Title, Phase: n.Phase, Step: e.Step, Attempt: e.Attempt, Run: b.run,
		Start: e.At, Status: executor.AttemptRunning.String(), Parts: []TimelinePart{},
	})
}

// part adds one to a row, and returns its index.
func (b *bars) part(row int, kind string, at time.Time) int {
	b.rows[row].Parts = append(b.rows[row].Parts, TimelinePart{Kind: kind, Start: b.in(row, at)})
	return len(b.rows[row].Parts) - 1
}

// start is the beginning of an effect.
func (b *bars) start(e executor.Event, body executor.EffectStarted) {
	row, is := b.at[string(e.Node)]
	if !is {
		return
	}
	kind := map[executor.EffectKind]string{
		executor.EffectAgent: "agent", executor.EffectDiagnose: "agent", executor.EffectGate: "gate", executor.EffectRed: "gate",
		executor.EffectPrepare: "setup", executor.EffectCollect: "setup", executor.EffectBase: "setup",
	}[body.Kind]
	if kind == "" {
		return
	}
	b.open[e.Seq] = mark{row, b.part(row, kind, e.At), e.Node, body.Kind, body.Gate}
	b.rows[row].Parts[b.open[e.Seq].part].Gate = body.Gate
}

// end is that of an effect: of the one that the event names, else of the last of its sprint.
func (b *bars) end(e executor.Event, gate, verdict string) {
	of := e.Of
	if _, is := b.open[of]; !is {
		of = 0
		for seq, m := range b.open {
			if m.node == e.Node && m.gate == gate {
				of = max(of, seq)
			}
		}
	}
	m, is := b.open[of]
	if !is {
		return
	}
	delete(b.open, of)
	p := &b.rows[m.row].Parts[m.part]
	if p.End = timeOf(b.in(m.row, e.At)); p.Kind == "gate" && verdict != "" {
		p.Kind += ":" + verdict
		if m.kind == executor.EffectRed && verdict == "fail" { // as it has to
			p.Kind = "gate:pass"
		}
	}
}

// resume ends a wait.
func (b *bars) resume(e executor.Event) {
	row, is := b.at[string(e.Node)]
	part, waits := b.wait[string(e.Node)]
	if is && waits && part < len(b.rows[row].Parts) {
		b.rows[row].Parts[part].End = timeOf(b.in(row, e.At))
	}
	delete(b.wait, string(e.Node))
}

// cut ends what is open: the process that did it is gone. Waits go on.
func (b *bars) cut(at time.Time) {
	for seq, m := range b.open {
		b.rows[m.row].Parts[m.part].End = timeOf(b.in(m.row, at))
		delete(b.open, seq)
	}
}

func timeOf(t time.Time) *time.Time { return &t }

// within leaves out what ended before a time, and what began after another.
func within(rows []TimelineRow, from, to string) ([]TimelineRow, error) {
	var bounds [2]time.Time // zero: no bound
	for i, text := range []string{from, to} {
		if text == "" {
			continue
		}
		var err error
		if bounds[i], err = time.Parse(time.RFC3339, text); err != nil {
			return nil, invalid("%s is a time such as 2030-01-02T15:04:05Z, not %q", [...]string{"from", "to"}[i], text)
		}
	}
	return slices.DeleteFunc(rows, func(r TimelineRow) bool {
		return !bounds[0].IsZero() && r.End != nil && r.End.Before(bounds[0]) || !bounds[1].IsZero() && r.Start.After(bounds[1])
	}), nil
}
