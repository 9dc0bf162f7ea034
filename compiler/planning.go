package compiler

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/slug"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// Names in the epic of a draft.
const (
	PlanStep     = "plan"     // the step that writes the plan
	ExploreStep  = "explore"  // the first of those that look around before it
	CompilesGate = "compiles" // the compiler
	ApprovalGate = "approval" // a person
)

// Wish asks for a plan to be written.
type Wish struct {
	Plan     string   // path of the plan, relative to the project
	Slug     string   // of the epic; "": DraftSlug(Plan)
	Title    string   // what is wanted, in a line
	Brief    []string // what is wanted, as lines
	Revises  bool     // the plan is there, and is changed
	For      []string // what it was first written for, where it is changed; nil: unknown
	Agent    string   // who writes it; "" is the policy's choice
	Attempts int      // of the planner; 0: as the policy or the complexity says
	Approver string   // who approves where the policy names none; "" with Approved
	Approved bool     // no person is asked

	// Committed are the files of the commit by whose policy the plan is judged: by path,
	// what tells the content of each. nil: unknown.
	Committed map[string]string

	// Prompt is the planner's prompt, Explore that of the explorers before it
	// it; later says that others have before them.
	Prompt  func(Planned) []string
	Explore func(later bool) []string
}

// Planned is what a planner must know about the making of its plan.
type Planned struct {
	Policy   *policies.Set // that the plan will be compiled with
	Explored bool          // others look around before
	Reviewed bool          // another judges the plan
	Person   bool          // a person approves it
}

// DraftSlug is the slug of the epic that writes a plan.
func DraftSlug(plan string) string {
	s := importedSlug(strings.TrimSuffix(path.Base(plan), path.Ext(plan)))
	if most := slug.MaxBytes - len("draft-"); len(s) > most {
		s = strings.TrimRight(s[:most-idWidth-1], "-") + "-" + shortHash(plan)
	}
	return "draft-" + s
}

// Planning makes the epic that writes a plan: one node, whose steps explore the project
// and write the plan, and whose gates are the compiler, a review if the policy's draft
// block asks for one, and a person. Only the built-in policy and that block apply. in
// names the policy and the project; its plans are not read.
func Planning(in Input, w Wish) Output {
	in.Plans = nil
	in.Imports = []Imported{{Sources: []Source{{Path: "brief", Bytes: []byte(strings.Join(w.Brief, "\n"))}}}}
	c := newCompilation(in)
	if u := c.openWish(&w); u != nil {
		b := newBuild(u)
		c.builds = []*build{b}
		for _, p := range passes[:len(passes)-1] {
			b.epic = b.planningPass(p, &w, &c.diags)
		}
	}
	return c.output()
}

// planningPass runs a pass, or what stands for it in planning mode.
func (b *build) planningPass(p pass, w *Wish, diags *diag.List) *ir.Epic {
	switch p.name {
	case "agents":
		return planners(b.unit, b.crew, p.run(b, diags), diags)
	case "gates":
		return planGates(b.unit, b.crew, b.epic, w, diags)
	case "limits":
		return planLimits(b.unit, p.run(b, diags), w)
	case "integration":
		e := p.run(b, diags)
		e.Epic.Integration = ir.Integration{Mode: "none", PR: "none"}
		return e
	case "prompts":
		return planPrompts(b.unit, b.epic, w)
	case "rules", "lints": // they are about work
		return b.epic
	}
	return p.run(b, diags)
}

// openWish makes a unit of what is wanted.
func (c *compilation) openWish(w *Wish) *unit {
	src := c.in.Imports[0].Sources[0]
	file := diag.NewFile(src.Path, src.Bytes)
	c.files[src.Path] = file
	if bad := badPath(w.Plan); bad != "" {
		c.diags.Add(diag.New("path-leaves-project", diag.Range{}, "the plan is not in the project").
			WithDetail("Its path %s. Name a plan by a path relative to the root of the project.", bad))
		return nil
	}
	u := c.unit(src, file, c.policyFor(&syntax.FrontMatter{}))
	if w.Agent != "" && u.set.Agents[w.Agent] == nil {
		known := sortedNames(u.set.Agents)
		c.diags.Add(diag.Newf("draft-agent", diag.Range{}, "there is no agent %q", clip(w.Agent)).
			WithDetail("Agents are %s.%s", text.AndMore(known[:min(len(known), 12)], len(known)), didYouMean(w.Agent, known)))
	}
	if a := u.set.Agents[w.Agent]; a != nil && a.Human.V {
		c.diags.Add(diag.Newf("draft-agent", diag.Range{}, "%q is a person", clip(w.Agent)).
			WithDetail("A plan is drafted by an agent that a runner starts. Name one of those, or leave it to the policy."))
	}
	if c.diags.HasErrors() {
		return nil
	}
	u.set = u.set.ForPlanning(planSteps(u.set, w))
	name, goal := cmp.Or(w.Slug, DraftSlug(w.Plan)), w.Brief
	if w.Revises {
		goal = w.For
	}
	at := file.Range(0, min(len(src.Bytes), len(w.Brief[0])))
	u.draft = &ir.Draft{
		Plan: w.Plan, Slug: name, ID: ir.NodeID(name), Title: "Plan: " + clip(w.Title), Range: at,
		Nodes: []ir.DraftNode{{
			ID: ir.NodeID(name + "-1"), Key: "1", KeyRange: at, Range: at, Kind: ir.Work, Title: clip(w.Title), PhaseIndex: -1,
			Goal: strings.Join(goal, "\n"), Acceptance: w.Brief, Scope: ir.Scope{Owns: []string{w.Plan}},
		}},
	}
	u.deps = u.importedEdges(&c.diags)
	u.resolveNodes(&c.diags)
	return u
}

// planSteps are the steps of planning: each explorer looks around, those of the block
// draft or all that there are, then the planner writes. Where the policy has agents and none of them explores, the planner looks
// around itself: an undeclared program is not started for that.
func planSteps(set *policies.Set, w *Wish) []*policies.Step {
	step := func(name, access, capability string, agent policies.Value[string]) *policies.Step {
		s := &policies.Step{Decl: policies.Decl{Name: name, Builtin: true}}
		s.Access, s.Agent = policies.Of(access, diag.Range{}, "built-in"), agent
		if !agent.Set {
			s.Capabilities = policies.Of([]string{capability}, diag.Range{}, "built-in")
		}
		return s
	}
	named := func(v policies.Value[[]string], i int) policies.Value[string] {
		return policies.Value[string]{V: v.V[i], Set: true, Range: v.Range, Origin: v.Origin}
	}
	var out []*policies.Step
	explorers := set.Draft.Explorers
	if !explorers.Set {
		explorers.V = explorersOf(set)
	}
	for i := range explorers.V {
		name := ExploreStep
		if i > 0 {
			name = ExploreStep + "-" + strconv.Itoa(i+1)
		}
		out = append(out, step(name, "read", "", named(explorers, i)))
	}
	if len(out) == 0 && !explorers.Set && !set.UserAgents() {
		out = append(out, step(ExploreStep, "read", "analyze", policies.Value[string]{}))
	}
	planner := policies.Value[string]{}
	switch {
	case w.Agent != "":
		planner = policies.Of(w.Agent, diag.Range{}, "--agent")
	case len(set.Draft.Agents.V) > 0:
		planner = named(set.Draft.Agents, 0)
	}
	plan := step(PlanStep, "write", PlanStep, planner)
	plan.AllowEmpty = policies.Of(true, diag.Range{}, "built-in") // its gates look at the plan, whenever it was written
	return append(out, plan)
}

// mostExplorers bounds how many agents look around where the block draft names none.
const mostExplorers = 4

// explorersOf are the agents with the capability to explore, in the order in which they
// are declared.
func explorersOf(set *policies.Set) (names []string) {
	for name, a := range set.Agents {
		if a.Active.Get(true) && !a.Human.V && slices.Contains(a.Capabilities.V, ExploreStep) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		a, b := set.Agents[x].Range, set.Agents[y].Range
		return cmp.Or(cmp.Compare(a.File, b.File), a.Start-b.Start, cmp.Compare(x, y))
	})
	return names[:min(len(names), mostExplorers)]
}

// planNode returns a copy of the epic of a draft, and its node, whose steps may change.
func planNode(e *ir.Epic) (*ir.Epic, *ir.Node) {
	e = with(e)
	e.Nodes[0].Steps = slices.Clone(e.Nodes[0].Steps)
	return e, &e.Nodes[0]
}

// planners lets the other agents of the draft block take the planner's place, and goes
// on in its session where its program can.
func planners(u *unit, crew *crew, e *ir.Epic, diags *diag.List) *ir.Epic {
	e, n := planNode(e)
	s := &n.Steps[len(n.Steps)-1]
	for _, name := range u.set.Draft.Agents.V {
		if a := u.set.Agents[name]; a != nil && name != s.Agent && !slices.Contains(s.Fallback, name) {
			crew.declared(a, diags)
			s.Fallback = append(slices.Clip(s.Fallback), name)
		}
	}
	a := crew.agents[s.Agent]
	if a == nil || a.session != "" {
		return e
	}
	if r := u.set.Runners[a.entry.Runner]; r != nil && r.Kind.V != "command" {
		s.Session = "resume"
	}
	return e
}

// planGates puts the gates of planning on its last step, in the order in which they are
// asked.
func planGates(u *unit, crew *crew, e *ir.Epic, w *Wish, diags *diag.List) *ir.Epic {
	e, n := planNode(e)
	settings := &u.parts[0].settings
	gates := map[string]ir.Gate{}
	g := newGating(u, crew, gates, diags)
	order := []string{CompilesGate}
	gates[CompilesGate] = ir.Gate{
		Kind: "compiles", Plan: w.Plan, Policy: u.policyDigest(w.Committed), OnFailure: "retry", ProtectNew: true,
		TimeoutMS: settings.Limits.GateTimeout("command").V, From: "builtin",
	}
	if name, p := u.planReview(); p != nil {
		review := contracts{}.addTo(g.fromPolicy(p, name, "policy", settings))
		review.Plan = w.Plan
		gates[name] = review
		order = append(order, name)
	}
	if !w.Approved {
		approvers := settings.HITL.Approvers.V
		if len(approvers) == 0 {
			approvers = []string{w.Approver}
		}
		gates[ApprovalGate] = g.human(approvers, 0, settings, diag.Range{}, ApprovalGate, "builtin")
		order = append(order, ApprovalGate)
	}
	last := &n.Steps[len(n.Steps)-1]
	last.Gates, last.GateMode = order, "ordered"
	e.Gates = gates
	g.selfReviews(e)
	crew.noteImplicit(diags)
	return e
}

// planReview is the gate by which the policy has plans reviewed, nil if it has none.
func (u *unit) planReview() (string, *policies.Gate) {
	r := u.set.Draft.Review
	switch {
	case r.Gate.Set:
		return r.Gate.V, u.set.Gates[r.Gate.V]
	case r.Agent.Set:
		p := &policies.Gate{Decl: policies.Decl{Name: "review", Range: r.Agent.Range}}
		p.Kind.V, p.Agent, p.OnFailure.V = "review", r.Agent, "retry"
		p.Sees.V, p.OutputSchema.V = []string{"acceptance", "diff"}, verdictSchema
		p.Prompt.V = "The acceptance criteria are the request; the change is a plan for it. Judge whether the plan " +
			"covers all of it and nothing else, in steps that can each be verified. Otherwise answer fail and say what is missing or superfluous."
		return "review", p
	}
	return "", nil
}

// policyDigest is one of what a draft depends on of policy: the files here, by which its
// agents work, and those of the commit, by which the plan is judged; in both with the
// files that expressions of the policy here read.
func (u *unit) policyDigest(committed map[string]string) string {
	h := sha256.New()
	for _, p := range u.policy.sources {
		fmt.Fprintf(h, "%s %d\n%s", p.Path, len(p.Bytes), p.Bytes)
	}
	read := map[string]bool{}
	for _, f := range u.set.Files {
		fmt.Fprintf(h, "%q %s\n", f.Path, f.Digest)
		read[f.Path] = true
	}
	for _, name := range sortedNames(committed) {
		if read[name] || OnPolicyPath(name) {
			fmt.Fprintf(h, "%q %s\n", name, committed[name])
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// planRetryMS is the pause before the next attempt: what the compiler says does not
// change by waiting.
const planRetryMS = 1000

// planLimits gives the planner as many attempts as the wish is complex, also if they
// fail alike.
func planLimits(u *unit, e *ir.Epic, w *Wish) *ir.Epic {
	e, n := planNode(e)
	l := &n.Steps[len(n.Steps)-1].Limits
	l.Attempts = policies.BuiltinLimits(u.parts[0].level.Name).Plan.Get(l.Attempts)
	if d := u.set.Draft.Attempts; d.Set {
		l.Attempts = d.V
	}
	if w.Attempts > 0 {
		l.Attempts = w.Attempts
	}
	l.Breaker = l.Attempts
	n.Steps[len(n.Steps)-1].Retry = ir.Retry{Backoff: "fixed", InitialMS: planRetryMS, MaxMS: planRetryMS}
	n.Limits.StepLimits = *l
	return e
}

// planPrompts says to each step what it has to do.
func planPrompts(u *unit, e *ir.Epic, w *Wish) *ir.Epic {
	e, n := planNode(e)
	last := len(n.Steps) - 1
	reviewed := slices.ContainsFunc(n.Steps[last].Gates, func(name string) bool { return e.Gates[name].Kind == "review" })
	n.Prompt = oneLineEach(w.Prompt(Planned{Policy: u.policy.set, Explored: last > 0, Reviewed: reviewed, Person: !w.Approved}))
	for k := range n.Steps[:last] {
		n.Steps[k].Prompt = oneLineEach(w.Explore(k > 0))
	}
	return e
}
