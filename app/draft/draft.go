package draft

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/draft/rules"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
)

// Draft is a draft according to its record.
type Draft struct {
	*record.Record
	View machine.NodeView
	Plan string // the path of the plan
}

// Open reads the record of a draft; file is its epic or its id.
func Open(ctx context.Context, file string) (*Draft, error) {
	r, err := record.Open(ctx, file, nil)
	if err != nil {
		return nil, err
	}
	return Of(r), nil
}

// Of is the draft that a record is about.
func Of(r *record.Record) *Draft {
	view, _ := r.Run.View(r.Epic.Nodes[0].ID)
	return &Draft{Record: r, View: view, Plan: r.Epic.Plans()}
}

// commit is the commit that holds the plan: the result, or what waits for approval.
func (d *Draft) commit() string {
	if d.View.Result.Commit != "" {
		return d.View.Result.Commit
	}
	for _, x := range slices.Backward(d.View.Attempts) {
		if x.Step == compiler.PlanStep && x.Commit != "" {
			return x.Commit
		}
	}
	return ""
}

// Look is the command that prints the plan as it was written.
func (d *Draft) Look() string {
	return "git show " + words.QuoteArg(fmt.Sprintf("%.12s:%s", d.commit(), d.Plan))
}

// text is the plan as it was written.
func (d *Draft) text(ctx context.Context) ([]byte, error) {
	b, there, err := d.Space.FileAt(ctx, d.commit(), d.Plan, project.MaxFile)
	if err == nil && !there {
		err = fmt.Errorf("%s is not in commit %.12s", d.Plan, d.commit())
	}
	return b, err
}

// compiled compiles the text of the plan as ralph compile does in the checkout.
func (d *Draft) compiled(text []byte) (*project.Compilation, error) {
	args := project.Args{
		Plans: []string{"-"}, PlanPath: filepath.Join(d.Space.Top(), filepath.FromSlash(d.Plan)), Format: project.FormatText, Recalls: record.RecallClone, Out: "epic.json",
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
	return nil, exit.Inputf("the plan compiles in the commit that it was written on, but not in this checkout, whose policy differs:\n\n%s\n  The plan: %s", b.String(), d.Look())
}

// deletedIDs are the sprints that would get the id of a deleted one. A sprint without an id
// is new: the gate makes sure that the others keep theirs.
func deletedIDs(c *project.Compilation) (keys []string) {
	for _, d := range c.Diags {
		if f := c.Files[d.Range.File]; d.Code == "deleted-id" && f != nil {
			keys = append(keys, string(f.Bytes[d.Range.Start:d.Range.End]))
		}
	}
	return keys
}

// Attempt names the attempt that wrote the plan.
func (d *Draft) Attempt() string {
	planned := lists.Keep(d.View.Attempts, func(a machine.AttemptLog) bool { return a.Step == compiler.PlanStep })
	return fmt.Sprintf("attempt %d", len(planned))
}

// Planner is the agent that wrote the plan.
func (d *Draft) Planner() string {
	if k := len(d.View.Attempts); k > 0 && d.View.Attempts[k-1].Agent != "" {
		return d.View.Attempts[k-1].Agent
	}
	steps := d.Epic.Nodes[0].Steps
	return steps[len(steps)-1].Agent
}

// questions are the open questions of the plan, and those of its agents with the answers.
func (d *Draft) questions(text []byte) []string {
	out := rules.Questions(string(text))
	for i := range d.View.Attempts {
		x := &d.View.Attempts[i]
		if x.Outcome.NextAction != "need_human" && !x.Outcome.NeedsHuman {
			continue
		}
		q := words.First(x.Outcome.Summary) + " (asked in " + x.Step + ")"
		if i+1 < len(d.View.Attempts) {
			for _, said := range d.View.Attempts[i+1].Said {
				q += "; " + said.By + ": " + words.First(said.Message)
			}
		}
		out = append(out, q)
	}
	return out
}
