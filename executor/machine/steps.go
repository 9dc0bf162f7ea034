package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// asideStep stands for the step that the machine made up for a node's life: the
// merge of what conflicts, or the landing on the integration branch.
const asideStep = -2

// LandStep is the reserved name of the step that brings a result into the
// integration branch, in mode branch.
const LandStep = "land"

// aside is a step that no epic holds.
type aside struct {
	step    ir.Step
	merge   bool              // resolve a conflict; else land
	landing bool              // the conflict is one with the integration branch
	inputs  []executor.Result // what is merged, in order
	paths   []string          // in conflict
	used    int               // attempts that count
	touched bool              // a person worked on it: the tree is never reset
}

// Step returns a node's step by name: one of the epic, or one that the machine
// created during the run: "merge", "land", "integrate" of the sum. It is nil if there
// is none, and must not be modified.
func (o Node) Step(name string) *ir.Step {
	n := o.r.byID[o.id]
	if n == nil || n.ir == nil {
		return nil
	}
	switch i := n.stepIndex(name); {
	case i == asideStep:
		return &n.life.aside.step
	case i >= 0:
		return &n.ir.Steps[i]
	}
	return nil
}

// workStep is the first step in which an agent may write; nil if there is none.
func (r *rules) workStep(n *node) *ir.Step {
	for s := range lists.Refs(n.ir.Steps) {
		if s.Access == "write" && s.Agent != "" && !r.epic.Agents[s.Agent].Human {
			return s
		}
	}
	return nil
}

// start is the commit that the present step starts from.
func (l *life) start() string {
	if l.step == asideStep {
		return l.aside.inputs[0].Commit
	}
	return l.starts[l.step]
}

// usedOf counts the attempts that went to a step.
func (l *life) usedOf(step int) *int {
	if step == asideStep {
		return &l.aside.used
	}
	return &l.used[step]
}

// protects reports whether a gate of a sprint's own work protects files: others may do so now.
func (r *rules) protects(n *node) bool {
	return !n.sum && n.ir.Kind == ir.Work && slices.ContainsFunc(n.ir.Steps, func(s ir.Step) bool {
		return slices.ContainsFunc(s.Gates, func(g string) bool { return len(r.epic.Gates[g].Protect) > 0 })
	})
}

// judgeOf digests what judges one step, as far as its node's acceptance does not.
func (r *rules) judgeOf(n *node, i int) string {
	s := &n.ir.Steps[i]
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %q\n", s.GateMode, s.AllowEmpty, n.ir.Acceptance)
	for _, g := range s.Gates {
		fmt.Fprintf(&b, "%s %s\n", strings.TrimPrefix(g, string(n.ir.Key)+"/"), r.gateDigest(g))
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:8])
}

func (r *rules) gateDigest(name string) string {
	d, ok := r.digests[name]
	if !ok {
		d = ir.GateDigest(r.epic, name)
		r.digests[name] = d
	}
	return d
}
