package shepherd

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// folder is where Agent Shepherd keeps its configuration.
const folder = ".agent-shepherd"

// Find lists the files of Agent Shepherd's that a directory has, as paths in fsys:
// the directory may be a project, .agent-shepherd in it, or the config folder in
// that. Both layouts are known; where a file stands in both, the one in config
// counts and the other is among shadowed. Files that ralph has no use for, such as
// decision-prompts.yaml, are listed too: Convert says so. No file is no error.
func Find(fsys fs.FS, dir string) (files, shadowed []string, err error) {
	dir = path.Clean(dir)
	if s, err := fs.Stat(fsys, path.Join(dir, folder)); err == nil && s.IsDir() {
		dir = path.Join(dir, folder)
	}
	newer, err := yamls(fsys, path.Join(dir, "config"))
	if err != nil {
		return nil, nil, err
	}
	older, err := yamls(fsys, dir)
	if err != nil {
		return nil, nil, err
	}
	files = newer
	for _, f := range older {
		stem := func(s string) string { return strings.TrimSuffix(path.Base(s), path.Ext(s)) }
		if slices.ContainsFunc(newer, func(n string) bool { return stem(n) == stem(f) }) {
			shadowed = append(shadowed, f)
			continue
		}
		files = append(files, f)
	}
	slices.Sort(files)
	return files, shadowed, nil
}

func yamls(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		if s, serr := fs.Stat(fsys, dir); serr == nil && s.IsDir() {
			return nil, err
		}
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if ext := path.Ext(e.Name()); e.Type().IsRegular() && (ext == ".yaml" || ext == ".yml") {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	return out, nil
}
