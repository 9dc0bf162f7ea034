package cli

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// mostSettings bounds how many lines of one kind are shown to whoever approves.
const mostSettings = 40

// saySettings writes what a plan brings besides its work: commands that run when it is
// applied, settings in front matter and in fences of policy, and what the compiler has
// to say about it.
func saySettings(b *strings.Builder, c *project.Compilation, plan string) {
	res, file := c.Results[0], c.Files[plan]
	sayLines(b, "Commands of the plan, run when it is applied:", commandsOf(res.Epic))
	sayLines(b, "Settings of the plan:", settingsOf(res, file))
	var said []string
	for _, d := range c.Diags {
		if d.Severity <= diag.Warning {
			said = append(said, fmt.Sprintf("%s%s: %s", atLine(file, d.Range), d.Code, d.Summary))
		}
	}
	sayLines(b, "Warnings of the compiler:", said)
}

func sayLines(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, line := range lines[:min(len(lines), mostSettings)] {
		fmt.Fprintf(b, "  %s\n", line)
	}
	if more := len(lines) - mostSettings; more > 0 {
		fmt.Fprintf(b, "  … %d more\n", more)
	}
}

// commandsOf are the commands by which the plan itself has its sprints judged, by sprint.
func commandsOf(epic *ir.Epic) (out []string) {
	for i := range epic.Nodes {
		n := &epic.Nodes[i]
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

// settingsOf are what the plan's front matter chooses, and its fences of policy.
func settingsOf(res compiler.Result, file *diag.File) (out []string) {
	fm, _ := syntax.Peek(file) // what is wrong with it, the compiler has said
	for _, s := range []struct {
		name string
		said syntax.Stated
	}{{"policy", fm.Policy}, {"base", fm.Base}, {"integration", fm.Integration}, {"dialect", fm.Dialect}} {
		if s.said.Set() {
			out = append(out, fmt.Sprintf("%s%s: %s", atLine(file, s.said.Range), s.name, s.said.Value))
		}
	}
	for _, p := range fm.Policies {
		out = append(out, fmt.Sprintf("%spolicies: %s", atLine(file, p.Range), p.Value))
	}
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

// atLine is the line of a plan that something is about, "" if it stands elsewhere.
func atLine(file *diag.File, r diag.Range) string {
	if file == nil || r.IsZero() || r.File != file.Name {
		return ""
	}
	return fmt.Sprintf("line %d: ", file.Position(r.Start).Line)
}
