package gsd

import (
	"cmp"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// plan is a plan file on its way to a node.
type plan struct {
	file   *diag.File
	phase  *phase
	number string
	node   ir.DraftNode
	body   int // where it begins in the file

	phaseText, numberText, title string // of the front matter
	heading                      string // the first heading of the body

	wave   int
	waveAt diag.Range // zero: it has none
	needs  []need
	phases []need  // of needs, those that are whole phases
	after  []*plan // in its phase
	setup  diag.Range

	tasks, people int // how many tasks there are, how many of them a person does
	looks         diag.Range
	checks        []ir.Task // what a person looks at when the rest is done
	asks          diag.Range

	edges    map[*plan]bool
	commands map[string]bool
	implied  map[string]bool // ids of requirements
}

func (d *decoding) plan(f *diag.File) {
	p := &plan{file: f, edges: map[*plan]bool{}, commands: map[string]bool{}, implied: map[string]bool{}}
	n := &p.node
	n.Kind, n.Word, n.PhaseIndex = ir.Work, "Plan", -1
	n.Range, n.KeyRange = f.Range(0, 0), f.Range(0, 0)
	d.front(p)
	ph, number := nameParts(f.Name)
	ph, number = cmp.Or(ph, phaseNumber(p.phaseText)), cmp.Or(number, planNumber(p.numberText))
	if strings.EqualFold(p.phaseText, quick) {
		ph = quick
	}
	if ph == "" || number == "" {
		d.diags.Add(diag.New("gsd-id", n.Range, "the plan has no number").
			WithDetail("A plan is known by the numbers of its phase and of itself. Call the file 01-02-PLAN.md, or write phase: 01-name and plan: 02 into its front matter."))
		return
	}
	id := ph + "-" + number
	n.Key = ir.Key(padded(ph) + "-" + padded(number))
	if other := d.plans[id]; other != nil {
		d.diags.Add(diag.Newf("duplicate-id", n.Range, "plan %s appears twice", n.Key).
			WithDetail("Two files have these numbers of phase and plan. Give one of them another number, or import one of them alone.").
			WithRelated(other.file.Range(0, 0), "the other one"))
		return
	}
	p.phase, p.number = d.phase(ph), number
	p.phase.index = -1
	if p.phase.name == "" {
		if _, name, ok := strings.Cut(p.phaseText, "-"); ok {
			p.phase.name = strings.ReplaceAll(name, "-", " ")
		}
	}
	p.phase.plans = append(p.phase.plans, p)
	d.plans[id] = p
	d.content(p)
}

func planNumber(s string) string {
	if m := plainForm.FindStringSubmatch(strings.TrimSpace(s)); m != nil {
		return number(m[1])
	}
	return ""
}

// maxEntries bounds each list of a plan.
const maxEntries = 1000

// content reads the body of a plan.
func (d *decoding) content(p *plan) {
	text := withoutComments(p.file.Bytes)
	n := &p.node
	found, between := d.elements(p.file, text, p.body, len(text))
	for i := range between {
		d.between(p, text[between[i][0]:between[i][1]])
		if i == len(found) {
			break
		}
		e := found[i]
		inner := text[e.from:e.to]
		switch e.name {
		case "objective":
			n.Goal = strings.Join(lines(inner), "\n")
			n.Range = p.file.Range(e.start, e.from)
		case "execution_context":
		case "context":
			d.context(p, inner)
		case "tasks":
			tasks, rest := d.elements(p.file, text, e.from, e.to)
			for k, r := range rest {
				d.between(p, text[r[0]:r[1]])
				switch {
				case k == len(tasks):
				case tasks[k].name == "task":
					d.task(p, text, tasks[k])
				default:
					p.section(tasks[k].name, text[tasks[k].from:tasks[k].to])
				}
			}
		case "task":
			d.task(p, text, e)
		case "verification", "success_criteria":
			n.Acceptance = append(n.Acceptance, points(inner)...)
		case "output":
			p.section("When the work is done", inner)
		default:
			p.section(e.name, inner)
		}
	}
	if max(len(n.Tasks)+len(p.checks), len(n.Verify), len(n.Acceptance), len(n.Implements)) > maxEntries {
		d.diags.Add(diag.New("plan-too-large", n.Range, "the plan lists too much").
			WithDetail("A plan has at most %d tasks, commands, criteria and requirements each. Split it.", maxEntries))
	}
	if p.tasks > 0 && p.people == p.tasks {
		n.Kind = ir.Manual
		n.Tasks, p.checks = append(n.Tasks, p.checks...), nil
	}
}

// between takes what is outside of the elements: the first heading is the title,
// the rest goes to the agent.
func (d *decoding) between(p *plan, src string) {
	for _, l := range lines(src) {
		if h, ok := strings.CutPrefix(l, "# "); ok && p.heading == "" {
			p.heading = text.OneLine(h)
			continue
		}
		if l == "---" || l == "" && (len(p.node.Text) == 0 || p.node.Text[len(p.node.Text)-1] == "") {
			continue
		}
		p.node.Text = append(p.node.Text, l)
	}
}

// section adds an element as text below its name.
func (p *plan) section(name, inner string) {
	if got := lines(inner); len(got) > 0 {
		p.node.Text = append(p.node.Text, sentence(strings.NewReplacer("_", " ", "-", " ").Replace(name))+":", "")
		p.node.Text = append(append(p.node.Text, got...), "")
	}
}

// context reads what an agent is to look at: @path on a line of its own is a file.
func (d *decoding) context(p *plan, inner string) {
	var rest []string
	for _, l := range lines(inner) {
		if s := strings.TrimSpace(l); strings.HasPrefix(s, "@") {
			name, about, _ := strings.Cut(s, " ")
			p.addPath(&p.node.Scope.Reads, name)
			if about == "" {
				continue
			}
		}
		if !strings.HasPrefix(l, "# Only ") {
			rest = append(rest, l)
		}
	}
	if strings.TrimSpace(strings.Join(rest, "")) != "" {
		p.section("context", strings.Join(rest, "\n"))
	}
}

// last is the key of what the work of a plan ends with: the plan itself, or the manual
// sprint in which a person looks at it.
func (p *plan) last() ir.Key {
	if len(p.checks) > 0 && !p.node.Done {
		return p.node.Key + "-check"
	}
	return p.node.Key
}

// check is the manual sprint after a plan with checkpoints.
func (p *plan) check() ir.DraftNode {
	return ir.DraftNode{
		Key: p.last(), KeyRange: p.looks, Range: p.looks, Kind: ir.Manual, Word: "Check", Title: "Check: " + p.node.Title,
		Phase: p.node.Phase, PhaseIndex: p.node.PhaseIndex, Section: p.node.Section, Tasks: p.checks,
		Edges: []ir.DraftEdge{{Key: p.node.Key, From: "import", Type: ir.Blocks, Range: p.looks}},
	}
}

// titles chooses what a plan is called: the roadmap's line, its own title or heading,
// the first sentence of its objective.
func (p *plan) titles() {
	n := &p.node
	goal, _, _ := strings.Cut(n.Goal, "\n")
	if i := strings.Index(goal, ". "); i > 0 {
		goal = goal[:i]
	}
	n.Title = cmp.Or(p.phase.outlined[p.number].title, p.title, p.heading, strings.TrimSuffix(goal, "."), "Plan "+string(n.Key))
	const most = 120
	n.Title = text.Title(n.Title, most)
}

func short(s string) string { return foreign.Clip(text.OneLine(s)) }
