package compiler

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

func (l *lowering) item(i int) {
	it := &l.tree.Items[i]
	n := &l.draft.Nodes[i]
	key := it.ID
	if l.dialect.IgnoreCase {
		key = strings.ToLower(key)
	}
	*n = ir.DraftNode{
		ID: ir.NodeID(it.Annotation.ID), IDRange: it.Annotation.Range,
		Key: ir.Key(key), KeyRange: it.KeyRange, Range: it.Range, Word: it.Keyword,
		Kind: ir.Kind(cmp.Or(it.Kind, syntax.KindWork)), Done: it.Done, DoneBy: it.DoneBy, DoneRange: it.DoneRange,
		Title: it.Title, Section: it.Section,
	}
	if key == "" {
		l.diags.Add(diag.New("empty-id", it.Range, "the item has no id").
			WithDetail("The id pattern of dialect %q also matches nothing, as it does here. Write an id, or a pattern that needs at least one letter or digit, such as \"[0-9]+\".", l.dialect.Name))
	}
	num, ok := depend.ParseNumber(key)
	if !ok {
		l.diags.Add(diag.Newf("number-too-large", it.KeyRange, "the number in %q is too large", clip(it.ID)).
			WithDetail("Numbers in ids go up to %d. Write a smaller one.", depend.MaxPart))
	}
	d := &l.deps.Items[i]
	*d = depend.Item{Key: n.Key, Title: it.Title, Word: it.Keyword, At: it.KeyRange, Number: num, Also: it.Names, Group: int32(it.Phase), FirstPart: int32(it.FirstPart)}
	d.Marked = it.Parallel && l.dialect.ParallelMark != "" && (!depend.InLists(l.dialect) || l.isMark(it))
	if it.Phase >= 0 && it.Phase < len(l.tree.Phases) {
		n.Phase = l.tree.Phases[it.Phase].ID
		n.PhaseIndex = it.Phase
	} else {
		n.PhaseIndex = -1
	}
	n.Labels = append(n.Labels, lists.Map(it.Tags, func(tag syntax.Text) string { return tag.Value })...)
	if it.Optional || it.Phase >= 0 && l.tree.Phases[it.Phase].Optional {
		n.Labels = append(n.Labels, "optional")
	}
	l.texts[i].lines = it.Body.Prose
	l.section(&it.Body, &l.texts[i], n, d)
}

func (l *lowering) section(sec *syntax.Section, text *insertions, n *ir.DraftNode, d *depend.Item) {
	sec.Labels = l.within(sec.Labels)
	for k, lb := range lists.Each(sec.Labels) {
		if !l.label(lb, n, d) {
			below := paragraphs(&syntax.Label{Text: lb.Text, Items: lb.Items, Fences: lb.Fences})
			text.insert(k, lb.At, append(slices.Clip(lb.Lines), below...))
		}
	}
	for _, t := range sec.Tasks {
		n.Tasks = append(n.Tasks, ir.Task{Text: t.Text.Value, Detail: t.Detail})
	}
	requirements(sec, n)
	n.Fragments = fragments(sec.Fragments)
	for _, f := range lists.Each(sec.Outputs) {
		a, _ := f.Attr("output")
		n.Outputs = append(n.Outputs, ir.Output{Gate: a.Value, Schema: []byte(f.Content), Range: f.Range})
	}
}

// insertions puts labels that turned out to be prose back where they are.
type insertions struct {
	lines []string
	added []insertion
}

type insertion struct {
	label, at int
	lines     []string
}

func (x *insertions) insert(label, at int, lines []string) {
	if len(lines) > 0 {
		x.added = append(x.added, insertion{label, min(max(at, 0), len(x.lines)), lines})
	}
}

func (x *insertions) done() []string {
	if len(x.added) == 0 {
		return x.lines
	}
	slices.SortStableFunc(x.added, func(a, b insertion) int { return cmp.Or(a.at-b.at, a.label-b.label) })
	var out []string
	from := 0
	for _, a := range x.added {
		out = append(append(out, x.lines[from:a.at]...), a.lines...)
		from = a.at
	}
	return append(out, x.lines[from:]...)
}

// label lowers one label; false if its value does not fit and it is prose.
func (l *lowering) label(lb *syntax.Label, n *ir.DraftNode, d *depend.Item) bool {
	if lb.Meant != "" { // an error already: what its value says is not looked at
		defer l.quietly()()
	}
	if field := scalarFields()[lb.Name]; field != nil {
		s := scalar(lb)
		if !l.fits(lb, &s) {
			return false
		}
		*field(n) = s
		return true
	}
	switch lb.Name {
	case syntax.Goal:
		n.Goal = joinGoal(n.Goal, paragraphs(lb))
	case syntax.Description:
		n.Description = append(n.Description, paragraphs(lb)...)
	case syntax.SourceBranch:
		n.Base = branchValue(lb)
		d.Prose = append(d.Prose, depend.Clauses(lb.Value, l.tree.File)...)
	case syntax.Branch:
		n.Branch = branchValue(lb)
		d.Prose = append(d.Prose, depend.Clauses(lb.Value, l.tree.File)...)
	case syntax.IntegrationBranch:
		return false
	case syntax.DevAgents:
		return l.addAgents(&n.Agents, lb)
	case syntax.QAAgents:
		return l.addAgents(&n.QA, lb)
	case syntax.Acceptance:
		n.Acceptance = append(n.Acceptance, criteria(lb)...)
	case syntax.Verify:
		l.verify(lb, n)
	case syntax.Owns:
		n.New = append(n.New, newPaths(lb)...)
		return l.owned(&n.Scope.Owns, lb)
	case syntax.Files:
		n.New = append(n.New, newPaths(lb)...)
		return l.forecast(&n.Scope.Files, lb)
	case syntax.Reads:
		return l.forecast(&n.Scope.Reads, lb)
	case syntax.LabelsLabel:
		n.Labels = append(n.Labels, words(lb)...)
	case syntax.Implements:
		n.Implements = append(n.Implements, words(lb)...)
	case syntax.Capability:
		return l.capabilities(lb, n)
	case syntax.Prompt:
		n.Prompt = append(n.Prompt, promptLines(lb)...)
	case syntax.Manual:
		return l.manual(lb, n)
	case syntax.DependsOn:
		d.After = append(d.After, depend.Statements(lb, l.tree.File)...)
	case syntax.Blocks:
		d.Blocks = append(d.Blocks, depend.Statements(lb, l.tree.File)...)
	case syntax.Related, syntax.Parent, syntax.DiscoveredFrom:
		d.Soft = append(d.Soft, depend.Statements(lb, l.tree.File)...)
	}
	return true
}

// quietly reports nothing until what it returns is called.
func (l *lowering) quietly() (loudly func()) {
	real := l.diags
	l.diags = new(diag.List)
	return func() { l.diags = real }
}

// capabilities reports false if the label as a whole is nearly one word.
func (l *lowering) capabilities(lb *syntax.Label, n *ir.DraftNode) bool {
	if near, ok := syntax.NearMiss(scalar(lb).Value, l.abilities); ok {
		l.diags.Add(depend.NearValue(scalar(lb).Range, scalar(lb).Value, near, lb.Written))
		return false
	}
	for _, s := range wordsAt(lb) {
		if w, ok := syntax.KnownWord(s.Value, l.abilities); ok {
			s.Value = w
		} else if near, ok := syntax.NearMiss(s.Value, l.abilities); ok {
			l.diags.Add(depend.NearValue(s.Range, s.Value, near, lb.Written))
		}
		n.Capability = append(n.Capability, s)
	}
	return true
}

// scalarFields are the fields of labels that hold one value, which is checked by fits.
var scalarFields = sync.OnceValue(func() map[syntax.LabelName]func(*ir.DraftNode) *ir.Stated {
	return map[syntax.LabelName]func(*ir.DraftNode) *ir.Stated{
		syntax.Worktree:   func(n *ir.DraftNode) *ir.Stated { return &n.Worktree },
		syntax.Complexity: func(n *ir.DraftNode) *ir.Stated { return &n.Complexity },
		syntax.Priority:   func(n *ir.DraftNode) *ir.Stated { return &n.Priority },
		syntax.Lane:       func(n *ir.DraftNode) *ir.Stated { return &n.Lane },
		syntax.Type:       func(n *ir.DraftNode) *ir.Stated { return &n.Type },
		syntax.Policy:     func(n *ir.DraftNode) *ir.Stated { return &n.Policy },
		syntax.Attempts:   func(n *ir.DraftNode) *ir.Stated { return &n.Attempts },
		syntax.Iterations: func(n *ir.DraftNode) *ir.Stated { return &n.Iterations },
		syntax.Timeout:    func(n *ir.DraftNode) *ir.Stated { return &n.Timeout },
		syntax.Deadline:   func(n *ir.DraftNode) *ir.Stated { return &n.Deadline },
		syntax.Budget:     func(n *ir.DraftNode) *ir.Stated { return &n.Budget },
		syntax.Estimate:   func(n *ir.DraftNode) *ir.Stated { return &n.Estimate },
		syntax.Approval:   func(n *ir.DraftNode) *ir.Stated { return &n.Approval },
		syntax.Access:     func(n *ir.DraftNode) *ir.Stated { return &n.Access },
		syntax.Model:      func(n *ir.DraftNode) *ir.Stated { return &n.Model },
		syntax.Session:    func(n *ir.DraftNode) *ir.Stated { return &n.Session },
	}
})

func joinGoal(goal string, lines []string) string {
	text := strings.Join(trimLines(lines), "\n")
	if goal != "" && text != "" {
		return goal + "\n" + text
	}
	return goal + text
}

func criteria(lb *syntax.Label) []string {
	var out []string
	for _, e := range entries(lb) {
		if strings.TrimSpace(e.text) == "" {
			continue
		}
		out = append(out, e.text)
		for _, d := range e.detail {
			out = append(out, "  "+d)
		}
	}
	return out
}

func promptLines(lb *syntax.Label) []string {
	out := paragraphs(&syntax.Label{Value: lb.Value, Text: lb.Text, Items: lb.Items})
	for i := range lb.Fences { // a prompt in a fence is the fence's content
		out = append(out, strings.Split(strings.TrimRight(lb.Fences[i].Content, "\n"), "\n")...)
	}
	return out
}

func (l *lowering) manual(lb *syntax.Label, n *ir.DraftNode) bool {
	switch strings.TrimSuffix(strings.ToLower(scalar(lb).Value), ".") {
	case "yes", "true":
		n.Kind = ir.Manual
	case "no", "false":
	default:
		return l.invalidControl(lb, scalar(lb), "yes or no", "It says whether a person does the work.")
	}
	return true
}

// verify makes command gates of sh fences and of a value that is one code span;
// other text is an acceptance criterion.
func (l *lowering) verify(lb *syntax.Label, n *ir.DraftNode) {
	from := len(n.Verify)
	defer func() {
		for _, g := range n.Verify[from:] {
			if shown, hidden := reveal.Text(g.Run); hidden > 0 {
				l.diags.Add(diag.New("hidden-in-command", g.Range, "the command has invisible characters").
					WithDetail("It is “%s”: what a reader sees is not what runs. Remove them; where a command needs one, write it as an escape, as in printf '\\033'.", clip(shown)))
			}
		}
	}()
	for _, f := range lists.Each(lb.Fences) {
		if f.Lang != "sh" && f.Lang != "bash" {
			continue
		}
		g := ir.DraftGate{Run: strings.TrimRight(f.Content, "\n"), Range: f.Range}
		if strings.TrimSpace(g.Run) == "" {
			continue
		}
		for _, a := range f.Info {
			v := ir.Stated{Value: a.Value, Range: a.ValueRange, Strict: true}
			switch a.Key {
			case "name":
				if !agentName(a.Value) {
					l.diags.Add(diag.Newf("fence-attribute", a.ValueRange, "name: %q is not a value for it", clip(a.Value)).
						WithDetail("The name of a gate is one word of letters, digits, \"-\", \"_\" and \".\". Write such a name."))
					continue
				}
				g.Name, g.NameRange = a.Value, a.ValueRange
			case "timeout":
				g.Timeout = v
			case "on_failure":
				g.OnFailure = v
			}
		}
		n.Verify = append(n.Verify, g)
	}
	below := lists.Map(lb.Items, func(it syntax.ListItem) syntax.Text { return it.Text })
	for _, t := range append([]syntax.Text{lb.Value}, below...) {
		switch v := strings.TrimSpace(t.Value); {
		case v == "":
		case t.Code:
			n.Verify = append(n.Verify, ir.DraftGate{Run: v, Range: t.Range})
		default:
			n.Acceptance = append(n.Acceptance, v)
			l.diags.Add(diag.New("verify-prose", t.Range, "the text becomes an acceptance criterion").
				WithDetail("Only a command can be run as a gate. Write the command as one code span, or in a fence marked sh below the label."))
		}
	}
	n.Acceptance = append(n.Acceptance, lb.Text...)
}

// addAgents reports false if the label names something else than agents.
func (l *lowering) addAgents(to *[]ir.AgentRef, lb *syntax.Label) bool {
	before := len(*l.diags)
	*to = append(*to, l.agentRefs(lb)...)
	return len(*l.diags) == before
}

// agentRefs reads "- `name` (model) - note", and names side by side.
func (l *lowering) agentRefs(lb *syntax.Label) []ir.AgentRef {
	var out []ir.AgentRef
	for _, e := range entries(lb) {
		for _, part := range splitAgents(e) {
			r, ok := agentRef(part.Value, part.Range)
			if ok && !agentName(r.Name) {
				part.Value = r.Name
				l.unfit(lb, part, "a list of names of agents, each one word, or of paths of agent files")
				ok = false
			}
			if ok {
				out = append(out, r)
			}
		}
	}
	return out
}
