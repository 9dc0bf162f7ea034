package ir

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/condition"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// Verify checks what the types of an epic cannot say: that ids and keys are
// present and unique, that everything named exists, that edges lead to nodes and
// form no cycle, that lists are in their canonical order, that derived fields
// (merges, a node's limits, the epic's complexity) say what they are derived
// from, that words are of the vocabulary, numbers not negative and paths legal.
// It returns every breach, in the order of the file, with its JSON path, at
// most 100; nil if there is none. A breach in an epic that ralph compiled is a
// bug in ralph. Verify does not recompute digests: Decode compares the file's.
func (e *Epic) Verify() []error {
	v := &verifier{e: e}
	v.words(epicShape(), reflect.ValueOf(e).Elem())
	v.header()
	v.tables()
	v.safe()
	v.nodes()
	return v.errs
}

// Breach is a violated invariant of an epic.
type Breach struct {
	Path    string // JSON path, as in DecodeError
	Message string
}

func (b *Breach) Error() string { return b.Path + ": " + b.Message }

const maxBreaches = 100

type verifier struct {
	e     *Epic
	errs  []error
	path  jsonPath // of what words looks at
	links *links
	docs  rawDocs
}

func (v *verifier) fail(path, format string, args ...any) {
	if len(v.errs) < maxBreaches {
		v.errs = append(v.errs, &Breach{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// when is fail of what is so, at a field of what a path leads to. The path is only
// written where something is wrong.
func (v *verifier) when(is bool, at, field, format string, args ...any) {
	if is {
		v.fail(at+field, format, args...)
	}
}

// words checks the vocabulary and the signs of numbers in a struct and everything in it,
// led by the shapes; nodes are checked each on its own.
func (v *verifier) words(s *shape, x reflect.Value) {
	for i := range s.fields {
		if f := &s.fields[i]; !f.sound && f.name != "nodes" {
			v.path.push(pathStep{name: f.name, index: -1})
			v.word(f, f.shape, f.of(x))
			v.path.pop()
		}
	}
}

// word checks a value of a field.
func (v *verifier) word(f *shapeField, s *shape, x reflect.Value) {
	inner := func(at pathStep, x reflect.Value) {
		v.path.push(at)
		v.words(s.elem, x)
		v.path.pop()
	}
	switch {
	case s.kind == shapeString && !f.spells(x):
		v.fail(v.path.String(), "%s is not one of %s", quote(x.String()), strings.Join(f.words, ", "))
	case s.kind == shapeInt && !f.counts(x):
		v.fail(v.path.String(), "%d is negative", x.Int())
	case s.kind == shapeStruct:
		v.words(s, x)
	case s.kind == shapePointer && !x.IsNil():
		v.word(f, s.elem, x.Elem())
	case s.kind == shapeSlice && s.elem.kind == shapeStruct:
		for i := range x.Len() {
			inner(pathStep{index: i}, x.Index(i))
		}
	case s.kind == shapeMap && s.elem.kind == shapeStruct:
		keys := x.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			inner(pathStep{name: k.String(), index: -1}, x.MapIndex(k))
		}
	}
}

func (f *shapeField) spells(v reflect.Value) bool {
	return f.words == nil || f.absent(v) || slices.Contains(f.words, v.String())
}

func (f *shapeField) counts(v reflect.Value) bool { return v.Int() >= 0 || f.name == "exit_code" }

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// entry writes the path of a map's entry: gates.unit, gates["1.2/verify"].
func entry(at, key string) string {
	if isWord(key) {
		return at + "." + key
	}
	return at + "[" + quote(key) + "]"
}

var slugPattern = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (v *verifier) header() {
	h := &v.e.Epic
	if v.e.IR != Version {
		v.fail("ir", "%s is not %s", quote(v.e.IR), Version)
	}
	v.id("epic.id", h.ID)
	if len(h.Slug) > 40 || !slugPattern.MatchString(h.Slug) {
		v.fail("epic.slug", "%s is not a slug of at most 40 bytes", quote(h.Slug))
	}
	v.inside("epic.plan", h.Plan)
	v.when(h.Plan == "", "epic.plan", "", "is empty")
	v.integration(&h.Integration)
	v.gates("epic.integration.gates", h.Integration.Gates)
	v.gates("epic.integration.stated", h.Integration.Stated)
	v.agent("epic.integration.conflict_agent", h.Integration.ConflictAgent)
	v.sandbox("epic.integration", h.Integration.Sandbox)
	for i, f := range v.e.Files {
		at := fmt.Sprintf("files[%d]", i)
		v.relative(at+".path", f.Path)
		if i > 0 {
			before := v.e.Files[i-1]
			v.when(f.Path < before.Path || f.Path == before.Path && f.For <= before.For, at, "", "is out of order: files are sorted by path, then by what they are for")
		}
	}
	v.when(!slices.IsSorted(v.e.Run.Policies), "run.policies", "", "are not sorted")
	for i, p := range v.e.Run.Policies {
		v.relative(fmt.Sprintf("run.policies[%d]", i), p)
	}
	for i, p := range v.e.Run.Worktree.Copy {
		v.inside(fmt.Sprintf("run.worktree.copy[%d]", i), p)
	}
}

// integration checks that there is a branch where results are joined, and nothing of it
// where none are.
func (v *verifier) integration(in *Integration) {
	switch {
	case in.Mode != "none":
		v.when(in.Branch == "", "epic.integration.branch", "", "is empty")
	case in.Branch != "":
		v.fail("epic.integration.branch", "%s is set, but mode is none", quote(in.Branch))
	case in.PR != "none":
		v.fail("epic.integration.pr", "%s is set, but mode is none", quote(in.PR))
	case len(in.Gates) > 0:
		v.fail("epic.integration.gates", "are set, but mode is none")
	}
}

// tables checks the objects by name.
func (v *verifier) tables() {
	for _, name := range slices.Sorted(maps.Keys(v.e.Agents)) {
		a, at := v.e.Agents[name], entry("agents", name)
		v.name(at, name)
		v.relative(at+".path", a.Path)
		if _, known := v.e.Runners[a.Runner]; !known && (a.Runner != "" || !a.Human) {
			v.fail(at+".runner", "%s is not a runner", quote(a.Runner))
		}
		v.when(a.Expect != nil && *a.Expect == (Cost{}), at, ".expect", "says nothing")
	}
	for _, name := range slices.Sorted(maps.Keys(v.e.Gates)) {
		v.gate(entry("gates", name), name)
	}
	for _, name := range slices.Sorted(maps.Keys(v.e.Runners)) {
		r, at := v.e.Runners[name], entry("runners", name)
		v.name(at, name)
		v.secrets(at+".secrets", r.Secrets)
		v.when(r.Kind == "command" && len(r.Run) == 0, at, ".run", "a command runner has nothing to run")
	}
	v.secrets("secrets of run.worktree", v.e.Run.Worktree.Secrets)
	v.sandbox("run.worktree", v.e.Run.Worktree.Sandbox)
	for i, n := range v.e.Run.Notify {
		v.secrets(fmt.Sprintf("secrets of run.notify[%d]", i), n.Secrets)
	}
	for i, w := range v.e.Waivers {
		if w.Rule == "" {
			v.fail(fmt.Sprintf("waivers[%d].rule", i), "is empty")
		}
	}
}

func (v *verifier) secrets(at string, names []string) {
	for i, s := range names {
		if _, known := v.e.Secrets[s]; !known {
			v.fail(fmt.Sprintf("%s[%d]", at, i), "%s is not a secret", quote(s))
		}
	}
}

func (v *verifier) gate(at, name string) {
	g := v.e.Gates[name]
	v.name(at, name)
	v.secrets(at+".secrets", g.Secrets)
	v.sandbox(at, g.Sandbox)
	switch g.Kind {
	case "command":
		v.when(strings.TrimSpace(g.Run) == "", at, ".run", "a command gate has nothing to run")
	case "agent", "review":
		v.when(g.Agent == "", at, ".agent", "a gate of kind %s has no agent", g.Kind)
	case "human":
		v.when(len(g.Approvers) == 0, at, ".approvers", "a human gate has no approver")
	case "compiles":
		v.when(g.Plan == "", at, ".plan", "the gate has no plan to compile")
		v.when(g.Policy == "", at, ".policy", "the policy that the gate judges by has no digest")
	}
	v.when(g.Kind != "compiles" && (g.Plan != "" && g.Kind != "review" || g.Policy != ""), at, "", "only a gate of kind compiles has a policy, and a plan only that or a review")
	v.inside(at+".plan", g.Plan)
	v.when(g.Baseline != "" && (g.Kind != "command" || g.From == "plan" || g.RedFirst), at, ".baseline", "the gate is never tried on the base")
	v.require(at+".require", &g)
	v.agent(at+".agent", g.Agent)
	v.agents(at+".fallback", g.Fallback)
	for _, s := range []struct {
		name string
		raw  []byte
	}{{"input_schema", g.InputSchema}, {"output_schema", g.OutputSchema}} {
		if len(s.raw) == 0 {
			continue
		}
		if _, err := v.docs.parse(s.raw); err != nil {
			v.fail(at+"."+s.name, "is not JSON: %v", err)
		}
	}
	for i, p := range g.Protect {
		v.inside(fmt.Sprintf("%s.protect[%d]", at, i), p)
	}
}

// require demands conditions that can be read, of a gate whose answer has fields.
func (v *verifier) require(at string, g *Gate) {
	v.when(len(g.Require) > 0 && g.Kind != "agent" && g.Kind != "review", at, "", "a gate of kind %s has no answer with fields", g.Kind)
	for _, name := range slices.Sorted(maps.Keys(g.Require)) {
		if _, err := condition.Parse(g.Require[name]); err != nil {
			v.fail(at+"."+quote(name), "%v", err)
		}
	}
}

// id demands what can be the name of a directory and a part of a ref.
func (v *verifier) id(at string, id NodeID) {
	s := string(id)
	if s == "" || s == "integration" || len(s) > maxID || strings.ContainsAny(s[:1], "-.") || strings.HasSuffix(s, ".") || strings.HasSuffix(s, ".lock") || strings.Contains(s, "..") ||
		strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|~^[@`, r) }) {
		v.fail(at, "%s is not an id", quote(s))
	}
}

// maxID bounds an id, in bytes: files are named after it.
const maxID = 200

func (v *verifier) name(at, name string) {
	v.when(name == "" || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }), at, "", "has a name that is empty or holds control characters")
}

func (v *verifier) agent(at, name string) {
	if _, known := v.e.Agents[name]; name != "" && !known {
		v.fail(at, "%s is not an agent", quote(name))
	}
}

func (v *verifier) agents(at string, names []string) { listed(v, at, names, v.e.Agents, "agent") }

func (v *verifier) gates(at string, names []string) { listed(v, at, names, v.e.Gates, "gate") }

// listed demands names of a table, each once.
func listed[T any](v *verifier, at string, names []string, table map[string]T, what string) {
	for i, name := range names {
		if _, known := table[name]; !known {
			v.fail(fmt.Sprintf("%s[%d]", at, i), "there is no %s %s", what, quote(name))
		}
		if i < 1000 && slices.Contains(names[:i], name) {
			v.fail(fmt.Sprintf("%s[%d]", at, i), "%s appears twice", quote(name))
		}
	}
}

// relative demands a path without a root, a drive or backslashes as separators.
func (v *verifier) relative(at, p string) {
	if path.IsAbs(p) || strings.Contains(p, ":\\") || strings.ContainsRune(p, 0) {
		v.fail(at, "%s is not relative to the project", quote(p))
	}
}

// inside demands a path that does not leave the project.
func (v *verifier) inside(at, p string) {
	v.relative(at, p)
	if clean := path.Clean(p); clean == ".." || strings.HasPrefix(clean, "../") {
		v.fail(at, "%s leaves the project", quote(p))
	}
}

// worktree demands a path inside the project or inside a sibling
// ../<name>-worktrees/.
func (v *verifier) worktree(at, p string) {
	v.relative(at, p)
	clean := path.Clean(p)
	rest, sibling := strings.CutPrefix(clean, "../")
	folder, below, _ := strings.Cut(rest, "/")
	switch {
	case p == "":
		v.fail(at, "is empty")
	case !sibling && clean != "..":
		v.when(clean == ".", at, "", "is the project itself")
	case !strings.HasSuffix(folder, "-worktrees") || folder == "-worktrees" || below == "":
		v.fail(at, "%s is neither inside the project nor inside ../<name>-worktrees/", quote(p))
	}
}
