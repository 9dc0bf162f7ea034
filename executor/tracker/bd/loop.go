package bd

import (
	"context"
	"errors"
	"time"
)

// loop writes one thing after the other until there is nothing left and Close was
// called.
func (m *Mirror) loop(ctx context.Context) {
	m.all()
	m.dirty("")
	ending := m.ending
	for ctx.Err() == nil {
		closing := ending == nil
		if closing && (m.failed > 1 || m.dead) {
			return // it does not answer, and no one waits for it any longer
		}
		wake, idle := m.step(ctx, closing)
		switch {
		case !idle:
			continue
		case closing && !m.Now().Before(m.retry):
			return
		case closing && m.c == nil:
			return // there is none
		}
		t := time.NewTimer(wake.Sub(m.Now()))
		select {
		case <-m.nudge:
		case <-t.C:
		case <-ending:
			ending = nil
			m.all() // what was collected is sent
			m.dirty("")
		case <-ctx.Done():
		}
		t.Stop()
	}
}

// step makes one call, if one is due; else it says when the next one is.
func (m *Mirror) step(ctx context.Context, closing bool) (wake time.Time, idle bool) {
	m.take()
	now := m.Now()
	if !m.flush.IsZero() && !now.Before(m.flush) {
		m.dirty("")
	}
	switch {
	case m.dead:
		return now.Add(longest), true
	case now.Before(m.retry):
		return m.retry, true
	case m.c == nil, !m.pushed:
		m.settle(m.prepare(ctx))
	case !m.listed, !closing && !now.Before(m.look):
		m.settle(m.poll(ctx))
	case len(m.queue) > 0:
		b := m.beads[m.queue[0]]
		m.queue, b.queued = m.queue[1:], false
		more, err := m.turn(ctx, b, closing)
		switch {
		case m.mistaken(b, err):
			err = nil
		case errors.Is(err, errChanged):
			m.dirty(b.id)
			err = nil
		case more || err != nil:
			m.dirty(b.id)
		}
		m.settle(err)
	case m.found:
		m.settle(m.propose(ctx))
	case !m.flush.IsZero() && m.flush.Before(m.look):
		return m.flush, true
	default:
		return m.look, true
	}
	return wake, false
}

// connect opens bd.
func (m *Mirror) connect(ctx context.Context) error {
	if m.c != nil {
		return nil
	}
	c, err := ask(ctx, m, m.Open)
	if _, ok := errors.AsType[*Missing](err); ok {
		m.report("this run is not mirrored into bd: %v", err)
	}
	m.c = c
	return err
}

// prepare opens bd, and writes the epic, if it is not there.
func (m *Mirror) prepare(ctx context.Context) error {
	if err := m.connect(ctx); err != nil || m.pushed {
		return err
	}
	push := m.Push()
	err := m.do(ctx, func(ctx context.Context) error { return push(ctx, m.c) })
	if _, ok := errors.AsType[*Occupied](err); ok {
		m.dead = true
		m.report("this run is not mirrored into bd: %v", err)
		return nil
	}
	m.pushed, m.listed = err == nil, false
	return err
}

// do makes a call of bd and applies what happens meanwhile.
func (m *Mirror) do(ctx context.Context, call func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- call(ctx) }()
	for {
		select {
		case err := <-done:
			if err == nil {
				m.heard.Add(1)
			}
			return err
		case <-m.nudge:
			m.take()
		}
	}
}

// ask is do of a call that has an answer.
func ask[T any](ctx context.Context, m *Mirror, call func(context.Context) (T, error)) (answer T, err error) {
	err = m.do(ctx, func(ctx context.Context) (err error) { answer, err = call(ctx); return err })
	return answer, err
}

// settle takes note of how a call ended: a bd that does not do what it is asked is
// left alone for a while, longer each time, and that is said once.
func (m *Mirror) settle(err error) {
	var foreign *Foreign
	if err == nil || errors.As(err, &foreign) || Guarded(err) {
		if m.failed > 0 && m.told.Away != "" {
			m.report("bd is available again; sending what it missed")
		}
		m.failed, m.retry = 0, time.Time{}
		m.note(m.told.away(""))
		return
	}
	m.failed++
	m.retry = m.Now().Add(min(backoff<<min(m.failed-1, 10), longest))
	var missing *Missing
	if m.failed > 1 && m.told.Away == "" && !errors.As(err, &missing) {
		m.report("bd refuses updates; ralph continues and sends them later: %v", err)
		m.note(m.told.away(err.Error()))
	}
}

// mistaken reports whether bd takes the id of a bead for another's.
func (m *Mirror) mistaken(b *bead, err error) bool {
	var foreign *Foreign
	if !errors.As(err, &foreign) {
		return false
	}
	b.foreign = true
	m.report("%v. Nothing more is written to %s in this run", err, b.name(m.epic))
	return true
}
