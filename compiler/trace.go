package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// Trace explains the values of an epic. It computes answers on demand, so that it costs
// nothing if unused.
type Trace struct {
	b     *build
	found func() (parts, nodes map[ir.Key]int)
}

func traceOf(b *build) *Trace {
	return &Trace{b, sync.OnceValues(func() (parts, nodes map[ir.Key]int) {
		parts, nodes = make(map[ir.Key]int, len(b.parts)), make(map[ir.Key]int, len(b.epic.Nodes))
		for i := range slices.Backward(b.parts) { // the first of a key counts
			parts[b.parts[i].draft.Key] = i
		}
		for i := range b.epic.Nodes {
			nodes[b.epic.Nodes[i].Key] = i
		}
		return parts, nodes
	})}
}

// Reason explains one value.
type Reason struct {
	Field  string // "limits.attempts", "steps.implement.agent", "after.1.1"
	Value  string
	Origin string     // label, flag, built-in …, policy "default", step "build"
	Range  diag.Range // of the text that says so; zero if none does
}

// Keys returns the keys of the plan's items, in the order of the plan.
func (t *Trace) Keys() []ir.Key {
	return lists.Map(t.b.draft.Nodes, func(x ir.DraftNode) ir.Key { return x.Key })
}

// Places returns where the heading, or the first line, of each item is.
func (t *Trace) Places() map[ir.Key]diag.Range {
	out := make(map[ir.Key]diag.Range, len(t.b.draft.Nodes))
	for i := range t.b.draft.Nodes {
		out[t.b.draft.Nodes[i].Key] = t.b.draft.Nodes[i].Range
	}
	return out
}

// Lowered returns the epic as far as it could be made from a plan with errors: its nodes in
// plan order, with the plan's ids.
func (t *Trace) Lowered() *ir.Epic {
	e := with(t.b.epic)
	for i := range e.Nodes {
		e.Nodes[i].ID = t.b.draft.Nodes[i].ID
	}
	return e
}

// New returns the paths that the items' scopes mark as new.
func (t *Trace) New() (paths []string) {
	for i := range t.b.draft.Nodes {
		paths = append(paths, t.b.draft.Nodes[i].New...)
	}
	return paths
}

// Phases returns the groups of the plan's items, in the order of the plan.
func (t *Trace) Phases() []ir.DraftPhase { return t.b.draft.Phases }

// Settings returns the plan's policy fences, in order.
func (t *Trace) Settings() []ir.Fragment {
	out := slices.Clone(t.b.draft.Fragments)
	for i := range t.b.draft.Phases {
		out = append(out, t.b.draft.Phases[i].Fragments...)
	}
	for i := range t.b.draft.Nodes {
		out = append(out, t.b.draft.Nodes[i].Fragments...)
	}
	slices.SortStableFunc(out, func(a, b ir.Fragment) int { return a.Range.Start - b.Range.Start })
	return slices.CompactFunc(out, func(a, b ir.Fragment) bool { return a.Range == b.Range }) // sprints of one item share theirs
}

// Policy returns the policy that the plan was compiled with.
func (t *Trace) Policy() *policies.Set { return t.b.set }

// Why returns the reasons for the values of a node, in the order of its fields;
// with field, only those that are that field or are below it. ok is false if
// there is no such node.
func (t *Trace) Why(key ir.Key, field string) (reasons []Reason, ok bool) {
	parts, nodes := t.found()
	i, is := parts[key]
	if !is {
		return nil, false
	}
	w := why{build: t.b, it: &t.b.parts[i], field: field}
	w.all(i)
	if k, is := nodes[key]; is && len(t.b.epic.Nodes) == len(t.b.draft.Nodes) {
		w.steps(&t.b.epic.Nodes[k], w.it.draft)
		w.setupWall()
		w.git(&t.b.epic.Nodes[k], w.it.draft)
	}
	return w.out, true
}

type why struct {
	*build
	it    *part
	field string
	out   []Reason
}

func (w *why) add(field, value, origin string, at diag.Range) {
	if w.field != "" && field != w.field && !strings.HasPrefix(field, w.field+".") {
		return
	}
	w.out = append(w.out, Reason{Field: field, Value: value, Origin: origin, Range: at})
}

func (w *why) all(i int) {
	d := w.it.draft
	w.add("key", string(d.Key), "the plan", d.KeyRange)
	if d.ID != "" {
		w.add("id", string(d.ID), "annotation", d.IDRange)
	} else if i < len(w.ids.nodes) {
		w.add("id", string(w.ids.nodes[i]), "derived from the plan's path and the key", diag.Range{})
	}
	w.node(d, w.it)
	for _, e := range d.Edges {
		w.add("after."+string(e.Key), string(e.Type), e.From, e.Range)
	}
}

func (w *why) node(d *ir.DraftNode, c *part) {
	w.add("kind", string(d.Kind), "the plan", d.Range)
	if d.Done {
		w.add("done", "true", d.DoneBy, d.DoneRange)
	}
	origin, at := "the default level", c.level.Range
	switch c.from {
	case "plan":
		origin, at = "label", d.Complexity.Range
	case "flag":
		origin, at = "flag --complexity", diag.Range{}
	case "keyword":
		origin, at = fmt.Sprintf("the word %q", c.word), d.Range
	}
	w.add("complexity", c.level.Name, origin, at)
	w.add("policy", c.policy.Name, c.why, cmp.Or(d.Policy.Range, w.draft.Policy.Range, c.policy.Range))
	told(w, "priority", c.view.Priority, d.Priority, policies.Value[int]{}, "default")
	for _, f := range []struct {
		name string
		v    ir.Stated
	}{{"lane", d.Lane}, {"type", d.Type}, {"limits.deadline", d.Deadline}, {"limits.estimate", d.Estimate}, {"limits.budget", d.Budget}} {
		if f.v.Set() {
			w.add(f.name, f.v.Value, "label", f.v.Range)
		}
	}
}

func (w *why) steps(n *ir.Node, d *ir.DraftNode) {
	u := w.build
	for _, s := range lists.Each(n.Steps) {
		p := "steps." + s.Name
		v := w.it.stepValue(s.Name)
		work := v != nil && v.Name == w.it.workName()
		if s.Agent != "" {
			at := diag.Range{}
			if a := planAgent(d, s); a != nil {
				at = a.Range
			} else if v != nil {
				at = v.Agent.Range
			}
			w.add(p+".agent", s.Agent, s.Why, at)
			w.expect(p+".expect", s.Agent)
		}
		if v != nil && s.Agent != "" {
			w.limits(p, s, v, d, work)
			if s.Sandbox != "" || !u.epic.Agents[s.Agent].Human {
				w.sandbox(p+".sandbox", s.Sandbox, v.Sandbox)
			}
		}
		for _, g := range s.Gates {
			origin := u.epic.Gates[g].From
			w.add(p+".gates."+g, u.epic.Gates[g].Kind, origin, diag.Range{})
			if a := u.epic.Gates[g].Agent; a != "" {
				w.add(p+".gates."+g+".agent", a, u.epic.Gates[g].Why, diag.Range{})
				w.expect(p+".gates."+g+".expect", a)
			}
			w.gateTime(p+".gates."+g+".timeout_ms", g)
			w.gateEnv(p+".gates."+g, g, origin)
			w.gateWall(p+".gates."+g, g)
			if b := u.epic.Gates[g].Baseline; b != "" {
				told(w, p+".gates."+g+".baseline", b, ir.Stated{}, w.declared(g).Baseline, origin)
			}
			if q := u.epic.Gates[g].Require; len(q) > 0 {
				all := lists.Map(sortedNames(q), func(name string) string { return name + " " + q[name] })
				told(w, p+".gates."+g+".require", strings.Join(all, ", "), ir.Stated{}, w.declared(g).Require, origin)
			}
		}
		if r := u.epic.Agents[s.Agent].Runner; r != "" {
			if env := u.set.Runners[r]; env != nil {
				w.add(p+".runner", r, "the agent", env.Range)
				told(w, p+".runner.env", strings.Join(env.Env.V, " "), ir.Stated{}, env.Env, "default of its kind")
			}
		}
	}
}

// declared is the policy's gate of a name; an empty one if it has none.
func (w *why) declared(name string) *policies.Gate {
	return cmp.Or(w.set.Gates[name[strings.LastIndexByte(name, '/')+1:]], &policies.Gate{})
}

// gateEnv says which variables a command gets beside those of every command.
func (w *why) gateEnv(field, name, origin string) {
	g, p := w.epic.Gates[name], w.declared(name)
	if len(g.Env) > 0 {
		told(w, field+".env", strings.Join(slices.Sorted(maps.Keys(g.Env)), " "), ir.Stated{}, p.Env, origin)
	}
	if len(g.Secrets) > 0 {
		told(w, field+".secrets", strings.Join(g.Secrets, " "), ir.Stated{}, p.Secrets, origin)
	}
}

// sandbox says where a program runs.
func (w *why) sandbox(field, name string, stated policies.Value[string]) {
	switch s := w.set.Sandboxes[name]; {
	case name == "":
		w.add(field, "none", `nothing names one, and the policy has no sandbox "default"`, diag.Range{})
	case stated.Set && stated.V == name:
		told(w, field, name, ir.Stated{}, stated, "")
	case s != nil && name == w.usualSandbox():
		w.add(field, name, "it holds wherever none is named", s.Range)
	default:
		w.add(field, name, "the plan", diag.Range{})
	}
}

// setupWall says where setup commands run, and what they reach there.
func (w *why) setupWall() {
	place, stated := &w.epic.Run.Worktree, &w.whole.Worktree
	if len(place.Setup) == 0 {
		return
	}
	w.sandbox("worktree.sandbox", place.Sandbox, stated.Sandbox)
	if len(place.Network) > 0 {
		told(w, "worktree.network", strings.Join(place.Network, " "), ir.Stated{}, stated.Network, "default")
	}
}

// gateWall says where the program of a gate runs, and what it reaches there.
func (w *why) gateWall(field, name string) {
	g, p := w.epic.Gates[name], w.declared(name)
	if g.From == "plan" {
		p = &policies.Gate{}
	}
	if slices.Contains([]string{"command", "agent", "review"}, g.Kind) { // others start no program
		w.sandbox(field+".sandbox", g.Sandbox, p.Sandbox)
	}
	if len(g.Network) > 0 {
		told(w, field+".network", strings.Join(g.Network, " "), ir.Stated{}, p.Network, "default of judges")
	}
}

// expect says what a turn of an agent is expected to cost, if its policy does.
func (w *why) expect(field, agent string) {
	a := w.crew.agents[agent]
	if a == nil || a.declared == nil {
		return
	}
	e := a.declared.Expect
	if e.USDMicro.Set {
		told(w, field+".usd_micro", e.USDMicro.V, ir.Stated{}, e.USDMicro, "default")
	}
	if e.Tokens.Set {
		told(w, field+".tokens", e.Tokens.V, ir.Stated{}, e.Tokens, "default")
	}
}

// gateTime says where the time of a gate comes from.
func (w *why) gateTime(field, name string) {
	g := w.epic.Gates[name]
	if g.Kind == "outcome" { // takes none
		return
	}
	from := w.it.settings.Limits.GateTimeout(g.Kind)
	switch p := w.declared(name); {
	case g.From != "plan" && p.TimeoutMS.Set:
		from = p.TimeoutMS
	case g.TimeoutMS != from.V:
		from = policies.Value[int64]{Origin: g.From}
	}
	told(w, field, g.TimeoutMS, ir.Stated{}, from, "default")
}

func (w *why) limits(p string, s *ir.Step, v *stepValues, d *ir.DraftNode, work bool) {
	label := func(l ir.Stated) ir.Stated {
		if !work {
			return ir.Stated{}
		}
		return l
	}
	iterations := v.iterRead
	if s.Access == "write" {
		iterations = v.iterWrite
	}
	if w.c.in.Options.MaxIterations > 0 && s.Access == "write" {
		w.add(p+".iterations", fmt.Sprint(s.Limits.Iterations), "flag --max-iterations", diag.Range{})
	} else {
		told(w, p+".iterations", s.Limits.Iterations, label(d.Iterations), iterations, "default")
	}
	told(w, p+".attempts", s.Limits.Attempts, label(d.Attempts), v.attempts, "default")
	if label(d.Attempts).Set() && !userOnly(v.Breaker).Set {
		w.add(p+".breaker", fmt.Sprint(s.Limits.Breaker), "the number of attempts", d.Attempts.Range)
	} else {
		told(w, p+".breaker", s.Limits.Breaker, ir.Stated{}, v.Breaker, "default")
	}
	told(w, p+".runner_retries", s.Limits.RunnerRetries, ir.Stated{}, v.runnerRetries, "default")
	origin, at := cmp.Or(v.TimeoutMS.Origin, "default"), v.TimeoutMS.Range
	if label(d.Timeout).Set() {
		origin, at = "label", d.Timeout.Range
	}
	if a := w.crew.agents[s.Agent]; a != nil && a.multiplier != 1 {
		origin += fmt.Sprintf(", × %g by agent %q", a.multiplier, s.Agent)
	}
	w.add(p+".timeout_ms", fmt.Sprint(s.Limits.TimeoutMS), origin, at)
	model, mat := cmp.Or(v.Model.Origin, "the agent"), v.Model.Range
	if a := planAgent(d, s); a != nil && a.Model != "" {
		model, mat = "named by the plan", a.Range
	} else if label(d.Model).Set() {
		model, mat = "label", d.Model.Range
	}
	w.add(p+".model", s.Model, model, mat)
	told(w, p+".access", s.Access, ir.Stated{}, v.Access, "default")
}

// told adds a plan label's value, else the policy's.
func told[T any](w *why, field string, value any, l ir.Stated, v policies.Value[T], def string) {
	origin, at := cmp.Or(v.Origin, def), v.Range
	if l.Set() {
		origin, at = "label", l.Range
	}
	w.add(field, fmt.Sprint(value), origin, at)
}

func (w *why) git(n *ir.Node, d *ir.DraftNode) {
	s := w.it.settings
	told(w, "git.branch", n.Git.Branch, d.Branch, s.Git.Branch, "default template")
	told(w, "git.worktree", n.Git.Worktree, d.Worktree, s.Git.Worktree, "default template")
	if !d.Base.Set() && w.draft.Base.Set() {
		w.add("git.base", n.Git.Base, "the plan", w.draft.Base.Range)
	} else {
		told(w, "git.base", n.Git.Base, d.Base, w.whole.Git.Base, "HEAD when first applied")
	}
}
