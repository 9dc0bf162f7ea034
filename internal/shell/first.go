package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// First is the program with which a line of shell begins and that the shell looks for on
// PATH. It is "" where the shell knows the word itself, where the word is a path or not
// known before the line runs, and where the line goes on without the program.
func First(line string) string {
	text := fill(line)
	if len(text) > most {
		return ""
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return ""
	}
	r := newReader()
	r.stmts(file.Stmts) // finds the functions
	for _, s := range file.Stmts {
		if c, ok := s.Cmd.(*syntax.CallExpr); !ok || len(c.Args) > 0 { // else it only sets variables
			return r.first(s)
		}
	}
	return ""
}

func (r *reader) first(s *syntax.Stmt) string {
	if s.Negated {
		return ""
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return ""
		}
		w := textOf(c.Args[0])
		if !w.plain || strings.Contains(w.text, "/") || known[w.text] || r.funcs[w.text] {
			return ""
		}
		return w.text
	case *syntax.BinaryCmd:
		if c.Op == syntax.OrStmt && !r.fails(c.Y) {
			return ""
		}
		return r.first(c.X)
	}
	return ""
}

// known are the words that a POSIX shell runs by itself.
var known = set(`. : [ alias bg break cd command continue echo eval exec exit export false fc fg getopts hash jobs kill local printf
	pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait`)
