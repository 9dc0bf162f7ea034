package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// CheckNotify refuses unknown event names: the epic may come from another version of ralph.
func CheckNotify(epic *ir.Epic) error {
	for _, n := range epic.Run.Notify {
		for _, on := range n.On {
			if !slices.Contains(policies.NotifyEvents, on) {
				return exit.Inputf("notify: there is no event %q%s; there are: %s", on, spell.Hint(on, policies.NotifyEvents), strings.Join(policies.NotifyEvents, ", "))
			}
		}
	}
	return nil
}

// notifier runs the commands of notify {}, one after another, concurrently with the run.
// It neither delays the run nor fails it.
type notifier struct {
	epic  *ir.Epic
	top   string
	files string // where output goes
	time  time.Duration
	hide  func(io.Writer) io.WriteCloser // takes secrets out of that output
	tell  func(text string)

	queue chan notice
	work  sync.WaitGroup
	told  map[string]bool // failures that were shown; owned by the worker
	lost  int             // notices that found the queue full; owned by the run
}

// notice is one command to run.
type notice struct {
	run     []string
	set     map[string]string
	secrets map[string]string // variables, by name
}

func newNotifier(epic *ir.Epic, top, files string, hide func(io.Writer) io.WriteCloser, tell func(text string)) *notifier {
	n := &notifier{epic: epic, top: top, files: files, time: 30 * time.Second, hide: hide, tell: tell, queue: make(chan notice, 256), told: map[string]bool{}}
	if len(epic.Run.Notify) > 0 {
		n.work.Go(n.loop)
	}
	return n
}

func (n *notifier) loop() {
	for x := range n.queue {
		err := n.call(x)
		if err == nil {
			continue
		}
		if key := strings.Join(x.run, " "); !n.told[key] {
			n.told[key] = true
			n.tell(fmt.Sprintf("notify %s: %v (reported once; the run continues)", x.run[0], err))
		}
	}
}

func (n *notifier) call(x notice) error {
	out := n.files + "/notify.log"
	if err := process.Secrets(x.set, x.secrets); err != nil {
		return err
	}
	res, err := process.Run(context.Background(), process.Spec{
		Argv: x.run, Dir: n.top, Env: process.Environ(x.set, process.Desktop()...), Stdout: out, Stderr: out, Time: n.time, Filter: n.hide,
	})
	switch {
	case err != nil:
		return err
	case res.How == process.TimedOut:
		return fmt.Errorf("it did not end within %s and was stopped", n.time)
	case res.How != process.Exited || res.Code != 0:
		return fmt.Errorf("exit code %d; its output is in %s", res.Code, out)
	}
	return nil
}

// events queues notifications of events that have become durable.
func (n *notifier) events(list []executor.Event, key func(ir.NodeID) string) {
	if len(n.epic.Run.Notify) == 0 {
		return
	}
	for _, e := range list {
		set := map[string]string{"RALPH_NODE": key(e.Node), "RALPH_ID": string(e.Node)}
		switch b := e.Body.(type) {
		case executor.NodeWaiting:
			if b.For == executor.ForHuman || b.For == executor.ForBudget && b.Until.IsZero() {
				set["RALPH_CAUSE"], set["RALPH_MESSAGE"] = cmp.Or(string(b.Cause), string(b.For)), b.Detail
				n.about(policies.OnWaiting, set)
			}
		case executor.NodeBlocked:
			set["RALPH_MESSAGE"] = b.Reason
			n.about(policies.OnBlocked, set)
		case executor.NodeDone:
			set["RALPH_MESSAGE"] = "done: " + b.Result.Commit
			n.about(policies.OnDone, set)
		case executor.BaselineJudged:
			if b.Red() {
				set["RALPH_MESSAGE"] = words.Base(b, words.LogOf(n.files, b.Log)) + ". To end that: " + words.MendBase("")
				n.about(policies.OnRed, set)
			}
		case executor.RunHeld:
			set["RALPH_CAUSE"], set["RALPH_MESSAGE"] = string(b.For), b.Detail
			n.about(policies.OnHeld, set)
		case executor.TamperSeen:
			if b.Grade == machine.Tampered {
				set["RALPH_CAUSE"], set["RALPH_MESSAGE"] = b.ID, b.Drift.String()
				n.about(policies.OnTamper, set)
			}
		}
	}
}

// about queues the commands for one event.
func (n *notifier) about(event string, set map[string]string) {
	set = maps.Clone(set)
	set["RALPH_EVENT"], set["RALPH_EPIC"] = event, string(n.epic.Epic.ID)
	set["RALPH_TITLE"], set["RALPH_PLAN"] = n.epic.Epic.Title, n.epic.Epic.Plan
	set["RALPH_URL"] = record.PageLink(n.files, n.epic.Epic.ID, set["RALPH_NODE"])
	for _, x := range n.epic.Run.Notify {
		if !slices.Contains(x.On, event) || len(x.Run) == 0 {
			continue
		}
		select {
		case n.queue <- notice{x.Run, lists.Merged(x.Env, set), n.epic.SecretVars(x.Secrets)}:
		default: // its program is far slower than the run
			n.lost++
		}
	}
}

// end queues the end of the run and waits, for a bounded time, until the queue is empty.
func (n *notifier) end(code int, summary string) error {
	if len(n.epic.Run.Notify) == 0 {
		return nil
	}
	n.about(policies.OnEnded, map[string]string{"RALPH_EXIT": strconv.Itoa(code), "RALPH_MESSAGE": summary})
	close(n.queue)
	done := make(chan struct{})
	go func() { n.work.Wait(); close(done) }()
	t := time.NewTimer(2 * n.time)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		return errors.New("notify: its program is still running; not waiting longer")
	}
	if n.lost > 0 {
		return fmt.Errorf("notify: %s left out; its program is slower than the run", text.Count(n.lost, "notice"))
	}
	return nil
}
