package main

import (
	"errors"
	"path/filepath"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/policies"
)

// projectPolicy is the policy of the project that the current directory lies in,
// or the one that --policy names.
type projectPolicy struct {
	project *project
	input   policies.Input
	set     *policies.Set // never nil
	diags   diag.List
	paths   map[string]string // where the files are, by their names in diagnostics
}

// openPolicy reads and decodes it; there may be no file. The caller closes the
// project.
func openPolicy(named []string) (*projectPolicy, error) {
	p, err := openProject("ralph.hcl")
	if err != nil {
		return nil, err
	}
	out := &projectPolicy{project: p, paths: map[string]string{}}
	sources, err := p.readPolicies(named)
	if err == nil && len(named) == 0 {
		sources, err = p.usualPolicies()
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	out.input = policies.Input{Project: p.FS(), Version: version()}
	for _, s := range sources {
		out.input.Files = append(out.input.Files, diag.NewFile(s.Path, s.Bytes))
		out.paths[s.Path] = filepath.Join(p.dir, filepath.FromSlash(s.Path))
	}
	for _, file := range named { // files elsewhere are called by their names alone
		files := []string{file}
		if isDir(file) {
			if files, err = policiesOf(file); err != nil {
				return nil, errors.Join(err, p.Close())
			}
		}
		for _, f := range files {
			if _, inside := p.rel(f); !inside {
				out.paths[filepath.Base(f)] = f
			}
		}
	}
	out.set, out.diags = policies.Decode(out.input)
	return out, nil
}

// usualPolicies reads the files that hold where none is named.
func (p *project) usualPolicies() ([]compiler.Source, error) {
	sources, list := compiler.PolicyPath(p.FS())
	if len(list) > 0 {
		return nil, inputErrorf("%s. %s", list[0].Summary, list[0].Detail)
	}
	return sources, nil
}

// files are the policy's files, for diagnostics.
func (p *projectPolicy) files() map[string]*diag.File {
	out := map[string]*diag.File{}
	for _, f := range p.input.Files {
		out[f.Name] = f
	}
	return out
}
