package local

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
)

// job is an effect for a worker.
type job struct {
	ctx context.Context
	q   *executor.Request
}

// start begins an effect, whose record is durable. A worker that has nothing to do
// takes it, else a new one: the stack of one that has worked is large enough already.
func (d *driver) start(e *executor.Effect) {
	ctx, cancel := context.WithCancel(d.ctx)
	d.flying[e.Seq] = cancel
	j := job{ctx, d.Run.Request(*e)}
	select {
	case d.jobs <- j:
	default:
		d.work.Go(func() { d.worker(j) })
	}
}

// worker does one job after another until the run is over.
func (d *driver) worker(j job) {
	for {
		d.reports <- d.perform(j)
		j = job{} // finished jobs are not kept
		select {
		case j = <-d.jobs:
		case <-d.ctx.Done():
			return
		}
	}
}

// perform does one effect.
func (d *driver) perform(j job) report {
	e := &j.q.Effect
	body, seen, err := d.watch(j.ctx, e, func(ctx context.Context) (executor.Body, error) { return d.effects.Do(ctx, j.q) })
	if err != nil {
		return report{began: e.Seq, seen: seen, err: err}
	}
	return report{began: e.Seq, event: e.Says(body), seen: seen}
}

// ask is a worker's question for the lists that its request refers to.
type ask struct {
	ref    executor.ListRef
	answer chan<- executor.Lists
}

// lists asks the goroutine that owns the run.
func (d *driver) lists(ctx context.Context, ref executor.ListRef) (executor.Lists, error) {
	answer := make(chan executor.Lists, 1)
	select {
	case d.asks <- ask{ref, answer}:
		return <-answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
