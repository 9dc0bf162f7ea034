package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// mergeAttempts is how often agents try to resolve a conflict before a person has to.
const mergeAttempts = 3

// lineage is what commits were made from.
type lineage struct {
	madeFrom    map[string][]executor.Result // results, by commit
	resolutions map[string]resolution        // of conflicts, by listKey
}

// resolution is what became of a conflict.
type resolution struct {
	executor.Tree
	of []string // commits that it has as ancestors
}

// listKey identifies an ordered list of results by their trees; a commit whose
// tree is not known stands for itself.
func listKey(inputs []executor.Result) string {
	h := sha256.New()
	for _, in := range inputs {
		fmt.Fprintln(h, in.Tree.ID())
	}
	return hex.EncodeToString(h.Sum(nil))
}

func commitsOf(inputs []executor.Result) []string {
	return lists.Map(inputs, func(in executor.Result) string { return in.Commit })
}

// resolve keeps a resolution for every list of the same trees.
func (l *lineage) resolve(inputs []executor.Result, to executor.Tree) {
	l.resolutions[listKey(inputs)] = resolution{to, commitsOf(inputs)}
}

// conflict records that a node's inputs, or its landing, do not merge.
func (gr *graph) conflict(n *node, paths []string) {
	l := &n.life
	l.resolved = ""
	if l.step == asideStep { // the open attempt to land ends first
		l.aside.paths = paths
		l.trouble = &trouble{executor.EffectFailed{Class: executor.FailConflict, Detail: gr.conflictText(n)}, executor.EffectBase, ""}
		return
	}
	l.unclean = false
	gr.beginMerge(n, l.inputs, paths, false)
}

// beginMerge begins the step that resolves a conflict: given to the node's first
// agent that may write, else to the one that the epic names, else to a person.
func (r *rules) beginMerge(n *node, inputs []executor.Result, paths []string, landing bool) {
	l := &n.life
	s := ir.Step{
		Name: executor.MergeStep, Access: "write", Session: "fresh", GateMode: "parallel", OnFailure: "reset", Next: executor.MergeStep, AllowEmpty: true,
		Limits: ir.StepLimits{Attempts: mergeAttempts, Iterations: 1, RunnerRetries: 5},
		Retry:  usualRetry,
	}
	if w := r.workStep(n); w != nil {
		s.Agent, s.Fallback, s.Model, s.Sandbox, s.Stall, s.Retry = w.Agent, w.Fallback, w.Model, w.Sandbox, w.Stall, w.Retry
		s.Limits.Iterations, s.Limits.RunnerRetries, s.Limits.TimeoutMS = max(w.Limits.Iterations, 1), w.Limits.RunnerRetries, w.Limits.TimeoutMS
	} else if name := r.epic.Epic.Integration.ConflictAgent; name != "" && !r.epic.Agents[name].Human {
		s.Agent, s.Model = name, r.epic.Agents[name].Model
	}
	l.aside = &aside{step: s, merge: true, landing: landing, inputs: inputs, paths: paths}
	l.step, l.stage, l.standin, l.stalls = asideStep, stageOpen, 0, 0
	l.streak, l.sign = 0, ""
}

// byHand reports whether a person has to resolve the conflict.
func (n *node) byHand() bool {
	a := n.life.aside
	return a.merge && (a.step.Agent == "" || a.used >= a.step.Limits.Attempts)
}

// resolved records a resolution and goes on from it.
func (r *Run) resolved(n *node, tree executor.Tree) {
	l := &n.life
	r.lineage.resolve(l.aside.inputs, tree)
	landing := l.aside.landing
	l.aside, l.step = nil, 0
	if landing {
		l.step, l.stage = len(n.ir.Steps)-1, stageLanding
		return
	}
	l.unclean = true
	r.setBase(n, tree)
}

// resolveAnew lets agents try again, or prepares the conflict once more.
func (n *node) resolveAnew() {
	l := &n.life
	if l.stage != stageHand {
		return
	}
	l.aside.used, l.stage = 0, stagePrepare
	l.attempt.agent = l.aside.step.Agent
	log := &n.logs[len(n.logs)-1]
	if log.Agent, log.ByHand = l.attempt.agent, n.byHand(); !log.ByHand {
		log.Feedback = n.feedback()
	}
}

// conflictText says what does not merge, and where.
func (gr *graph) conflictText(n *node) string {
	a := n.life.aside
	inputs := lists.Keep(a.inputs, func(in executor.Result) bool { return in.Node != "base" || len(a.inputs) < 3 })
	names := lists.Map(inputs, func(in executor.Result) string { return gr.nameOf(in.Node) })
	said := strings.Join(names, ", ") + " do not merge"
	if len(a.paths) > 0 {
		said += ": " + text.Some(a.paths, 5)
	}
	return executor.Fitting(said)
}

// nameOf is what people call a result.
func (gr *graph) nameOf(id ir.NodeID) string {
	if d := gr.byID[id]; d != nil && !d.sum {
		return string(d.keyOf())
	}
	switch id {
	case "base":
		return "the base"
	case executor.Integration:
		return "the integration branch"
	}
	return string(gr.keyOf(id))
}

// sameConflict is the node that waits for a person over a conflict that the sum has
// too: what resolves it there is part of what the sum joins then. nil if there is none.
func (gr *graph) sameConflict(n *node) *node {
	if !n.sum || n.life.aside == nil || !n.life.aside.merge {
		return nil
	}
	of := n.life.aside
	for _, d := range gr.nodes {
		if a := d.life.aside; d.sum || !d.waitsFor(executor.CauseConflict) || a == nil || !a.merge || !slices.Equal(a.paths, of.paths) ||
			slices.ContainsFunc(a.inputs, func(x executor.Result) bool {
				return x.Node != "base" && !slices.ContainsFunc(of.inputs, func(y executor.Result) bool { return y.Commit == x.Commit })
			}) {
			continue
		}
		return d
	}
	return nil
}

// handText says what a person has to resolve, and where.
func (gr *graph) handText(n *node) string {
	why := gr.conflictText(n)
	if d := gr.sameConflict(n); d != nil {
		return executor.Fitting(fmt.Sprintf("%s; the same conflict as %s: resolve it there", why, d.ir.Key))
	}
	if log := n.lastEnded(executor.MergeStep); log != nil && log.Person != "" && len(log.Problems) > 0 {
		why += "; not resolved yet: " + strings.Join(log.Problems, "; ")
	}
	return executor.Fitting(why)
}

// known returns the resolution of a list that was resolved before. If that was of
// other commits of the same trees, anew says so: its tree is right, and the commit
// lacks ancestors.
func (l *lineage) known(inputs []executor.Result) (t executor.Tree, anew, ok bool) {
	if len(inputs) < 2 {
		return executor.Tree{}, false, false
	}
	x, ok := l.resolutions[listKey(inputs)]
	return x.Tree, !slices.Equal(x.of, commitsOf(inputs)), ok
}

// commandGates are the node's gates that are commands, each once.
func (r *rules) commandGates(n *node) []string {
	var out []string
	for i := range n.ir.Steps {
		for _, g := range n.ir.Steps[i].Gates {
			if r.epic.Gates[g].Kind == "command" && !slices.Contains(out, g) {
				out = append(out, g)
			}
		}
	}
	return out
}
