package run

import (
	"slices"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
)

// checkCaller refuses decisions by a caller that an agent or a gate started: it would
// approve its own work. While a run is at work on this machine, it also refuses callers
// that hide their ancestors. It is a guard rail, not a security boundary: a program that
// is started through another program of the user (a tmux server, cron) is not detected.
func checkCaller(holder journal.Owner, held bool) error {
	if held && holder.PID > 0 && slices.Contains(process.Ancestors(), holder.PID) {
		return errInside()
	}
	if err := RefuseMarked(); err != nil {
		return err
	}
	if !held {
		return nil // no agent is at work
	}
	why := process.Blind("") // else /proc may say anything
	if why == "" {
		why = process.Blind(holder.Space)
	}
	if why == "" && holder.Boot != "" && holder.Boot != journal.BootID() {
		why = "it runs on another machine, or the boot id of this one is wrong"
	}
	if why != "" {
		return exit.Inputf("this is for people, and ralph cannot tell whether an agent of the run calls it: %s.\n  If you are a person, run it where ralph apply runs (process %d on %s), or end the run first (Ctrl-C there), then run it", why, holder.PID, holder.Host)
	}
	return nil
}

// RefuseMarked refuses a caller that descends from an agent or a gate of any run.
func RefuseMarked() error {
	if process.MarkedAncestor(runner.Mark, gate.Mark) != 0 {
		return errInside()
	}
	return nil
}

// RefuseSender refuses a process that an agent or a gate of any run has started, or that
// descends from the holder of an epic's lock. It is a guard rail, as checkCaller is.
func RefuseSender(pid int, holder journal.Owner, held bool) error {
	if process.MarkedAncestorOf(pid, runner.Mark, gate.Mark) != 0 || held && holder.PID > 0 && slices.Contains(process.AncestorsOf(pid), holder.PID) {
		return exit.Inputf("this was sent by a program that a run has started: decisions are for people")
	}
	return nil
}

func errInside() error {
	return exit.Inputf("this is for people: it was called from inside an agent or a gate of a run.\n  If you are a person, run it from your own terminal")
}
