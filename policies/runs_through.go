package policies

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/shell"
)

// RunsThrough lists the files of the project that decide what a shell command
// does: the Makefile of make, the package.json of npm and what its script names, a
// script's own file. Only existing files are listed, in order, without the tested code.
func RunsThrough(project fs.FS, command string) []string {
	if project == nil {
		return nil
	}
	r := &through{detector: detector{project}}
	r.command(command, ".", 0)
	slices.Sort(r.found)
	return slices.Compact(r.found)
}

type through struct {
	detector
	found []string
}

// command follows a command that runs in dir.
func (r *through) command(text, dir string, depth int) {
	if len(text) > maxManifest || depth > 3 || len(r.found) > 100 {
		return
	}
	for _, f := range shell.Files(text) {
		if f.Program {
			r.file(dir, f.Path)
		}
	}
	for _, c := range shell.Commands(text) {
		r.simple(c.Words, path.Join(dir, c.Dir), depth)
	}
}

func (r *through) simple(words []string, dir string, depth int) {
	args := words[1:]
	switch name := path.Base(words[0]); name {
	case "make", "gmake":
		dir = inDir(dir, option(args, "-C", "--directory"))
		if own := option(args, "-f", "--file", "--makefile"); own != "" {
			r.file(dir, own)
			return
		}
		r.first(dir, makeFiles)
	case "just":
		r.first(dir, justFiles)
	case "npm", "pnpm", "yarn", "bun":
		r.script(args, inDir(dir, option(args, "--prefix", "-C", "--dir", "--cwd")), depth)
	case "gradle", "gradlew":
		r.files(dir, "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
	case "mvn", "mvnw":
		r.files(dir, "pom.xml")
	case "task":
		r.first(dir, []string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml"})
	case "rake":
		r.first(dir, []string{"rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"})
	case "tox":
		r.files(dir, "tox.ini")
	case "nox":
		r.files(dir, "noxfile.py")
	}
}

// script follows a script of package.json.
func (r *through) script(args []string, dir string, depth int) {
	words := lists.Keep(args, func(a string) bool { return !strings.HasPrefix(a, "-") && a != dir })
	if len(words) > 0 && (words[0] == "run" || words[0] == "run-script") {
		words = words[1:]
	}
	if len(words) == 0 || slices.Contains([]string{"exec", "dlx", "install", "ci", "add", "x"}, words[0]) {
		return
	}
	name := words[0]
	if name == "t" || name == "tst" {
		name = "test"
	}
	src, ok := r.read(path.Join(dir, "package.json"))
	if !ok || !r.file(dir, "package.json") {
		return
	}
	var m struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(src, &m) != nil {
		return
	}
	for _, n := range []string{"pre" + name, name, "post" + name} {
		r.command(m.Scripts[n], dir, depth+1)
	}
}

func (r *through) first(dir string, names []string) {
	for _, n := range names {
		if r.file(dir, n) {
			return
		}
	}
}

func (r *through) files(dir string, names ...string) {
	for _, n := range names {
		r.file(dir, n)
	}
}

// file takes a file if it is there.
func (r *through) file(dir, name string) bool {
	p := inDir(dir, name)
	if p == "" || p == "." || !fs.ValidPath(p) || !r.has(p) {
		return false
	}
	r.found = append(r.found, p)
	return true
}

// inDir is a path seen from dir; what leaves the project is "".
func inDir(dir, name string) string {
	if rest, ok := strings.CutPrefix(name, shell.Top); ok {
		dir, name = ".", "."+rest
	}
	if dir == "" || strings.HasPrefix(name, "..") {
		if p := path.Join(dir, name); dir != "" && fs.ValidPath(p) {
			return p
		}
		return ""
	}
	return path.Join(dir, name)
}

// option is the value of the first of these options that is given.
func option(args []string, names ...string) string {
	for i, a := range args {
		for _, n := range names {
			switch {
			case a == n && i+1 < len(args):
				return args[i+1]
			case strings.HasPrefix(a, n+"="):
				return a[len(n)+1:]
			case len(n) == 2 && len(a) > 2 && strings.HasPrefix(a, n):
				return a[2:]
			}
		}
	}
	return ""
}
