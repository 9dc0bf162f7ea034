package shepherd

import "cmp"

// What a policy says not is what the default policy says, its steps of the same name
// included, and else what ralph does by itself. So a value is written where it differs
// from what would be inherited, and left out where it does not.

// What ralph does by itself. Retries are Agent Shepherd's, too; a stall of a minute,
// which is Agent Shepherd's, would end every test run that prints nothing.
var (
	builtinRetry = retry{attempts: 3, backoff: "exponential", initial: 5000, maxMS: 300_000}
	builtinStall = stall{afterMS: 300_000, action: "fail"}
)

// over returns r, and what it does not say from below.
func (r retry) over(below retry) retry {
	return retry{
		attempts: cmp.Or(r.attempts, below.attempts), backoff: cmp.Or(r.backoff, below.backoff),
		initial: cmp.Or(r.initial, below.initial), maxMS: cmp.Or(r.maxMS, below.maxMS),
	}
}

// without returns what r says otherwise than what is inherited.
func (r retry) without(inherited retry) retry {
	return retry{
		attempts: other(r.attempts, inherited.attempts), backoff: other(r.backoff, inherited.backoff),
		initial: other(r.initial, inherited.initial), maxMS: other(r.maxMS, inherited.maxMS),
	}
}

// stall is what happens to an agent that shows no activity.
type stall struct {
	afterMS       int64
	action, agent string
}

func (s stall) over(below stall) stall {
	return stall{cmp.Or(s.afterMS, below.afterMS), cmp.Or(s.action, below.action), cmp.Or(s.agent, below.agent)}
}

func (s stall) without(inherited stall) stall {
	return stall{other(s.afterMS, inherited.afterMS), other(s.action, inherited.action), other(s.agent, inherited.agent)}
}

func other[T comparable](v, inherited T) T {
	if v == inherited {
		var none T
		return none
	}
	return v
}

// stalls is what supervision says of stalls.
func (k *config) stalls() stall {
	s := stall{afterMS: k.stallMS, action: k.stall}
	if !k.diagnoser.absent() {
		s.agent = k.diagnoser.Value
	}
	return s
}

// below is the policy that p inherits from: the default one, nil for itself and where
// ralph's own is the default.
func (c *conversion) below(p *policy) *policy {
	var def *policy
	for _, o := range c.policies {
		if o.isDefault || def == nil && o.name == "default" {
			def = o
		}
	}
	if def == p {
		return nil
	}
	return def
}

// retryOf is what holds for a policy, and what has to be written for that.
func (c *conversion) retryOf(p *policy) (holds, written retry) {
	holds = p.retry.over(builtinRetry)
	inherited := builtinRetry
	if b := c.below(p); b != nil {
		inherited, _ = c.retryOf(b)
	}
	return holds, holds.without(inherited)
}

// stepRetry is the same for a step.
func (c *conversion) stepRetry(p *policy, ph *phase) (written retry) {
	holds, policy := c.retryOf(p)
	inherited := holds
	if b, under := c.below(p), c.under(p, ph); under != nil {
		inherited, _ = c.retryOf(b)
		inherited = policy.over(c.stepRetry(b, under).over(inherited))
	}
	r := ph.retry
	r.attempts = cmp.Or(r.attempts, ph.iterations)
	return r.over(holds).without(inherited)
}

func (c *conversion) stallOf(p *policy) (holds, written stall) {
	top := c.config.stalls().over(builtinStall)
	holds = p.supervision.stalls().over(top)
	inherited := top
	if b := c.below(p); b != nil {
		inherited, _ = c.stallOf(b)
	}
	return holds, holds.without(inherited)
}

// under is the step of the default policy that a step of another one inherits from:
// that of the same name.
func (c *conversion) under(p *policy, ph *phase) *phase {
	if b := c.below(p); b != nil {
		for _, o := range b.phases {
			if o.step == ph.step {
				return o
			}
		}
	}
	return nil
}
