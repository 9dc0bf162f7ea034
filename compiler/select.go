package compiler

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// agentInfo is what the compiler needs to know of an agent, declared or not.
type agentInfo struct {
	name       string
	declared   *policies.Agent // nil: implicit
	access     string
	session    string
	multiplier float64
	entry      ir.Agent
	model      string // of an implicit agent: what its file says
}

// readOnly reports whether an agent cannot be that of a step that writes. A person
// works where they want.
func (a *agentInfo) readOnly() bool { return a.access == "read" && !a.entry.Human }

// crew finds agents for steps and gates, and remembers whom it found: the same
// question gets the same answer in every pass.
type crew struct {
	u        *unit
	agents   map[string]*agentInfo
	implicit []implicitAgent
	choices  map[string]choice
	chains   map[string][]string
	writers  map[string]bool // agents of steps that write; known after the pass agents
}

func newCrew(u *unit) *crew {
	return &crew{u: u, agents: map[string]*agentInfo{}, choices: map[string]choice{}, chains: map[string][]string{}}
}

// agent returns the agent that a plan names, implicit if no policy declares it.
func (c *crew) agent(ref ir.AgentRef, diags *diag.List) *agentInfo {
	u := c.u
	if a := c.agents[ref.Name]; a != nil {
		return a
	}
	if d := u.set.Agents[ref.Name]; d != nil {
		return c.declared(d, diags)
	}
	a := &agentInfo{name: ref.Name, multiplier: 1}
	a.entry = ir.Agent{Runner: u.defaultRunner(), Implicit: true}
	file, at := ref.Path, ref.Range
	if file == "" && validName(ref.Name) {
		file = ".claude/agents/" + ref.Name + ".md"
		if _, _, err := u.c.agentFile(file); err != nil && absent(u.c.in.Project, file, err) {
			file = ""
		}
	}
	if file != "" {
		a.entry.Path, a.entry.Digest, a.model = u.agentFile(file, at, diags)
	}
	c.agents[ref.Name] = a
	c.implicit = append(c.implicit, implicitAgent{ref.Name, ref.Range, a.entry.Path != ""})
	return a
}

type implicitAgent struct {
	name string
	at   diag.Range
	file bool // it has one
}

// validName reports whether a name can be part of a path.
func validName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\\\x00:")
}

func (c *crew) declared(d *policies.Agent, diags *diag.List) *agentInfo {
	if a := c.agents[d.Name]; a != nil {
		return a
	}
	a := &agentInfo{name: d.Name, declared: d, access: d.Access.V, session: d.Session.V, multiplier: d.TimeoutMultiplier.Get(1)}
	a.entry = ir.Agent{
		Slug: d.Slug.V, Runner: d.Runner.V, Model: d.Model.V, Access: d.Access.V,
		Capabilities: d.Capabilities.V, Tags: d.Tags.V, Session: d.Session.V, Human: d.Human.V, Expect: expected(d.Expect),
	}
	if d.Runner.V == "" && !d.Human.V {
		a.entry.Runner = c.u.defaultRunner()
	}
	if d.Path.Set {
		a.entry.Path, a.entry.Digest, _ = c.u.agentFile(d.Path.V, d.Path.Range, diags)
	}
	c.agents[d.Name] = a
	return a
}

// expected is what a turn is expected to cost; nil if the policy does not say.
func expected(c policies.TurnCost) *ir.Cost {
	var out ir.Cost
	if c.Tokens.Set {
		out.Tokens = &c.Tokens.V
	}
	if c.USDMicro.Set {
		out.USDMicro = &c.USDMicro.V
	}
	if out == (ir.Cost{}) {
		return nil
	}
	return &out
}

// agentFile reads and digests an agent file; a missing one is a warning.
func (u *unit) agentFile(file string, at diag.Range, diags *diag.List) (p, digest, model string) {
	p = strings.TrimPrefix(file, "./")
	if bad := badPath(p); bad != "" {
		diags.Add(diag.New("path-leaves-project", at, "the path leaves the project").
			WithDetail("%q %s. Agent files are inside the project: write the path relative to its root.", clip(file), bad))
		return "", "", ""
	}
	head, l, err := u.c.agentFile(p)
	if errors.Is(err, fs.ErrNotExist) && path.Ext(p) == "" { // as agents are often named
		if h, more, there := u.c.agentFile(p + ".md"); there == nil {
			head, l, err = h, more, nil
		}
	}
	if err != nil {
		d := diag.New("agent-file", at, "the agent file cannot be read").
			WithDetail("%s. Without it the agent runs with the runner's own instructions. Add the file, or correct the path.", worldError(p, err))
		if !absent(u.c.in.Project, path.Clean(p), err) {
			d.Severity = diag.Error
		}
		diags.Add(d)
		return path.Clean(p), "", ""
	}
	diags.Add(l...)
	return head.Path, head.Digest, head.Model
}

// agentFile reads an agent file of the project.
func (c *compilation) agentFile(p string) (*policies.AgentFile, diag.List, error) {
	if c.in.Project == nil {
		return nil, nil, fs.ErrNotExist
	}
	head, l, err := policies.ReadAgentFile(c.in.Project, p)
	if err == nil && len(l) > 0 && c.files[head.Path] == nil {
		if b, err := c.readProject(head.Path, c.limits.AgentBytes); err == nil { // for the snippet
			c.files[head.Path] = diag.NewFile(head.Path, b)
		}
	}
	return head, l, err
}

// defaultRunner is the runner of the user's agent "default", else the only
// runner that the user declared, else that of the built-in agent.
func (u *unit) defaultRunner() string {
	def := u.set.Agents["default"]
	if def != nil && !def.Builtin && def.Runner.V != "" {
		return def.Runner.V
	}
	own := lists.Keep(sortedNames(u.set.Runners), func(name string) bool { return !u.set.Runners[name].Builtin })
	if len(own) == 1 {
		return own[0]
	}
	if def != nil && def.Runner.V != "" {
		return def.Runner.V
	}
	return "claude"
}

// need is what a step or a gate asks of an agent.
type need struct {
	capabilities, tags []string
	access, model      string
	blind              bool // judges what others wrote: better none of those who wrote
	program            bool // for a gate that is no person's: people do not count
}

func (n need) String() string {
	var parts []string
	if len(n.capabilities) > 0 {
		parts = append(parts, "the capabilities "+strings.Join(n.capabilities, ", "))
	}
	parts = append(parts, fmt.Sprintf("access %q", n.access))
	if len(n.tags) > 0 {
		parts = append(parts, "the tags "+strings.Join(n.tags, ", "))
	}
	return strings.Join(parts, " and ")
}

// choice is the result of a selection.
type choice struct {
	agent *policies.Agent
	why   string
}

// selectAgent finds the agent for a need. Those count that have its
// capabilities and tags and may do what its access asks for (a person always may).
// What only people list is theirs: no agent with "all", and none that ralph
// brings along, stands in for them. Of these the first by, in this order: declared by the user; for a blind review, does not write in
// this plan; has exactly the access (who only reads comes before one that would
// have to be restricted); has the model; priority; speed; name.
func (c *crew) selectAgent(n need) (choice, bool) {
	key := strings.Join(n.capabilities, ",") + "|" + strings.Join(n.tags, ",") + "|" + n.access + "|" + n.model
	if n.blind {
		key += "|blind"
	}
	if n.program {
		key += "|program"
	}
	best, done := c.choices[key]
	if !done {
		best = c.choose(n)
		c.choices[key] = best
	}
	return best, best.agent != nil
}

func (c *crew) choose(n need) choice {
	u := c.u
	var own, builtin, people []*policies.Agent
	listed := false // by an agent that is no person
	for _, name := range slices.Sorted(maps.Keys(u.set.Agents)) {
		a := u.set.Agents[name]
		if !a.Active.Get(true) || !covers(a.Capabilities.V, n.capabilities) || !covers(a.Tags.V, n.tags) {
			continue
		}
		byName := !slices.Contains(a.Capabilities.V, "all")
		switch {
		case a.Human.V && len(n.capabilities) == 0:
		case a.Human.V:
			if byName {
				people = append(people, a)
			}
			if !n.program {
				own = append(own, a)
			}
		case n.access == "write" && a.Access.V != "write":
		case a.Builtin:
			builtin = append(builtin, a)
			listed = listed || byName && n.program
		default:
			own = append(own, a)
			listed = listed || byName
		}
	}
	why := ""
	if len(people) > 0 && !listed {
		if n.program {
			return choice{}
		}
		own, why = people, "only people list the capabilities "+strings.Join(n.capabilities, ", ")
	}
	if len(own) == 0 && u.set.UserAgents() {
		why = "no declared agent fits: built-in"
	}
	if len(own) == 0 {
		own = builtin
	}
	if len(own) == 0 {
		return choice{}
	}
	return c.best(n, own, why)
}

// best chooses among the agents that fit; why is known where there was no choice.
func (c *crew) best(n need, from []*policies.Agent, why string) choice {
	all := len(from)
	if n.blind {
		from = prefer(from, func(a *policies.Agent) bool { return !c.writers[a.Name] })
	}
	from = prefer(from, func(a *policies.Agent) bool { return n.access != "read" || a.Access.V == "read" })
	if n.model != "" {
		from = prefer(from, func(a *policies.Agent) bool { return a.Model.V == n.model })
	}
	best := slices.MinFunc(from, func(a, b *policies.Agent) int {
		return cmp.Or(cmp.Compare(b.Priority.V, a.Priority.V), cmp.Compare(b.Speed.V, a.Speed.V), strings.Compare(a.Name, b.Name))
	})
	if why == "" {
		why = reason(n, best, from, all)
	}
	return choice{best, why}
}

// prefer returns the agents that are as wanted, or all if none is.
func prefer(from []*policies.Agent, wanted func(*policies.Agent) bool) []*policies.Agent {
	some := slices.DeleteFunc(slices.Clone(from), func(a *policies.Agent) bool { return !wanted(a) })
	if len(some) == 0 {
		return from
	}
	return some
}

// reason says why best was taken of the agents from, which were preferred to the
// other ones of all that fit.
func reason(n need, best *policies.Agent, from []*policies.Agent, all int) string {
	has := "access " + cmp.Or(n.access, "read")
	if len(n.capabilities) > 0 {
		has = "capabilities " + strings.Join(n.capabilities, ", ") + ", " + has
	}
	if len(n.tags) > 0 {
		has += ", tags " + strings.Join(n.tags, ", ")
	}
	if all == 1 {
		return "the only agent with " + has
	}
	if len(from) == 1 {
		by := "access"
		if best.Access.V != n.access || n.access != "read" {
			by = "model"
		}
		if n.blind && best.Access.V != "read" {
			by = "did not write the work"
		}
		return fmt.Sprintf("first by %s of %d agents with %s", by, all, has)
	}
	by := "priority"
	for _, o := range from {
		switch {
		case o == best || o.Priority.V != best.Priority.V:
		case o.Speed.V == best.Speed.V:
			by = "name"
		case by == "priority":
			by = "speed"
		}
	}
	return fmt.Sprintf("first by %s of %d agents with %s", by, len(from), has)
}

func covers(have, want []string) bool {
	return slices.Contains(have, "all") || !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// fallbacks returns the chain of agents that stand in for a, nearest first,
// each once; a circle is reported.
func (c *crew) fallbacks(a *policies.Agent, access string, diags *diag.List) []string {
	if a == nil || len(a.Fallback.V) == 0 {
		return nil
	}
	if chain, done := c.chains[a.Name+"|"+access]; done {
		return chain
	}
	var chain []string
	seen := map[string]bool{a.Name: true} // a circle was reported with the policy
	var walk func(from *policies.Agent, depth int)
	walk = func(from *policies.Agent, depth int) {
		for _, name := range from.Fallback.V {
			next := c.u.set.Agents[name]
			if next == nil || depth > 1000 || seen[name] {
				continue // an unknown name was reported with the policy
			}
			seen[name] = true
			if next.Active.Get(true) && (access != "write" || next.Access.V == "write") {
				chain = append(chain, name)
				c.declared(next, diags)
			}
			walk(next, depth+1)
		}
	}
	walk(a, 0)
	c.chains[a.Name+"|"+access] = chain
	return chain
}
