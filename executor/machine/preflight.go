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

// BaseCheck is a gate that a preflight tries on a base.
type BaseCheck struct {
	Gate          string
	Also          []string // gates with the same digest
	Digest, Setup string
	Base          executor.Tree
	Of            string                   // name of the base, where a root names its own
	Green         bool                     // nothing starts while it is red
	Known         *executor.BaselineJudged // the verdict on record, nil if there is none
	Approved      string                   // who let it be red
}

// Untried converts checks to their form on record, without verdicts.
func Untried(checks []BaseCheck) []executor.BaselineJudged {
	return lists.Map(checks, func(c BaseCheck) executor.BaselineJudged {
		return executor.BaselineJudged{Gate: c.Gate, Also: executor.Also(c.Also), Digest: c.Digest, Setup: c.Setup, Base: c.Base, Of: c.Of, Green: c.Green}
	})
}

func (c BaseCheck) binding() executor.Binding {
	return executor.Binding{Tree: c.Base.Tree, Digest: c.Digest, Setup: c.Setup}
}

// Held reports whether nothing may start because of this gate.
func (c BaseCheck) Held() bool {
	return c.Green && c.Known != nil && c.Known.Verdict != executor.Pass && c.Approved == ""
}

// preflight is what is on record about the bases.
type preflight struct {
	*rules
	runs     *runs
	known    map[executor.Binding]executor.BaselineJudged // the last verdict
	approved map[executor.Binding]string                  // who let it be red
	tried    map[executor.Binding]bool                    // since the last run, or the last preflight, began
	order    []executor.Binding                           // of tried
	running  bool
	over     bool // nothing is left to try in this run
}

// begin forgets what was tried: in a new run it is due again, unless it is green.
func (p *preflight) begin() {
	clear(p.tried)
	p.order, p.running, p.over = nil, false, false
}

func (p *preflight) judged(b executor.BaselineJudged) {
	k := b.Binding()
	if p.known == nil {
		p.known, p.tried, p.approved = map[executor.Binding]executor.BaselineJudged{}, map[executor.Binding]bool{}, map[executor.Binding]string{}
	}
	p.known[k] = b
	if !p.tried[k] {
		p.tried[k] = true
		p.order = append(p.order, k)
	}
}

// red lists the verdicts of the last preflight for which nothing may start.
func (p *preflight) red() []executor.BaselineJudged {
	var out []executor.BaselineJudged
	for _, k := range p.order {
		if b := p.known[k]; b.Green && b.Verdict != executor.Pass && p.approved[k] == "" {
			out = append(out, b)
		}
	}
	return out
}

// Held says why nothing may start on the bases that were tried last, "" if it may.
func (v Bases) Held() string {
	red := v.r.pre.red()
	if len(red) == 0 {
		return ""
	}
	what := "red"
	if !red[0].Red() {
		what = "no verdict"
	}
	return text.Head(fmt.Sprintf("%s on the base %.12s: %s: %s", what, red[0].Base.Commit, strings.Join(namesOf(red), ", "), text.FirstLine(red[0].Message)), 300)
}

// LetRed is who approved a gate that is red on a base, "" if not.
func (v Bases) LetRed(b executor.BaselineJudged) string { return v.r.pre.approved[b.Binding()] }

// TriesElsewhere reports whether the bases that hold the run are not its own but those
// to which apply --rebase would move.
func (v Bases) TriesElsewhere() bool {
	return slices.ContainsFunc(v.r.pre.order, func(k executor.Binding) bool {
		b := v.r.pre.known[k].Base
		return v.r.runs.started.Base.Commit != "" && !v.r.runs.isBase(b)
	})
}

func namesOf(red []executor.BaselineJudged) []string {
	return lists.Map(red, func(b executor.BaselineJudged) string { return b.Gate })
}

// digestRed is of all that a person who lets these gates be red is bound to.
func digestRed(red []executor.BaselineJudged) string {
	h := sha256.New()
	for _, b := range red {
		fmt.Fprintf(h, "%q\n", b.Binding())
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// try lists what a preflight has left to do before anything starts in this run.
func (r *Run) try() []BaseCheck {
	if r.pre.over || r.runs.started.Preflight == "" {
		return nil
	}
	out := slices.DeleteFunc(r.Bases().Checks(), func(c BaseCheck) bool {
		return r.pre.tried[c.binding()] || c.Known != nil && c.Known.Verdict == executor.Pass
	})
	r.pre.over = len(out) == 0 && !r.pre.running // it is not looked for again
	return out
}

// Checks lists the gates that a preflight of the present run tries, or would try with
// an empty record: of the nodes that will run, each distinct one once on each of their
// bases, in epic order. After Plan it is about the planned run. It is empty if
// RunStarted asks for no preflight.
func (v Bases) Checks() []BaseCheck {
	if v.r.runs.started.Preflight == "" || v.r.runs.foreign {
		return nil
	}
	variants := v.r.gateVariants()
	p := planning{r: v.r, start: v.r.runs.started, before: make([]executor.NodeStatus, len(v.r.nodes)), actions: make([]Action, len(v.r.nodes)), held: make([]hold, len(v.r.nodes))}
	bases := make([][]executor.NamedTree, len(v.r.nodes))
	var out []BaseCheck
	at := map[executor.Binding]int{}
	for i, n := range v.r.nodes {
		if n.sum {
			continue
		}
		p.actions[i], _ = p.plan(i, n)
		bases[i] = v.r.runs.basesOf(n, bases)
		if !p.actions[i].Works() {
			continue
		}
		for _, s := range n.ir.Steps {
			for _, name := range s.Gates {
				g := v.r.epic.Gates[name]
				if !onBase(g) || len(variants[strings.TrimPrefix(name, string(n.ir.Key)+"/")]) > 1 {
					continue
				}
				for _, b := range bases[i] {
					c := BaseCheck{Gate: name, Digest: v.r.gateDigest(name), Setup: v.r.runs.started.Preflight, Base: b.Tree, Of: b.Name}
					k, known := at[c.binding()]
					if !known {
						k = len(out)
						at[c.binding()] = k
						if j, ok := v.r.pre.known[c.binding()]; ok {
							c.Known = &j
						}
						c.Approved = v.r.pre.approved[c.binding()]
						out = append(out, c)
					}
					out[k].Green = out[k].Green || g.Baseline == "green"
					if out[k].Gate != name && !slices.Contains(out[k].Also, name) {
						out[k].Also = append(out[k].Also, name)
					}
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b BaseCheck) int {
		return slices.Index(v.r.runs.basePlaces(), a.Of) - slices.Index(v.r.runs.basePlaces(), b.Of)
	})
	return out
}

// basePlaces are the names of the bases, the epic's first.
func (r *runs) basePlaces() []string {
	return append([]string{""}, lists.Map(r.started.Bases, func(b executor.NamedTree) string { return b.Name })...)
}

// pinned is the base that a root is on.
func (r *runs) pinned(n *node) executor.NamedTree {
	for _, b := range r.started.Bases {
		if b.Name == n.ir.Git.Base {
			return b
		}
	}
	return executor.NamedTree{Tree: r.started.Base}
}

// basesOf lists the pinned bases that a node is on: of a root its own, else those
// of what it needs, which are before it.
func (r *runs) basesOf(n *node, before [][]executor.NamedTree) []executor.NamedTree {
	if len(n.deps) == 0 {
		return []executor.NamedTree{r.pinned(n)}
	}
	out := before[n.deps[0]]
	for _, d := range n.deps[1:] {
		for _, b := range before[d] {
			if !slices.Contains(out, b) {
				out = append(slices.Clip(out), b)
			}
		}
	}
	return out
}

// gateVariants lists, by the name that the policy gives, the digests of the gates that
// sprints have of their own. Where these differ the gate depends on the sprint.
func (gr *graph) gateVariants() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, n := range gr.nodes {
		if n.sum {
			continue
		}
		for _, s := range n.ir.Steps {
			for _, name := range s.Gates {
				short, own := strings.CutPrefix(name, string(n.ir.Key)+"/")
				if !own || !onBase(gr.epic.Gates[name]) {
					continue
				}
				if out[short] == nil {
					out[short] = map[string]bool{}
				}
				out[short][gr.gateDigest(name)] = true
			}
		}
	}
	return out
}

// ofNode are the variables that say which sprint a gate judges.
var ofNode = []string{"RALPH_NODE", "RALPH_ID", "RALPH_STEP", "RALPH_ATTEMPT", "RALPH_BRANCH"}

// onBase reports whether a gate says something about a base: it is a command of the
// policy that need not fail there and does not depend on the sprint that it judges.
func onBase(g ir.Gate) bool {
	if g.Kind != "command" || g.From == "plan" || g.RedFirst {
		return false
	}
	depends := func(text string) bool {
		_, err := executor.Fill(text, func(string) (string, bool) { return "", false })
		return err != nil || slices.ContainsFunc(ofNode, func(v string) bool { return strings.Contains(text, v) })
	}
	for _, v := range inOrder(g.Env) {
		if depends(v) {
			return false
		}
	}
	return !depends(g.Run)
}
