package project

import (
	"errors"
	"path/filepath"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/version"
	"github.com/ralph-compiler/ralph/policies"
)

// Policy is the policy of the current directory's project, or the one that --policy
// names.
type Policy struct {
	Project *Project
	Input   policies.Input
	Set     *policies.Set // never nil
	Diags   diag.List
	Paths   map[string]string // where the files are, by their names in diagnostics
}

// OpenPolicy reads and decodes the policy; there need not be a file. The caller closes
// the project.
func OpenPolicy(named []string) (*Policy, error) {
	p, err := Open("ralph.hcl")
	if err != nil {
		return nil, err
	}
	out := &Policy{Project: p, Paths: map[string]string{}}
	sources, err := p.ReadPolicies(named)
	if err == nil && len(named) == 0 {
		sources, err = p.usualPolicies()
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	out.Input = policies.Input{Project: p.FS(), Version: version.Ralph()}
	for _, s := range sources {
		out.Input.Files = append(out.Input.Files, diag.NewFile(s.Path, s.Bytes))
		out.Paths[s.Path] = filepath.Join(p.Dir, filepath.FromSlash(s.Path))
	}
	for _, file := range named { // files outside the project have only their base name
		files := []string{file}
		if IsDir(file) {
			if files, err = policiesOf(file); err != nil {
				return nil, errors.Join(err, p.Close())
			}
		}
		for _, f := range files {
			if _, inside := p.Rel(f); !inside {
				out.Paths[filepath.Base(f)] = f
			}
		}
	}
	out.Set, out.Diags = policies.Decode(out.Input)
	return out, nil
}

// usualPolicies reads the default policy files, used where none is named.
func (p *Project) usualPolicies() ([]compiler.Source, error) {
	sources, list := compiler.PolicyPath(p.FS())
	if len(list) > 0 {
		return nil, exit.Inputf("%s. %s", list[0].Summary, list[0].Detail)
	}
	return sources, nil
}

// Files are the policy's files, for diagnostics.
func (p *Policy) Files() map[string]*diag.File {
	return lists.Table(p.Input.Files, func(f *diag.File) (string, *diag.File) { return f.Name, f })
}
