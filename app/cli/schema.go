package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
	"github.com/ralph-compiler/ralph/policies"
)

// schemas are the published JSON Schemas, by name.
var schemas = map[string]func() []byte{
	"epic":         ir.Schema,
	"front-matter": ir.FrontMatterSchema,
	"policy":       policies.JSONSchema,
	"ralph-bead":   ralphbead.Schema,
}

func newSchemaCommand() *cobra.Command {
	names := slices.Sorted(maps.Keys(schemas))
	return &cobra.Command{
		Use:   "schema [epic|front-matter|policy|ralph-bead]",
		Short: "Print a JSON Schema: of epic.json, of a plan's front matter, of the policy as JSON, of a Ralph bead",
		Example: `  ralph schema > epic.schema.json
  ralph schema policy       for *.hcl.json files
  ralph schema front-matter for the YAML at the head of a plan`,
		Args:      countArgs(cobra.MaximumNArgs(1)),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "epic"
			if len(args) > 0 {
				name = args[0]
			}
			s, ok := schemas[name]
			if !ok {
				return exit.Usagef("there is no schema %q%s; there are: %s", name, spell.Hint(name, names), strings.Join(names, ", "))
			}
			_, err := cmd.OutOrStdout().Write(s())
			return err
		},
	}
}
