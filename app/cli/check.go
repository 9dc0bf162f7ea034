package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// fromEpic takes the plan that epic.json names when --check has none.
func fromEpic(a *project.Args) error {
	if len(a.Plans) > 0 {
		return nil
	}
	if !a.Check || a.Out == "-" {
		return exit.Usagef("compile which plan? ralph compile plans/x.md")
	}
	if project.IsDir(a.Out) {
		return exit.Usagef("name the plans whose epics lie in %s", a.Out)
	}
	b, err := project.ReadFile(a.Out)
	if err != nil {
		return err
	}
	epic, err := ir.Decode(b)
	var edited *ir.DigestError
	if err != nil && !errors.As(err, &edited) { // an edited epic is reported as stale
		return project.LoadError(a.Out, err)
	}
	p, err := project.Open(a.Out)
	if err != nil {
		return err
	}
	defer p.Close()
	if !filepath.IsLocal(filepath.FromSlash(epic.Epic.Plan)) {
		return exit.Inputf("%s names the plan %s, which leaves the project; name the plan: ralph compile PLAN", a.Out, epic.Epic.Plan)
	}
	plan := filepath.Join(p.Dir, filepath.FromSlash(epic.Epic.Plan))
	if epic.Run.Dialect == "" && (len(epic.Nodes) != 1 || !project.HoldsBead(plan)) {
		return exit.Inputf("%s was made by ralph import; compare it with its files: ralph import --as FORMAT FILE... --check", a.Out)
	}
	a.Plans, a.Recorded = []string{plan}, epic.Run.Dialect
	if _, err := os.Stat(a.Plans[0]); err != nil && project.GitRoot(p.Dir) == "" {
		return exit.Inputf("there is no plan %s beside %s, and no git repository to look in; name the plan: ralph compile PLAN",
			epic.Epic.Plan, a.Out)
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, a.Plans[0]); err == nil {
			a.Plans[0] = rel
		}
	}
	return nil
}

// runCheck compares instead of writing.
func runCheck(a *project.Args, cmd *cobra.Command, c *project.Compilation, targets []string) error {
	stale := false
	w := cmd.OutOrStdout()
	if a.Format != project.FormatText {
		w = cmd.ErrOrStderr()
	}
	for i, r := range c.Results {
		var old []byte
		var err error
		same := project.SameBytes(targets[i], r.JSON)
		if !same {
			old, err = regular.ReadFile(targets[i])
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			view.Sayf(w, "%s does not exist yet; run: %s\n", targets[i], compileAgain(a, c.Plans[i].File, r))
			stale = true
			continue
		case err != nil:
			return exit.Inputf("%w", err)
		case !same:
			stale = true
			if err := sayStale(w, targets[i], compileAgain(a, c.Plans[i].File, r), old, r.Epic); err != nil {
				return err
			}
			continue
		}
		if r.Added > 0 && r.Added < len(r.Epic.Nodes) && !a.NoAnnotate {
			stale = true
			view.Sayf(w, "%s is current, but %s: %s without an id; run: %s\n",
				targets[i], c.Plans[i].File, text.Count(r.Added, "item"), compileAgain(a, c.Plans[i].File, r))
			continue
		}
		view.Sayf(w, "%s is current\n", targets[i])
	}
	if stale {
		return &exit.Error{Code: exit.Stale}
	}
	return nil
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
	for _, file := range files {
		text = append(text, words.QuotePath(file))
	}
	return strings.Join(text, " ")
}

func sayStale(w io.Writer, target, again string, old []byte, now *ir.Epic) error {
	view.Sayf(w, "%s is stale; run: %s\n", target, again)
	before, err := ir.Decode(old)
	var edited *ir.DigestError
	switch {
	case errors.As(err, &edited):
		view.Sayf(w, "it was edited by hand: its digest does not fit its content\n")
	case err != nil:
		view.Sayf(w, "it cannot be read: %v\n", err)
		return nil
	}
	_, err = io.WriteString(w, reveal.Words(ir.Diff(before, now).Text()))
	return err
}
