package cli

import (
	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// toPolicy converts files of a policy format to HCL and prints the diagnostics.
func toPolicy(cmd *cobra.Command, f *project.Format, r *project.ForeignFiles, a *project.Args) ([]byte, error) {
	files := r.DiagFiles()
	hcl, list := f.Policy(files)
	if a.Strict {
		list = list.Strict()
	}
	if err := printForeign(cmd, r, a, files, list); err != nil {
		return nil, err
	}
	return hcl, nil
}

// printForeign prints the diagnostics about the files; see diagnose.
func printForeign(cmd *cobra.Command, r *project.ForeignFiles, a *project.Args, files []*diag.File, list diag.List) error {
	list.Sort()
	byName := lists.Table(files, func(file *diag.File) (string, *diag.File) { return file.Name, file })
	return diagnose(cmd, a.Format, project.Sources{Files: byName, Root: r.Project.Dir}, list)
}
