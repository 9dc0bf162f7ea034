package draft

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/dot"
)

// Shown is what a person has to see of a plan before it counts.
type Shown struct {
	compiler.Result
	Changes  *Changed // nil: it is a new plan
	Settings Settings
	Other    string   // which policy files differ from those by which it was judged
	Open     []string // questions
	Drawing  string   // the file of its graph
}

// Shown compiles the plan and draws it.
func (d *Draft) Shown(ctx context.Context) (*Shown, error) {
	plan, err := d.text(ctx)
	if err != nil {
		return nil, err
	}
	c, err := d.compiled(plan)
	if err != nil {
		return nil, err
	}
	s := &Shown{Result: c.Results[0], Settings: newSettings(c, d.Plan), Open: d.questions(plan), Drawing: filepath.Join(d.Space.State(), "plan.dot")}
	if s.Changes, err = d.changes(ctx, s.Epic, diag.NewFile(d.Plan, plan)); err != nil {
		return nil, err
	}
	if s.Other, err = d.otherPolicy(ctx, s.Epic); err != nil {
		return nil, err
	}
	return s, atomicfile.WriteOwn(s.Drawing, dot.Write(s.Epic, dot.Options{Waves: true}), 0o600)
}

// Settings are what a plan brings besides its work, line by line.
type Settings struct {
	Commands []string // run when it is applied
	Chosen   []string // in front matter and in fences of policy
	Warnings []string // of the compiler
}

func newSettings(c *project.Compilation, plan string) Settings {
	res, file := c.Results[0], c.Files[plan]
	s := Settings{Commands: commandsOf(res.Epic), Chosen: settingsOf(res, file)}
	warnings := lists.Keep(c.Diags, func(d diag.Diagnostic) bool { return d.Severity <= diag.Warning })
	s.Warnings = lists.Map(warnings, func(d diag.Diagnostic) string {
		return fmt.Sprintf("%s%s: %s", atLine(file, d.Range), d.Code, d.Summary)
	})
	return s
}

// commandsOf are the gate commands that the plan itself states, by sprint.
func commandsOf(epic *ir.Epic) (out []string) {
	for n := range lists.Refs(epic.Nodes) {
		for k := range n.Steps {
			for _, name := range n.Steps[k].Gates {
				if g := epic.Gates[name]; g.From == "plan" && g.Run != "" {
					for line := range strings.Lines(g.Run) {
						out = append(out, fmt.Sprintf("%s  %s", n.Key, strings.TrimRight(line, "\n")))
					}
				}
			}
		}
	}
	return out
}

// settingsOf are the settings in the plan's front matter and in its policy fences.
func settingsOf(res compiler.Result, file *diag.File) (out []string) {
	fm, _ := syntax.Peek(file) // the compiler has reported its errors
	for _, s := range []struct {
		name string
		said syntax.Stated
	}{{"policy", fm.Policy}, {"base", fm.Base}, {"integration", fm.Integration}, {"dialect", fm.Dialect}} {
		if s.said.Set() {
			out = append(out, fmt.Sprintf("%s%s: %s", atLine(file, s.said.Range), s.name, s.said.Value))
		}
	}
	out = append(out, lists.Map(fm.Policies, func(p syntax.Stated) string { return fmt.Sprintf("%spolicies: %s", atLine(file, p.Range), p.Value) })...)
	for _, f := range res.Trace.Settings() {
		at := f.Range
		for line := range strings.Lines(string(file.Bytes[f.Range.Start:f.Range.End])) {
			if text := strings.TrimRight(line, "\r\n"); strings.TrimSpace(text) != "" {
				out = append(out, atLine(file, at)+text)
			}
			at.Start += len(line)
		}
	}
	return out
}

// atLine names the line of a range in the plan; "" if it is elsewhere.
func atLine(file *diag.File, r diag.Range) string {
	if file == nil || r.IsZero() || r.File != file.Name {
		return ""
	}
	return fmt.Sprintf("line %d: ", file.Position(r.Start).Line)
}
