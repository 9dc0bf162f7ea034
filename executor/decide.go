package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// decide returns the decision that a running node needs, if it needs one.
func (r *Run) decide(n *node, now time.Time) (Event, bool) {
	l := &n.life
	if e, ok := r.onWord(n, now); ok {
		return e, true
	}
	if e, ok := r.restrained(n, now); ok {
		return e, true
	}
	if l.trouble != nil {
		return r.onTrouble(n, now), true
	}
	switch l.stage {
	case stageOpen:
		if r.draining {
			return Event{}, false
		}
		return r.open(n), true
	case stageAgent:
		return r.awaitPerson(n)
	case stageAsk:
		q := l.attempt.end.Outcome.Summary
		return n.event(NodeWaiting{For: ForHuman, Cause: CauseQuestion, Detail: q}), true
	case stageGate:
		if s := n.stepNow(); l.attempt.gate >= len(s.Gates) { // nothing to judge
			return r.verdict(n), true
		}
	case stageVerdict:
		return r.verdict(n), true
	case stageFailed:
		return r.afterFailure(n, now)
	case stageStopped:
		log := n.logs[len(n.logs)-1]
		return n.event(NodeBlocked{Reason: log.Reason}), true
	case stageFinish:
		return n.event(NodeDone{Work: l.work, Judge: l.judge, Result: l.attempt.collected.Result}), true
	}
	return Event{}, false
}

func (n *node) event(b Body) Event { return Event{Node: n.id, Body: b} }

func (n *node) attemptEvent(b Body) Event {
	a := &n.life.attempt
	return Event{Node: n.id, Step: a.step, Attempt: a.number, Body: b}
}

// open begins the next attempt of the present step.
func (r *Run) open(n *node) Event {
	l := &n.life
	s := n.stepNow()
	from := l.tip
	if s.OnFailure == "reset" && !l.rejudge {
		from = l.starts[l.step]
	}
	return Event{
		Node: n.id, Step: s.Name, Attempt: n.numbers[s.Name] + 1,
		Body: AttemptStarted{Start: l.starts[l.step], From: from, Rejudge: l.rejudge, Person: l.handedBy()},
	}
}

// verdict judges the open attempt from what is on record.
func (r *Run) verdict(n *node) Event {
	a := &n.life.attempt
	step := n.stepNow()
	end := AttemptEnded{Status: AttemptPassed}
	var sign []string
	switch {
	case a.end.End == EndTimeout:
		end.Status, end.Reason = AttemptTimeout, fmt.Sprintf("the agent used up its time of %s", time.Duration(step.Limits.TimeoutMS)*time.Millisecond)
		sign = append(sign, "timeout")
	case a.end.End == EndStalled:
		end.Status, end.Reason = AttemptStalled, "the agent gave no sign of life"
		sign = append(sign, "stalled")
	case a.end.Outcome.Invalid != "":
		end.Status, end.Reason = AttemptFailed, "no valid outcome: "+a.end.Outcome.Invalid
		sign = append(sign, end.Reason)
	case a.end.Outcome.Result == "failed" || a.end.Outcome.Result == "" && a.end.ExitCode != 0:
		end.Status, end.Reason = AttemptFailed, agentFailure(a.end)
		sign = append(sign, end.Reason)
		if l := lastLine(a.end.Tail); l != "" && a.end.Outcome.Result == "" {
			end.Reason += ": " + l // not part of the signature: it may say the time
		}
	case len(a.collected.Problems) > 0:
		end.Status, end.Reason = AttemptFailed, a.collected.Problems[0]
		sign = append(sign, a.collected.Problems...)
	}
	if end.Status == AttemptPassed {
		for _, g := range a.judged {
			switch {
			case g.Verdict == Stop:
				end.Status, end.Reason = AttemptStopped, "gate "+g.Gate+" said stop"+because(g.Message)
			case g.Verdict == Fail && end.Status == AttemptPassed:
				end.Status, end.Reason = AttemptFailed, "gate "+g.Gate+" failed"+because(g.Message)
			}
			if g.Verdict != Pass {
				sign = append(sign, g.Gate, g.Signature)
			}
		}
	}
	if end.Status != AttemptPassed {
		sum := sha256.Sum256([]byte(strings.Join(sign, "\n")))
		end.Signature = hex.EncodeToString(sum[:8])
		end.Next = n.ir.Steps[n.next(n.life.step)].Name
		end.Reason = clip(end.Reason, 300)
	}
	return n.attemptEvent(end)
}

func agentFailure(e AgentEnded) string {
	switch {
	case e.Outcome.Summary != "":
		return "the agent reported failure: " + firstLine(e.Outcome.Summary)
	case e.Outcome.Result == "failed":
		return "the agent reported failure"
	}
	return fmt.Sprintf("the agent ended with exit code %d", e.ExitCode)
}

func because(message string) string {
	if m := firstLine(message); m != "" {
		return ": " + m
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// clip cuts s to at most n bytes, at the start of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// afterFailure blocks the node when its attempts or the breaker are used up,
// else waits before the next attempt, or opens it at once.
func (r *Run) afterFailure(n *node, now time.Time) (Event, bool) {
	l := &n.life
	step := n.stepNow()
	last := n.logs[len(n.logs)-1]
	if limit := max(step.Limits.Attempts, 1); l.used[l.step] >= limit {
		why := fmt.Sprintf("%s of step %s used up; last: %s", attempts(limit), step.Name, last.Reason)
		return n.event(NodeBlocked{Reason: why}), true
	}
	if b := step.Limits.Breaker; b > 0 && l.streak >= b {
		why := fmt.Sprintf("the same failure %d times in a row: %s", l.streak, last.Reason)
		return n.event(NodeBlocked{Reason: why}), true
	}
	if d := backoff(step.Retry, l.used[l.step], n.id, last.Number); d > 0 {
		return n.event(NodeWaiting{For: ForTimer, Until: now.Add(d), Detail: "before attempt " + fmt.Sprint(n.numbers[step.Name]+1)}), true
	}
	if r.draining {
		return Event{}, false
	}
	l.stage = stageOpen
	if e, ok := r.restrained(n, now); ok {
		l.stage = stageFailed
		return e, true
	}
	l.stage = stageFailed
	return r.open(n), true
}

func attempts(n int) string {
	if n == 1 {
		return "the one attempt"
	}
	return fmt.Sprintf("the %d attempts", n)
}

// onTrouble answers an effect that did not happen: try again later as long as
// the failure may pass by itself, else ask a person.
func (r *Run) onTrouble(n *node, now time.Time) Event {
	l := &n.life
	t := l.trouble
	ask := func(c Cause) Event {
		return n.event(NodeWaiting{For: ForHuman, Cause: c, Detail: t.Detail})
	}
	switch t.Class {
	case FailConflict:
		return ask(CauseConflict)
	case FailConfig:
		return ask(CauseConfig)
	case failGate:
		return ask(CauseGate)
	}
	retries := 5
	if s := n.stepNow(); s != nil {
		retries = s.Limits.RunnerRetries
	}
	if l.failures <= retries {
		d := max(backoff(retryOf(n), l.failures, n.id, l.attempt.number), time.Millisecond)
		return n.event(NodeWaiting{For: ForTimer, Until: now.Add(d), Detail: t.Detail})
	}
	if t.Class == FailCrash {
		return n.attemptEvent(AttemptEnded{
			Status: AttemptFailed, Reason: t.Detail, Signature: "crash", Next: n.ir.Steps[n.next(l.step)].Name,
		})
	}
	if l.effect.Kind == EffectAgent {
		return ask(CauseRunner)
	}
	return ask(CauseWorkspace)
}
