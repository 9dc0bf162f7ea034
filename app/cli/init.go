package cli

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/policies"
)

//go:embed template
var templates embed.FS

// initFiles are what init writes, by template.
var initFiles = []struct{ template, file, what string }{
	{"template/ralph.hcl", "ralph.hcl", "the policy: agents, gates, limits"},
	{"template/plans/example.md", "plans/example.md", "a sample plan"},
	{"template/agents/developer.md", ".claude/agents/developer.md", "a sample agent"},
	{"template/agents/reviewer.md", ".claude/agents/reviewer.md", "a sample agent"},
	{"template/agents/planner.md", ".claude/agents/planner.md", "the agent that ralph draft asks for plans"},
	{"template/agents/explorer.md", ".claude/agents/explorer.md", "the agent that looks around before"},
}

// gitAttributes keeps LF in every checkout and keeps git from merging compiled
// files line by line: a merge takes ours, says conflict, and one recompiles.
const gitAttributes = "epic.json text eol=lf -merge\n"

func newInitCommand() *cobra.Command {
	var builtin bool
	var plan string
	limit := 2 * time.Minute
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write ralph.hcl, a sample plan and sample agents",
		Long: `Init writes what a project needs to begin with, into the current directory or DIR:
ralph.hcl, plans/example.md, four agents in .claude/agents, and a line for epic.json
in .gitattributes. It never overwrites a file.

The policy has a gate for each way in which the project says that it is tested:
Cargo.toml, pytest settings, package.json with a test script, go.mod, build.gradle,
pom.xml; where there is none of these, a justfile or Makefile with a target test, or
test_*.py. The gate protects the files that define its command, the tests that are
there, and CI files; new tests are not forbidden. Init runs the command
once, in a clone of HEAD: baseline = "green" is written if it passes. The policy has a
budget, and asks for approval of the plan.

Where other tools keep their plans (specs/*/tasks.md, .kiro/specs, .planning, TODO.md …)
init looks, names those that are there, and says what to type.

With --plan init writes nothing but one line: the dialect that the plan is written in,
into its front matter. It compiles the plan with each dialect and takes the one that
makes most items, or that of the tool whose plans lie there. Where the plan's own
dialect fits it leaves the plan as it is.`,
		Example: `  ralph init
  ralph init --try 0        run no command of the project
  ralph init --builtin      print the built-in policy instead
  ralph init --plan tasks.md`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case plan != "" && (builtin || len(args) > 0):
				return exit.Usagef("--plan stands alone: ralph init --plan PLAN")
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
		},
	}
	cmd.Flags().StringVar(&plan, "plan", "", "write the dialect that this plan is written in into its front matter, and nothing else")
	cmd.Flags().BoolVar(&builtin, "builtin", false, "print the built-in policy and write nothing")
	cmd.Flags().DurationVar(&limit, "try", limit, "how long each test command may run to find out whether it is green; 0: not at all")
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
	if err := mayInit(dir); err != nil {
		return err
	}
	wrote := 0
	for _, f := range initFiles {
		data, err := templates.ReadFile(f.template)
		if _, there := os.Lstat(filepath.Join(dir, f.file)); err == nil && f.file == "ralph.hcl" && there != nil {
			data, err = samplePolicy(cmd.Context(), out, dir, limit)
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(f.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return exit.Inputf("%w", err)
		}
		switch err := atomicfile.Create(path, data, 0o644); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(out, "kept   %s (it exists)\n", f.file)
		case err != nil:
			return exit.Inputf("%w", err)
		default:
			fmt.Fprintf(out, "wrote  %-30s %s\n", f.file, f.what)
			wrote++
		}
	}
	added, err := addLine(filepath.Join(dir, ".gitattributes"), gitAttributes)
	if err != nil {
		return exit.Inputf("%w", err)
	}
	if added {
		fmt.Fprintf(out, "wrote  %-30s a line for epic.json\n", ".gitattributes")
	} else {
		fmt.Fprintln(out, "kept   .gitattributes (it has a line for epic.json)")
	}
	sayPlans(out, dir)
	if wrote > 0 {
		fmt.Fprint(out, "\nNext: look at ralph.hcl (agents, gates, budget), edit the plan, then\n"+
			"  ralph compile plans/example.md        makes epic.json; then commit all of it\n"+
			"  ralph graph -o epic.svg               look at it\n"+
			"  ralph doctor --live                   are the agents here, and do they answer\n"+
			"  ralph plan                            what apply would do, and what it lacks\n"+
			"  ralph approve                         this very plan: apply waits for it\n"+
			"  ralph apply                           let it run\n")
	}
	return sayRoot(out, dir)
}

// mayInit finds what would keep init from writing a file, before it writes any:
// a file where a directory is needed, or a link out of the project.
func mayInit(dir string) error {
	files := []string{".gitattributes"}
	for _, f := range initFiles {
		files = append(files, f.file)
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f))
		for d := filepath.Dir(path); ; d = filepath.Dir(d) {
			info, err := os.Stat(d)
			if err == nil && !info.IsDir() {
				return exit.Inputf("%s is a file, and init needs a directory there; nothing was written", d)
			}
			if err == nil || filepath.Dir(d) == d {
				break
			}
		}
		if err := confinedIn(dir, path); err != nil {
			return err
		}
	}
	return nil
}

// confinedIn is confined for a file below a directory that may not exist yet.
func confinedIn(dir, file string) error {
	for !project.IsDir(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	p, err := project.Open(filepath.Join(dir, "x"))
	if err != nil {
		return err
	}
	defer p.Close()
	return p.LeadsOut(file)
}

// sayRoot warns that compile looks for the policy at the repository's root.
func sayRoot(w io.Writer, dir string) error {
	p, err := project.Open(filepath.Join(dir, "ralph.hcl"))
	if err != nil {
		return err
	}
	defer p.Close()
	if project.GitRoot(p.Dir) == "" {
		view.Sayf(w, "\nThis is no git repository yet, and compile finds ralph.hcl at the root of one: run git init first\n")
		return nil
	}
	if at, inside := p.Rel(filepath.Join(dir, "ralph.hcl")); inside && at != "ralph.hcl" {
		view.Sayf(w, "\nThis is not the root of the repository, where compile looks for ralph.hcl and agents:\n"+
			"  run ralph init in %s instead\n", p.Dir)
	}
	return nil
}

// addLine appends a line to a file unless a line about the same path is there.
func addLine(path, line string) (bool, error) {
	old, err := regular.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	name, _, _ := strings.Cut(line, " ")
	for l := range bytes.Lines(old) {
		if fields := bytes.Fields(l); len(fields) > 0 && string(fields[0]) == name {
			return false, nil
		}
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		old = append(old, '\n')
	}
	return true, atomicfile.Write(path, append(old, line...), 0o644)
}
