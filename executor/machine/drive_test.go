package machine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// hand is a driver that does one effect at a time, well.
type hand struct {
	*stage
	t     *testing.T
	full  error // of the journal
	kept  int64 // the last event on stable storage
	flies []executor.Effect
	ended bool
	heard []bool
}

func (h *hand) Now() time.Time { return h.now }
func (h *hand) Stays() bool    { return false }

func (h *hand) Put(e executor.Event) error {
	h.put(e)
	return nil
}

func (h *hand) Hear(last bool) (bool, error) {
	h.heard = append(h.heard, last)
	return false, nil
}

func (h *hand) Keep(_ machine.Todo, done bool) error {
	h.ended, h.kept = done, h.run.Seq()
	return h.full
}

func (h *hand) Do(todo machine.Todo) error {
	for _, e := range todo.Start {
		if e.Seq == 0 || e.Seq > h.kept {
			h.t.Errorf("%s begins as event %d, and %d are kept", e.Key("x"), e.Seq, h.kept)
		}
		for _, f := range h.flies {
			if f.Key("x") == e.Key("x") {
				h.t.Errorf("%s starts twice", e.Key("x"))
			}
		}
		h.flies = append(h.flies, e)
	}
	return nil
}

func (h *hand) Wait(time.Time) (*machine.Run, error) {
	if len(h.flies) == 0 {
		return nil, nil
	}
	e := h.flies[0]
	h.flies = h.flies[1:]
	h.put(e.Says(wellDone(e)))
	return h.run, nil
}

func wellDone(e executor.Effect) executor.Body {
	made := executor.Tree{Commit: "c" + string(e.Node), Tree: "t" + string(e.Node)}
	switch e.Kind {
	case executor.EffectBase:
		return executor.BaseMade{Base: made}
	case executor.EffectPrepare:
		return executor.Prepared{}
	case executor.EffectAgent:
		return executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "success"}}
	case executor.EffectCollect:
		return executor.Collected{Result: made}
	case executor.EffectGate:
		return executor.GateJudged{Gate: e.Gate, Verdict: executor.Pass, Tests: "skip"}
	}
	return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: e.Commit}}
}

func TestADriverKeepsBeforeItDoes(t *testing.T) { // what is recorded comes before what is done
	s := newStage(t, []string{"1.1", "1.2"}, func(*ir.Epic) {})
	s.begin()
	h := &hand{stage: s, t: t}
	if err := machine.Drive(s.run, h); err != nil || !h.ended {
		t.Errorf("%v, ended %v", err, h.ended)
	}
	if got := s.run.Summary().Counts(); got["done"] != 2 {
		t.Errorf("%v", got)
	}
	if last := len(h.heard) - 1; !h.heard[last] || h.heard[0] {
		t.Errorf("people are heard %v", h.heard)
	}
}

func TestWhatIsNotKeptIsNotDone(t *testing.T) {
	s := newStage(t, []string{"1.1", "1.2"}, func(*ir.Epic) {})
	s.begin()
	h := &hand{stage: s, t: t, full: errors.New("the disk is full")}
	if err := machine.Drive(s.run, h); !errors.Is(err, h.full) || len(h.flies) > 0 {
		t.Errorf("%v, %d effects began", err, len(h.flies))
	}
}
