package compiler

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// lintGates names, in one warning, the items whose work no command judges.
func (u *unit) lintGates(e *ir.Epic, diags *diag.List) {
	var keys []string
	first := diag.Range{}
	total, reviews := 0, 0
	for it, n := range u.nodes(e) {
		if n.Done || n.Kind == ir.Manual || n.Kind == ir.GateKind || judged(e, n) {
			continue
		}
		if total++; total == 1 {
			first = it.draft.KeyRange
		}
		if reviewed(e, n) {
			reviews++
		}
		if len(keys) < 12 {
			keys = append(keys, string(n.Key))
		}
	}
	if total == 0 {
		return
	}
	who := "at most agents or people review the work"
	switch reviews {
	case 0:
		who = "nobody reviews the work either"
	case total:
		who = "only agents or people review the work"
	}
	add := "a Verify label with a command, or a command gate to the step of the policy"
	if u.tree == nil {
		add = "a command gate to the step of the policy" // labels are a plan's
	}
	var own string
	for _, t := range policies.DetectTests(u.c.in.Project) {
		own += fmt.Sprintf(" By %s, %q runs the tests of the project.", t.File, t.Command)
	}
	diags.Add(diag.Newf("no-command-gate", first, "no command judges the work of %s", text.Count(total, "item")).
		WithDetail("%s: %s.%s Add %s.", text.AndMore(keys, total), who, own, add))
}

// judged reports whether a command gate judges what the steps write.
func judged(e *ir.Epic, n *ir.Node) bool {
	writes, judged := false, false
	for _, s := range lists.Each(n.Steps) {
		writes = writes || s.Access == "write"
		for _, name := range s.Gates {
			judged = judged || e.Gates[name].Kind == "command"
		}
	}
	return !writes || judged
}

// reviewed reports whether an agent or a person judges the work.
func reviewed(e *ir.Epic, n *ir.Node) bool {
	return slices.ContainsFunc(n.Steps, func(s ir.Step) bool {
		return s.Agent == "" || slices.Contains(s.Capabilities, "review") || slices.ContainsFunc(s.Gates, func(name string) bool {
			return slices.Contains([]string{"agent", "review", "human"}, e.Gates[name].Kind)
		})
	})
}

// lintEditable names the command gates whose own definition the judged agent may
// edit: the Makefile of make test, the script that is run.
func (u *unit) lintEditable(e *ir.Epic, diags *diag.List) {
	of := map[ir.Key]*ir.DraftNode{}
	all := EditableGates(u.c.in.Project, e)
	if len(all) > 0 {
		for it, n := range u.nodes(e) {
			of[n.Key] = it.draft
		}
	}
	for _, x := range all[:min(len(all), 20)] {
		files := x.Files[:min(len(x.Files), 5)]
		to := "the gate"
		if e.Gates[x.Gate].From == "plan" {
			to = "a gate of the policy"
		}
		diags.Add(diag.Newf("gate-editable", u.gateRange(x.Gate, of[x.Keys[0]]), "the agent can edit what gate %s runs", clip(x.Gate)).
			WithDetail("The command runs through %s, which the agent of %s can change: a gate that its agent can rewrite judges nothing. Add protect = [%s] to %s, or run the tests without that file.",
				strings.Join(files, ", "), text.AndMore(lists.Map(x.Keys[:min(len(x.Keys), 12)], func(k ir.Key) string { return string(k) }), len(x.Keys)), `"`+strings.Join(files, `", "`)+`"`, to))
	}
}

// lintProtect names the files that a gate protects and that are not there: where new
// files are allowed nothing is protected, and where they are not a name may be misspelt.
func (u *unit) lintProtect(e *ir.Epic, diags *diag.List) {
	project := u.c.in.Project
	if project == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.Gates)) {
		g, declared := e.Gates[name], u.set.Gates[name]
		if declared == nil || u.c.files[declared.Range.File] == nil {
			continue
		}
		at := declared.Range
		if r := declared.Protect.Range; u.c.files[r.File] != nil {
			at = r
		}
		var void []string
		for _, p := range g.Protect {
			p = path.Clean(p)
			if _, err := fs.Stat(project, p); strings.ContainsAny(p, `*?[{\`) || !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if near := beside(project, p); near != "" && !glob.MatchAny(g.Protect, near) {
				void = append(void, fmt.Sprintf("%s (%s is there)", clip(p), clip(near)))
			} else if g.ProtectNew {
				void = append(void, clip(p))
			}
		}
		if len(void) > 0 {
			diags.Add(diag.Newf("protect-nothing", at, "gate %s protects files that do not exist", clip(name)).
				WithDetail("No file of the project is named %s, so it protects nothing. Correct the name. If agents must not make such a file, write protect_new = false; if a sprint makes it and later ones must not change it, nothing needs to be done.",
					text.AndMore(void[:min(len(void), 12)], len(void))))
		}
	}
}

// beside is a path of the project whose last name is one typing mistake away; "" if
// there is none.
func beside(project fs.FS, p string) string {
	dir, base := path.Split(p)
	entries, err := fs.ReadDir(project, path.Clean(dir))
	if err != nil || len(entries) > 10_000 {
		return ""
	}
	for _, e := range entries {
		if len(base) > 4 && spell.OneEdit(base, e.Name()) {
			return dir + e.Name()
		}
	}
	return ""
}

// gateRange is where a gate of epic.json was written.
func (u *unit) gateRange(name string, d *ir.DraftNode) diag.Range {
	short := name[strings.LastIndexByte(name, '/')+1:]
	if p := u.set.Gates[short]; p != nil && u.c.files[p.Range.File] != nil {
		return p.Range
	}
	for k := range d.Verify {
		if v := &d.Verify[k]; v.Name == short || v.Name == "" && strings.HasPrefix(short, "verify") {
			return v.Range
		}
	}
	return d.KeyRange
}
