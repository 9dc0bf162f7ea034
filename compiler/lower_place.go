package compiler

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// standing is where labels may be beside an item.
type standing struct {
	where  string // "below the title"
	labels string // that mean something there, for a sentence
	means  func(syntax.LabelName) bool

	foreign bool // what is there may name what the dialect does not read: "Task Group 1"
}

var belowTitle = standing{
	where: "below the title", labels: "Source Branch, Integration Branch, Policy, Labels, Goal and Description",
	means: func(n syntax.LabelName) bool {
		switch n {
		case syntax.SourceBranch, syntax.IntegrationBranch, syntax.Policy, syntax.LabelsLabel, syntax.Goal, syntax.Description:
			return true
		}
		return n.IsState()
	},
}

var belowPhase = standing{
	where: "below a phase", labels: "Goal, Description, Depends on, Blocks and Status",
	means: func(n syntax.LabelName) bool {
		switch n {
		case syntax.Goal, syntax.Description, syntax.DependsOn, syntax.Blocks:
			return true
		}
		return n.IsState()
	},
}

var outside = standing{
	where: "outside of every item", labels: "no labels",
	means:   func(syntax.LabelName) bool { return false },
	foreign: true,
}

// misplaced warns of labels below the title, below phases and below headings that are
// neither items nor phases, where they mean nothing: one warning for each label and kind of place.
func (l *lowering) misplaced() {
	var known *depend.Names // of the plan's items, made on first use
	check := func(at standing, sections []*syntax.Section) {
		first := map[syntax.LabelName]int{} // index in found
		var found []diag.Diagnostic
		for _, s := range sections {
			for _, lb := range lists.Each(s.Labels) {
				if at.means(lb.Name) {
					continue
				}
				if k, again := first[lb.Name]; again && len(found[k].Related) >= mostPlaces {
					continue
				}
				if lb.Name.IsDependency() && known == nil {
					known = depend.NewNames(&l.deps)
				}
				if !l.isSetting(lb, known) && !(at.foreign && known.Numbered(lb.Value.Value)) {
					continue
				}
				if k, again := first[lb.Name]; again {
					found[k] = found[k].WithRelated(lb.Range(), "here too")
					continue
				}
				first[lb.Name] = len(found)
				d := diag.Newf("label-not-here", lb.Range(), "%s means nothing %s", clip(lb.Written), at.where).
					WithDetail("%s ralph reads %s. This label is left out. %s", upperFirst(at.where), at.labels, l.instead(lb.Name))
				if lb.Name == syntax.Branch && s == &l.tree.Section && lb.From != syntax.FromDirective {
					d.Severity = diag.Hint // templates name the branch there that the plan was written on
				}
				found = append(found, d)
			}
		}
		l.diags.Add(found...)
	}
	check(belowTitle, []*syntax.Section{&l.tree.Section})
	var phases []*syntax.Section
	for i := range l.tree.Phases {
		if p := &l.tree.Phases[i]; len(p.Items) > 0 {
			phases = append(phases, &p.Section)
		}
	}
	for i := range l.tree.Splits {
		phases = append(phases, &l.tree.Splits[i].Section)
	}
	check(belowPhase, phases)
	if len(l.tree.Items) > 0 {
		check(outside, []*syntax.Section{{Labels: l.tree.Outside}})
	}
}

// mostPlaces bounds the places that one warning lists.
const mostPlaces = 8

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// instead says where a label belongs.
func (l *lowering) instead(n syntax.LabelName) string {
	sprint := "item"
	if l.dialect.Name == "sprint" {
		sprint = "sprint"
	}
	switch n {
	case syntax.IntegrationBranch:
		return "Write it below the title."
	case syntax.SourceBranch, syntax.Policy:
		return "Write it below the title, or below each " + sprint + " that it is about."
	case syntax.Verify, syntax.DevAgents, syntax.QAAgents, syntax.Attempts, syntax.Iterations, syntax.Timeout, syntax.Budget,
		syntax.Approval, syntax.Capability, syntax.Access, syntax.Model, syntax.Session, syntax.Branch, syntax.Worktree:
		return "Write it below each " + sprint + " that it is about, or say it once as policy, in an `hcl ralph` fence at this place."
	}
	return "Write it below each " + sprint + " that it is about."
}

// isSetting reports whether a label would set something if it was below an
// item. What would be prose there is prose here.
func (l *lowering) isSetting(lb *syntax.Label, known *depend.Names) bool {
	if lb.From == syntax.FromDirective {
		return true // written for ralph alone
	}
	if lb.Value.Value == "" && len(lb.Items) == 0 && len(lb.Text) == 0 && len(lb.Fences) == 0 {
		return false
	}
	defer l.quietly()()
	if lb.Name.IsDependency() {
		return slices.ContainsFunc(depend.Statements(lb, l.tree.File), known.Finds)
	}
	var n ir.DraftNode
	var d depend.Item
	fits := l.label(lb, &n, &d)
	switch lb.Name {
	case syntax.DevAgents, syntax.QAAgents:
		return len(n.Agents)+len(n.QA) > 0
	case syntax.Owns, syntax.Files, syntax.Reads:
		return len(n.Scope.Owns)+len(n.Scope.Files)+len(n.Scope.Reads) > 0
	case syntax.Verify:
		return len(n.Verify) > 0 || len(lb.Items) > 0
	}
	return fits || len(strings.Fields(lb.Value.Value)) <= 2 // "Medium" was meant to set something
}
