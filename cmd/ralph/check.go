package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// fromEpic takes the plan that epic.json names when --check has none.
func (a *compileArgs) fromEpic() error {
	if len(a.plans) > 0 {
		return nil
	}
	if !a.check || a.out == "-" {
		return usageErrorf("compile which plan? ralph compile plans/x.md")
	}
	if isDir(a.out) {
		return usageErrorf("name the plans whose epics lie in %s", a.out)
	}
	b, err := readFile(a.out)
	if err != nil {
		return err
	}
	epic, err := ir.Decode(b)
	var edited *ir.DigestError
	if err != nil && !errors.As(err, &edited) { // an edited one is stale, and that will be said
		return loadError(a.out, err)
	}
	p, err := openProject(a.out)
	if err != nil {
		return err
	}
	defer p.Close()
	if !filepath.IsLocal(filepath.FromSlash(epic.Epic.Plan)) {
		return inputErrorf("%s names the plan %s, which leaves the project; name the plan: ralph compile PLAN", a.out, epic.Epic.Plan)
	}
	plan := filepath.Join(p.dir, filepath.FromSlash(epic.Epic.Plan))
	if epic.Run.Dialect == "" && (len(epic.Nodes) != 1 || !holdsBead(plan)) {
		return inputErrorf("%s was made by ralph import; compare it with its files: ralph import --as FORMAT FILE... --check", a.out)
	}
	a.plans, a.recorded = []string{plan}, epic.Run.Dialect
	if _, err := os.Stat(a.plans[0]); err != nil && gitRoot(p.dir) == "" {
		return inputErrorf("there is no plan %s beside %s, and no git repository to look in; name the plan: ralph compile PLAN",
			epic.Epic.Plan, a.out)
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, a.plans[0]); err == nil {
			a.plans[0] = rel
		}
	}
	return nil
}

// runCheck compares instead of writing.
func (a *compileArgs) runCheck(cmd *cobra.Command, c *compilation, targets []string) error {
	stale := false
	w := cmd.OutOrStdout()
	if a.format != formatText {
		w = cmd.ErrOrStderr()
	}
	for i, r := range c.Results {
		var old []byte
		var err error
		same := sameBytes(targets[i], r.JSON)
		if !same {
			old, err = regular.ReadFile(targets[i])
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			sayf(w, "%s does not exist yet; run: %s\n", targets[i], a.again(c.plans[i].file, r))
			stale = true
			continue
		case err != nil:
			return inputErrorf("%w", err)
		case !same:
			stale = true
			if err := sayStale(w, targets[i], a.again(c.plans[i].file, r), old, r.Epic); err != nil {
				return err
			}
			continue
		}
		if r.Added > 0 && r.Added < len(r.Epic.Nodes) && !a.noAnnotate {
			stale = true
			sayf(w, "%s is current, but %s: %s without an id; run: %s\n",
				targets[i], c.plans[i].file, text.Count(r.Added, "item"), a.again(c.plans[i].file, r))
			continue
		}
		sayf(w, "%s is current\n", targets[i])
	}
	if stale {
		return &exitError{code: exitStale}
	}
	return nil
}

// again is the command that makes epic.json anew, as it was asked for here.
func (a *compileArgs) again(plan string, r compiler.Result) string {
	words, files := []string{"ralph compile"}, []string{plan}
	if a.as != "" {
		words, files = []string{"ralph import --as " + quoteArg(a.as)}, a.plans
	}
	words[0] += onto(a.out)
	for _, p := range a.policies {
		words = append(words, "--policy", quotePath(p))
	}
	flag := func(name, value string) {
		if value != "" {
			words = append(words, name, quoteArg(value))
		}
	}
	if flag("--dialect", a.dialect); a.dialect == "" && r.Unnamed {
		flag("--dialect", r.Epic.Run.Dialect)
	}
	flag("--complexity", a.complexity)
	flag("--pr", a.pr)
	if a.maxIterations != 0 {
		words = append(words, "--max-iterations", strconv.Itoa(a.maxIterations))
	}
	for _, v := range a.vars {
		words = append(words, "--var", quoteArg(v))
	}
	for _, file := range files {
		words = append(words, quotePath(file))
	}
	return strings.Join(words, " ")
}

// onto is what has to be added to ralph compile so that it is about this epic.json.
func onto(file string) string {
	if file == "epic.json" {
		return ""
	}
	return " -o " + quotePath(file)
}

func sayStale(w io.Writer, target, again string, old []byte, now *ir.Epic) error {
	sayf(w, "%s is stale; run: %s\n", target, again)
	before, err := ir.Decode(old)
	var edited *ir.DigestError
	switch {
	case errors.As(err, &edited):
		sayf(w, "it was edited by hand: its digest does not fit its content\n")
	case err != nil:
		sayf(w, "it cannot be read: %v\n", err)
		return nil
	}
	_, err = io.WriteString(w, reveal.Words(ir.Diff(before, now).Text()))
	return err
}
