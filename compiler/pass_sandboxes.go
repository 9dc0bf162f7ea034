package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// passSandboxes writes where each program runs: where neither step nor gate nor setup
// names a sandbox, the user's "default" holds if there is one. A judge reaches its model
// where nothing else is said, commands and setup nothing. Only sandboxes that are named
// are in the epic.
func (b *build) passSandboxes(diags *diag.List) *ir.Epic {
	e := b.own()
	w := &walling{build: b, diags: diags, usual: b.usualSandbox(), table: map[string]ir.Sandbox{}}
	in, place := &e.Epic.Integration, &e.Run.Worktree
	in.Sandbox, in.Network = b.whole.Integration.Sandbox.V, b.whole.Integration.Network.V
	place.Sandbox, place.Network = cmp.Or(b.whole.Worktree.Sandbox.V, w.usual), b.whole.Worktree.Network.V
	w.name(place.Sandbox)
	w.name(in.Sandbox)
	w.name(w.usual) // of steps that are made up in a run
	for it, n := range b.nodes(e) {
		if w.usual != "" {
			n.Steps = slices.Clone(n.Steps)
		}
		for _, s := range lists.Each(n.Steps) {
			w.step(it, s)
		}
	}
	var ofSum map[string]bool // gates that run in the integration's sandbox, too
	if b.confines(in.Sandbox) {
		ofSum = lists.Set(in.Gates)
	}
	var gates map[string]ir.Gate // nil as long as none changes
	for _, name := range sortedNames(e.Gates) {
		was := e.Gates[name]
		g := was
		w.gate(&g, ofSum[name])
		if g.Sandbox == was.Sandbox && len(g.Network) == len(was.Network) {
			continue
		}
		if gates == nil {
			gates = maps.Clone(e.Gates)
			e.Gates = gates
		}
		gates[name] = g
	}
	w.reachModel(cmp.Or(in.Sandbox, w.usual), "What resolves conflicts of the integration", in.ConflictAgent)
	e.Sandboxes = w.table
	w.layout(place.Layout)
	w.unused()
	return e
}

// usualSandbox is the sandbox that holds wherever none is named, "" if there is none.
func (u *unit) usualSandbox() string {
	if s := u.set.Sandboxes[policies.DefaultSandbox]; s != nil && !s.Builtin {
		return s.Name
	}
	return ""
}

// confines reports whether a name is that of a sandbox of the policy that holds anything.
func (u *unit) confines(name string) bool {
	s := u.set.Sandboxes[name]
	return s != nil && s.Kind.V != policies.NoSandbox
}

// walling is the state of passSandboxes.
type walling struct {
	*build
	diags *diag.List
	usual string                // the sandbox that holds where none is named
	table map[string]ir.Sandbox // that are named
	box   string                // the first of them that holds anything
}

// name puts a sandbox of the policy into the epic.
func (w *walling) name(name string) {
	if s := w.set.Sandboxes[name]; s != nil {
		w.put(name, Sandbox(s))
	}
}

func (w *walling) put(name string, s ir.Sandbox) {
	w.table[name] = s
	if w.box == "" && s.Kind != policies.NoSandbox {
		w.box = name
	}
}

// gate writes the sandbox of a gate that starts a program. sum: it may also judge the sum
// of all results in the sandbox of that.
func (w *walling) gate(g *ir.Gate, sum bool) {
	if g.Kind != "command" && g.Kind != "agent" && g.Kind != "review" {
		return
	}
	g.Sandbox = cmp.Or(g.Sandbox, w.usual)
	w.name(g.Sandbox)
	if g.Kind != "command" && g.Network == nil && (sum || w.confines(g.Sandbox)) {
		g.Network = []string{policies.ModelHosts}
	}
}

// layout refuses linked worktrees: an agent that may use git in one has to be let into
// the user's repository.
func (w *walling) layout(layout string) {
	at := w.whole.Worktree.Layout.Range
	if w.box == "" || layout != "worktree" || !w.c.said.first(fmt.Sprint("sandbox layout ", at)) {
		return
	}
	d := diag.Newf("sandbox-layout", at, "a sandbox needs the layout clone").
		WithDetail("In a linked worktree git writes into your repository, which sandbox %q keeps agents out of. Write layout = \"clone\" in worktree { }, or remove the line: clone is the default.", clip(w.box))
	if s := w.set.Sandboxes[w.box]; s != nil {
		d = d.WithRelated(s.Range, "the sandbox")
	}
	w.diags.Add(d)
}

// unused warns of sandboxes that neither the policy nor the plan names, where none of them
// holds for what names none.
func (w *walling) unused() {
	if w.usual != "" {
		return
	}
	named := w.named()
	for _, name := range sortedNames(w.set.Sandboxes) {
		s := w.set.Sandboxes[name]
		if _, used := w.table[name]; used || named[name] || !w.confines(name) || s.Builtin || !w.c.said.first("sandbox unused "+name) {
			continue
		}
		w.diags.Add(diag.Newf("sandbox-unused", s.Range, "nothing runs in sandbox %q", clip(name)).
			WithDetail("No step, gate or setup names it, and those that name none run without a sandbox. Name it %q: that one holds for all of them. Or write sandbox = sandbox.%s in a step, a gate or worktree { }.",
				policies.DefaultSandbox, clip(name)))
	}
}

// named are the sandboxes that the policy names, also where this plan has nothing to do with it.
func (w *walling) named() map[string]bool {
	out := map[string]bool{w.whole.Worktree.Sandbox.V: true, w.whole.Integration.Sandbox.V: true}
	for _, g := range w.set.Gates {
		out[g.Sandbox.V] = true
	}
	for _, p := range w.set.Policies {
		for _, s := range p.Steps {
			out[s.Sandbox.V] = true
		}
	}
	return out
}

// step writes the sandbox of a step, and sees to it that its agent, and who stands in for
// it, reach their model.
func (w *walling) step(it *part, s *ir.Step) {
	if s.Agent != "" {
		s.Sandbox = cmp.Or(s.Sandbox, w.usual)
	}
	w.name(s.Sandbox)
	if d := it.draft; d.Sandbox != nil && s.Sandbox == draftSandbox(d) {
		w.put(s.Sandbox, *d.Sandbox)
	}
	w.reachModel(s.Sandbox, fmt.Sprintf("Step %q of %s", clip(s.Name), clip(string(it.draft.Key))), append([]string{s.Agent, s.Stall.Agent}, s.Fallback...)...)
}

// reachModel refuses a sandbox that cuts agents off from their model; who says what they
// do in it.
func (w *walling) reachModel(name, who string, agents ...string) {
	box := w.set.Sandboxes[name]
	if !w.confines(name) || len(box.Network.V)+len(box.Services.V) > 0 {
		return
	}
	for _, agent := range agents {
		runner := w.crew.asksModel(agent)
		if runner == "" || !w.c.said.first("sandbox without model "+name) {
			continue
		}
		at := box.Range
		if box.Network.Set {
			at = box.Network.Range
		}
		w.diags.Add(diag.Newf("sandbox-without-model", at, "sandbox %q cuts an agent off from its model", clip(name)).
			WithDetail("%s is done by agent %q, whose runner %q asks a model, and the sandbox lets it reach no host. Write network = [\"model\"] in sandbox %q.",
				who, clip(agent), clip(runner), clip(name)))
	}
}

// asksModel returns the runner of an agent if its program asks a model, else "".
func (c *crew) asksModel(agent string) string {
	if agent == "" {
		return ""
	}
	var none diag.List
	a := c.agent(ir.AgentRef{Name: agent}, &none)
	r := c.u.set.Runners[a.entry.Runner]
	if a.entry.Human || r == nil || r.Kind.V == "command" {
		return ""
	}
	return a.entry.Runner
}

// reachesModel refuses a network that cuts a judge off from its model.
func (g *gating) reachesModel(out *ir.Gate, p *policies.Gate) {
	name := p.Sandbox.V
	if name == "" {
		name = g.u.usualSandbox()
	}
	if !p.Network.Set || len(p.Network.V) > 0 || !g.u.confines(name) || len(g.u.set.Sandboxes[name].Services.V) > 0 {
		return
	}
	runner := g.crew.asksModel(out.Agent)
	if runner == "" || !g.u.c.said.first(fmt.Sprint("judge without model ", p.Network.Range)) {
		return
	}
	g.diags.Add(diag.Newf("sandbox-without-model", p.Network.Range, "gate %q cuts its agent off from its model", clip(p.Name)).
		WithDetail("It is judged by agent %q, whose runner %q asks a model, in sandbox %q, and network lets it reach no host. Write network = [\"model\"], or remove the line: judges reach their model if nothing else is said.",
			clip(out.Agent), clip(runner), clip(name)))
}

// keepSandbox reports a fence that would choose a sandbox which holds less than the one
// below it; the value is taken away.
func (u *unit) keepSandbox(below policies.Value[string], over *policies.Value[string], diags *diag.List) {
	name := below.V
	if name == "" {
		name = u.usualSandbox()
	}
	if !over.Set || over.V == name || !u.confines(name) {
		return
	}
	was, now := Sandbox(u.set.Sandboxes[name]), ir.Sandbox{Kind: policies.NoSandbox}
	if s := u.set.Sandboxes[over.V]; s != nil {
		now = Sandbox(s)
	}
	if how := now.Looser(&was); len(how) > 0 {
		dropLoosening(u, true, over, diags, "a plan cannot choose a weaker sandbox",
			fmt.Sprintf("The policy says sandbox %q here, and %q holds less: %s. Remove the line, or write it into the policy.", clip(name), clip(over.V), strings.Join(how, ", ")))
	}
}

// openNothing reports a fence that says which hosts are reached; the list is taken away.
func (u *unit) openNothing(hosts *policies.Value[[]string], diags *diag.List) {
	dropLoosening(u, hosts.Set && len(hosts.V) > 0, hosts, diags, "a plan cannot open the network",
		"Only the policy says which hosts gates and setup may reach. Remove the line, or write it into the policy.")
}

// Sandbox is a sandbox of the policy in the form of epics.
func Sandbox(s *policies.Sandbox) ir.Sandbox {
	return ir.Sandbox{
		Kind: s.Kind.V, Write: s.Write.V, Read: s.Read.V, Hide: s.Hide.V, Network: s.Network.V, Limits: s.Limits.V,
		Cache: s.Cache.V, Services: s.Services.V, Nest: s.Nest.V, Accept: s.Accept.V, Required: s.Required.V,
	}
}
