package local

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
)

// job is an effect for a worker.
type job struct {
	ctx context.Context
	e   *executor.Effect
	do  work
}

// start begins an effect, whose record is durable. A worker that has nothing to do
// takes it, else a new one: the stack of one that has worked is large enough already.
func (d *driver) start(e *executor.Effect) error {
	do, err := d.effect(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(d.ctx)
	d.flying[e.Seq] = cancel
	j := job{ctx, e, do}
	select {
	case d.jobs <- j:
	default:
		d.work.Go(func() { d.worker(j) })
	}
	return nil
}

// worker does one job after another until the run is over.
func (d *driver) worker(j job) {
	for {
		d.reports <- d.perform(j)
		j = job{} // what is done is kept by nobody
		select {
		case j = <-d.jobs:
		case <-d.ctx.Done():
			return
		}
	}
}

// perform does one effect.
func (d *driver) perform(j job) report {
	body, seen, err := d.watch(j.ctx, *j.e, j.do)
	if err != nil {
		body = failed(j.ctx, *j.e, err)
	}
	body = executor.Redacted(body, d.Redact)
	return report{j.e.Seq, j.e.Says(body), seen}
}
