package policies

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// RunsThrough lists the files of the project at which it stands what a shell command
// does: the Makefile of make, the package.json of npm and what its script names, a
// script's own file. Only files that are there are listed, in order; what the tests
// test is none of them.
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
	var outer []string // directories of the subshells that are open
	for _, words := range simpleCommands(text) {
		switch {
		case words[0] == "(":
			outer = append(outer, dir)
		case words[0] == ")":
			if k := len(outer) - 1; k >= 0 {
				dir, outer = outer[k], outer[:k]
			}
		case words[0] == "cd" && len(words) > 1:
			dir = inDir(dir, words[1])
		default:
			r.simple(words, dir, depth)
		}
	}
}

// wrappers run the command that their arguments are.
var wrappers = []string{"exec", "env", "time", "nice", "nohup", "command", "sudo", "timeout", "xvfb-run", "!", "then", "do", "else", "if", "while", "until", "{"}

// interpreters run the file that their first argument names.
var interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "ruby", "perl", "tsx", "ts-node", "source", "."}

func (r *through) simple(words []string, dir string, depth int) {
	for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains(wrappers, words[0]) || words[0] != "" && (words[0][0] == '-' || words[0][0] >= '0' && words[0][0] <= '9')) {
		words = words[1:] // and their flags and numbers
	}
	if len(words) == 0 {
		return
	}
	args := words[1:]
	switch name := path.Base(words[0]); {
	case strings.Contains(words[0], "/"):
		if r.file(dir, words[0]) {
			r.files(dir, map[string][]string{
				"gradlew": {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}, "mvnw": {"pom.xml"},
			}[name]...)
		}
	case name == "make" || name == "gmake":
		dir = inDir(dir, option(args, "-C", "--directory"))
		if own := option(args, "-f", "--file", "--makefile"); own != "" {
			r.file(dir, own)
			return
		}
		r.first(dir, makeFiles)
	case name == "just":
		r.first(dir, justFiles)
	case name == "npm" || name == "pnpm" || name == "yarn" || name == "bun":
		r.script(args, inDir(dir, option(args, "--prefix", "-C", "--dir", "--cwd")), depth)
	case name == "gradle":
		r.files(dir, "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
	case name == "mvn":
		r.files(dir, "pom.xml")
	case name == "task":
		r.first(dir, []string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml"})
	case name == "rake":
		r.first(dir, []string{"rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"})
	case name == "tox":
		r.files(dir, "tox.ini")
	case name == "nox":
		r.files(dir, "noxfile.py")
	case slices.Contains(interpreters, name):
		r.interpreted(args, dir, depth)
	}
}

// interpreted takes the file that an interpreter runs, or follows what it is given.
func (r *through) interpreted(args []string, dir string, depth int) {
	for i, a := range args {
		switch {
		case (a == "-c" || a == "-ec" || a == "-xc" || a == "-lc") && i+1 < len(args):
			r.command(args[i+1], dir, depth+1)
			return
		case a == "-m" || a == "-e" || a == "--test" || a == "-p":
			return
		case strings.HasPrefix(a, "-"):
		default:
			r.file(dir, a)
			return
		}
	}
}

// script follows a script of package.json.
func (r *through) script(args []string, dir string, depth int) {
	var words []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && a != dir {
			words = append(words, a)
		}
	}
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
	name = strings.TrimPrefix(strings.TrimPrefix(name, "${run.worktree}"), "/")
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

// simpleCommands splits a shell command into its simple commands, and these into
// words without their quotes; a parenthesis is a command of its own. It knows no more
// of the shell than that.
func simpleCommands(text string) [][]string {
	var out [][]string
	var words []string
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	endCommand := func() {
		if endWord(); len(words) > 0 {
			out = append(out, words)
		}
		words = nil
	}
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == '\\' && i+1 < len(text):
			if i++; text[i] != '\n' {
				word.WriteByte(text[i])
				inWord = true
			}
		case c == '#' && !inWord:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case c == ' ' || c == '\t':
			endWord()
		case c == '(' || c == ')':
			endCommand()
			out = append(out, []string{string(c)})
		case strings.IndexByte("\n;&|", c) >= 0:
			endCommand()
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	endCommand()
	return out
}
