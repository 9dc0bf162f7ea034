package dot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Policy is how nodes are worked on: what `ralph graph --policy` shows. The
// zero value is a policy that nothing uses.
type Policy struct {
	Name     string    `json:"name"`
	Nodes    []ir.Key  `json:"nodes"` // that follow it with exactly these steps
	Steps    []Step    `json:"steps"`
	Agents   []Agent   `json:"agents"` // that its steps, gates and fallbacks name, by name
	Findings []Finding `json:"findings"`
}

// Step is a stage of a policy.
type Step struct {
	Name         string   `json:"name"`
	Agent        string   `json:"agent"`
	Fallback     []string `json:"fallback"`
	Capabilities []string `json:"capabilities"`
	Access       string   `json:"access"`
	Gates        []Gate   `json:"gates"`
	Next         string   `json:"next"` // where a fail goes
	Attempts     int      `json:"attempts"`
}

// Gate is what judges a step.
type Gate struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Agent    string   `json:"agent"`
	Fallback []string `json:"fallback"`
}

// Agent is an agent that works or judges.
type Agent struct {
	Name   string `json:"name"`
	Runner string `json:"runner"`
	Model  string `json:"model"`
	Human  bool   `json:"human"`
}

// Finding is a place where a policy breaks easily.
type Finding struct {
	Kind    string `json:"kind"` // dead-end, single-point, no-gate
	Step    string `json:"step"`
	Agent   string `json:"agent"`
	Message string `json:"message"`
}

// Policies reads the policies that the nodes of e follow, in the order of
// nodes. Nodes of one policy whose steps differ (a sprint's own agents or
// gates, which carry its key, count as the same) make variants.
func Policies(e *ir.Epic) []Policy {
	var out []Policy
	at := map[string]int{}
	for _, n := range lists.Each(e.Nodes) {
		if len(n.Steps) == 0 {
			continue
		}
		p := Policy{Name: cmp.Or(n.Policy, "default"), Nodes: []ir.Key{}, Steps: []Step{}, Agents: []Agent{}, Findings: []Finding{}}
		for j := range n.Steps {
			p.Steps = append(p.Steps, stepOf(e, n, &n.Steps[j]))
		}
		same := fmt.Sprintf("%q %+v", p.Name, p.Steps)
		k, known := at[same]
		if !known {
			k = len(out)
			at[same] = k
			p.Agents = agentsOf(e, p.Steps)
			p.Findings = findings(e, p.Steps)
			out = append(out, p)
		}
		out[k].Nodes = append(out[k].Nodes, n.Key)
	}
	return out
}

func stepOf(e *ir.Epic, n *ir.Node, s *ir.Step) Step {
	out := Step{
		Name: s.Name, Agent: s.Agent, Fallback: listed(s.Fallback), Capabilities: listed(s.Capabilities),
		Access: s.Access, Gates: []Gate{}, Next: s.Next, Attempts: s.Limits.Attempts,
	}
	for _, name := range s.Gates {
		g := e.Gates[name]
		if rest, own := strings.CutPrefix(name, string(n.Key)+"/"); own {
			name = "(sprint)/" + rest
		}
		out.Gates = append(out.Gates, Gate{Name: name, Kind: g.Kind, Agent: g.Agent, Fallback: listed(g.Fallback)})
	}
	return out
}

func listed(s []string) []string { return append([]string{}, s...) }

func agentsOf(e *ir.Epic, steps []Step) []Agent {
	var names []string
	for _, s := range steps {
		names = append(append(names, s.Agent), s.Fallback...)
		for _, g := range s.Gates {
			names = append(append(names, g.Agent), g.Fallback...)
		}
	}
	slices.Sort(names)
	out := []Agent{}
	for _, name := range slices.Compact(names) {
		if name == "" {
			continue
		}
		a := e.Agents[name]
		if !e.UsesModel(name) {
			a.Model = ""
		}
		out = append(out, Agent{Name: name, Runner: a.Runner, Model: a.Model, Human: a.Human})
	}
	return out
}

// findings are the dead ends and the single points of failure of steps.
func findings(e *ir.Epic, steps []Step) []Finding {
	out := []Finding{}
	add := func(kind, step, agent, format string, args ...any) {
		out = append(out, Finding{kind, step, agent, fmt.Sprintf(format, args...)})
	}
	for _, s := range steps {
		a, known := e.Agents[s.Agent]
		human := slices.ContainsFunc(s.Gates, func(g Gate) bool { return g.Kind == "human" })
		switch {
		case s.Agent == "" && len(s.Gates) == 0:
			add("dead-end", s.Name, "", "nobody does step %s and nothing judges it", s.Name)
		case s.Agent == "":
		case !known:
			add("dead-end", s.Name, s.Agent, "step %s needs agent %s, which does not exist", s.Name, s.Agent)
		case len(s.Fallback) == 0 && !a.Human:
			add("single-point", s.Name, s.Agent, "step %s has only agent %s: no fallback", s.Name, s.Agent)
		case len(s.Fallback) > 0 && oneRunner(e, s.Agent, s.Fallback):
			add("single-point", s.Name, s.Agent, "agent %s and its fallbacks all need runner %s", s.Agent, a.Runner)
		}
		if s.Access == "write" && len(s.Gates) == 0 {
			add("no-gate", s.Name, s.Agent, "step %s changes files and nothing judges it", s.Name)
		}
		if s.Attempts == 1 && s.Next == s.Name && !human {
			add("dead-end", s.Name, s.Agent, "a first fail of step %s ends the node: it has one attempt", s.Name)
		}
	}
	return out
}

func oneRunner(e *ir.Epic, agent string, fallback []string) bool {
	return !slices.ContainsFunc(fallback, func(f string) bool { return e.Agents[f].Runner != e.Agents[agent].Runner })
}

// maxPolicies bounds a drawing; JSON holds them all.
const maxPolicies = 60

// WritePolicies draws policies: their steps from left to right, each with its gates,
// agents, stand-ins, the target of a fail, and what breaks easily.
func WritePolicies(title string, policies []Policy) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph policy {\n  graph [rankdir=LR, bgcolor=white, fontname=%s, fontsize=18, fontcolor=%q, labelloc=t, labeljust=l, nodesep=0.25, ranksep=0.5, pad=0.3, label=<<B>%s</B>>];\n",
		font, ink, html(text.Shorten(title, 90)))
	fmt.Fprintf(&b, "  node [fontname=%s, fontsize=11, fontcolor=%q, penwidth=1.2, height=0.4, margin=\"0.14,0.08\"];\n", font, ink)
	fmt.Fprintf(&b, "  edge [color=%q, arrowsize=0.7, fontname=%s, fontsize=9, fontcolor=%q];\n", edgeInk, font, quiet)
	for i := range policies[:min(len(policies), maxPolicies)] {
		drawPolicy(&b, i, &policies[i])
	}
	if more := len(policies) - maxPolicies; more > 0 {
		fmt.Fprintf(&b, "  more [shape=plain, label=%s];\n", quoted(text.Count(more, "more way")+" of working not drawn"))
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

func drawPolicy(b *strings.Builder, i int, p *Policy) {
	id := func(kind string, j int) string { return fmt.Sprintf("%s_%d_%d", kind, i, j) }
	broken := map[string]Finding{}
	for _, f := range slices.Backward(p.Findings) {
		broken[f.Step] = f
	}
	fmt.Fprintf(b, "  subgraph cluster_%d {\n    graph [label=<<B>policy %s</B> · %s>, fontsize=12, style=\"rounded,filled\", fillcolor=\"#FBFBFC\", color=\"#D5D9DE\", margin=14, tooltip=%s];\n",
		i, html(text.Shorten(p.Name, 60)), html(nodeList(p.Nodes, 8)), quoted(nodeList(p.Nodes, 40)))
	agents := map[string]int{}
	for j, a := range p.Agents {
		agents[a.Name] = j
		shape, line := "component", a.Runner
		if a.Human {
			shape, line = "ellipse", "a person"
		}
		if a.Model != "" {
			line += " · " + a.Model
		}
		fmt.Fprintf(b, "    %s [shape=%s, style=filled, fillcolor=\"#F4ECF9\", color=\"#8644A8\", tooltip=%s, label=<<B>%s</B><BR/><FONT POINT-SIZE=\"9\" COLOR=\"%s\">%s</FONT>>];\n",
			id("agent", j), shape, quoted("agent "+a.Name), html(text.Shorten(a.Name, 40)), quiet, html(text.Shorten(line, 40)))
	}
	steps := lists.Index(p.Steps, func(x *Step) string { return x.Name })
	for j := range p.Steps {
		drawStep(b, i, j, p, broken, steps, agents)
	}
	b.WriteString("  }\n")
}

// drawStep draws a step of policy i with its gates, and lines to who works and judges.
func drawStep(b *strings.Builder, i, j int, p *Policy, broken map[string]Finding, steps, agents map[string]int) {
	id := func(kind string, j int) string { return fmt.Sprintf("%s_%d_%d", kind, i, j) }
	s := &p.Steps[j]
	fill, border, peripheries := looks["standard"].fill, looks["standard"].border, 1
	f, bad := broken[s.Name]
	switch {
	case f.Kind == "single-point":
		fill, border = warnFill, warnInk
	case bad:
		fill, border, peripheries = looks["critical"].fill, looks["critical"].border, 2
	}
	fmt.Fprintf(b, "    %s [shape=box, style=\"filled,rounded\", fillcolor=%q, color=%q, peripheries=%d, tooltip=%s, label=<%s>];\n",
		id("step", j), fill, border, peripheries, quoted("step "+s.Name), stepLabel(s, f, bad))
	if j > 0 {
		fmt.Fprintf(b, "    %s -> %s [penwidth=2, color=%q, weight=9];\n", id("step", j-1), id("step", j), ink)
	}
	if to, known := steps[s.Next]; known && to < j {
		fmt.Fprintf(b, "    %s -> %s [style=dashed, constraint=false, label=\"a fail goes back\", color=%q];\n", id("step", j), id("step", to), looks["critical"].border)
	}
	hire := func(from, agent, label string) {
		if k, known := agents[agent]; known {
			fmt.Fprintf(b, "    %s -> %s [arrowhead=none, style=dotted, label=%s];\n", from, id("agent", k), quoted(label))
		}
	}
	hire(id("step", j), s.Agent, "does it")
	for n, f := range s.Fallback {
		hire(id("step", j), f, fmt.Sprintf("fallback %d", n+1))
	}
	for n, g := range s.Gates {
		gate := fmt.Sprintf("gate_%d_%d_%d", i, j, n)
		fmt.Fprintf(b, "    %s [shape=octagon, style=filled, fillcolor=\"#FFF8E6\", color=\"#B7791F\", margin=\"0.02,0.02\", tooltip=%s, label=<<B>%s</B><BR/><FONT POINT-SIZE=\"9\" COLOR=\"%s\">%s</FONT>>];\n    %s -> %s [color=\"#B7791F\"];\n",
			gate, quoted("gate "+g.Name), html(text.Shorten(g.Name, 40)), quiet, html(g.Kind), id("step", j), gate)
		hire(gate, g.Agent, "judges")
		for n, f := range g.Fallback {
			hire(gate, f, fmt.Sprintf("fallback %d", n+1))
		}
	}
}

func stepLabel(s *Step, f Finding, bad bool) string {
	label := "<B>" + html(text.Shorten(s.Name, 40)) + "</B>"
	small := func(text, color string) {
		for _, line := range wrap(text, 34, 3) {
			label += fmt.Sprintf(`<BR/><FONT POINT-SIZE="9" COLOR="%s">%s</FONT>`, color, html(line))
		}
	}
	if len(s.Capabilities) > 0 {
		small("needs "+strings.Join(s.Capabilities, ", "), quiet)
	}
	if s.Attempts > 0 {
		small(s.Access+" · "+text.Count(s.Attempts, "attempt"), quiet)
	}
	if bad {
		words := map[string]string{"dead-end": "DEAD END: ", "single-point": "SINGLE POINT OF FAILURE: ", "no-gate": "NO GATE: "}
		color := looks["critical"].border
		if f.Kind == "single-point" {
			color = warnInk
		}
		small(words[f.Kind]+f.Message, color)
	}
	return label
}

// nodeList names the first nodes of a policy, and says how many more there are.
func nodeList(keys []ir.Key, most int) string {
	out := make([]string, 0, most+1)
	for _, k := range keys[:min(len(keys), most)] {
		out = append(out, text.Shorten(string(k), 40))
	}
	if more := len(keys) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}
