package machine

import (
	"encoding/json"
	"maps"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// MaxKept bounds, in bytes of JSON, the state of one node kept outside the journal:
// recovery turns it into one event.
const MaxKept = 3500

// mostKept is how many attempts are kept, if they fit.
const mostKept = 20

func (m meter) kept() executor.KeptSpent {
	return executor.KeptSpent{Tokens: m.tokens, USDMicro: m.usd, Millis: m.ms, NoTokens: m.noTokens, NoUSD: m.noUSD}
}

func meterOf(s executor.KeptSpent) meter {
	return meter{max(s.Tokens, 0), max(s.USDMicro, 0), max(s.Millis, 0), max(s.NoTokens, 0), max(s.NoUSD, 0)}
}

func (m *meter) join(o meter) {
	m.tokens, m.usd, m.ms = sumCap(m.tokens, o.tokens), sumCap(m.usd, o.usd), sumCap(m.ms, o.ms)
	m.noTokens, m.noUSD = m.noTokens+o.noTokens, m.noUSD+o.noUSD
}

// KeptRun is the kept state of the run as a whole. It is kept with the epic.
type KeptRun struct {
	Digest string               `json:"digest"` // of the epic.json that the last run was about
	Base   executor.Tree        `json:"base"`   // the pinned one
	Bases  []executor.NamedTree `json:"bases,omitempty"`
	Head   string               `json:"head,omitempty"`   // where ralph last put the integration branch
	Others []string             `json:"others,omitempty"` // heads of accepted commits of others in it
	Sum    *executor.Kept       `json:"sum,omitempty"`    // of the node "integration"
	Seq    int64                `json:"seq"`              // last event of the journal
	Spent  executor.KeptSpent   `json:"spent,omitzero"`   // of the last run
	Added  ir.Budget            `json:"added,omitzero"`   // to the run's budget, by people
}

// Kept returns the state of a node that is needed to continue elsewhere; false if
// nothing has happened to it.
func (o Node) Kept() (executor.Kept, bool) {
	n := o.r.byID[o.id]
	if n == nil || n.ir == nil {
		return executor.Kept{}, false
	}
	status := n.shown()
	k := executor.Kept{Status: status.String(), Pull: n.pull, Spent: n.cost.all.kept(), Added: n.people.budget}
	if len(n.numbers) > 0 {
		k.Numbers = maps.Clone(n.numbers)
	}
	p := &n.people
	switch status {
	case executor.Blocked:
		k.Reason, k.BlockedBy = text.Head(n.reason, 300), n.blockedBy
	case executor.Waiting:
		k.Reason = text.Head(n.wait.Detail, 300)
	case executor.Skipped:
		d, _ := p.last(executor.Skip)
		k.By, k.Reason = d.By, text.Head(d.Message, 300)
	case executor.Cancelled:
		d, _ := p.last(executor.Cancel)
		k.By, k.Reason = p.cancelled, text.Head(d.Message, 300)
	}
	if p.paused != "" {
		k.By, k.Paused = p.paused, true
	}
	k.Success = n.keptSuccess()
	if n.sum {
		o.r.sum.keep(&k)
	} else if status != executor.Done && status != executor.Skipped {
		k.Life = o.r.keptLife(n)
	}
	for i := max(len(n.logs)-mostKept, 0); i < len(n.logs); i++ {
		a := &n.logs[i]
		k.Attempts = append(k.Attempts, executor.KeptAttempt{
			Step: a.Step, Number: a.Number, Status: a.Status, Reason: text.Head(a.Reason, 120), Commit: a.Commit, Tree: a.Collected.Result.Tree,
			Agent: a.Agent, At: a.Started,
		})
	}
	if status == executor.Pending && k.Success == nil && k.Life == nil && len(k.Attempts) == 0 && len(k.Numbers) == 0 && !k.Paused {
		return executor.Kept{}, false
	}
	fit(&k, MaxKept)
	return k, true
}

// Kept returns the kept state of the run; false before the first one.
func (x Summary) Kept() (KeptRun, bool) {
	if x.r.runs.started.Base.Commit == "" {
		return KeptRun{}, false
	}
	k := KeptRun{
		Digest: x.r.runs.started.Digest, Base: x.r.runs.started.Base, Bases: copied(x.r.runs.started.Bases), Head: x.r.sum.ref, Seq: x.r.seq,
		Spent: x.r.budget.cost.now.kept(), Added: x.r.budget.added,
	}
	if !x.r.joins() {
		k.Head = x.r.landing.head.Commit
	} else if !x.r.sum.others() {
		k.Others = x.r.sum.acceptedOthers()
	}
	if x.r.sum.node != nil {
		if s, ok := x.r.Node(executor.Integration).Kept(); ok {
			k.Sum = &s
		}
	}
	return k, true
}

// keptSuccess is what makes the node done, else its newest success.
func (n *node) keptSuccess() *executor.KeptSuccess {
	s := n.accepted
	if s == nil && len(n.successes) > 0 {
		s = &n.successes[len(n.successes)-1]
	}
	if s == nil {
		return nil
	}
	return &executor.KeptSuccess{
		Work: s.work, Judge: s.judge, Print: s.print, Base: s.base, Inputs: copied(s.inputs), Result: s.result, Steps: copied(s.steps),
		At: s.at.UTC(), Merged: s.merged, Aside: s.seq <= n.after,
	}
}

// copied is a copy of a list, nil if it is empty.
func copied[T any](list []T) []T { return append([]T(nil), list...) }

// keptLife is how far the present life came. What a made-up step did, and gates
// that were judging a success once more, begin again.
func (r *rules) keptLife(n *node) *executor.KeptLife {
	l := &n.life
	if l.stale || l.work == "" || n.status != executor.Blocked && (len(n.logs) <= l.first || len(l.starts) == 0) { // a budget blocks what had no attempt, too
		return nil
	}
	k := &executor.KeptLife{Work: l.work, Judge: l.judge, Print: l.print, Sign: l.sign, Streak: l.streak, Logs: min(len(n.logs)-l.first, mostKept), Spent: n.cost.now.kept()}
	for i, used := range l.used {
		if used > 0 {
			if k.Used == nil {
				k.Used = map[string]int{}
			}
			k.Used[n.ir.Steps[i].Name] = used
		}
	}
	if l.step < 0 || l.step >= len(n.ir.Steps) || l.onlyJudges() {
		return k
	}
	k.Step, k.Tip = n.ir.Steps[l.step].Name, l.tip
	for i := range l.step {
		k.Steps = append(k.Steps, executor.StepDone{Step: n.ir.Steps[i].Name, Judge: r.judgeOf(n, i), Result: l.stepsAt[i]})
	}
	return k
}

// keep says of the sum what it holds, whatever the last one began with.
func (sm *sum) keep(k *executor.Kept) {
	if k.Success == nil {
		return
	}
	k.Success.Inputs = []executor.Result{{Node: "base", Tree: sm.base}}
	for _, n := range sm.nodes {
		if in, ok := sm.holds[n.id]; ok {
			k.Success.Inputs = append(k.Success.Inputs, in)
		}
	}
}

// fit leaves out what is least needed until the JSON has at most so many bytes.
func fit(k *executor.Kept, room int) {
	const lastAttempts = 3
	for _, shorten := range []func() bool{
		func() bool { return dropAttempts(k, lastAttempts) },
		func() bool {
			for i := range k.Attempts {
				k.Attempts[i].Reason = text.Head(k.Attempts[i].Reason, 60)
			}
			k.Reason = text.Head(k.Reason, 100)
			return false
		},
		func() bool { return dropAttempts(k, 1) },
		func() bool {
			if k.Success != nil && len(k.Success.Inputs) > 1 {
				k.Success.Inputs = nil
			}
			return false
		},
		func() bool {
			if k.Life != nil {
				k.Life.Step, k.Life.Steps, k.Life.Tip = "", nil, ""
			}
			return false
		},
		func() bool {
			if k.Success != nil {
				k.Success.Steps = nil
			}
			return false
		},
		func() bool { return dropAttempts(k, 0) },
		func() bool { k.Life = nil; return false },
	} {
		for more := true; more; {
			if b, err := json.Marshal(k); err != nil || len(b) <= room {
				return
			}
			more = shorten()
		}
	}
}

// dropAttempts leaves the oldest attempt out, if more than so many would be left.
func dropAttempts(k *executor.Kept, least int) bool {
	if len(k.Attempts) <= least {
		return false
	}
	k.Attempts = k.Attempts[1:]
	if k.Life != nil {
		k.Life.Logs = min(k.Life.Logs, len(k.Attempts))
	}
	return true
}
