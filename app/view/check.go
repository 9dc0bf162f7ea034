package view

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Check compares instead of writing: it says which epics are current, and how others would
// change.
func Check(w io.Writer, a *project.Args, c *project.Compilation, targets []string) (stale bool, err error) {
	for i, r := range c.Results {
		var old []byte
		same := project.SameBytes(targets[i], r.JSON)
		if !same {
			old, err = regular.ReadFile(targets[i])
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			Sayf(w, "%s does not exist yet; run: %s\n", targets[i], compileAgain(a, c.Plans[i].File, r))
			stale = true
			continue
		case err != nil:
			return stale, err
		case !same:
			stale = true
			if err := sayStale(w, targets[i], compileAgain(a, c.Plans[i].File, r), old, r.Epic); err != nil {
				return stale, err
			}
			continue
		}
		if r.Added > 0 && r.Added < len(r.Epic.Nodes) && !a.NoAnnotate {
			stale = true
			Sayf(w, "%s is current, but %s: %s without an id; run: %s\n",
				targets[i], c.Plans[i].File, text.Count(r.Added, "item"), compileAgain(a, c.Plans[i].File, r))
			continue
		}
		Sayf(w, "%s is current\n", targets[i])
	}
	return stale, nil
}

// compileAgain is the command that makes epic.json again, with the flags given here.
func compileAgain(a *project.Args, plan string, r compiler.Result) string {
	text, files := []string{"ralph compile"}, []string{plan}
	if a.As != "" {
		text, files = []string{"ralph import --as " + words.QuoteArg(a.As)}, a.Plans
	}
	text[0] += record.Onto(a.Out)
	for _, p := range a.Policies {
		text = append(text, "--policy", words.QuotePath(p))
	}
	flag := func(name, value string) {
		if value != "" {
			text = append(text, name, words.QuoteArg(value))
		}
	}
	if flag("--dialect", a.Dialect); a.Dialect == "" && r.Unnamed {
		flag("--dialect", r.Epic.Run.Dialect)
	}
	flag("--complexity", a.Complexity)
	flag("--pr", a.Pr)
	if a.MaxIterations != 0 {
		text = append(text, "--max-iterations", strconv.Itoa(a.MaxIterations))
	}
	for _, v := range a.Vars {
		text = append(text, "--var", words.QuoteArg(v))
	}
	text = append(text, lists.Map(files, words.QuotePath)...)
	return strings.Join(text, " ")
}

func sayStale(w io.Writer, target, again string, old []byte, now *ir.Epic) error {
	Sayf(w, "%s is stale; run: %s\n", target, again)
	before, err := ir.Decode(old)
	var edited *ir.DigestError
	switch {
	case errors.As(err, &edited):
		Sayf(w, "it was edited by hand: its digest does not match its content\n")
	case err != nil:
		Sayf(w, "it cannot be read: %v\n", err)
		return nil
	}
	return write(w, reveal.Words(ir.Diff(before, now).Text()))
}
