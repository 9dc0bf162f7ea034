package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

// live is the block at the bottom of the terminal while a run is at work: how
// far it is, wave by wave, what each running sprint does and when it last gave a
// sign of life. Lines about what happened scroll by above it.
type live struct {
	view *Run
	wave map[ir.NodeID]int // that a node belongs to, from 0
	size []int             // of each wave

	mu     sync.Mutex // guards the rest
	block  *term.Block
	lines  strings.Builder // to write above
	seen   picture
	done   map[ir.NodeID]bool
	passed []int // nodes done, by wave
	asks   map[ir.NodeID]bool
	signs  map[ir.NodeID]sign
	gate   string    // that is tried on the base
	since  time.Time // when that began
	drawn  time.Time
	closed bool

	stop chan struct{}
	work sync.WaitGroup
}

// picture is what the run looked like after its last event. It is made by the
// goroutine that owns the run.
type picture struct {
	head    string
	running []runningNode
	parked  []string // runners that are not asked now, until when and why
	trying  bool     // gates on the base
	people  []string // keys of what waits for a person, with the first thing to type
	waves   string
}

type runningNode struct {
	id         ir.NodeID
	key, doing string
	since      time.Time
}

// sign is a sign of life of an agent or a gate.
type sign struct {
	at   time.Time
	line string
}

// How often the block is drawn: at most, and at least while nothing happens.
const (
	drawSoonest = 100 * time.Millisecond
	drawLatest  = time.Second
)

func newLive(v *Run) *live {
	l := &live{view: v, block: term.NewBlock(v.Out), signs: map[ir.NodeID]sign{}, stop: make(chan struct{}), wave: map[ir.NodeID]int{}, done: map[ir.NodeID]bool{}, asks: map[ir.NodeID]bool{}}
	ids := lists.Table(v.epic.Nodes, func(n ir.Node) (ir.Key, ir.NodeID) { return n.Key, n.ID })
	for i, keys := range v.epic.Stats().Waves {
		for _, k := range keys {
			l.wave[ids[k]] = i
		}
		l.size = append(l.size, len(keys))
	}
	l.passed = make([]int, len(l.size))
	l.work.Go(l.tick)
	return l
}

// tick draws what could not be drawn at once, and the clock.
func (l *live) tick() {
	t := time.NewTicker(drawSoonest)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-t.C:
			l.mu.Lock()
			if l.lines.Len() > 0 || time.Since(l.drawn) >= drawLatest {
				l.draw()
			}
			l.mu.Unlock()
		}
	}
}

// above writes whole lines that stay.
func (l *live) above(lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines.WriteString(lines)
	l.soon()
}

// events takes events that have become durable; called by the goroutine that owns the run.
func (l *live) events(list []executor.Event, lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines.WriteString(lines)
	l.settle(list)
	l.look(list)
	l.soon()
}

// activity takes signs of life; safe to call from any goroutine.
func (l *live) activity(e executor.Effect, a executor.Activity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Step == executor.Preflight && e.Gate != l.gate {
		l.gate, l.since = e.Gate, time.Now()
	}
	l.signs[e.Node] = sign{time.Now(), columns.Truncate(reveal.Words(strings.TrimSpace(a.Line)), 200)}
}

func (l *live) soon() {
	if time.Since(l.drawn) >= drawSoonest {
		l.draw()
	}
}

// look makes a new picture of the run. Only nodes of the events can have changed.
func (l *live) look(list []executor.Event) {
	run := l.view.run
	was := map[ir.NodeID]runningNode{}
	var order []ir.NodeID
	for _, n := range l.seen.running {
		was[n.id] = n
		order = append(order, n.id)
	}
	for _, e := range list {
		if _, known := was[e.Node]; e.Node != "" && !known {
			was[e.Node] = runningNode{id: e.Node, key: reveal.Words(l.view.Key(e.Node)), since: e.At}
			order = append(order, e.Node)
		}
	}
	l.seen.running = l.seen.running[:0]
	for _, id := range order {
		v, ok := run.View(id)
		if !ok || v.Status != executor.Running {
			delete(l.signs, id)
			continue
		}
		n := was[id]
		doing := cmp.Or(v.Doing, "…")
		if doing != n.doing && n.doing != "" {
			n.since = time.Now()
		}
		n.doing = reveal.Words(doing)
		l.seen.running = append(l.seen.running, n)
	}
	o := run.Overview()
	l.seen.head = words.TallyOf(run)
	if s := o.Spent; s.Tokens > 0 || s.USDMicro > 0 {
		l.seen.head += " · " + words.Money(s.USDMicro, s.USDKnown) + ", " + words.Tokens(s.Tokens, s.TokensKnown)
	}
	switch {
	case o.Draining != "" || l.view.drains > 0:
		l.seen.head += " · ending"
	case o.Held.For != "":
		l.seen.head += " · held: " + string(o.Held.For)
	}
	for _, e := range list {
		switch e.Body.(type) {
		case executor.PreflightStarted:
			l.seen.trying = true
		case executor.PreflightEnded, executor.RunEnded:
			l.seen.trying = false
		}
	}
	l.seen.waves = l.wavesLine()
	l.seen.parked = parkedLines(o.Parked, time.Now())
	l.seen.people = l.peopleLines()
}

// settle notes which nodes are done and which ask for a person. Only nodes of the
// events can have changed, except where a run begins.
func (l *live) settle(list []executor.Event) {
	for _, e := range list {
		if _, begun := e.Body.(executor.RunStarted); begun {
			for i := range l.view.epic.Nodes {
				l.settleOne(l.view.epic.Nodes[i].ID)
			}
			return
		}
	}
	for _, e := range list {
		if e.Node != "" {
			l.settleOne(e.Node)
		}
	}
}

func (l *live) settleOne(id ir.NodeID) {
	v, ok := l.view.run.View(id)
	if !ok {
		return
	}
	if v.Status == executor.Waiting && v.For == executor.ForHuman {
		l.asks[id] = true
	} else {
		delete(l.asks, id)
	}
	w, ok := l.wave[id]
	if done := v.Status == executor.Done || v.Status == executor.Skipped; ok && done != l.done[id] {
		l.done[id] = done
		if done {
			l.passed[w]++
		} else {
			l.passed[w]--
		}
	}
}

// parkedLines says until when runners are not asked, and why.
func parkedLines(parked []executor.RunnerParked, now time.Time) []string {
	still := lists.Keep(parked, func(p executor.RunnerParked) bool { return p.Until.After(now) })
	return lists.Map(still, func(p executor.RunnerParked) string { return reveal.Words(words.Parked(p, now)) })
}

// peopleLines lists the first of what waits for a person.
func (l *live) peopleLines() []string {
	const most = 3
	var out []string
	for _, id := range slices.Sorted(maps.Keys(l.asks)) {
		if len(out) == most {
			return append(out, fmt.Sprintf("and %d more: ralph status", len(l.asks)-most))
		}
		v, _ := l.view.run.View(id)
		todo := ""
		if steps := record.NextSteps(v, "", l.view.Who); len(steps) > 0 {
			todo = "   " + steps[0].Command
		}
		out = append(out, reveal.Words(fmt.Sprintf("%s waits for you (%s)%s", v.Key, v.Cause, todo)))
	}
	return out
}

// wavesLine counts what is done in each wave from the first that is not over.
func (l *live) wavesLine() string {
	const most = 6
	first := 0
	for first < len(l.size) && l.passed[first] == l.size[first] {
		first++
	}
	if len(l.size) < 2 || first == len(l.size) {
		return ""
	}
	var parts []string
	for i := first; i < min(first+most, len(l.size)); i++ {
		parts = append(parts, fmt.Sprintf("%d: %d/%d", i+1, l.passed[i], l.size[i]))
	}
	switch {
	case first == 1:
		parts = append([]string{"1 done"}, parts...)
	case first > 1:
		parts = append([]string{fmt.Sprintf("1–%d done", first)}, parts...)
	}
	if rest := len(l.size) - first - most; rest > 0 {
		parts = append(parts, fmt.Sprintf("%d more", rest))
	}
	return "waves  " + strings.Join(parts, " · ")
}

// draw writes everything, in one go. The caller holds mu.
func (l *live) draw() {
	if l.closed {
		return
	}
	l.drawn = time.Now()
	p := l.view.paint
	wide, _ := term.Size(l.view.Out)
	lines := []string{
		p.Paint(term.Faint, strings.Repeat("─", max(min(wide-1, 40), 1))),
		p.Paint(term.Bold, fmt.Sprintf("%s · %s", seconds(time.Since(l.view.begun)), l.seen.head)),
	}
	if l.seen.waves != "" {
		lines = append(lines, p.Paint(term.Faint, l.seen.waves))
	}
	lines = append(lines, lists.Map(l.seen.parked, func(which string) string { return p.Paint(term.Warn, "… "+which) })...)
	lines = append(lines, lists.Map(l.seen.people, func(who string) string { return p.Paint(term.Warn, "? "+who) })...)
	if l.seen.trying && l.gate != "" {
		lines = append(lines, p.Paint(term.Info, "▸")+fmt.Sprintf(" %s  gate %s on the base  %s", executor.Preflight, reveal.Words(l.gate), seconds(time.Since(l.since)))+p.Paint(term.Faint, "  "+l.signs[""].line))
	}
	keys := 0
	for _, n := range l.seen.running {
		keys = max(keys, min(columns.Of(n.key), 24))
	}
	_, rows := term.Size(l.view.Out)
	room := max(rows-len(lines)-2, 1)
	for i, n := range l.seen.running {
		if i == room && len(l.seen.running) > room {
			lines = append(lines, fmt.Sprintf("  and %d more", len(l.seen.running)-room))
			break
		}
		line := fmt.Sprintf("%s %s  %s  %s", p.Paint(term.Info, "▸"), words.PadTo(n.key, keys), n.doing, seconds(time.Since(n.since)))
		if s, ok := l.signs[n.id]; ok && s.at.After(n.since) {
			line += p.Paint(term.Faint, "  "+seconds(time.Since(s.at))+" ago: "+s.line)
		}
		lines = append(lines, line)
	}
	text := l.lines.String()
	l.lines.Reset()
	l.block.Draw([]byte(text), lines)
}

// seconds is words.Brief, in whole seconds.
func seconds(d time.Duration) string { return words.Brief(max(d, time.Second).Truncate(time.Second)) }

// finish draws pending changes and removes the block.
func (l *live) finish() {
	l.mu.Lock()
	if !l.closed {
		l.draw()
		l.block.Clear()
		l.closed = true
		close(l.stop)
	}
	l.mu.Unlock()
	l.work.Wait()
}

// Activity takes signs of life; safe to call from any goroutine.
func (v *Run) Activity(e executor.Effect, a executor.Activity) {
	if v.live != nil {
		v.live.activity(e, a)
	}
}
