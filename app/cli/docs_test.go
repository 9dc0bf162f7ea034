package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
)

const cliDocs = "../../docs/cli.md"

// TestCommandLineDocsAreCurrent holds docs/cli.md to the commands; -update
// rewrites it.
func TestCommandLineDocsAreCurrent(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!-- Generated from app/cli: make generate -->\n\n# Command line\n\n")
	root := bareRoot()
	addCommands(root)
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "%s\n\n", group.Title)
		for _, c := range root.Commands() {
			if c.GroupID == group.ID && c.Name() != "help" && c.Name() != "completion" {
				fmt.Fprintf(&b, "- [`ralph %s`](#ralph-%s): %s\n", c.Name(), c.Name(), c.Short)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString(`Diagnostics go to standard error, results to standard output; ` + "`-`" + ` is standard input or output.
Colour appears only on a terminal and never with ` + "`NO_COLOR`" + `.

| exit code | meaning |
|---|---|
`)
	for _, e := range []struct {
		code int
		what string
	}{
		{exit.Done, "done"},
		{exit.Input, "the input is wrong; diagnostics were printed"},
		{exit.Usage, "the command line is wrong"},
		{exit.NotDone, "the run ended with nodes not done, or [tampered](operations.md#tampering) with"},
		{exit.Waiting, "waiting for a person"},
		{exit.Stale, "stale (`--check`), or different (`diff --exit-code`)"},
		{exit.Bug, "a bug in ralph"},
		{exit.Interrupted, "interrupted"},
	} {
		fmt.Fprintf(&b, "| %d | %s |\n", e.code, e.what)
	}
	for _, c := range root.Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		fmt.Fprintf(&b, "\n## ralph %s\n\n```\n%s```\n", c.Name(), help(c))
	}
	if *update {
		if err := os.WriteFile(cliDocs, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(cliDocs); err != nil || string(got) != b.String() {
		t.Error("docs/cli.md is stale: make generate")
	}
}

func help(c *cobra.Command) string {
	var b strings.Builder
	c.SetOut(&b)
	_ = c.Help()
	return b.String()
}

// TestEveryCommandShowsAnExample: help without an example is half a help.
func TestEveryCommandShowsAnExample(t *testing.T) {
	root := bareRoot()
	addCommands(root)
	for _, c := range root.Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		if help(c); c.Example == "" || c.Long == "" {
			t.Errorf("ralph %s has no example in its help", c.Name())
		}
	}
}
