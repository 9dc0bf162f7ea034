package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

func newExportCommand() *cobra.Command {
	var of reader
	var as, out string
	var strict bool
	cmd := newCommand("export --as FORMAT [epic.json]", "Write an epic, with what was run of it, in another format", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		f, err := project.FindFormat(as, "write", project.IsWritten)
		if err != nil {
			return err
		}
		return runExport(cmd, f, &of, args, out, strict)
	})
	addAs(cmd, &as, project.IsWritten)
	addEpicFlag(&of.epic, cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default: standard output); a directory (DIR/) for a file for each sprint, where the format has one")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit code 1 when the format demands what the epic does not have")
	return cmd
}

func runExport(cmd *cobra.Command, f *project.Format, of *reader, args []string, out string, strict bool) error {
	toDir := out != "" && out != "-" && project.IsDirName(out)
	if toDir && !f.Split {
		return exit.Usagef("-o %s: %s is one file for all sprints; name it", out, f.Name)
	}
	file, epic, _, err := of.load(cmd, args...)
	if err != nil {
		return err
	}
	history, note, err := record.HistoryOf(cmd.Context(), file, epic, f.Need)
	if err != nil {
		return err
	}
	if note != "" {
		view.Sayf(cmd.ErrOrStderr(), "note: %s\n", note)
	}
	var breaches []foreign.Breach
	if toDir {
		breaches, err = exportEach(cmd, f, epic, history, out)
	} else {
		var b bytes.Buffer
		if breaches, err = f.Encode(&b, epic, history); err != nil {
			return exit.Inputf("%w", err)
		}
		err = writeExport(cmd, epic, out, b.Bytes(), text.Count(len(epic.Nodes), "sprint"))
	}
	if err != nil {
		return err
	}
	if f.Note != "" {
		view.Sayf(cmd.ErrOrStderr(), "note: %s\n", f.Note)
	}
	for _, x := range breaches {
		view.Sayf(cmd.ErrOrStderr(), "%s: %s\n", f.Name, x)
	}
	if strict && len(breaches) > 0 {
		return &exit.Error{Code: exit.Input}
	}
	return nil
}

// exportEach writes a file for each sprint.
func exportEach(cmd *cobra.Command, f *project.Format, epic *ir.Epic, h *ir.History, dir string) ([]foreign.Breach, error) {
	var all []foreign.Breach
	var batch atomicfile.Batch
	for i := range epic.Nodes {
		one := *epic
		one.Nodes = epic.Nodes[i : i+1]
		var b bytes.Buffer
		breaches, err := f.Encode(&b, &one, h)
		if err != nil {
			return nil, exit.Inputf("%w", err)
		}
		all = append(all, breaches...)
		target := filepath.Join(dir, string(epic.Nodes[i].ID)+".json")
		if err := mayExportTo(epic, target); err != nil {
			return nil, err
		}
		batch.Add(target, b.Bytes(), 0o644)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, exit.Inputf("%w", err)
	}
	if err := batch.Commit(); err != nil {
		return nil, exit.Inputf("%w", err)
	}
	view.Sayf(cmd.OutOrStdout(), "wrote %s to %s\n", text.Count(len(epic.Nodes), "file"), filepath.ToSlash(dir))
	return all, nil
}

func writeExport(cmd *cobra.Command, epic *ir.Epic, out string, b []byte, what string) error {
	if out == "" || out == "-" {
		if len(b) > 0 && (b[0] == '{' || b[0] == '[') {
			b = reveal.JSON(b)
		}
		if _, err := cmd.OutOrStdout().Write(b); err != nil {
			return exit.Inputf("write standard output: %w", err)
		}
		return nil
	}
	if err := mayExportTo(epic, out); err != nil {
		return err
	}
	if dir := filepath.Dir(out); !project.IsDir(dir) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return exit.Inputf("%w", err)
		}
	}
	if err := atomicfile.Write(out, b, 0o644); err != nil {
		return exit.Inputf("%w", err)
	}
	view.Sayf(cmd.OutOrStdout(), "wrote %s (%s)\n", filepath.ToSlash(out), what)
	return nil
}

// mayExportTo refuses to replace a plan, a policy, an epic, the file that the epic was
// imported from, or a file outside the project that a link leads to.
func mayExportTo(epic *ir.Epic, file string) error {
	p, err := project.Open(file)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.LeadsOut(file); err != nil {
		return err
	}
	if kind := project.KindOf(file); kind == "plan" || kind == "policy" {
		return exit.Inputf("%s is the name of a %s; name another file with -o", file, kind)
	}
	if path, inside := p.Rel(file); inside && path == epic.Epic.Plan {
		return exit.Inputf("the epic was made from %s, so it is not replaced; name another file with -o", file)
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil // writing reports the error
	}
	old, err := project.ReadFile(file)
	if err != nil {
		return err
	}
	if strings.Contains(string(old[:min(len(old), 4096)]), `"ralph.ir/`) {
		return exit.Inputf("%s is an epic, so it is not replaced; name another file with -o", file)
	}
	return nil
}
