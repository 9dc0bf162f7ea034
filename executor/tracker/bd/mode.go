package bd

import (
	"context"
	"strings"

	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// modeDimension is the dimension of bd's set-state that says the mode of an epic.
const modeDimension = "mode"

// Mode is the mode that an epic's bead has, "" if it has none.
func (i Issue) Mode() (mode string) {
	for _, l := range i.Labels {
		if word, ok := strings.CutPrefix(l, modeDimension+":"); ok {
			mode = word
		}
	}
	return mode
}

// Planned records in an epic's bead that its plan was pushed: it is in a mode before
// building, planning unless already approved. An epic with an active run keeps its mode:
// the run sets it. Planned is called after a push that wrote the plan.
func Planned(ctx context.Context, c *Client, e *ir.Epic, mode, why string) error {
	return moveMode(ctx, c, e, mode, why, func(now string) bool { return now != machine.ModeBuilding })
}

// Approved records in an epic's bead that its plan was approved: it is ready for
// building. An epic that was not pushed has no bead, and nothing is recorded.
func Approved(ctx context.Context, c *Client, e *ir.Epic, why string) error {
	return moveMode(ctx, c, e, machine.ModeReady, why, func(now string) bool { return now != machine.ModeBuilding && now != "" })
}

// moveMode takes an epic's bead to a mode, over those that lie in between.
func moveMode(ctx context.Context, c *Client, e *ir.Epic, to, why string, from func(string) bool) error {
	id := string(e.Epic.ID)
	if !Mirrors(e, MirrorMode) {
		return nil
	}
	there, err := c.ByID(ctx, id)
	if err != nil {
		return err
	}
	bead, ok := there[id]
	if !ok || !from(bead.Mode()) {
		return nil
	}
	for _, next := range machine.ModePath(bead.Mode(), to) {
		if err := c.SetState(ctx, id, modeDimension, next, modeReason(e, next, to, why)); err != nil {
			return err
		}
	}
	return nil
}

// modeReason is why an epic is taken to a mode on the way to another one, or to that one
// itself, which has a reason of its own.
func modeReason(e *ir.Epic, next, to, why string) string {
	switch {
	case next == to:
		return why
	case next == machine.ModePlanning:
		return "compiled from " + e.Epic.Plan
	case next == machine.ModeReady:
		return "the plan is approved: digest " + e.Digest
	}
	return "on the way to " + to
}
