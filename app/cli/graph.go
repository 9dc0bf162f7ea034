package cli

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/dot"
	"github.com/ralph-compiler/ralph/ir/codec/graphjson"
	"github.com/ralph-compiler/ralph/ir/codec/mermaid"
)

// graphArgs are the flags of graph.
type graphArgs struct {
	from            project.Args // how a plan or an import is compiled
	format, out     string
	waves, critical bool
	impact          string
	policy          bool
}

func newGraphCommand() *cobra.Command {
	a := &graphArgs{}
	cmd := newCommand("graph [epic.json | PLAN]", "Draw an epic or a plan, or print its waves, critical path or impact", nil, func(cmd *cobra.Command, args []string) error { return runGraph(cmd, a, args) })
	f := cmd.Flags()
	f.StringVar(&a.format, "format", "", "dot (the default), mermaid, svg or json; with -o by the file's extension: .dot, .mmd, .svg, .json")
	f.StringVarP(&a.out, "output", "o", "", "file to write (default: standard output)")
	f.BoolVar(&a.waves, "waves", false, "what can run together")
	f.BoolVar(&a.critical, "critical-path", false, "the longest chain, slack, the bound on speed-up")
	f.StringVar(&a.impact, "impact", "", "what waits for this sprint, directly or indirectly")
	f.BoolVar(&a.policy, "policy", false, "draw steps, agents and fallbacks instead of sprints (a policy to compile with: --policies)")
	addAs(cmd, &a.from.As, project.IsWork)
	addDialect(cmd, &a.from)
	f.StringArrayVar(&a.from.Policies, "policies", nil, "policy file or directory that a plan is compiled with, as --policy of compile; replaces the default policy path (repeatable)")
	addVars(cmd, &a.from)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"dot", "mermaid", "svg", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runGraph(cmd *cobra.Command, a *graphArgs, args []string) error {
	if err := a.check(); err != nil {
		return err
	}
	epic, err := a.epic(cmd, args)
	if err != nil {
		return err
	}
	if a.impact != "" {
		n, err := record.Sprint(epic, a.impact)
		if err != nil {
			return err
		}
		a.impact = string(n.Key)
	}
	var drawing []byte
	if a.numbers() {
		drawing = view.GraphNumbers(epic, a.waves, a.critical, a.impact)
	} else if drawing, err = a.draw(epic); err != nil {
		return err
	}
	if a.out != "" && a.out != "-" {
		if err := project.WriteDrawing(a.out, a.format, drawing); err != nil {
			return err
		}
		view.Sayf(cmd.ErrOrStderr(), "wrote %s\n", filepath.ToSlash(a.out))
		return nil
	}
	_, err = cmd.OutOrStdout().Write(drawing)
	return err
}

// check refuses flags that exclude each other and sets the format.
func (a *graphArgs) check() error {
	if a.policy && (a.waves || a.critical || a.impact != "") {
		return exit.Usagef("--policy draws steps and agents; leave out --waves, --critical-path and --impact")
	}
	if !slices.Contains([]string{"", "dot", "mermaid", "svg", "json"}, a.format) {
		return exit.Usagef("--format %s: write dot, mermaid, svg or json", a.format)
	}
	var err error
	a.format, err = project.DrawingFormat(a.out, a.format)
	return err
}

// numbers reports whether text is asked for instead of a drawing.
func (a *graphArgs) numbers() bool {
	return a.format == "" && !a.policy && (a.waves || a.critical || a.impact != "")
}

// draw makes the drawing that was asked for.
func (a *graphArgs) draw(epic *ir.Epic) ([]byte, error) {
	drawing, err := a.text(epic)
	if err == nil && a.format == "svg" {
		return graphviz(drawing)
	}
	return drawing, err
}

// text is the drawing as ralph writes it; for SVG that is DOT.
func (a *graphArgs) text(epic *ir.Epic) ([]byte, error) {
	switch {
	case a.policy && a.format == "json":
		var b bytes.Buffer
		err := view.WriteJSON(&b, dot.Policies(epic))
		return b.Bytes(), err
	case a.policy && a.format == "mermaid":
		return nil, exit.Usagef("--policy is drawn as dot, svg or json")
	case a.policy:
		return dot.WritePolicies(epic.Epic.Title, dot.Policies(epic)), nil
	case a.format == "mermaid":
		return mermaid.Write(epic, mermaid.Options{Impact: ir.Key(a.impact)}), nil
	case a.format == "json":
		b, err := graphjson.Write(epic)
		return reveal.JSON(b), err
	}
	return dot.Write(epic, dot.Options{Waves: a.waves, CriticalPath: a.critical, Impact: ir.Key(a.impact)}), nil
}

// graphviz pipes DOT through the program dot.
func graphviz(drawing []byte) ([]byte, error) {
	path, err := exec.LookPath("dot")
	if err != nil {
		return nil, exit.Inputf("an SVG needs Graphviz, and dot is not on PATH.\n" +
			"  Install it (apt-get install graphviz, brew install graphviz, winget install graphviz),\n" +
			"  or draw with ralph graph --format mermaid, which GitHub renders")
	}
	cmd := exec.Command(path, "-Tsvg")
	cmd.Stdin = bytes.NewReader(drawing)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	svg, err := cmd.Output()
	if err != nil {
		if _, ran := errors.AsType[*exec.ExitError](err); ran {
			return nil, exit.Inputf("dot -Tsvg: %s", strings.TrimSpace(errOut.String()))
		}
		return nil, exit.Inputf("dot -Tsvg: %w", err)
	}
	return svg, nil
}
