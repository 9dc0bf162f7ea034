package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// Bounds limit the size of a sprint; 0 = unlimited.
type Bounds struct {
	Tasks      int
	Files      int // paths and globs that it owns or forecasts
	EstimateMS int64
}

// BoundsOf are the bounds that a policy states.
func BoundsOf(s *policies.Set) Bounds {
	m := s.Draft.MaxSprint
	return Bounds{Tasks: m.Tasks.V, Files: m.Files.V, EstimateMS: m.EstimateMS.V}
}

// Compiled is a plan as the compiler read it, with what Check compares it with.
type Compiled struct {
	Epic    *ir.Epic              // with errors: as far as it could be made (compiler.Trace)
	Errors  diag.List             // of the compiler
	File    *diag.File            // the plan
	Places  map[ir.Key]diag.Range // of the headings of its items (compiler.Trace)
	New     []string              // paths that sprints make (compiler.Trace)
	Paths   []string              // files of the project that it is a plan for, relative to the project
	Partial bool                  // Paths are not all of them: no path can be said to be missing
	Wish    string
	Bounds  Bounds
	Now     Identities // that the plan says

	Finished map[ir.NodeID]bool // sprints that are done by the record: they are left alone
}

// Check reports what keeps a new plan from being a good one, all at once: policy files and
// ids of its own, sprints without acceptance criteria or without a judge, sprints that are too large,
// scopes that name nothing, requirements of the wish that no sprint implements. Finished
// work is skipped, as is what an error of the compiler leaves unsure. The list is sorted.
func Check(c Compiled) diag.List {
	k := &checking{Compiled: c, unsure: unsureOf(&c), asked: Requirements(c.Wish)}
	k.all()
	k.inventedEpic("")
	for _, n := range k.Now.Items {
		k.invented(n)
	}
	k.diags.Sort()
	k.diags.Cap()
	return k.diags
}

func (k *checking) all() {
	k.front()
	for i := range k.Epic.Nodes {
		if n := &k.Epic.Nodes[i]; !k.left(n) {
			k.acceptance(n)
			k.judge(n)
			k.large(n)
		}
	}
	k.scopes()
	k.requirements()
}

// left reports whether a sprint is left alone: it is finished, or it is not sure what it
// says.
func (k *checking) left(n *ir.Node) bool { return n.Done || k.Finished[n.ID] || k.items[n.Key] }

type checking struct {
	Compiled
	unsure
	asked  []string           // requirements that it has to implement
	held   []string           // and those that it did before it was changed
	before syntax.FrontMatter // of the plan before it was changed
	diags  diag.List
}

func (k *checking) acceptance(n *ir.Node) {
	if n.Kind == ir.GateKind || len(n.Acceptance) > 0 {
		return
	}
	k.diags.Add(diag.Newf("draft-no-acceptance", k.Places[n.Key], "sprint %s has no acceptance criteria", short(n.Key)).
		WithDetail("Without them nobody can tell whether its work is what was asked for. Write a list below **Acceptance Criteria**: each point can be checked by somebody who did not do the work."))
}

// judge reports a sprint of which only the agent itself says that it is done.
func (k *checking) judge(n *ir.Node) {
	if n.Kind == ir.Manual || k.outside { // who does it is a person; what judges it may be lost
		return
	}
	for i := range n.Steps {
		for _, name := range n.Steps[i].Gates {
			switch k.Epic.Gates[name].Kind {
			case "command", "agent", "review", "human":
				return
			}
		}
	}
	k.diags.Add(diag.Newf("draft-no-judge", k.Places[n.Key], "nothing judges sprint %s", short(n.Key)).
		WithDetail("Only its own agent would say that it is done. Write a command below **Verify** that fails before the work and passes after it, such as **Verify**: `make test`, or a judge below **QA Agents**."))
}

func (k *checking) large(n *ir.Node) {
	var over []string
	if most := k.Bounds.Tasks; most > 0 && len(n.Tasks) > most {
		over = append(over, fmt.Sprintf("%d tasks (at most %d)", len(n.Tasks), most))
	}
	if most, files := k.Bounds.Files, len(paths(n)); most > 0 && files > most {
		over = append(over, fmt.Sprintf("%d paths under Owns and Files (at most %d)", files, most))
	}
	if most := k.Bounds.EstimateMS; most > 0 && n.Limits.EstimateMS > most {
		over = append(over, fmt.Sprintf("an estimate of %s (at most %s)", ir.Duration(n.Limits.EstimateMS), ir.Duration(most)))
	}
	if len(over) > 0 {
		k.diags.Add(diag.Newf("draft-sprint-too-large", k.Places[n.Key], "sprint %s is too large", short(n.Key)).
			WithDetail("It has %s. Split it into sprints that can be verified separately.", text.And(over)))
	}
}

// paths are what a node may or will change, each once.
func paths(n *ir.Node) []string {
	out := slices.Concat(n.Scope.Owns, n.Scope.Files)
	slices.Sort(out)
	return slices.Compact(out)
}

// title is the place of the plan's title, else its start.
func (k *checking) title() diag.Range {
	text := string(k.File.Bytes)
	at := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# ") {
			return k.File.Range(at, at+len(strings.TrimRight(line, "\r\n")))
		}
		at += len(line)
	}
	return k.File.Range(0, 0)
}

// short is a key in a summary.
func short(key ir.Key) string { return text.Clip(plain(string(key)), 24) }
