package ir

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/condition"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Weakening is a change by which work is judged less, allowed more or watched
// less than before. Reviewers see these first.
type Weakening struct {
	Rule    string `json:"rule"`    // one of the words below
	Message string `json:"message"` // "gate unit removed from step implement"
	Nodes   []Key  `json:"nodes"`   // in the order of nodes; empty if it concerns the plan as a whole
}

// weakenings are the rules, gravest first.
var weakenings = []string{
	"gate-removed", "gate-loosened", "approval-loosened", "complexity-lowered", "access-widened",
	"protection-loosened", "limit-raised", "marked-done", "waived",
}

type finding struct{ rule, message string }

// weaker collects weakenings; the same one of many nodes is one.
type weaker struct {
	old, now *Epic
	all      []Weakening
	found    map[finding]int // 1 + index in all
}

func (w *weaker) add(rule string, node Key, format string, args ...any) {
	f := finding{rule, fmt.Sprintf(format, args...)}
	at := w.found[f]
	if at == 0 {
		w.all = append(w.all, Weakening{Rule: f.rule, Message: f.message, Nodes: []Key{}})
		at = len(w.all)
		w.found[f] = at
	}
	if node != "" {
		w.all[at-1].Nodes = append(w.all[at-1].Nodes, node)
	}
}

// when is add of what is so.
func (w *weaker) when(is bool, rule string, node Key, format string, args ...any) {
	if is {
		w.add(rule, node, format, args...)
	}
}

// list returns what was found, gravest rule first, else in the order of nodes.
func (w *weaker) list() []Weakening {
	slices.SortStableFunc(w.all, func(a, b Weakening) int {
		return slices.Index(weakenings, a.Rule) - slices.Index(weakenings, b.Rule)
	})
	return w.all
}

// each adds a weakening for each of some names.
func (w *weaker) each(names []string, rule string, node Key, format string, args ...any) {
	for _, name := range names {
		w.add(rule, node, format, append(slices.Clip(args), name)...)
	}
}

// node compares a node that both epics have.
func (w *weaker) node(o, n *Node) {
	if o.Done != n.Done && n.Done {
		w.add("marked-done", n.Key, "the plan says that it is finished: it will not run")
	}
	if lower(o.Complexity.Level, n.Complexity.Level) {
		w.add("complexity-lowered", n.Key, "complexity %s → %s", o.Complexity.Level, n.Complexity.Level)
	}
	switch {
	case len(o.Scope.Owns) == 0:
	case len(n.Scope.Owns) == 0:
		w.add("protection-loosened", n.Key, "may change any file (owned only %s)", strings.Join(o.Scope.Owns, ", "))
	default:
		w.each(missing(o.Scope.Owns, n.Scope.Owns), "protection-loosened", n.Key, "may also change %s")
	}
	if o.Offline && !n.Offline {
		w.add("access-widened", n.Key, "its sandboxes may reach all hosts of the policy (offline)")
	}
	w.budget(n.Key, "the node's", o.Limits.Budget, n.Limits.Budget)
	if was, ok := Deadline(o.Limits.Deadline); ok && later(n.Limits.Deadline, was) {
		w.add("limit-raised", n.Key, "deadline %s → %s", o.Limits.Deadline, orNone(n.Limits.Deadline))
	}
	if slices.EqualFunc(o.Steps, n.Steps, sameStep) {
		return
	}
	w.steps(o, n)
}

// sameStep is a quick look at what weaker compares.
func sameStep(a, b Step) bool {
	return a.Name == b.Name && a.Access == b.Access && a.Limits == b.Limits && a.AllowEmpty == b.AllowEmpty &&
		a.Sandbox == b.Sandbox && a.Stall == b.Stall && slices.Equal(a.Gates, b.Gates)
}

func (w *weaker) steps(o, n *Node) {
	// A gate may move to another step: it is gone if no step has it.
	had, has := map[string]string{}, map[string]bool{}
	for _, s := range o.Steps {
		for _, g := range s.Gates {
			had[g] = s.Name
		}
	}
	for _, s := range n.Steps {
		for _, g := range s.Gates {
			has[g] = true
		}
	}
	for _, g := range slices.Sorted(maps.Keys(had)) {
		w.when(!has[g], "gate-removed", n.Key, "gate %s removed from step %s", g, had[g])
	}
	for _, s := range n.Steps {
		if was := o.Step(s.Name); was != nil {
			w.step(n.Key, was, &s)
		}
	}
}

func (w *weaker) step(key Key, o, s *Step) {
	w.when(o.Access == "read" && s.Access == "write", "access-widened", key, "step %s may write", s.Name)
	w.confined("step "+s.Name, key, w.old.StepConfined(o, false), w.now.StepConfined(s, false))
	w.when(!o.AllowEmpty && s.AllowEmpty, "protection-loosened", key, "step %s may pass without a change", s.Name)
	raised := func(what string, old, now int64, show func(int64) string) {
		w.when(now > old || now == 0 && old > 0, "limit-raised", key, "step %s: %s %s → %s", s.Name, what, show(old), show(now))
	}
	raised("iterations", int64(o.Limits.Iterations), int64(s.Limits.Iterations), number)
	raised("attempts", int64(o.Limits.Attempts), int64(s.Limits.Attempts), number)
	if o.Limits.Breaker > 0 {
		raised("breaker", int64(o.Limits.Breaker), int64(s.Limits.Breaker), number)
	}
	if o.Limits.TimeoutMS > 0 {
		raised("timeout", o.Limits.TimeoutMS, s.Limits.TimeoutMS, Duration)
	}
	if o.Stall.AfterMS > 0 {
		raised("stall", o.Stall.AfterMS, s.Stall.AfterMS, Duration)
	}
}

// plan compares what concerns all nodes: gates, agents, runners, people.
func (w *weaker) plan(m *matching) {
	o, n := w.old, w.now
	w.gates(m)
	for _, name := range slices.Sorted(maps.Keys(o.Agents)) {
		if now, kept := n.Agents[name]; kept && o.Agents[name].Access == "read" && now.Access != "read" {
			w.add("access-widened", "", "agent %s: access read → %s", name, orNone(now.Access))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Runners)) {
		now, kept := n.Runners[name]
		if !kept {
			continue
		}
		w.each(missing(o.Runners[name].Env, now.Env), "access-widened", "", "runner %s lets %s through", name)
		w.each(missing(o.Runners[name].Secrets, now.Secrets), "access-widened", "", "runner %s is given the secret %s", name)
	}
	w.each(missing(o.Run.Worktree.Secrets, n.Run.Worktree.Secrets), "access-widened", "", "setup is given the secret %s")
	was, now := o.Run.Worktree, n.Run.Worktree
	w.when(was.Layout == "clone" && now.Layout != "clone", "access-widened", "", "layout clone → %s: agents reach the refs and the configuration of the repository", now.Layout)
	if a, b := cmp.Or(was.MaxCommit, MaxCommit), cmp.Or(now.MaxCommit, MaxCommit); b > a {
		w.add("limit-raised", "", "max_commit %d → %d bytes", a, b)
	}
	w.when(now.MinFree < was.MinFree, "limit-raised", "", "min_free %d → %d bytes", was.MinFree, now.MinFree)
	w.walls(m)
	w.each(missing(n.Epic.Integration.Gates, lists.Map(o.Epic.Integration.Gates, m.gate)), "gate-removed", "", "gate %s removed from the integration")
	w.people(o.Run.HITL, n.Run.HITL)
	w.when(o.Run.Git.OnTamper == "" && n.Run.Git.OnTamper == "note", "protection-loosened", "", "a run does not fail any more because others changed settings, hooks or refs")
	w.budget("", "the run's", o.Run.Budget, n.Run.Budget)
	for _, v := range n.Waivers {
		w.when(!slices.Contains(o.Waivers, v), "waived", v.Node, "rule %s is waived until %s by %s: %s", v.Rule, v.Until, v.Owner, v.Reason)
	}
}

// gates compares the gates that both epics have. Most are the same.
func (w *weaker) gates(m *matching) {
	s := shapeOf(reflect.TypeFor[Gate]())
	var old, now Gate // one pair for all: each would be an allocation
	for _, name := range slices.Sorted(maps.Keys(w.old.Gates)) {
		var kept bool
		old = w.old.Gates[name]
		if now, kept = w.now.Gates[m.gate(name)]; kept && !equal(s, reflect.ValueOf(&old).Elem(), reflect.ValueOf(&now).Elem()) {
			w.gate(m.gate(name), &old, &now)
		}
	}
}

func (w *weaker) gate(name string, o, n *Gate) {
	loose := func(is bool, format string, args ...any) {
		w.when(is, "gate-loosened", "", "gate "+strings.ReplaceAll(name, "%", "%%")+": "+format, args...)
	}
	loose(o.Kind != n.Kind, "kind %s → %s", o.Kind, n.Kind)
	loose(o.RedFirst && !n.RedFirst, "need not fail before the work any more")
	loose(o.Baseline != "" && n.Baseline == "", "may be red on the base when a run begins")
	loose(o.NoErrors && !n.NoErrors, "accepts outcomes with errors")
	loose(o.Evidence && !n.Evidence, "asks for no evidence")
	loose(o.OnFailure == "stop" && n.OnFailure != "stop", "a fail no longer stops the node (%s)", n.OnFailure)
	loose(o.Expect.StdoutContains != "" && n.Expect.StdoutContains == "" || o.Expect.StderrContains != "" && n.Expect.StderrContains == "", "expects no text in the output")
	loose(o.Expect.ExitCode == 0 && n.Expect.ExitCode != 0, "expects exit code %d", n.Expect.ExitCode)
	loose(len(o.OutputSchema) > 0 && len(n.OutputSchema) == 0, "its output has no schema")
	for _, name := range slices.Sorted(maps.Keys(o.Require)) {
		old, now := o.Require[name], n.Require[name]
		loose(now == "" && old != "", "no longer requires %s %s", name, old)
		loose(now != "" && now != old && !implies(now, old), "requires %s %s, no longer %s", name, now, old)
	}
	if o.Kind == "review" {
		for _, s := range missing(o.Sees, n.Sees) {
			loose(true, "its reviewer also sees %s", s)
		}
	}
	w.when(o.Access == "read" && n.Access == "write", "access-widened", "", "gate %s: its agent may write", name)
	w.each(missing(o.Secrets, n.Secrets), "access-widened", "", "gate %s is given the secret %s", name)
	w.when(n.TimeoutMS > o.TimeoutMS && o.TimeoutMS > 0 || n.TimeoutMS == 0 && o.TimeoutMS > 0, "limit-raised", "", "gate %s: timeout %s → %s", name, Duration(o.TimeoutMS), Duration(n.TimeoutMS))
	w.each(missing(n.Protect, o.Protect), "protection-loosened", "", "gate %s no longer protects %s", name)
	w.when(!o.ProtectNew && n.ProtectNew, "protection-loosened", "", "gate %s allows new files among the protected", name)
	if o.Kind == "human" {
		w.each(missing(o.Approvers, n.Approvers), "approval-loosened", "", "gate %s: %s may approve, too", name)
	}
}

// implies reports whether what a condition lets pass, another one does, too.
func implies(now, old string) bool {
	c, errNow := condition.Parse(now)
	other, errOld := condition.Parse(old)
	return errNow == nil && errOld == nil && c.Implies(other)
}

func (w *weaker) people(o, n HITL) {
	levels := enums["HITL.level"]
	w.when(slices.Index(levels, n.Level) < slices.Index(levels, o.Level), "approval-loosened", "", "people are asked less: level %s → %s", o.Level, n.Level)
	w.when(o.Plan == "required" && n.Plan != "required", "approval-loosened", "", "the plan needs no approval before it runs")
	if len(o.Approvers) > 0 {
		w.each(missing(o.Approvers, n.Approvers), "approval-loosened", "", "%s may approve, too")
	}
}

func (w *weaker) budget(node Key, whose string, o, n Budget) {
	for _, b := range []struct {
		what     string
		old, now int64
		show     func(int64) string
	}{
		{"tokens", o.Tokens, n.Tokens, number},
		{"cost", o.USDMicro, n.USDMicro, dollars},
		{"time", o.WallMS, n.WallMS, Duration},
	} {
		if b.old > 0 && (b.now > b.old || b.now == 0) {
			w.add("limit-raised", node, "%s budget: %s %s → %s", whose, b.what, b.show(b.old), b.show(b.now))
		}
	}
}

// missing returns what of these is not in those.
func missing(those, these []string) []string {
	in := lists.Set(those)
	return slices.DeleteFunc(slices.Clone(these), func(s string) bool { return in[s] })
}

// levels are the built-in levels of complexity. Leaving critical is a lowering
// wherever it goes; between levels that a policy made up there is no order.
var levels = []string{"trivial", "simple", "standard", "critical"}

func lower(old, now string) bool {
	o, n := slices.Index(levels, old), slices.Index(levels, now)
	return o >= 0 && n >= 0 && n < o || old == "critical" && now != "critical"
}

func orNone(s string) string { return cmp.Or(s, "none") }

func number(n int64) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

func dollars(micro int64) string {
	if micro == 0 {
		return "none"
	}
	return fmt.Sprintf("$%d.%02d", micro/1_000_000, micro%1_000_000/10_000)
}

// Duration writes ms as people say it: 90000 is "1m30s", 0 is "none".
func Duration(ms int64) string {
	if ms <= 0 {
		return "none"
	}
	var b strings.Builder
	for _, u := range []struct {
		name string
		ms   int64
	}{{"d", 86_400_000}, {"h", 3_600_000}, {"m", 60_000}, {"s", 1000}, {"ms", 1}} {
		if n := ms / u.ms; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			ms -= n * u.ms
		}
	}
	return b.String()
}
