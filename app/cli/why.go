package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/ir"
)

func newWhyCommand() *cobra.Command {
	a := &project.Args{Brief: true}
	var file string
	var asJSON bool
	cmd := newCommand("why KEY [FIELD]", "Show where a sprint's values come from, with the source line", cobra.RangeArgs(1, 2), func(cmd *cobra.Command, args []string) error {
		field := ""
		if len(args) > 1 {
			field = args[1]
		}
		return runWhy(cmd, a, file, args[0], field, asJSON)
	})
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
		return project.ErrNoEpic
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
		return diagnose(cmd, c.Format, c.Sources, c.Diags)
	}
	r := c.Results[0]
	if !bytes.Equal(r.JSON, old) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is stale: this is the plan as it is now (ralph compile --check shows the difference)\n", file)
	}
	n, err := record.Sprint(r.Epic, key)
	if err != nil {
		return err
	}
	reasons, _ := r.Trace.Why(n.Key, field)
	if len(reasons) == 0 {
		reasons = likeField(r.Trace, n.Key, field)
	}
	if len(reasons) == 0 {
		all, _ := r.Trace.Why(n.Key, "")
		names := lists.Map(all, func(x compiler.Reason) string { return x.Field })
		return exit.Inputf("nothing is recorded for the field %s of %s%s; there is: %s", field, key, spell.Hint(field, names), spell.Sorted(names, 40))
	}
	if asJSON {
		return view.WriteJSON(cmd.OutOrStdout(), c.Sources.Why(n.Key, reasons))
	}
	return view.Why(c, cmd.OutOrStdout(), n, reasons, field != "")
}

// likeField finds the reasons for a short name of a field ("timeout", "agent"), or for its
// path in epic.json ("limits.attempts").
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
