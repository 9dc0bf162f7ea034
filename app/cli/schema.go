package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
	"github.com/ralph-compiler/ralph/policies"
)

// schemas returns the published JSON Schemas, by name.
func schemas() map[string]func() []byte {
	out := map[string]func() []byte{
		"epic":         ir.Schema,
		"front-matter": ir.FrontMatterSchema,
		"policy":       policies.JSONSchema,
		"ralph-bead":   ralphbead.Schema,
	}
	maps.Copy(out, record.Schemas)
	return out
}

func newSchemaCommand() *cobra.Command {
	known := schemas()
	names := slices.Sorted(maps.Keys(known))
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print a JSON Schema: of epic.json, of other files, of what commands print with --json",
		Long: `Schema prints one of these JSON Schemas:

  epic          epic.json; this is the default
  front-matter  the YAML at the head of a plan
  policy        a policy as JSON (*.hcl.json)
  ralph-bead    a Ralph bead
  status, show, plan, runs, monitor
                what these commands print with --json
  show-diff     ralph show --diff --json
  show-bead     ralph show --json of a bead that is in no epic here

What commands print has a field "version" at the top. It goes up when a field is taken
away or changes its meaning. Fields may be added at any time, so ignore those that you
do not know. ralph runs prints a list, which has no version: if it ever has to change
in such a way, it becomes an object with one.`,
		Example: `  ralph schema > epic.schema.json
  ralph schema policy       for *.hcl.json files
  ralph schema front-matter for the YAML at the head of a plan
  ralph schema status       for ralph status --json`,
		Args:      countArgs(cobra.MaximumNArgs(1)),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "epic"
			if len(args) > 0 {
				name = args[0]
			}
			s, ok := known[name]
			if !ok {
				return exit.Usagef("there is no schema %q%s; there are: %s", name, spell.Hint(name, names), strings.Join(names, ", "))
			}
			_, err := cmd.OutOrStdout().Write(s())
			return err
		},
	}
}
