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
	"github.com/ralph-compiler/ralph/web"
)

// schemas returns the published JSON Schemas, by name.
func schemas() map[string]func() []byte {
	out := map[string]func() []byte{
		"epic":         ir.Schema,
		"front-matter": ir.FrontMatterSchema,
		"policy":       policies.JSONSchema,
		"ralph-bead":   ralphbead.Schema,
		"ui":           web.OpenAPI,
	}
	maps.Copy(out, record.Schemas)
	return out
}

func newSchemaCommand() *cobra.Command {
	known := schemas()
	names := slices.Sorted(maps.Keys(known))
	return &cobra.Command{
		Use:       "schema [NAME]",
		Short:     "Print a JSON Schema: of epic.json, of other files, of the --json output of commands; the OpenAPI document of ralph ui",
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
