package cli

import (
	"io"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/diag"
)

// toPolicy turns files of a policy format into HCL and prints what is to be said;
// nil after an error that was printed.
func toPolicy(f *project.Format, r *project.ForeignFiles, a *project.Args, out, errOut io.Writer) ([]byte, error) {
	files := r.DiagFiles()
	hcl, list := f.Policy(files)
	if a.Strict {
		list = list.Strict()
	}
	if err := printForeign(r, a, files, list, out, errOut); err != nil {
		return nil, err
	}
	return hcl, nil
}

// printForeign prints what is to be said about the files; an error if there is one among it.
func printForeign(r *project.ForeignFiles, a *project.Args, files []*diag.File, list diag.List, out, errOut io.Writer) error {
	list.Sort()
	view := view.Diagnostics{Format: a.Format, Sources: project.Sources{Files: map[string]*diag.File{}, Root: r.Project.Dir}}
	for _, file := range files {
		view.Files[file.Name] = file
	}
	if err := view.Print(out, errOut, list); err != nil {
		return err
	}
	if list.HasErrors() {
		return &exit.Error{Code: exit.Input}
	}
	return nil
}
