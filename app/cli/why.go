package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

func newWhyCommand() *cobra.Command {
	a := &project.Args{}
	var file string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why KEY [FIELD]",
		Short: "Say where a node's values come from, with the source line",
		Long: `Why explains the values of a node: which label, policy block, built-in default or flag
gave each of them, which line made each dependency, why an agent was chosen. It reads
the plan that epic.json names again, and says so when epic.json is stale. Give the
same flags as to compile.`,
		Example: `  ralph why 1.2a
  ralph why 1.2a after
  ralph why 1.2a steps.implement
  ralph why 1.2a limits.attempts --json`,
		Args: countArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			field := ""
			if len(args) > 1 {
				field = args[1]
			}
			return runWhy(cmd, a, file, args[0], field, asJSON)
		},
	}
	addCompileFlags(cmd, a)
	cmd.Flags().StringVarP(&file, "file", "f", "epic.json", "the epic")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runWhy(cmd *cobra.Command, a *project.Args, file, key, field string, asJSON bool) error {
	if file == "-" {
		return exit.Usagef("why reads the plan beside the epic again, so the epic must be a file, not standard input")
	}
	if _, err := os.Stat(file); file == "epic.json" && err != nil {
		return &exit.Error{Code: exit.Input, Err: project.ErrNoEpic}
	}
	_, old, err := record.Load(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	a.Out, a.Check = file, true
	if err := fromEpic(a); err != nil {
		return err
	}
	c, err := a.Compile(cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer c.Project.Close()
	if c.Diags.HasErrors() {
		return failCompile(c, cmd)
	}
	r := c.Results[0]
	if !bytes.Equal(r.JSON, old) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is stale: this is what the plan says now (ralph compile --check shows the difference)\n", file)
	}
	reasons, ok := r.Trace.Why(ir.Key(key), field)
	if !ok {
		return unknownKey(r.Trace.Keys(), key)
	}
	if len(reasons) == 0 {
		reasons = likeField(r.Trace, ir.Key(key), field)
	}
	if len(reasons) == 0 {
		all, _ := r.Trace.Why(ir.Key(key), "")
		names := make([]string, len(all))
		for i, x := range all {
			names[i] = x.Field
		}
		return exit.Inputf("nothing is recorded for the field %s of %s%s; there is: %s", field, key, spell.Hint(field, names), spell.Sorted(names, 40))
	}
	if asJSON {
		return whyJSON(c, cmd.OutOrStdout(), key, reasons)
	}
	return whyText(c, cmd.OutOrStdout(), r, key, reasons, field != "")
}

// likeField finds the reasons that a person means by a short name: "timeout",
// "agent", or the path that the field has in epic.json, "limits.attempts".
func likeField(t *compiler.Trace, key ir.Key, field string) []compiler.Reason {
	all, _ := t.Why(key, "")
	want := field[strings.LastIndexByte(field, '.')+1:]
	var out []compiler.Reason
	for _, x := range all {
		for part := range strings.SplitSeq(x.Field, ".") {
			if part == want || strings.HasPrefix(part, want+"_") || want == "limits" && limitFields[part] {
				out = append(out, x)
				break
			}
		}
	}
	return out
}

var limitFields = map[string]bool{"iterations": true, "attempts": true, "breaker": true, "runner_retries": true, "timeout_ms": true}

// failCompile prints the diagnostics and ends with the exit code of wrong input.
func failCompile(c *project.Compilation, cmd *cobra.Command) error {
	if err := (view.Diagnostics{Format: c.Format, Sources: c.Sources}).Print(cmd.OutOrStdout(), cmd.ErrOrStderr(), c.Diags); err != nil {
		return err
	}
	return &exit.Error{Code: exit.Input}
}

func unknownKey(keys []ir.Key, key string) error {
	known := make([]string, len(keys))
	for i, k := range keys {
		known[i] = string(k)
	}
	return exit.Inputf("there is no node %s%s; there are: %s", key, spell.Hint(key, known), spell.Sorted(known, 40))
}

// whyText prints reasons; whole says that long values are not cut.
func whyText(c *project.Compilation, w io.Writer, r compiler.Result, key string, reasons []compiler.Reason, whole bool) error {
	style := term.For(w)
	var b strings.Builder
	for i := range r.Epic.Nodes {
		if n := &r.Epic.Nodes[i]; string(n.Key) == key {
			fmt.Fprintf(&b, "%s  %s\n", style.Paint(term.Bold, key), reveal.Words(n.Title))
		}
	}
	list := make(diag.List, len(reasons))
	width := 0
	for i, x := range reasons {
		list[i].Range = x.Range
		width = max(width, columns.Of(x.Field))
	}
	shown, files := c.Sources.FromHere(list)
	for i, x := range reasons {
		value := reveal.Words(strings.ReplaceAll(x.Value, "\n", " "))
		if value == "" {
			value = "–"
		}
		if !whole {
			value = columns.Truncate(value, 90)
		}
		fmt.Fprintf(&b, "  %s%s  %s\n", style.Paint(term.Info, reveal.Words(x.Field)), strings.Repeat(" ", width-columns.Of(x.Field)), value)
		where := x.Origin
		if p := shown[i].Range; !p.IsZero() {
			if f := files[p.File]; f != nil {
				where += "  " + p.File + ":" + f.Position(p.Start).String()
			}
		}
		fmt.Fprintf(&b, "  %s  %s\n", strings.Repeat(" ", width), style.Paint(term.Faint, reveal.Words(where)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func whyJSON(c *project.Compilation, w io.Writer, key string, reasons []compiler.Reason) error {
	type reason struct {
		Field  string      `json:"field"`
		Value  string      `json:"value"`
		Origin string      `json:"origin"`
		Range  *view.Place `json:"range"`
	}
	out := struct {
		Key     string   `json:"key"`
		Reasons []reason `json:"reasons"`
	}{key, []reason{}}
	for _, x := range reasons {
		j := reason{Field: x.Field, Value: x.Value, Origin: x.Origin}
		if !x.Range.IsZero() {
			p := view.At(c.Sources, x.Range)
			j.Range = &p
		}
		out.Reasons = append(out.Reasons, j)
	}
	return view.WriteJSON(w, out)
}
