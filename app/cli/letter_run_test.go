//go:build unix

package cli

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/ir"
)

// TestALetterOfOneRunDecidesNothingInTheNext: letters are written while a run is at
// work, it ends before it reads them, and the next one finds them.
func TestALetterOfOneRunDecidesNothingInTheNext(t *testing.T) { // K26, execution §5
	t.Parallel()
	s := newSite(t, siteWork, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Gates["ana"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ana"}, OnTimeout: "fail", OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = []string{"ana"}
	}))
	a := s.start("apply", "--wait")
	s.until("the gate", func() bool { return s.has("node.waiting", 1) })
	late := map[string]executor.Decision{}
	for id, d := range map[string]executor.Decision{
		" cancel":    {Verb: executor.Cancel},
		" pause":     {Verb: executor.Pause},
		" resume":    {Verb: executor.Resume, Budget: ir.Budget{Tokens: 5}},
		"1.1 skip":   {Verb: executor.Skip},
		"1.2 skip":   {Verb: executor.Skip},
		"1.1 cancel": {Verb: executor.Cancel},
		"1.2 cancel": {Verb: executor.Cancel},
		"1.2 pause":  {Verb: executor.Pause},
		"1.2 resume": {Verb: executor.Resume, Budget: ir.Budget{Tokens: 5}},
	} {
		d.ID, d.By, d.User, d.At = id, "ana", "ana", time.Now().UTC()
		late[id] = s.bound(d)
	}
	a.signal(syscall.SIGINT)
	a.wait()
	for id, d := range late {
		s.send(id, d)
	}
	out := s.apply(exit.Waiting)
	for id := range late {
		refused, err := journal.Await(t.Context(), s.state(), s.epic.Epic.ID, id)
		if err != nil || !strings.Contains(refused, "run") || !strings.Contains(refused, "began") {
			t.Errorf("%s: the sender is told %q (%v), want the run that it was about", id, refused, err)
		}
	}
	for _, e := range s.events() {
		if b, ok := e.Body.(executor.Decided); ok {
			t.Errorf("%s is on record", b.Decision.ID)
		}
	}
	// Whoever sent them may be gone: the run says that it did not take them.
	for _, want := range []string{"ignored: cancel by ana", "ignored: skip 1.1 by ana"} {
		if !strings.Contains(out.all(), want) {
			t.Errorf("apply does not say %q:\n%s", want, out.all())
		}
	}
	s.sound()
}

// TestTheSameApprovalCountsAfterACrash: it is bound to the result, not to the run.
func TestTheSameApprovalCountsAfterACrash(t *testing.T) { // execution §5 "Approval of a node binds to"
	t.Parallel()
	s := newSite(t, siteWork, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Gates["ana"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ana"}, OnTimeout: "fail", OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = []string{"ana"}
	}))
	a := s.start("apply", "--wait")
	s.until("the gate", func() bool { return s.has("node.waiting", 1) })
	d := s.bound(executor.Decision{ID: "1.1 approve", Verb: executor.Approve, By: "ana", User: "ana", At: time.Now().UTC()})
	a.signal(syscall.SIGKILL)
	a.wait()
	s.send(d.ID, d)
	s.apply(exit.Done)
	s.sound()
}

// TestSayingItTwiceFrightensNobody: what is asked for is so already.
func TestSayingItTwiceFrightensNobody(t *testing.T) { // execution §5 cancel, pause, resume, skip
	t.Parallel()
	s := newSite(t, siteWork+"\n"+`[ "$RALPH_NODE" != 1.1 ] || while [ ! -e "$TOP/go" ]; do sleep 0.1; done`, executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3: 1.1", "1.4"}, func(e *ir.Epic) { e.Run.Concurrency.Nodes = 4 }))
	twice := func(want string, args ...string) {
		t.Helper()
		for i, want := range []string{args[0], want} {
			if out := s.ralph(args...); out.code != exit.Done || !strings.Contains(out.out, want) {
				t.Errorf("%s, time %d: exit %d, want %q\n%s", strings.Join(args, " "), i+1, out.code, want, out.all())
			}
		}
	}
	a := s.start("apply", "--grace", "0s")
	s.until("the agent", func() bool { return s.noted("agents", "1.1.implement-1") > 0 && s.has("node.done", 1) })
	twice("paused by", "pause", "1.2")
	s.ralph("resume", "1.2")
	twice("skipped already", "skip", "1.2")
	twice("cancelled already", "cancel", "1.3")
	twice("held already", "pause")
	s.ralph("resume")
	twice("cancelled by", "cancel")
	a.wait()
	if out := s.ralph("cancel"); out.code != exit.Done || !strings.Contains(out.out, "cancelled by") {
		t.Errorf("cancel after the run has ended: exit %d\n%s", out.code, out.all())
	}
	s.write("../go", "")
	s.apply(exit.NotDone) // 1.3 is cancelled, 1.1 is not
}

// has reports whether the journal has n events of a kind.
func (s *site) has(kind string, n int) bool {
	for _, e := range s.events() {
		if e.Kind() == kind {
			n--
		}
	}
	return n <= 0
}

// bound is a decision as the command binds it now, about the node that its id begins with.
func (s *site) bound(d executor.Decision) executor.Decision {
	s.t.Helper()
	table, err := run.OpenDesk(s.t.Context(), s.file("epic.json"), nil, s.node(d.ID) == "")
	if err != nil {
		s.t.Fatal(err)
	}
	if d, err = table.Bind(s.t.Context(), s.node(d.ID), d); err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *site) node(id string) ir.NodeID {
	key, _, _ := strings.Cut(id, " ")
	for _, n := range s.epic.Nodes {
		if string(n.Key) == key {
			return n.ID
		}
	}
	return ""
}

// send puts a letter into the inbox.
func (s *site) send(id string, d executor.Decision) {
	s.t.Helper()
	if err := journal.Send(s.t.Context(), s.state(), s.epic.Epic.ID, executor.Letter{Node: s.node(id), Decision: d}); err != nil {
		s.t.Fatal(err)
	}
}

// TestTheCommandsBindTheirLetters: a run that is stopped reads nothing; it is killed, and
// what was said to it is found by the next.
// What was said about the run is not for it, what was said about a sprint is.
func TestTheCommandsBindTheirLetters(t *testing.T) { // execution §5
	t.Parallel()
	s := newSite(t, siteWork, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Gates["ana"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ana"}, OnTimeout: "fail", OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = []string{"ana"}
	}))
	a := s.start("apply", "--wait")
	s.until("the gate", func() bool { return s.has("node.waiting", 1) })
	a.signal(syscall.SIGSTOP)
	var senders []*starting
	for _, args := range [][]string{{"cancel"}, {"pause"}, {"skip", "1.2"}, {"approve", "1.1", "--as", "ana"}} {
		senders = append(senders, s.start(args...))
	}
	var letters []executor.Letter
	s.until("four letters", func() bool {
		log, err := journal.Open(s.state(), s.epic.Epic.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		letters, err = log.Pending(t.Context())
		return err == nil && len(letters) == len(senders)
	})
	for _, l := range letters {
		if d := l.Decision; d.Seen.State == "" || (d.Seen.Run != 0) != d.Verb.OfRun() || (l.Node != "") != (d.Seen.Text != "") {
			t.Errorf("%s %s is bound to %+v", d.Verb, l.Node, d.Seen)
		}
	}
	for _, c := range append(senders, a) {
		c.signal(syscall.SIGKILL)
		c.wait()
	}
	out := s.apply(exit.Done)
	for _, want := range []string{"ignored: cancel by", "ignored: pause by"} {
		if !strings.Contains(out.err, want) {
			t.Errorf("apply does not say %q:\n%s", want, out.err)
		}
	}
	if s.noted("agents", "1.2.implement-1") != 0 {
		t.Error("1.2 was skipped, the run was killed and went on, and 1.2 ran")
	}
	s.sound()
}
