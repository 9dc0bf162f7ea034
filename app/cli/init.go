package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/policies"
)

func newInitCommand() *cobra.Command {
	var builtin bool
	var plan string
	limit := 2 * time.Minute
	cmd := newCommand("init [DIR]", "Write ralph.hcl, a sample plan and sample agents", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		switch {
		case plan != "" && (builtin || len(args) > 0):
			return exit.Usagef("--plan takes no other flags or arguments: ralph init --plan PLAN")
		case plan != "":
			return initPlan(cmd, plan)
		case builtin:
			return printBuiltin(cmd.OutOrStdout())
		}
		dir := "."
		if len(args) > 0 {
			dir = args[0]
		}
		return runInit(cmd, dir, limit)
	})
	cmd.Flags().StringVar(&plan, "plan", "", "write the dialect that this plan is written in into its front matter, and nothing else")
	cmd.Flags().BoolVar(&builtin, "builtin", false, "print the built-in policy and write nothing")
	cmd.Flags().DurationVar(&limit, "try", limit, "time limit for trying each test command; 0 = do not try")
	return cmd
}

// printBuiltin prints the built-in policy, file by file.
func printBuiltin(w io.Writer) error {
	for i, f := range policies.Builtin() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := w.Write(f.Bytes); err != nil {
			return err
		}
	}
	return nil
}

func runInit(cmd *cobra.Command, dir string, limit time.Duration) error {
	out := cmd.OutOrStdout()
	if err := project.MayInit(dir); err != nil {
		return err
	}
	wrote := 0
	for _, f := range project.InitFiles {
		data, err := project.Templates.ReadFile(f.Template)
		if _, there := os.Lstat(filepath.Join(dir, f.File)); err == nil && f.File == "ralph.hcl" && there != nil {
			say := func(format string, args ...any) { fmt.Fprintf(out, format, args...) }
			data, err = project.SamplePolicy(dir, say, func(s *project.Sample) error { return run.TryGates(cmd.Context(), s, say, dir, limit) })
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(f.File))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		switch err := atomicfile.Create(path, data, 0o644); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(out, "kept   %s (it exists)\n", f.File)
		case err != nil:
			return err
		default:
			fmt.Fprintf(out, "wrote  %-30s %s\n", f.File, f.What)
			wrote++
		}
	}
	added, err := project.AddLine(filepath.Join(dir, ".gitattributes"), project.GitAttributes)
	if err != nil {
		return err
	}
	if added {
		fmt.Fprintf(out, "wrote  %-30s a line for epic.json\n", ".gitattributes")
	} else {
		fmt.Fprintln(out, "kept   .gitattributes (it has a line for epic.json)")
	}
	view.FoundPlans(out, project.PlansIn(dir))
	if wrote > 0 {
		fmt.Fprint(out, "\nNext: look at ralph.hcl (agents, gates, budget), edit the plan, then\n"+
			"  ralph compile plans/example.md        write epic.json; then commit everything\n"+
			"  ralph graph -o epic.svg               look at it\n"+
			"  ralph doctor --live                   check that the agents are installed and answer\n"+
			"  ralph plan                            what apply would do, and what is missing\n"+
			"  ralph approve                         approve this plan: apply waits for it\n"+
			"  ralph apply                           let it run\n")
	}
	return sayRoot(out, dir)
}

// sayRoot warns that compile looks for the policy at the repository's root.
func sayRoot(w io.Writer, dir string) error {
	p, err := project.Open(filepath.Join(dir, "ralph.hcl"))
	if err != nil {
		return err
	}
	defer p.Close()
	if project.GitRoot(p.Dir) == "" {
		view.Sayf(w, "\nThis is not a git repository yet, and compile looks for ralph.hcl at the root of one: run git init first\n")
		return nil
	}
	if at, inside := p.Rel(filepath.Join(dir, "ralph.hcl")); inside && at != "ralph.hcl" {
		view.Sayf(w, "\nThis is not the root of the repository, where compile looks for ralph.hcl and agents:\n"+
			"  run ralph init in %s instead\n", p.Dir)
	}
	return nil
}
