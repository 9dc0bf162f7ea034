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
type located struct{ found []finding }

func (l *located) line(text string) {
	if text == "" || text[0] == ' ' || text[0] == '\t' || len(l.found) >= maxFindings {
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
		l.found = append(l.found, finding{why: strings.TrimPrefix(at, "./") + ": " + why})
	}
}

func (l *located) told() told { return told{found: l.found} }

var (
	eslintFile = lazyregexp.New(`^(?:/|[A-Za-z]:\\|\.{0,2}\w)\S*\.\w+$`)
	eslintSays = lazyregexp.New(`^ +(\d+:\d+) +error +(.+?)(?:  +(\S+))?$`)
)

// eslint reads its default format: a line with the file, then one for each problem.
type eslint struct {
	file  string
	found []finding
}

func (e *eslint) line(text string) {
	if !strings.HasPrefix(text, " ") {
		if e.file = ""; eslintFile.MatchString(text) {
			e.file = text
		}
		return
	}
	if e.file == "" || len(e.found) >= maxFindings {
		return
	}
	if m := eslintSays.FindStringSubmatch(text); m != nil {
		why := e.file + ":" + m[1] + ": " + m[2]
		if m[3] != "" {
			why += " (" + m[3] + ")"
		}
		e.found = append(e.found, finding{why: why})
	}
}

func (e *eslint) told() told { return told{found: e.found} }

var npmSays = lazyregexp.New(`^npm (?:ERR!|error) (Missing script: .+|could not determine executable to run.*)$`)

// npm reads what npm itself refuses.
type npm struct{ found []finding }

func (n *npm) line(text string) {
	if strings.HasPrefix(text, "npm ") && len(n.found) == 0 {
		if m := npmSays.FindStringSubmatch(text); m != nil {
			n.found = []finding{{why: "npm: " + m[1]}}
		}
	}
}

func (n *npm) told() told { return told{found: n.found} }
