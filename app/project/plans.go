package project

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/policies"
)

// plainPlans are the names of plans that no tool wrote.
var plainPlans = []string{"todo.md", "tasks.md"}

// namesRead bounds the names that are read of one directory.
const namesRead = 500

// FoundPlans are plans that one tool keeps in one kind of place.
type FoundPlans struct {
	Files    []string // those that were looked at, by name
	What, Of string   // "a plan of Kiro", "Kiro"
	Format   string   // that import reads them as; "": compile takes them as they are
}

// PlansIn lists the plans of other tools that are in a project.
func PlansIn(dir string) (out []FoundPlans) {
	seen := map[string]bool{}
	look := func(pattern, what, of, format string) {
		if files := namesLike(dir, "", strings.Split(pattern, "/")); !seen[pattern] && len(files) > 0 {
			seen[pattern] = true // cc-sdd writes where Kiro does
			out = append(out, FoundPlans{files, what, of, format})
		}
	}
	for t := range lists.Refs(policies.Tools) {
		for _, pattern := range t.Files {
			look(pattern, "a plan of "+t.Title, t.Title, t.Import)
		}
	}
	for _, name := range plainPlans {
		look(name, "a plan, by its name", name, "")
	}
	return out
}

// namesLike lists the paths that match a pattern, part by part, sorted by name. The last
// part ignores case. Links are not followed.
func namesLike(dir, at string, parts []string) []string {
	if !strings.Contains(parts[0], "*") && len(parts) > 1 {
		return namesBelow(dir, path.Join(at, parts[0]), parts[1:])
	}
	d, err := os.Open(filepath.Join(dir, filepath.FromSlash(at)))
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(namesRead)
	slices.Sort(names)
	var out []string
	for _, name := range names {
		own := name
		if len(parts) == 1 {
			own = strings.ToLower(name)
		}
		if is, _ := path.Match(parts[0], own); is { // the patterns are ours
			out = append(out, namesBelow(dir, path.Join(at, name), parts[1:])...)
		}
	}
	return out
}

// namesBelow matches the rest of a pattern below a path; without a rest it returns the path
// itself, unless that is empty.
func namesBelow(dir, at string, rest []string) []string {
	info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(at)))
	switch {
	case err != nil:
		return nil
	case len(rest) > 0 && info.IsDir():
		return namesLike(dir, at, rest)
	case len(rest) == 0 && (info.IsDir() || info.Mode().IsRegular() && info.Size() > 0):
		return []string{at}
	}
	return nil
}
