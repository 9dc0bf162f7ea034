package local

import (
	"context"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Trying is the event that begins a preflight.
func Trying(checks []machine.BaseCheck) executor.PreflightStarted {
	return executor.Trying(checks[0].Setup, lists.Map(checks, func(c machine.BaseCheck) string { return c.Gate }))
}

// preflight tries gates on the bases, whose record is durable, beside the loop:
// nothing else starts meanwhile.
func (d *driver) preflight(checks []machine.BaseCheck) {
	ctx, cancel := context.WithCancel(d.ctx)
	d.trying = cancel
	tell := func(ctx context.Context, b executor.Body) error {
		return d.record(ctx, executor.Event{Body: executor.Redacted(b, d.Redact)})
	}
	d.work.Go(func() {
		end, seen, err := d.watch(ctx, &executor.Effect{Kind: executor.EffectGate, Step: executor.Preflight}, func(ctx context.Context) (executor.Body, error) {
			return executor.PreflightEnded{}, effects.Preflight(ctx, &d.Tools, machine.Untried(checks), tell)
		})
		if err != nil {
			end = executor.PreflightEnded{Detail: effects.Failed(ctx, "", err).Detail}
		}
		d.reports <- report{event: executor.Event{Body: executor.Redacted(end, d.Redact)}, seen: seen}
	})
}
