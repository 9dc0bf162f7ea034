package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/policies"
)

// plainPlans are the names of plans that no tool wrote.
var plainPlans = []string{"todo.md", "tasks.md"}

// Bounds of the look for plans.
const (
	plansShown = 3   // of one tool
	namesRead  = 500 // of one directory
)

// sayPlans names the plans of other tools that are in a project, and what to type.
func sayPlans(w io.Writer, dir string) {
	first, as := "", ""
	seen := map[string]bool{}
	say := func(pattern, what, of, format string) {
		files := namesLike(dir, "", strings.Split(pattern, "/"))
		if seen[pattern] || len(files) == 0 {
			return
		}
		seen[pattern] = true // cc-sdd writes where Kiro does
		if first == "" {
			first, as = files[0], format
		}
		for _, file := range files[:min(len(files), plansShown)] {
			view.Sayf(w, "found  %-30s %s\n", file, what)
		}
		if more := len(files) - plansShown; more > 0 {
			view.Sayf(w, "found  %d more of %s\n", more, of)
		}
	}
	for i := range policies.Tools {
		t := &policies.Tools[i]
		for _, pattern := range t.Files {
			say(pattern, "a plan of "+t.Title, t.Title, t.Import)
		}
	}
	for _, name := range plainPlans {
		say(name, "a plan, by its name", name, "")
	}
	sayNext(w, first, as)
}

// sayNext says what to type for a plan that import reads as a format, or compile as it
// stands.
func sayNext(w io.Writer, first, as string) {
	if first == "" {
		return
	}
	drawing := "plan.svg"
	if _, err := exec.LookPath("dot"); err != nil {
		drawing = "plan.mmd"
	}
	lines := [][2]string{
		{"graph " + words.QuotePath(first) + " -o " + drawing, "draws it and changes nothing"},
		{"init --plan " + words.QuotePath(first), "writes its dialect into it, once"},
		{"compile " + words.QuotePath(first), "makes epic.json"},
	}
	if as != "" {
		named := " --as " + as + " " + words.QuotePath(first)
		lines = [][2]string{{"graph" + named + " -o " + drawing, "draws it and changes nothing"}, {"import" + named, "makes epic.json"}}
	}
	wide := 0
	for _, l := range lines {
		wide = max(wide, len(l[0]))
	}
	fmt.Fprint(w, "\nTo use a plan that is here:\n")
	for _, l := range lines {
		view.Sayf(w, "  ralph %-*s  %s\n", wide, l[0], l[1])
	}
}

// namesLike lists what is called as the parts of a pattern say, part by part, in the
// order of names. Capitals make no difference in the last part. Links are not followed.
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

// namesBelow goes on below a name with the rest of a pattern; with none it is there, if
// it holds something.
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
