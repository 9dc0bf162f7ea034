package compiler

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// Where the policy of a project is.
const policyDir = "policies"

var rootPolicies = []string{"ralph.hcl", "ralph.hcl.json"}

// PolicyPath reads the policy used if none is named: ralph.hcl, ralph.hcl.json,
// policies/*.hcl and policies/*.hcl.json at the root of a project. Only missing files are
// skipped silently: an unreadable policy is an error, because without it its gates would
// be gone.
func PolicyPath(project fs.FS) ([]Source, diag.List) {
	c := newCompilation(Input{Project: project})
	return policyPath(c.readProject, project, c.limits.PolicyBytes)
}

type readFunc func(p string, limit int) ([]byte, error)

func policyPath(read readFunc, project fs.FS, limit int) (out []Source, diags diag.List) {
	for _, name := range rootPolicies {
		b, err := read(name, limit)
		switch {
		case err == nil:
			out = append(out, Source{Path: name, Bytes: b})
		case !absent(project, name, err):
			diags.Add(unreadable(name, err))
		}
	}
	found, l := policiesIn(read, project, policyDir, limit)
	return append(out, found...), append(diags, l...)
}

// OnPolicyPath reports whether PolicyPath reads the file of a project at this path.
func OnPolicyPath(name string) bool {
	return slices.Contains(rootPolicies, name) || path.Dir(name) == policyDir && policyName(name)
}

func policyName(name string) bool {
	return strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".hcl.json")
}

// policiesIn reads the policy files of a directory.
func policiesIn(read readFunc, project fs.FS, dir string, limit int) (out []Source, diags diag.List) {
	if project == nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(project, dir)
	if err != nil {
		if !absent(project, dir, err) {
			diags.Add(unreadable(dir, err))
		}
		return nil, diags
	}
	for _, e := range entries {
		if !policyName(e.Name()) {
			continue
		}
		p := path.Join(dir, e.Name())
		b, err := read(p, limit)
		if err != nil {
			diags.Add(unreadable(p, err))
			continue
		}
		out = append(out, Source{Path: p, Bytes: b})
	}
	return out, diags
}

// absent reports whether an error says that nothing has this name. A link that
// leads nowhere is there: what it should lead to is missed.
func absent(project fs.FS, name string, err error) bool {
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if project == nil {
		return true
	}
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		if _, err := fs.Lstat(project, name[:i]); err != nil {
			return errors.Is(err, fs.ErrNotExist)
		}
		if _, err := fs.Stat(project, name[:i]); err != nil {
			return false
		}
	}
	return true
}

func unreadable(p string, err error) diag.Diagnostic {
	return diag.New("policy-file", diag.Range{File: p}, "the policy file cannot be read").
		WithDetail("%s. Fix the file, or remove it from the policy path.", worldError(p, err))
}
