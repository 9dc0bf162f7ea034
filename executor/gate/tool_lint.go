package gate

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

var (
	// locatedAt is file:line:column: text, as go, vet, gcc, ruff and many others write it.
	locatedAt = lazyregexp.New(`^(?:vet: )?((?:[A-Za-z]:)?[^\s:()]+\.\w+:\d+:\d+)(?:: | - )(.+)$`)
	// locatedError is file:line: error: text, as javac and mypy write it.
	locatedError = lazyregexp.New(`^(?::\w+)?([^\s:()]+\.\w+:\d+): ((?:fatal )?error: .+)$`)
	// locatedTSC is file(line,column): error code: text, as tsc and msbuild write it.
	locatedTSC = lazyregexp.New(`^([^\s:()]+\.\w+)\((\d+),(\d+)\): (error \w+: .+)$`)
	milder     = lazyregexp.New(`^(?i:warning|note|info|hint)\b`)
)

// located reads errors that say where they are: compilers, type checkers, linters.
type located struct{ report }

func (l *located) line(text string) {
	if text == "" || text[0] == ' ' || text[0] == '\t' {
		return
	}
	var at, why string
	if m := locatedAt.FindStringSubmatch(text); m != nil {
		at, why = m[1], m[2]
	} else if m := locatedError.FindStringSubmatch(text); m != nil {
		at, why = m[1], m[2]
	} else if m := locatedTSC.FindStringSubmatch(text); m != nil {
		at, why = m[1]+":"+m[2]+":"+m[3], m[4]
	}
	if at != "" && !milder.MatchString(why) {
		l.says(strings.TrimPrefix(at, "./") + ": " + why)
	}
}

var (
	eslintFile = lazyregexp.New(`^(?:/|[A-Za-z]:\\|\.{0,2}\w)\S*\.\w+$`)
	eslintSays = lazyregexp.New(`^ +(\d+:\d+) +error +(.+?)(?:  +(\S+))?$`)
)

// eslint reads its default format: a line with the file, then one for each problem.
type eslint struct {
	report
	file string
}

func (e *eslint) line(text string) {
	if !strings.HasPrefix(text, " ") {
		if e.file = ""; eslintFile.MatchString(text) {
			e.file = text
		}
		return
	}
	if e.file == "" {
		return
	}
	if m := eslintSays.FindStringSubmatch(text); m != nil {
		why := e.file + ":" + m[1] + ": " + m[2]
		if m[3] != "" {
			why += " (" + m[3] + ")"
		}
		e.says(why)
	}
}

var npmSays = lazyregexp.New(`^npm (?:ERR!|error) (Missing script: .+|could not determine executable to run.*)$`)

// npm reads what npm itself refuses.
type npm struct{ report }

func (n *npm) line(text string) {
	if strings.HasPrefix(text, "npm ") && len(n.found) == 0 {
		if m := npmSays.FindStringSubmatch(text); m != nil {
			n.says("npm: " + m[1])
		}
	}
}
