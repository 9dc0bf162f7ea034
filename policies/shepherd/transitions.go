package shepherd

import (
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/yaml"
)

// transitions reads where a phase leads to. A fail has one goal in ralph, the step
// itself or an earlier one; what passes goes on to the next step.
func (c *conversion) transitions(ph *phase, n node) {
	if n.absent() {
		return
	}
	f, ok := c.fields(n, "on_success, on_failure, on_partial_success, on_unclear")
	if !ok {
		return
	}
	ph.onFailure = f.get("on_failure")
	for _, left := range []struct{ key, reason string }{
		{"on_success", "What passes goes on to the next step"},
		{"on_partial_success", "The agent goes on within the same attempt"},
		{"on_unclear", "An outcome that cannot be read is asked for once more and then is a failure"},
	} {
		x := f.get(left.key)
		if x.absent() || left.key == "on_success" && x.Kind == yaml.Scalar {
			continue // looked at when the order of the steps is known
		}
		ph.comments = append(ph.comments, "transitions."+lastKeyOf(c.leaveOut(x, left.reason)))
	}
	ph.comments = append(ph.comments, f.rest("transitions.")...)
}

// order puts phases after those that they depend on; else the order of the file
// stays.
func (c *conversion) order(p *policy) {
	names := lists.Map(p.phases, func(ph *phase) string { return ph.name })
	index := lists.Index(names, func(name *string) string { return *name })
	waits := make([][]int, len(p.phases))
	for i, ph := range p.phases {
		for _, n := range ph.after {
			name := c.text(n)
			j, known := index[name]
			switch {
			case name == "":
			case !known:
				c.diags.Add(diag.Newf("shepherd-value", n.at(), "no phase is called %q", clip(name)).
					WithDetail("The phases of policy %q are %s%s. Write one of these.", p.name, spell.Sorted(names, 12), spell.Hint(name, names)))
			case j == i:
				c.wrong(n, "another phase than the one that it is in")
			default:
				waits[i] = append(waits[i], j)
			}
		}
	}
	placed := make([]bool, len(p.phases))
	var out []*phase
	for len(out) < len(p.phases) {
		i := slices.IndexFunc(p.phases, func(ph *phase) bool {
			k := index[ph.name]
			return !placed[k] && !slices.ContainsFunc(waits[k], func(j int) bool { return !placed[j] })
		})
		if i < 0 {
			left := slices.Index(placed, false)
			at := p.phases[left].at
			if len(p.phases[left].after) > 0 {
				at = p.phases[left].after[0]
			}
			c.diags.Add(diag.New("shepherd-value", at.at(), "phases depend on each other in a cycle").
				WithDetail("None of the phases of policy %q that are left could begin. Take one of the names out of depends_on.", p.name))
			return
		}
		ph := p.phases[i]
		if i > 0 && slices.Contains(placed[:i], false) {
			ph.moveNote = "" // earlier ones wait for it; they are the ones that move
		} else if later := slices.ContainsFunc(waits[i], func(j int) bool { return j > i }); later {
			ph.moveNote = "depends_on: it stood before what it waits for."
		}
		placed[i] = true
		out = append(out, ph)
	}
	p.phases = out
}

// leads finds where a fail of each step goes.
func (c *conversion) leads(p *policy) {
	at := lists.Index(p.phases, func(ph **phase) string { return (*ph).name })
	for i, ph := range p.phases {
		c.successOf(p, ph, i, at)
		n := ph.onFailure
		if n.absent() {
			continue
		}
		goal, how := "", ""
		switch n.Kind {
		case yaml.Scalar:
			goal = n.Value
		case yaml.Mapping:
			f, ok := c.fields(n, "where a fail goes")
			if !ok {
				continue
			}
			kind, _ := f.text("type")
			target := f.first("jump_target_phase", "next_phase")
			if list, _ := f.texts("allowed_destinations"); len(list) > 0 {
				how = "An agent chose; here a fail goes to the nearest earlier one"
				for _, name := range list {
					if j, ok := at[name]; ok && j < i && (goal == "" || j > at[goal]) {
						goal = name
					}
				}
				if goal == "" && slices.Contains(list, ph.name) {
					goal, how = ph.name, "An agent chose; here a fail repeats the step"
				}
			}
			switch {
			case !target.absent():
				goal = target.Value
			case kind == "retry":
				goal = ph.name
			}
		default:
			c.wrong(n, "the name of a phase, or capability, prompt and allowed_destinations")
			continue
		}
		j, known := at[goal]
		switch {
		case known && j <= i:
			if j < i {
				ph.next = p.phases[j].step
			}
			if how != "" {
				ph.comments = append(ph.comments, "transitions."+lastKeyOf(c.leaveOut(n, how)))
				c.changed(n, "a fail goes to one step", "Agent Shepherd asks an agent where a fail of %q goes; ralph goes to %q. An agent may suggest another step in its outcome, but only one that the policy leads to.", clip(ph.name), clip(goal))
			}
		default:
			ph.comments = append(ph.comments, "transitions."+lastKeyOf(c.leaveOut(n, "A fail leads to the step itself or to an earlier one")))
			c.changed(n, "a fail repeats the step", "A fail of %q led to %q, which is not an earlier step. In ralph it repeats the step itself. Put the step that fixes before the one that finds.", clip(ph.name), clip(n.short()))
		}
	}
}

// successOf reports a success that does not lead to the next step.
func (c *conversion) successOf(p *policy, ph *phase, i int, at map[string]int) {
	t := ph.at
	if t.Kind != yaml.Mapping || t.Get("transitions") == nil {
		return
	}
	x := t.Get("transitions").Get("on_success")
	if x == nil || x.Kind != yaml.Scalar {
		return
	}
	n := node{Node: x, in: t.in, path: join(t.path, "transitions.on_success")}
	next := "close"
	if i+1 < len(p.phases) {
		next = p.phases[i+1].name
	}
	if _, known := at[n.Value]; !known && n.Value != "close" {
		c.diags.Add(diag.Newf("shepherd-value", n.at(), "no phase is called %q", clip(n.Value)).
			WithDetail("The phases of policy %q are %s. Write one of these, or close.", p.name, spell.Sorted(sortedKeys(at), 12)))
		return
	}
	if n.Value == next {
		return
	}
	ph.comments = append(ph.comments, fmt.Sprintf("transitions.on_success: %s. What passes goes on to the next step.", line(n.Value)))
	n.in.leftOut = append(n.in.leftOut, n)
	c.changed(n, "a success goes to the next step", "A success of %q led to %q; in ralph the next step is %q. Change the order of the steps if that is not what you want.", clip(ph.name), clip(n.Value), clip(next))
}
