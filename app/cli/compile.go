package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

func newCompileCommand() *cobra.Command {
	a := &project.Args{Brief: true}
	cmd := newCommand("compile PLAN...", "Compile a plan into epic.json and write the ids back into the plan", nil, func(cmd *cobra.Command, args []string) error {
		a.Plans = args
		return runCompile(cmd, a)
	})
	f := cmd.Flags()
	f.StringVarP(&a.Out, "output", "o", "epic.json", "file to write; a directory (DIR/) for several plans; - for standard output")
	addCompileFlags(cmd, a)
	f.BoolVar(&a.Check, "check", false, "compile and compare, write nothing; exit 5 when epic.json is stale")
	f.BoolVar(&a.NoAnnotate, "no-annotate", false, "leave the plan alone")
	f.StringArrayVar(&a.FreshIDs, "fresh-id", nil, "give this sprint an id without any record (repeatable)")
	addSameID(cmd, a)
	f.BoolVar(&a.Push, "push", false, "write the epic and its nodes into the tracker that the policy names (tracker \"bd\")")
	f.StringVar(&a.PlanPath, "plan-path", "", "path of a plan that is read from standard input (-)")
	return cmd
}

// addSameID adds the flag by which a sprint takes over the record of a deleted one.
func addSameID(cmd *cobra.Command, a *project.Args) {
	cmd.Flags().StringArrayVar(&a.SameIDs, "same-id", nil, "let this sprint keep the id of a deleted one: it is the same sprint (repeatable)")
}

// addCompileFlags adds the flags that say how a plan is compiled.
func addCompileFlags(cmd *cobra.Command, a *project.Args) {
	addPolicyFlags(cmd, a)
	addDialect(cmd, a)
}

func addDialect(cmd *cobra.Command, a *project.Args) {
	cmd.Flags().StringVar(&a.Dialect, "dialect", "", "how the plan names its items (sprint, task, checklist, spec-kit, …; task:Unit,PR for your own keywords)")
}

// addPolicyFlags adds the flags of compiling that do not depend on the format of the work.
func addPolicyFlags(cmd *cobra.Command, a *project.Args) {
	f := cmd.Flags()
	f.StringArrayVar(&a.Policies, "policy", nil, "policy file or directory; replaces the default policy path (repeatable)")
	addVars(cmd, a)
	f.StringVar(&a.Complexity, "complexity", "", "complexity of every sprint: trivial, simple, standard, critical")
	f.IntVar(&a.MaxIterations, "max-iterations", 0, "iterations of every sprint, instead of what its complexity says")
	f.StringVar(&a.Pr, "pr", "", "pull requests: none, plan, node")
	f.BoolVar(&a.Strict, "strict", false, "treat the warnings that docs/diagnostics marks as strict as errors")
	f.StringVar(&a.Format, "format", project.FormatText, "of the diagnostics: text (to standard error), json or sarif (to standard output)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{project.FormatText, project.FormatJSON, project.FormatSARIF}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("complexity", cobra.FixedCompletions([]string{"trivial", "simple", "standard", "critical"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("pr", cobra.FixedCompletions([]string{"none", "plan", "node"}, cobra.ShellCompDirectiveNoFileComp))
}

func addVars(cmd *cobra.Command, a *project.Args) {
	cmd.Flags().StringArrayVar(&a.Vars, "var", nil, "value of a policy variable, name=value (repeatable)")
}

func runCompile(cmd *cobra.Command, a *project.Args) error {
	if err := fromEpic(a); err != nil {
		return err
	}
	if a.Push && a.Check {
		return exit.Usagef("--check writes nothing, --push does: give only one of them")
	}
	if slices.Contains(a.Plans, "-") && len(a.Plans) > 1 {
		return exit.Usagef("standard input (-) is one plan: name no other beside it")
	}
	if err := checkFreshIDs(a); err != nil {
		return err
	}
	if len(a.Plans) > 1 && !project.IsDirName(a.Out) {
		return exit.Usagef("%d plans make %d epics: name a directory, -o DIR/", len(a.Plans), len(a.Plans))
	}
	c, err := compilePlans(a, cmd)
	if err != nil {
		return err
	}
	defer c.Project.Close()
	targets, err := targets(a, c)
	if err != nil {
		return err
	}
	if a.Check {
		return runCheck(cmd, a, c, targets)
	}
	if a.Push {
		if err := canPush(c.Results); err != nil {
			return err
		}
	}
	before := make([]ir.Names, len(c.Results))
	for i, r := range c.Results {
		before[i] = namesBefore(targets[i], r)
	}
	if err := c.WriteEpics(a, cmd.OutOrStdout(), targets); err != nil {
		return err
	}
	say := sayTo(a, cmd)
	for i, r := range c.Results {
		sayCompiled(say, r, targets[i], replacedPlan(before[i], r), !a.NoAnnotate && c.Plans[i].File != "-" && r.Epic.Run.Dialect != "")
		for _, line := range otherIDs(before[i], r) {
			view.Sayf(cmd.ErrOrStderr(), "%s\n", line)
		}
	}
	if a.Push {
		return runPush(cmd, c, targets, say)
	}
	return nil
}

// compilePlans compiles and prints the diagnostics. Without an error the caller closes the
// project.
func compilePlans(a *project.Args, cmd *cobra.Command) (*project.Compilation, error) {
	a.Recalls = record.RecallClone
	c, err := a.Compile(cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	if err := printCompile(c, cmd); err != nil {
		if len(a.Plans) == 1 {
			view.Sayf(cmd.ErrOrStderr(), "%s", project.ImportedNote(a.Plans[0], "import"))
		}
		c.Project.Close()
		return nil, err
	}
	return c, nil
}

// printCompile prints the diagnostics and the hint of a compile; see diagnose.
func printCompile(c *project.Compilation, cmd *cobra.Command) error {
	err := diagnose(cmd, c.Format, c.Sources, c.Diags)
	if c.Hint != "" {
		view.Sayf(cmd.ErrOrStderr(), "%s\n", c.Hint)
	}
	return err
}

// sayTo is the stream for lines to people: standard error if programs read standard output.
func sayTo(a *project.Args, cmd *cobra.Command) io.Writer {
	if a.Format != project.FormatText || a.Out == "-" {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// targets names the file of each epic; "-" is standard output.
func targets(a *project.Args, c *project.Compilation) ([]string, error) {
	var out []string
	for i, r := range c.Results {
		at := a.Target(r.Epic.Epic.Slug)
		if first := slices.Index(out, at); first >= 0 {
			return nil, exit.Inputf("%s and %s both compile to %s: give one of them another id in its front matter", c.Plans[first].File, c.Plans[i].File, at)
		}
		out = append(out, at)
	}
	return out, nil
}

// sayCompiled prints one line: what was compiled, where it was written, and the plan whose
// epic it replaces ("" if none).
func sayCompiled(w io.Writer, r compiler.Result, target, replaced string, annotate bool) {
	fmt.Fprint(w, shapeOf(r.Epic))
	if done := r.Epic.Stats().Done; done > 0 {
		fmt.Fprintf(w, " (%d done by the plan)", done)
	}
	if target != "-" {
		view.Sayf(w, "; wrote %s", filepath.ToSlash(target))
	}
	if replaced != "" {
		view.Sayf(w, " in place of the epic of %s", replaced)
	}
	if annotate {
		said := "the plan has all its ids"
		if r.Added > 0 {
			said = text.Count(r.Added, "id") + " added to the plan"
		}
		fmt.Fprint(w, "; "+said)
	}
	fmt.Fprintln(w)
}

// shapeOf counts the nodes, edges and waves of an epic.
func shapeOf(epic *ir.Epic) string {
	s := epic.Stats()
	return fmt.Sprintf("%s, %s, %s", text.Count(s.Nodes, "node"), text.Count(s.Edges, "edge"), text.Count(len(s.Waves), "wave"))
}
