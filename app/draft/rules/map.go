package rules

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/policies"
)

// MapBudget is the default size of a project map in a prompt, in bytes.
const MapBudget = 24 << 10

// Map shows a project to a newcomer, as lines of markdown: how it is tested, its tree,
// its README and its build files, together at most budget bytes with their line ends.
// The same files give the same map. They may be hostile: reading is bounded, listing
// follows no link, invisible characters are made visible, and no text of a file ends the
// fence around it.
func Map(project fs.FS, budget int) []string {
	m := &atlas{left: budget}
	root := walk(project)
	m.tests(project)
	m.tree(root, m.left*6/10)
	if readme := readmeOf(root.files); readme != "" {
		m.file(project, readme, m.left*6/10)
	}
	build := buildFilesOf(root.files)
	for i, f := range build {
		m.file(project, f, m.left/(len(build)-i))
	}
	return m.lines
}

// atlas collects the lines of a map within a budget.
type atlas struct {
	lines []string
	left  int // bytes
}

func size(lines []string) int {
	n := len(lines)
	for _, l := range lines {
		n += len(l)
	}
	return n
}

// add takes lines, with an empty one before them, if all of them fit.
func (m *atlas) add(lines ...string) {
	if len(m.lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	if n := size(lines); n <= m.left {
		m.lines, m.left = append(m.lines, lines...), m.left-n
	}
}

func (m *atlas) tests(project fs.FS) {
	found := policies.DetectTests(project)
	for _, t := range found[:min(len(found), 5)] {
		line := fmt.Sprintf("Its own tests: `%s` (%s, as %s says)", t.Command, t.Tool, name(t.File))
		if n := len(t.TestFiles(project)); n > 0 {
			line += fmt.Sprintf("; files of tests: %d", n)
		}
		m.add(line + ".")
	}
	if len(found) == 0 {
		m.add("How it is tested is not known: no file at its root says it.")
	}
}

// tree adds the tree, as deep as limit allows.
func (m *atlas) tree(root *folder, limit int) {
	title := fmt.Sprintf("Its files (%s):", root.size())
	if root.note != "" {
		title = fmt.Sprintf("Its files: %s.", root.note)
	}
	var drawn []string
	for depth := 1; depth <= maxDepth+1; depth++ {
		deeper := root.draw(depth)
		if drawn != nil && (len(deeper) == len(drawn) || size(deeper)+size([]string{title})+80 > limit) {
			if len(deeper) == len(drawn) {
				drawn = deeper
			}
			break
		}
		drawn = deeper
	}
	m.quote(title, drawn, limit)
}

// file adds the beginning of a file.
func (m *atlas) file(project fs.FS, at string, limit int) {
	text, whole := head(project, at, limit)
	if strings.TrimSpace(text) == "" {
		return
	}
	title := name(at) + ":"
	if !whole {
		title = name(at) + ", its beginning:"
	}
	m.quote(title, strings.Split(strings.TrimRight(plain(text), "\n"), "\n"), limit)
}

// quote adds lines of others in a fence, as many as limit allows.
func (m *atlas) quote(title string, lines []string, limit int) {
	limit = min(limit, m.left)
	left := limit - len(title) - 2*(maxRun+4) - 8
	var kept []string
	for i, l := range lines {
		l = text.Clip(l, 400)
		if left -= len(l) + 1; left < 0 {
			kept = append(kept, fmt.Sprintf("… %d more lines", len(lines)-i))
			break
		}
		kept = append(kept, l)
	}
	if len(kept) > 0 && limit > 200 {
		m.add(append([]string{title, ""}, quoted(strings.Join(kept, "\n"), "")...)...)
	}
}

// head reads the beginning of a regular file, in bytes; whole says that there is no
// more.
func head(project fs.FS, at string, limit int) (text string, whole bool) {
	if st, err := fs.Stat(project, at); err != nil || !st.Mode().IsRegular() {
		return "", true
	}
	f, err := project.Open(at)
	if err != nil {
		return "", true
	}
	defer f.Close() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, int64(max(limit, 0))))
	if err != nil {
		return "", true
	}
	return strings.ToValidUTF8(string(b), ""), len(b) < limit
}

// readmeOf finds the README among the files at the root.
func readmeOf(files []string) string {
	for _, ext := range readmes {
		if i := slices.IndexFunc(files, func(f string) bool { return strings.EqualFold(f, "readme"+ext) }); i >= 0 {
			return files[i]
		}
	}
	return ""
}

var readmes = []string{".md", ".markdown", ".rst", ".adoc", ".txt", ""}

// buildFilesOf finds the files at the root that say how a project is built.
func buildFilesOf(files []string) []string {
	out := slices.DeleteFunc(slices.Clone(files), func(f string) bool {
		return !slices.ContainsFunc(buildFiles, func(pattern string) bool { fits, _ := path.Match(pattern, f); return fits })
	})
	return out[:min(len(out), 12)]
}

var buildFiles = []string{
	"go.mod", "go.work", "package.json", "deno.json", "pnpm-workspace.yaml", "Cargo.toml", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt",
	"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "CMakeLists.txt", "meson.build", "Gemfile", "composer.json",
	"mix.exs", "build.sbt", "*.csproj", "*.sln", "Package.swift", "Makefile", "GNUmakefile", "makefile", "justfile", "Justfile", "Taskfile.yml", "Dockerfile",
}
