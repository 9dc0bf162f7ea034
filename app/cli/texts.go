package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// texts holds what the help of each command says above its flags: texts/COMMAND.md, what
// it does and, after "Examples:", how it is called.
//
//go:embed texts
var texts embed.FS

// withTexts makes the help of a command read its text on demand.
func withTexts(root *cobra.Command) {
	explain := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		name := strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), root.Name()+" "), " ", "-")
		if b, err := texts.ReadFile("texts/" + name + ".md"); err == nil { // cobra's own commands have none
			long, example, _ := strings.Cut(string(b), "Examples:\n\n")
			cmd.Long, cmd.Example = strings.TrimSpace(long), strings.TrimRight(example, "\n")
		}
		explain(cmd, args)
	})
}
