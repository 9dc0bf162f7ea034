package compiler

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// Precedence, lowest first (policy-language, "Precedence"): built-in top level
// < built-in complexity < the user's top level < default policy < matching
// policy < the user's complexity < fence of the plan < of the phase < of the
// sprint < label < flag. Everything up to the fence of the phase is the same
// for all nodes with one policy, level and phase, and is made once for them.

// sharedConfig is a policy under a level, with the fences of plan and phase.
type sharedConfig struct {
	policy   *policies.Policy
	why      string // why this policy
	level    *policies.Complexity
	steps    []stepValues
	settings policies.Settings
	gates    []gateScope // gates that fences define, innermost first
}

// sharedKey finds a sharedConfig.
type sharedKey struct {
	policy *policies.Policy
	below  *policies.Policy // the default policy
	why    string
	level  string
	phase  int // index of the phase if it has fences; -1
}

// stepValues is a step with what limits, retry and stall around it say.
type stepValues struct {
	policies.Step
	iterRead, iterWrite     policies.Value[int]
	attempts, runnerRetries policies.Value[int]
}

// layer is one level of precedence.
type layer struct {
	settings policies.Settings
	all      policies.StepSettings // for every step
	steps    []*policies.Step      // for the step of that name
	fence    bool
	gates    *gateScope
}

// gateScope holds gates that fences of one scope define: "1.2a/unit".
type gateScope struct {
	prefix string
	gates  map[string]*policies.Gate
}

// scopeFragments are the decoded fences of one scope.
type scopeFragments []*policies.Fragment

// resolveNodes decodes the fences and finds level, policy and settings of each
// item.
func (u *unit) resolveNodes(diags *diag.List) {
	u.decodeFences(diags)
	u.checkFlags(diags)
	u.parts = make([]part, len(u.draft.Nodes))
	shared := map[sharedKey]*sharedConfig{}
	for i := range u.draft.Nodes {
		it := &u.parts[i]
		it.draft = &u.draft.Nodes[i]
		if u.tree != nil {
			it.item = &u.tree.Items[i]
		}
		u.resolveNode(it, shared, diags)
	}
	u.whole = u.runSettings()
	u.elsewhere(diags)
}

func (u *unit) decodeFences(diags *diag.List) {
	u.fences.plan = u.decodeFragments("plan", u.draft.Fragments, nil, diags)
	u.fences.phases = make([]scopeFragments, len(u.draft.Phases))
	for i, p := range lists.Each(u.draft.Phases) {
		u.fences.phases[i] = u.decodeFragments("phase "+p.ID, p.Fragments, u.fences.plan, diags)
	}
}

// resolveNode finds level, policy and settings of an item; shared holds what items
// have in common.
func (u *unit) resolveNode(it *part, shared map[sharedKey]*sharedConfig, diags *diag.List) {
	n := it.draft
	if u.excluded(n) {
		n.Kind = ir.Manual
	}
	key := sharedKey{phase: -1}
	if n.PhaseIndex >= 0 && len(u.fences.phases[n.PhaseIndex]) > 0 {
		key.phase = n.PhaseIndex
	}
	if len(n.Fragments) > 0 {
		outer := u.fences.plan
		if key.phase >= 0 {
			outer = slices.Concat(outer, u.fences.phases[key.phase])
		}
		it.fences = u.decodeFragments("sprint "+string(n.Key), n.Fragments, outer, diags)
	}
	it.view = u.view(n)
	u.checkLane(n, diags)
	level := u.level(it, diags)
	it.view.Complexity, key.level = level.Name, level.Name
	key.policy, key.why = u.choosePolicy(n, it.view, diags)
	it.view.Policy, key.below = key.policy.Name, key.policy
	if def := u.set.DefaultPolicy(); key.policy.Name != def.Name {
		key.below = u.policyFor(def, it.view, diags)
	}
	it.sharedConfig = shared[key]
	if it.sharedConfig == nil {
		it.sharedConfig = u.overlay(key, level, nil, "", diags)
		shared[key] = it.sharedConfig
	}
	if it.owned = len(it.fences) > 0; it.owned {
		it.sharedConfig = u.overlay(key, level, it.fences, string(n.Key), diags)
	}
	u.startAt(it, diags)
}

// startAt leaves out the steps before the one that a node's work begins at. A fail
// that would go to one of them goes where a fail goes by default.
func (u *unit) startAt(it *part, diags *diag.List) {
	n := it.draft
	if !n.Start.Set() || n.Kind == ir.Manual || n.Kind == ir.GateKind {
		return
	}
	names := lists.Map(it.steps, func(x stepValues) string { return x.Name })
	at := slices.Index(names, n.Start.Value)
	if at < 0 {
		diags.Add(diag.Newf("start-step-unknown", n.Start.Range, "there is no step %q to begin at", clip(n.Start.Value)).
			WithDetail("The policy %q has the steps %s.%s Name one of them, or none to start at the first.", it.policy.Name, strings.Join(names, ", "), didYouMean(n.Start.Value, names)))
		return
	}
	if at == 0 {
		return
	}
	own := *it.sharedConfig
	own.steps = slices.Clone(own.steps[at:])
	for i := range own.steps {
		if next := &own.steps[i].Next; slices.Contains(names[:at], next.V) {
			*next = policies.Value[string]{}
		}
	}
	it.sharedConfig, it.owned = &own, true
}

// checkLane holds the plan to the lanes that the policy declares.
func (u *unit) checkLane(n *ir.DraftNode, diags *diag.List) {
	lanes := u.set.Ralph.Lanes.V
	if !n.Lane.Set() || len(lanes) == 0 || slices.Contains(lanes, n.Lane.Value) {
		return
	}
	diags.Add(diag.Newf("lane-unknown", n.Lane.Range, "unknown lane %q", clip(n.Lane.Value)).
		WithDetail("The policy declares the lanes %s.%s Write one of them.", strings.Join(lanes, ", "), didYouMean(n.Lane.Value, lanes)).
		WithRelated(u.set.Ralph.Lanes.Range, "declared here"))
}

func (u *unit) decodeFragments(scope string, fs []ir.Fragment, outer scopeFragments, diags *diag.List) scopeFragments {
	var out scopeFragments
	for i, f := range fs {
		if i == policies.MaxFences {
			diags.Add(diag.New("policy-too-large", f.Range, "policy text exceeds a limit").
				WithDetail("One section of a plan has at most %d policy fences. Put the settings of this one into those above.", policies.MaxFences))
			break
		}
		d, l := u.set.Fragment(u.file, f.Source, f.Range.Start, scope, slices.Concat(outer, out)...)
		diags.Add(l...)
		if d == nil {
			continue
		}
		u.checkFence(d, diags)
		out = append(out, d)
	}
	return out
}

// overlay puts the layers over each other: what all nodes of one key have in
// common or, with the fences of a sprint, what this one has.
func (u *unit) overlay(key sharedKey, level *policies.Complexity, own scopeFragments, nodeKey string, diags *diag.List) *sharedConfig {
	layers := u.layers(key.policy, key.below, level)
	fences := func(fs scopeFragments, prefix string) {
		for _, f := range fs {
			l := layer{settings: f.Settings, all: f.Steps, steps: f.Step, fence: true}
			if len(f.Gates) > 0 {
				l.gates = &gateScope{prefix: prefix, gates: f.Gates}
			}
			layers = append(layers, l)
		}
	}
	fences(u.fences.plan, "plan")
	if key.phase >= 0 {
		fences(u.fences.phases[key.phase], "phase-"+u.draft.Phases[key.phase].ID)
	}
	fences(own, nodeKey)
	s := &sharedConfig{policy: key.policy, why: key.why, level: level}
	for i := range layers {
		if layers[i].fence {
			layers[i].settings = u.tighten(s.settings, layers[i].settings, diags)
		}
		s.settings = policies.Overlay(s.settings, layers[i].settings)
		if g := layers[i].gates; g != nil {
			s.gates = append([]gateScope{*g}, s.gates...)
		}
	}
	steps := key.policy.Steps
	if len(steps) == 0 { // settings only: the steps come from below
		steps = key.below.Steps
	}
	for _, st := range steps {
		s.steps = append(s.steps, u.overlayStep(st, layers, diags))
	}
	return s
}

// layers returns what is below the fences: all that is built in, the steps of
// built-in policies too, then what the user wrote.
func (u *unit) layers(policy, def *policies.Policy, level *policies.Complexity) []layer {
	out := []layer{
		{settings: u.set.Settings},
		{settings: policies.Settings{Limits: policies.BuiltinLimits(level.Name)}},
	}
	chosen := []*policies.Policy{def}
	if policy != def {
		chosen = append(chosen, policy)
	}
	for _, builtin := range []bool{true, false} {
		if !builtin {
			out = append(out, layer{settings: u.set.Own})
		}
		for _, p := range chosen {
			l := layer{}
			if p.Builtin == builtin {
				l.settings = p.Settings
			}
			for _, st := range p.Steps {
				if st.Builtin == builtin {
					l.steps = append(l.steps, st)
				}
			}
			out = append(out, l)
		}
	}
	if !level.Builtin {
		out = append(out, layer{settings: policies.Settings{Limits: level.Limits}})
	}
	return out
}

func userOnly[T any](v policies.Value[T]) policies.Value[T] {
	if strings.HasPrefix(v.Origin, "built-in") {
		return policies.Value[T]{}
	}
	return v
}

func (u *unit) overlayStep(st *policies.Step, layers []layer, diags *diag.List) stepValues {
	v := stepValues{Step: policies.Step{Decl: st.Decl}}
	for _, l := range lists.Each(layers) {
		s := &l.settings
		v.StepSettings = policies.Overlay(v.StepSettings, policies.StepSettings{
			Breaker: s.Limits.Breaker, TimeoutMS: s.Limits.TimeoutMS, Retry: s.Retry, Stall: s.Stall,
		})
		v.iterRead = s.Limits.Plan.Or(v.iterRead)
		v.iterWrite = s.Limits.Build.Or(v.iterWrite)
		v.attempts = s.Retry.Attempts.Or(s.Limits.Attempts).Or(v.attempts)
		v.runnerRetries = s.Retry.RunnerRetries.Or(s.Limits.RunnerRetries).Or(v.runnerRetries)
		all := l.all
		if l.fence {
			u.keepApproval(v.Approval, l.all.Approval, diags)
			u.keepSandbox(v.Sandbox, &all.Sandbox, diags)
		}
		v.put(all, l.fence)
		for _, named := range l.steps {
			if named.Name == st.Name {
				set := named.StepSettings
				if l.fence {
					u.keepApproval(v.Approval, set.Approval, diags)
					u.keepSandbox(v.Sandbox, &set.Sandbox, diags)
				}
				v.put(set, l.fence)
			}
		}
	}
	return v
}

func (v *stepValues) put(s policies.StepSettings, fence bool) {
	if fence {
		v.StepSettings = v.StepSettings.OverlayFence(s)
	} else {
		v.StepSettings = policies.Overlay(v.StepSettings, s)
	}
	v.iterRead = s.Iterations.Or(v.iterRead)
	v.iterWrite = s.Iterations.Or(v.iterWrite)
	v.attempts = s.Retry.Attempts.Or(v.attempts)
	v.runnerRetries = s.Retry.RunnerRetries.Or(v.runnerRetries)
}

// defaultPriority is the middle of the scale.
const defaultPriority = 2

// runSettings are those of the run as a whole: top level, the default policy,
// the policy that the plan names for all of its items, the fences of the plan.
// Gates of the sum that fences name are not in it: they come on top (fenceSum).
func (u *unit) runSettings() *policies.Settings {
	s := policies.Overlay(u.set.Settings, u.set.DefaultPolicy().Settings)
	if p := u.runPolicy(); p != nil {
		s = policies.Overlay(s, p.Settings)
	}
	gates, approvers := s.Integration.Gates, s.HITL.Approvers
	var quiet diag.List // said already, about the nodes
	for _, f := range u.fences.plan {
		s = policies.Overlay(s, u.tighten(s, f.Settings, &quiet))
	}
	s.Integration.Gates = gates
	if len(approvers.V) > 0 { // who approves is the policy's choice
		s.HITL.Approvers = approvers
	}
	return &s
}

// runPolicy is the policy that the plan names for all of its items; nil if it
// names none.
func (u *unit) runPolicy() *policies.Policy {
	name := u.draft.Policy
	if o := u.set.Ralph.Override; !name.Set() || o.Set && !slices.Contains(o.V, "policy") {
		return nil
	}
	return u.set.Policies[name.Value]
}

// serializeOverlaps reports whether the policy orders items that own the same
// files. It is a setting of the whole run: top level, or the default policy.
func (u *unit) serializeOverlaps() bool {
	return u.set.DefaultPolicy().Settings.Integration.SerializeOverlaps.Or(u.set.Settings.Integration.SerializeOverlaps).V
}
