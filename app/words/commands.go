package words

import (
	"path/filepath"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// ResumeCommand is the command that ends a hold of the run; more is the flag that raises
// its budget.
func ResumeCommand(what executor.WaitFor, more string) string {
	return machine.HeldWay(what, more).Command()
}

// ShowCommand is ralph show of a node with a flag of it; about is the flag that names the epic.
func ShowCommand(key ir.Key, flag, about string) string {
	return "ralph show " + QuoteArg(string(key)) + " " + flag + about
}

// QuoteArg makes a word safe to paste into a shell.
func QuoteArg(s string) string { return shellword.Quote(reveal.Words(s)) }

// QuotePath makes the path of a file safe to paste into a shell.
func QuotePath(file string) string { return shellword.Path(reveal.Words(file)) }

// LogOf is the file that an event names below the epic's state, "" if it names none.
func LogOf(state, name string) string {
	if name == "" || state == "" {
		return name
	}
	return filepath.Join(state, filepath.FromSlash(name))
}
