package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/policies"
)

// maxFound is the most files of a directory that are named.
const maxFound = 5

// WhatIsIn says what to type for the plans in a directory: plans of other tools at their
// usual paths, else the directory's markdown files. verb is compile or graph.
func WhatIsIn(dir, verb string) string {
	full, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	var lines []string
	seen := map[string]bool{}
	add := func(file, command string) {
		if !seen[file] && len(lines) < maxFound {
			seen[file] = true
			lines = append(lines, "\n  "+command+" "+words.QuotePath(file))
		}
	}
	for t := range lists.Refs(policies.Tools) {
		for _, pattern := range t.Files {
			for _, file := range under(dir, full, pattern) {
				add(file, readBy(t, verb))
			}
		}
	}
	if len(lines) == 0 {
		for _, pattern := range []string{"plans/*.md", "*.md"} {
			files, _ := filepath.Glob(filepath.Join(GlobEscape(dir), pattern))
			for _, file := range files {
				add(file, "ralph "+verb)
			}
		}
	}
	if len(lines) == 0 {
		return "; name the plan in it"
	}
	return "; what is in it:" + strings.Join(lines, "")
}

// readBy is the command that compiles or draws a tool's plans, without their file names.
func readBy(t *policies.Tool, verb string) string {
	switch {
	case verb == "graph" && t.Import == "": // it takes the dialect by itself
		return "ralph graph"
	case t.Import == "":
		return "ralph compile --dialect " + words.QuoteArg(t.Dialect)
	case verb == "graph":
		return "ralph graph --as " + t.Import
	}
	return "ralph import --as " + t.Import
}

// ImportedNote names the command that imports a file that did not compile, if a tool keeps
// its plans at that path, as a whole line; otherwise it is "". Markdown is imported with
// all files beside it.
func ImportedNote(file, verb string) string {
	full, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	t := policies.ToolAt(filepath.ToSlash(full))
	if t == nil || t.Import == "" {
		return ""
	}
	if KindOf(file) == "plan" {
		file = filepath.Dir(file)
	}
	return fmt.Sprintf("note: the files of %s are imported: %s %s\n", t.Title, readBy(t, verb), words.QuotePath(file))
}

// under returns the matches of a pattern relative to a project's root; dir may be the root
// or any directory along the pattern.
func under(dir, full, pattern string) []string {
	parts := strings.Split(pattern, "/")
	for n := len(parts); n >= 0; n-- { // dir is that many steps down
		if n > 0 && !endsWith(full, parts[:n]) {
			continue
		}
		if n == len(parts) {
			return []string{dir}
		}
		files, _ := filepath.Glob(filepath.Join(append([]string{GlobEscape(dir)}, parts[n:]...)...))
		return files
	}
	return nil
}

// endsWith reports whether the last elements of a path match.
func endsWith(path string, parts []string) bool {
	for i := len(parts) - 1; i >= 0; i-- {
		if ok, _ := filepath.Match(parts[i], filepath.Base(path)); !ok {
			return false
		}
		path = filepath.Dir(path)
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// GlobEscape escapes the special characters of a pattern.
func GlobEscape(s string) string {
	if filepath.Separator == '\\' {
		return s
	}
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[").Replace(s)
}
