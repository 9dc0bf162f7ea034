package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/dot"
)

// compiled compiles the text of the plan as ralph compile does in the checkout.
func (d *drafted) compiled(text []byte) (*project.Compilation, error) {
	args := project.Args{
		Plans: []string{"-"}, PlanPath: filepath.Join(d.Space.Top(), filepath.FromSlash(d.plan)), Format: project.FormatText, Recalls: record.RecallClone, Out: "epic.json",
	}
	c, err := args.Compile(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	if args.FreshIDs = deletedIDs(c); len(args.FreshIDs) > 0 {
		c.Project.Close()
		if c, err = args.Compile(strings.NewReader(string(text))); err != nil {
			return nil, err
		}
	}
	defer c.Project.Close()
	if !c.Diags.HasErrors() {
		return c, nil
	}
	var b strings.Builder
	_ = diag.Text{Files: c.Files, Clean: reveal.Words, Width: columns.Of}.Write(&b, c.Diags) // of a builder
	return nil, exit.Inputf("the plan compiles in the commit that it was written on and not in this checkout, where the policy is another:\n\n%s\n  The plan: %s", b.String(), d.look())
}

// deletedIDs are the sprints that would get the id of a deleted one. What a planner wrote
// without an id is new: the gate sees to it that others keep theirs.
func deletedIDs(c *project.Compilation) (keys []string) {
	for _, d := range c.Diags {
		if f := c.Files[d.Range.File]; d.Code == "deleted-id" && f != nil {
			keys = append(keys, string(f.Bytes[d.Range.Start:d.Range.End]))
		}
	}
	return keys
}

// show writes what a person has to see of a plan before it counts: its tree, what waits
// for what, what may run at the same time, and what is still open.
func (d *drafted) show(ctx context.Context, w io.Writer) error {
	plan, err := d.text(ctx)
	if err != nil {
		return err
	}
	c, err := d.compiled(plan)
	if err != nil {
		return err
	}
	res := c.Results[0]
	var b strings.Builder // what others wrote; it is cleaned before anything is painted
	paint := term.For(w)
	title := paint.Paint(term.Bold, reveal.Words(res.Epic.Epic.Title))
	fmt.Fprintf(&b, "  %s, %s by %s\n", d.plan, d.attempt(), d.planner())
	sayTree(&b, res)
	stats := res.Epic.Stats()
	fmt.Fprintf(&b, "\n%s, %s, %s:\n", text.Count(stats.Nodes, "sprint"), text.Count(stats.Edges, "edge"), text.Count(len(stats.Waves), "wave"))
	for i, wave := range stats.Waves {
		fmt.Fprintf(&b, "  wave %d: %s\n", i+1, joinKeys(wave, " "))
	}
	shape := "\n" + title + reveal.Words(b.String())
	b.Reset()
	changes, err := d.changes(ctx, paint, res.Epic, diag.NewFile(d.plan, plan))
	if err != nil {
		return err
	}
	saySettings(&b, c, d.plan)
	if why, err := d.otherPolicy(ctx, res.Epic); err != nil {
		return err
	} else if why != "" {
		fmt.Fprintf(&b, "\n%s. What you see is by the one here. To have it judged by that: commit, then ask for the draft again in the same words.\n", why)
	}
	if open := d.questions(plan); len(open) > 0 {
		b.WriteString("\nOpen questions:\n")
		for _, q := range open {
			fmt.Fprintf(&b, "  - %s\n", q)
		}
	}
	drawing := filepath.Join(d.Space.State(), "plan.dot")
	if err := atomicfile.WriteOwn(drawing, dot.Write(res.Epic, dot.Options{Waves: true}), 0o600); err != nil {
		return exit.Inputf("%w", err)
	}
	fmt.Fprintf(&b, "\n  plan:  %s\n  graph: %s\n\n", d.look(), drawing)
	view.WriteSteps(&b, d.NextSteps(d.view))
	_, err = io.WriteString(w, shape+changes+reveal.Words(b.String()))
	return err
}

// attempt says which try the plan is.
func (d *drafted) attempt() string {
	n := 0
	for i := range d.view.Attempts {
		if d.view.Attempts[i].Step == compiler.PlanStep {
			n++
		}
	}
	return fmt.Sprintf("attempt %d", n)
}

// planner is who wrote it.
func (d *drafted) planner() string {
	if k := len(d.view.Attempts); k > 0 && d.view.Attempts[k-1].Agent != "" {
		return d.view.Attempts[k-1].Agent
	}
	steps := d.Epic.Nodes[0].Steps
	return steps[len(steps)-1].Agent
}

// sayTree writes the sprints of a plan below their phases, with what each waits for.
func sayTree(b *strings.Builder, res compiler.Result) {
	byKey := make(map[ir.Key]*ir.Node, len(res.Epic.Nodes))
	wide := 0
	for i := range res.Epic.Nodes {
		n := &res.Epic.Nodes[i]
		byKey[n.Key] = n
		wide = max(wide, len(n.Key))
	}
	phases := map[string]ir.DraftPhase{}
	for _, p := range res.Trace.Phases() {
		phases[p.ID] = p
	}
	last := ""
	for _, key := range res.Trace.Keys() {
		n := byKey[key]
		if n == nil {
			continue
		}
		if n.Phase != last {
			last = n.Phase
			p := phases[n.Phase]
			fmt.Fprintf(b, "\n  %s\n", strings.TrimRight(strings.TrimSpace(p.Word+" "+p.ID)+": "+p.Name, ": "))
		}
		line := fmt.Sprintf("    %-*s  %s", wide, n.Key, n.Title)
		if n.Kind != ir.Work {
			line += " (" + string(n.Kind) + ")"
		}
		var after []ir.Key
		for _, e := range n.After {
			if e.Type == ir.Blocks {
				after = append(after, e.Key)
			}
		}
		if len(after) > 0 {
			line += "  ← " + joinKeys(after, ", ")
		}
		b.WriteString(line + "\n")
	}
}

// questions are what the plan leaves open, and what its agents asked and were told.
func (d *drafted) questions(text []byte) []string {
	out := draft.Questions(string(text))
	for i := range d.view.Attempts {
		x := &d.view.Attempts[i]
		if x.Outcome.NextAction != "need_human" && !x.Outcome.NeedsHuman {
			continue
		}
		q := words.First(x.Outcome.Summary) + " (asked in " + x.Step + ")"
		if i+1 < len(d.view.Attempts) {
			for _, said := range d.view.Attempts[i+1].Said {
				q += "; " + said.By + ": " + words.First(said.Message)
			}
		}
		out = append(out, q)
	}
	return out
}
