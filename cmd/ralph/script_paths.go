package main

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// usedFile is a relative path that a gate, a runner or a setup command names.
type usedFile struct {
	path    string
	by      string // "gate unit", "runner sh", "setup command 1"
	program bool   // it is started: a program, or a script that an interpreter reads
	late    bool   // what the same line runs before may make it
}

// usesOf lists the files that the commands of these nodes name, each once for each
// who names it.
func usesOf(epic *ir.Epic, nodes []*ir.Node) []usedFile {
	var out []usedFile
	seen := map[string]bool{}
	add := func(by string, files []usedFile) {
		for _, f := range files {
			f.by = by
			out = append(out, f)
		}
	}
	line := func(by, text string) {
		if !seen[by] {
			seen[by] = true
			add(by, lineFiles(text))
		}
	}
	agent := func(name string) {
		a := epic.Agents[name]
		if by := "runner " + a.Runner; name != "" && !a.Human && !seen[by] {
			seen[by] = true
			add(by, argvFiles(epic.Runners[a.Runner].Run))
		}
	}
	agents := func(name string, fallback []string) {
		agent(name)
		for _, f := range fallback {
			agent(f)
		}
	}
	gate := func(name string) {
		g := epic.Gates[name]
		if g.Kind == "command" {
			line("gate "+name, g.Run)
		}
		agents(g.Agent, g.Fallback)
	}
	for _, n := range nodes {
		for i := range n.Steps {
			s := &n.Steps[i]
			if n.Kind != ir.GateKind && n.Kind != ir.Manual {
				agents(s.Agent, s.Fallback)
				agent(s.Stall.Agent)
			}
			for _, g := range s.Gates {
				gate(g)
			}
		}
	}
	if len(nodes) > 0 {
		for i, text := range epic.Run.Worktree.Setup {
			line(fmt.Sprintf("setup command %d", i+1), text)
		}
		agent(epic.Epic.Integration.ConflictAgent)
	}
	return out
}

// argvFiles are those of a program that is started without a shell.
func argvFiles(argv []string) []usedFile {
	if len(argv) == 0 {
		return nil
	}
	if i := slices.Index(argv, "-c"); i > 0 && i+1 < len(argv) && shells[path.Base(argv[0])] {
		return lineFiles(argv[i+1])
	}
	words := make([]word, len(argv))
	for i, a := range argv {
		words[i] = word{a, !strings.Contains(a, "${run.")}
	}
	return commandFiles(words, false)
}

// lineFiles are those of a line of shell. What is behind a cd is relative to another
// place, and what the shell has to expand is not known: they are left out.
func lineFiles(text string) []usedFile {
	var out []usedFile
	late := false
	for _, words := range commands(text) {
		for len(words) > 0 && (words[0].plain && slices.Contains(prefixWords, words[0].text) || sets.MatchString(words[0].text)) {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		if words[0].text == "cd" || words[0].text == "pushd" {
			return out
		}
		out = append(out, commandFiles(words, late)...)
		late = true
	}
	return out
}

// commandFiles are those of one command.
func commandFiles(words []word, late bool) []usedFile {
	var out []usedFile
	add := func(w word, program bool) {
		p := path.Clean(w.text)
		if w.plain && p != "." && !strings.HasPrefix(w.text, "-") && filepath.IsLocal(filepath.FromSlash(p)) {
			out = append(out, usedFile{path: p, program: program, late: late})
		}
	}
	script := -1
	name := path.Base(words[0].text)
	switch {
	case strings.Contains(words[0].text, "/"):
		script = 0
	case shells[name] || name == "." || name == "source" || interpreter.MatchString(name):
		for i, w := range words[1:] {
			if !w.plain || w.text == "-" || slices.Contains([]string{"-c", "-s"}, w.text) || !shells[name] && slices.Contains([]string{"-e", "-m", "-p", "-r"}, w.text) {
				break // what is run stands on the line, in a module, or is not known
			}
			if !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "+") {
				script = i + 1
				break
			}
		}
	}
	for i, w := range words {
		if i == 0 && script != 0 {
			continue // it is looked up on PATH
		}
		add(w, i == script)
	}
	return out
}

var (
	// prefixWords stand before a command.
	prefixWords = strings.Fields("if then elif else while until do ! { time exec command nohup env nice")
	sets        = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	shells      = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "ash": true}
	interpreter = regexp.MustCompile(`^(?:python[0-9.]*|node|ruby|perl|php|lua|Rscript)$`)
)

// word is one of a line of shell; plain says that the shell leaves it as it is.
type word struct {
	text  string
	plain bool
}

// commands splits a line of shell into the words of its simple commands.
func commands(text string) [][]word {
	var out [][]word
	var now []word
	var b strings.Builder
	in, plain := false, true // a word has begun; nothing in it is expanded
	end := func() {
		if in {
			now = append(now, word{b.String(), plain})
		}
		b.Reset()
		in, plain = false, true
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			end()
		case c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')':
			if c == '&' && (i > 0 && text[i-1] == '>' || i+1 < len(text) && text[i+1] == '>') { // of a redirection
				in, plain = true, false
				continue
			}
			end()
			if len(now) > 0 {
				out = append(out, now)
			}
			now = nil
		case c == '#' && !in:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case c == '\'':
			in = true
			n := strings.IndexByte(text[i+1:], '\'')
			if n < 0 {
				return out // not the shell's: nothing is known
			}
			b.WriteString(text[i+1 : i+1+n])
			i += n + 1
		case c == '"':
			in = true
			n := strings.IndexByte(text[i+1:], '"')
			if n < 0 || strings.ContainsAny(text[i+1:i+1+n], "$`\\") {
				plain = false
				if n < 0 || strings.ContainsAny(text[i+1:i+1+n], "`\\") || strings.Contains(text[i+1:i+1+n], "$(") {
					return out
				}
			}
			b.WriteString(text[i+1 : i+1+n])
			i += n + 1
		case strings.IndexByte("$`\\*?[]~<>=", c) >= 0:
			in, plain = true, plain && c == '='
			b.WriteByte(c)
			if c == '`' || c == '$' && i+1 < len(text) && text[i+1] == '(' {
				return out // a command in a command
			}
		default:
			in = true
			b.WriteByte(c)
		}
	}
	end()
	if len(now) > 0 {
		out = append(out, now)
	}
	return out
}
