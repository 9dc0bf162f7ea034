package shepherd

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/policies"
)

func (c *conversion) writePolicy(w *writer, p *policy) {
	w.gap = true
	if p.title != "" && !strings.EqualFold(p.title, p.name) {
		w.comment(line(p.title))
	}
	models := c.models()
	w.block("policy "+policies.Quote(p.name), func() {
		w.text("description", p.description)
		w.truth("default", p.isDefault)
		if p.matches() {
			w.whole("priority", p.priority)
		}
		if p.manual {
			w.comment("trigger: manual. A plan names this policy: **Policy**: " + p.name)
		}
		if len(p.labels) > 0 && len(p.types) > 0 {
			w.comment("issue_types and trigger.patterns: one of them is enough in Agent Shepherd, here both must fit.")
		}
		w.note(p.baseMS == 0 && slices.ContainsFunc(p.phases, func(ph *phase) bool { return ph.timeoutMS == 0 && !ph.person }), "timeout_base_ms", "not set; Agent Shepherd takes 5 minutes.")
		if k := p.supervision; c.below(p) != nil && (k.takeover != "" || k.cooldownMS > 0) {
			w.note(true, "human_takeover, idle_cooldown_ms", "%s. They hold for a whole run: hitl { on_human_message, idle_cooldown } at top level.", strings.TrimSpace(k.takeover+" "+strings.Trim(duration(k.cooldownMS), `"`)))
		}
		w.comments(p.comments)
		w.gap = true
		w.block("match", func() {
			w.texts("label", p.labels)
			w.texts("type", p.types)
		})
		_, r := c.retryOf(p)
		w.retry(r)
		_, st := c.stallOf(p)
		w.stall(st)
		b := c.below(p)
		w.block("hitl", func() {
			switch {
			case p.hitl && (b == nil || !b.hitl):
				w.text("level", "every-node")
			case !p.hitl && b != nil && b.hitl:
				w.text("level", "gates")
			}
			if b == nil {
				w.takeover(&p.supervision)
			}
		})
		for _, ph := range p.phases {
			c.writeStep(w, p, ph, models)
		}
	})
}

// writeStep writes a step. What the default policy says in its step of the same name
// is taken back where this one does not say it.
func (c *conversion) writeStep(w *writer, p *policy, ph *phase, models map[model]string) {
	under := cmp.Or(c.under(p, ph), &phase{})
	w.gap = true
	w.block("step "+policies.Quote(ph.step), func() {
		w.text("description", ph.description)
		if ph.person {
			c.writePerson(w, ph, under)
			return
		}
		writeWorker(w, ph, under, models)
		w.attr(ph.gate != "", "gates", "["+policies.Reference("gate", ph.gate)+"]")
		w.attr(ph.gate == "" && under.gate != "", "gates", "[]")
		w.attr(true, "timeout", duration(c.timeout(p, ph)))
		if n := ph.turns(); n > 0 {
			w.whole("iterations", n)
		} else if under.turns() > 0 {
			w.whole("iterations", 20) // what a standard sprint has
		}
		empty := !ph.read && !ph.changes()
		w.attr(empty || !under.read && !under.person && under.step != "" && !under.changes(), "allow_empty", strconv.FormatBool(empty))
		if next := ph.next; next != "" || under.next != "" {
			w.text("next", cmp.Or(next, ph.step))
		}
		w.attr(ph.approval || under.approval || under.person, "approval", strconv.FormatBool(ph.approval))
		w.comment(ph.moveNote)
		w.comments(ph.comments)
		w.gap = true
		w.retry(c.stepRetry(p, ph))
	})
}

// writeWorker writes who does a step.
func writeWorker(w *writer, ph, under *phase, models map[model]string) {
	w.texts("capabilities", ph.capabilities)
	w.attr(len(ph.capabilities) == 0 && len(under.capabilities) > 0 && !under.person, "capabilities", "[]")
	w.comment(ph.unfit)
	if ph.worker != nil && (ph.named || under.named) {
		w.attr(true, "agent", policies.Reference("agent", ph.worker.id))
	}
	chosen := modelNamed("", ph.model)
	if chosen.id == "" && under.model != "" && !under.person && ph.worker != nil {
		chosen = modelNamed(ph.worker.provider, ph.worker.model)
	}
	w.attr(chosen.id != "", "model", modelRef(models, chosen))
	switch {
	case ph.read:
		w.text("access", "read")
	case under.read || under.person:
		w.text("access", "write")
	}
}

// turns are prompts inside an attempt; a phase that says only max_iterations means
// attempts.
func (ph *phase) turns() int64 {
	if ph.retry.attempts > 0 && !ph.person {
		return ph.iterations
	}
	return 0
}

// writePerson writes a step that only a person does.
func (c *conversion) writePerson(w *writer, ph, under *phase) {
	w.attr(len(under.capabilities) > 0 && !under.person, "capabilities", "[]")
	w.text("access", "read")
	w.texts("approval", ph.people)
	w.truth("approval", len(ph.people) == 0)
	w.note(len(ph.capabilities) > 0, "capabilities", "%s. A person does this step by approving.", strings.Join(ph.capabilities, ", "))
	w.attr(under.gate != "", "gates", "[]")
	w.text("next", ph.next)
	w.comments(ph.comments)
}

// timeout of a phase, as Agent Shepherd counts it.
func (c *conversion) timeout(p *policy, ph *phase) int64 {
	if ph.timeoutMS > 0 {
		return ph.timeoutMS
	}
	base := cmp.Or(p.baseMS, defaultBaseMS)
	ms := float64(base)
	for _, m := range []float64{ph.multiplier, c.config.multiplier} {
		if m > 0 {
			ms *= m
		}
	}
	return max(int64(math.Round(min(ms, decade))), 1)
}

// Words that say whether a phase is there to change something.
var (
	makingWords = []string{
		"api", "backend", "build", "building", "code", "coding", "debug", "debugging", "develop", "development", "doc", "docs", "documentation",
		"fix", "fixing", "frontend", "implement", "implementation", "migrate", "migration", "optimization", "refactor", "refactoring", "ui", "write", "writing",
	}
	lookingWords = []string{
		"analysis", "analyze", "approval", "approve", "architecture", "audit", "check", "commit", "design", "discovery", "explore", "exploration",
		"lint", "modeling", "plan", "planning", "qa", "research", "review", "security", "summary", "test", "testing", "tests", "triage", "validate",
		"validation", "verification", "verify",
	}
)

// changes reports whether an attempt that changes nothing has failed. Agent Shepherd
// never looks, so that is said only of phases that are there to write something.
func (ph *phase) changes() bool {
	is := func(s string, words []string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == '-' || r == '_' || r == ' ' }),
			func(w string) bool { return slices.Contains(words, w) })
	}
	if is(ph.name, makingWords) {
		return true
	}
	if is(ph.name, lookingWords) {
		return false
	}
	return slices.ContainsFunc(ph.capabilities, func(s string) bool { return is(s, makingWords) })
}
