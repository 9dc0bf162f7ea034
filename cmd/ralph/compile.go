package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// maxIterations bounds --max-iterations, as the label Iterations is bounded.
const maxIterations = 10_000

// compileArgs are the flags of compile; validate, why and fmt use some of them.
type compileArgs struct {
	plans         []string
	planPath      string // path that a plan from standard input stands for
	out           string
	policies      []string
	dialect       string
	recorded      string // dialect that epic.json was made with
	vars          []string
	complexity    string
	maxIterations int
	pr            string
	check         bool
	noAnnotate    bool
	freshIDs      []string
	sameIDs       []string
	recalls       func(*compileArgs, *project, *compiler.Input) // adds what this clone has on record; nil: that does not count
	push          bool
	strict        bool
	format        string
	as            string // format of the files; "" tells plans and beads apart by themselves
}

func newCompileCommand() *cobra.Command {
	a := &compileArgs{}
	cmd := &cobra.Command{
		Use:   "compile PLAN...",
		Short: "Compile a plan into epic.json and write the ids back into the plan",
		Long: `Compile reads a markdown plan and the policy (ralph.hcl and policies/*.hcl at the
project root, or what --policy names), and writes the graph of work: which nodes,
in what order, with which agents and gates. Nothing runs. When anything is wrong,
every mistake is printed and no file is touched.

The ids of new sprints are written into the plan as comments below their headings,
so that a sprint keeps its identity when it is renumbered. A new sprint that would get
the id of one that was run and deleted is an error, because it would take over what
became of that one: --fresh-id KEY gives it another id, --same-id KEY says that it is
the same sprint.

A Ralph bead (a JSON file with intent and dod) is compiled in the same way, to an epic
of one sprint; apply takes it as it is.`,
		Example: `  ralph compile plans/auth.md                      write epic.json, annotate the plan
  ralph compile plans/auth.md --check              is epic.json current? exit 5 if not
  ralph compile plans/*.md -o epics/               several plans, checked together
  ralph compile plans/auth.md --push               also into beads (docs/beads.md)
  ralph compile tasks.md --dialect spec-kit        another way of writing plans
  ralph compile plans/auth.md -o - | jq .nodes     to standard output
  ralph compile plans/auth.md --format sarif > findings.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.plans = args
			return runCompile(cmd, a)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&a.out, "output", "o", "epic.json", "file to write; a directory (DIR/) for several plans; - for standard output")
	addCompileFlags(cmd, a)
	f.BoolVar(&a.check, "check", false, "compile and compare, write nothing; exit 5 when epic.json is stale")
	f.BoolVar(&a.noAnnotate, "no-annotate", false, "leave the plan alone")
	f.StringArrayVar(&a.freshIDs, "fresh-id", nil, "give this sprint an id that nothing is on record about (repeatable)")
	addSameID(cmd, a)
	f.BoolVar(&a.push, "push", false, "write the epic and its nodes into the tracker that the policy names (tracker \"bd\")")
	f.StringVar(&a.planPath, "plan-path", "", "path that a plan from standard input (-) stands for")
	return cmd
}

// addSameID adds the flag by which an item takes over what became of a deleted one.
func addSameID(cmd *cobra.Command, a *compileArgs) {
	cmd.Flags().StringArrayVar(&a.sameIDs, "same-id", nil, "let this sprint have the id of a deleted one: it is the same (repeatable)")
}

// addCompileFlags adds the flags that say how a plan is compiled.
func addCompileFlags(cmd *cobra.Command, a *compileArgs) {
	addPolicyFlags(cmd, a)
	addDialect(cmd, a)
}

func addDialect(cmd *cobra.Command, a *compileArgs) {
	cmd.Flags().StringVar(&a.dialect, "dialect", "", "how the plan names its items (sprint, task, checklist, spec-kit, …; task:Unit,PR for own words)")
}

// addPolicyFlags adds those that any work is compiled with, whatever it is written in.
func addPolicyFlags(cmd *cobra.Command, a *compileArgs) {
	f := cmd.Flags()
	f.StringArrayVar(&a.policies, "policy", nil, "policy file or directory; replaces the default policy path (repeatable)")
	addVars(cmd, a)
	f.StringVar(&a.complexity, "complexity", "", "complexity of every sprint: trivial, simple, standard, critical")
	f.IntVar(&a.maxIterations, "max-iterations", 0, "iterations of every sprint, instead of what its complexity says")
	f.StringVar(&a.pr, "pr", "", "pull requests: none, plan, node")
	f.BoolVar(&a.strict, "strict", false, "treat the warnings that docs/diagnostics marks as strict as errors")
	f.StringVar(&a.format, "format", formatText, "of the diagnostics: text (to standard error), json or sarif (to standard output)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{formatText, formatJSON, formatSARIF}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("complexity", cobra.FixedCompletions([]string{"trivial", "simple", "standard", "critical"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("pr", cobra.FixedCompletions([]string{"none", "plan", "node"}, cobra.ShellCompDirectiveNoFileComp))
}

func addVars(cmd *cobra.Command, a *compileArgs) {
	cmd.Flags().StringArrayVar(&a.vars, "var", nil, "value of a policy variable, name=value (repeatable)")
}

// options checks the flags and turns them into the compiler's options.
func (a *compileArgs) options() (compiler.Options, error) {
	o := compiler.Options{
		Dialect: a.dialect, Recorded: a.recorded, Vars: map[string]string{}, Complexity: a.complexity,
		MaxIterations: a.maxIterations, PR: a.pr, Strict: a.strict, Version: version(), Now: time.Now(),
		FreshIDs: a.freshIDs, SameIDs: a.sameIDs, NoAnnotate: a.noAnnotate,
	}
	if !slices.Contains([]string{formatText, formatJSON, formatSARIF}, a.format) {
		return o, usageErrorf("--format %s: write text, json or sarif", a.format)
	}
	if !slices.Contains([]string{"", "none", "plan", "node"}, a.pr) {
		return o, usageErrorf("--pr %s: write none, plan or node", a.pr)
	}
	if a.maxIterations < 0 || a.maxIterations > maxIterations {
		return o, usageErrorf("--max-iterations %d: write a number from 1 to %d", a.maxIterations, maxIterations)
	}
	for _, v := range a.vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return o, usageErrorf("--var %s: write name=value", v)
		}
		o.Vars[name] = value
	}
	return o, nil
}

func runCompile(cmd *cobra.Command, a *compileArgs) error {
	if err := a.fromEpic(); err != nil {
		return err
	}
	if a.push && a.check {
		return usageErrorf("--check writes nothing, --push does: give one of them")
	}
	if slices.Contains(a.plans, "-") && len(a.plans) > 1 {
		return usageErrorf("standard input (-) stands alone")
	}
	if err := a.checkFreshIDs(); err != nil {
		return err
	}
	toDir := isDirName(a.out)
	if len(a.plans) > 1 && !toDir {
		return usageErrorf("%d plans make %d epics: name a directory, -o DIR/", len(a.plans), len(a.plans))
	}
	c, err := a.compiled(cmd)
	if err != nil {
		return err
	}
	defer c.project.Close()
	targets, err := a.targets(c, toDir)
	if err != nil {
		return err
	}
	if a.check {
		return a.runCheck(cmd, c, targets)
	}
	if a.push {
		if err := canPush(c.Results); err != nil {
			return err
		}
	}
	before := make([]ir.Names, len(c.Results))
	for i, r := range c.Results {
		before[i] = namesBefore(targets[i], r)
	}
	if err := a.write(cmd.OutOrStdout(), c, targets); err != nil {
		return err
	}
	say := a.said(cmd)
	for i, r := range c.Results {
		sayCompiled(say, r, targets[i], replacedPlan(before[i], r), !a.noAnnotate && c.plans[i].file != "-" && r.Epic.Run.Dialect != "")
		for _, line := range otherIDs(before[i], r) {
			sayf(cmd.ErrOrStderr(), "%s\n", line)
		}
	}
	if a.push {
		return a.runPush(cmd, c, targets, say)
	}
	return nil
}

// compiled compiles, and prints what there is to say about it. The caller closes the
// project, if there is no error.
func (a *compileArgs) compiled(cmd *cobra.Command) (*compilation, error) {
	a.recalls = recallClone
	c, err := a.compile(cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	if err := c.print(cmd); err != nil {
		if len(a.plans) == 1 {
			sayf(cmd.ErrOrStderr(), "%s", importedNote(a.plans[0], "import"))
		}
		c.project.Close()
		return nil, err
	}
	return c, nil
}

// print prints what there is to say about a compile; an error if there is one among it.
func (c *compilation) print(cmd *cobra.Command) error {
	if err := (diagsView{c.format, c.sources}).print(cmd.OutOrStdout(), cmd.ErrOrStderr(), c.Diags); err != nil {
		return err
	}
	if c.hint != "" {
		sayf(cmd.ErrOrStderr(), "%s\n", c.hint)
	}
	if c.Diags.HasErrors() {
		return &exitError{code: exitInput}
	}
	return nil
}

// said is where a line goes that says what was made: beside what programs read.
func (a *compileArgs) said(cmd *cobra.Command) io.Writer {
	if a.format != formatText || a.out == "-" {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// targets names the file of each epic; "-" is standard output.
func (a *compileArgs) targets(c *compilation, toDir bool) ([]string, error) {
	targets := make([]string, len(c.Results))
	for i, r := range c.Results {
		targets[i] = a.out
		if toDir {
			targets[i] = filepath.Join(a.out, r.Epic.Epic.Slug+".json")
		}
		if first := slices.Index(targets[:i], targets[i]); first >= 0 {
			return nil, inputErrorf("%s and %s both compile to %s: give one of them another id in its front matter",
				c.plans[first].file, c.plans[i].file, targets[i])
		}
	}
	return targets, nil
}

// write replaces epics and plans together, or prints the epic.
func (a *compileArgs) write(out io.Writer, c *compilation, targets []string) error {
	var batch atomicfile.Batch
	for i, r := range c.Results {
		if targets[i] == "-" {
			continue
		}
		if err := c.project.leadsOut(targets[i]); err != nil {
			return err
		}
		if isPicture(targets[i]) {
			return inputErrorf("%s is the name of a drawing, and an epic is JSON: name another file with -o. To draw it: %s -o %s", targets[i], a.draws(i), quotePath(targets[i]))
		}
		if err := c.mayReplace(targets[i]); err != nil {
			return err
		}
		if dir := filepath.Dir(targets[i]); !isDir(dir) {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return inputErrorf("%w", err)
			}
		}
		if len(r.JSON) > ir.MaxBytes {
			return inputErrorf("%s would have %d MB; at most %d MB are read: write several plans", targets[i], len(r.JSON)>>20, ir.MaxBytes>>20)
		}
		batch.Add(targets[i], r.JSON, 0o644)
	}
	for i, r := range c.Results {
		p := c.plans[i]
		if a.noAnnotate || p.file == "-" || bytes.Equal(r.Annotated, p.bytes) {
			continue
		}
		now, err := regular.ReadFile(p.file)
		if err != nil {
			return inputErrorf("%w", err)
		}
		if !bytes.Equal(now, p.bytes) {
			return inputErrorf("%s changed while it was compiled; nothing was written: compile again", p.file)
		}
		batch.Add(p.file, r.Annotated, 0o644)
	}
	for i, r := range c.Results { // first: a plan keeps no ids of an epic that nobody has
		if targets[i] == "-" {
			if _, err := out.Write(r.JSON); err != nil {
				return inputErrorf("write standard output: %w", err)
			}
		}
	}
	if err := batch.Commit(); err != nil {
		return inputErrorf("%w", err)
	}
	return nil
}

// mayReplace complains about a file that compile read, or that exists and is no
// epic: -o replaces what compile can make again, never a plan, a policy or
// anything else. A broken or conflicted epic still has its format in it.
func (c *compilation) mayReplace(file string) error {
	if kind := kindOf(file); kind == "plan" || kind == "policy" {
		if _, err := os.Stat(file); os.IsNotExist(err) {
			return inputErrorf("%s is the name of a %s; name another file with -o", file, kind)
		}
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil // what is wrong with it, writing will say
	}
	if path, inside := c.project.rel(file); inside && c.Files[path] != nil {
		return inputErrorf("%s is what was compiled, so it is not replaced; name another file with -o", file)
	}
	epic, err := mayBeEpic(file)
	if err != nil {
		return err
	}
	if !epic {
		return inputErrorf("%s exists and is no epic, so it is not replaced; name another file with -o, or delete it", file)
	}
	return nil
}

// sayCompiled says in a line what was made and written, and whose epic is replaced by it;
// "" if it is nobody's.
func sayCompiled(w io.Writer, r compiler.Result, target, replaced string, annotate bool) {
	s := r.Epic.Stats()
	fmt.Fprintf(w, "%s, %s, %s", text.Count(s.Nodes, "node"), text.Count(s.Edges, "edge"), text.Count(len(s.Waves), "wave"))
	if s.Done > 0 {
		fmt.Fprintf(w, " (%d done by the plan)", s.Done)
	}
	if target != "-" {
		sayf(w, "; wrote %s", filepath.ToSlash(target))
	}
	if replaced != "" {
		sayf(w, " in place of the epic of %s", replaced)
	}
	if annotate {
		switch r.Added {
		case 0:
			fmt.Fprint(w, "; the plan has all its ids")
		default:
			fmt.Fprintf(w, "; %s added to the plan", text.Count(r.Added, "id"))
		}
	}
	fmt.Fprintln(w)
}

// sayf prints a line for people; a file's name in it cannot steer the terminal.
func sayf(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, reveal.Words(fmt.Sprintf(format, args...)))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
