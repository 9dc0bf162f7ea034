package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// asks lists the paths for which a command asks whether they are there: those that are
// when it ends well, and those that are when it does not.
func (r *reader) asks(s *syntax.Stmt) (yes, no []string) {
	if s == nil {
		return nil, nil
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr, *syntax.TestClause:
		yes, no = r.tests[c].yes, r.tests[c].no
	case *syntax.Block:
		yes, no = r.asks(last(c.Stmts))
	case *syntax.Subshell:
		yes, no = r.asks(last(c.Stmts))
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			yes, no = r.asks(c.X)
			y, n := r.asks(c.Y)
			yes, no = slices.Concat(yes, y), slices.Concat(no, n)
		}
	}
	if s.Negated {
		yes, no = no, yes
	}
	return yes, no
}

// test is what a command asks for: the paths that are there when it ends well, and those
// that are when it does not.
type test struct{ yes, no []string }

// test reads what test, [ and command -v ask for.
func (r *reader) test(words []word) (t test) {
	switch name, args := program(words[0]), words[1:]; {
	case name == "test" || name == "[":
		negated := false
		for i, w := range args {
			if w.text == "!" {
				negated = true
			}
			if i == 0 || !fileTests[args[i-1].text] {
				continue
			}
			if p := r.path(w); p != "" && negated {
				t.no = append(t.no, p)
			} else if p != "" {
				t.yes = append(t.yes, p)
			}
			negated = false
		}
	case name == "command" && asksForCommand(args), name == "type", name == "which", name == "hash":
		for _, w := range args {
			if p := r.path(w); p != "" && strings.Contains(w.text, "/") {
				t.yes = append(t.yes, p)
			}
		}
	}
	return t
}

func (r *reader) testExpr(e syntax.TestExpr) (yes, no []string) {
	switch e := e.(type) {
	case *syntax.ParenTest:
		return r.testExpr(e.X)
	case *syntax.BinaryTest:
		if e.Op == syntax.AndTest || e.Op == syntax.OrTest {
			yes, no = r.testExpr(e.X)
			y, n := r.testExpr(e.Y)
			return slices.Concat(yes, y), slices.Concat(no, n)
		}
	case *syntax.UnaryTest:
		if e.Op == syntax.TsNot {
			yes, no = r.testExpr(e.X)
			return no, yes
		}
		if w, ok := e.X.(*syntax.Word); ok && fileTests[e.Op.String()] {
			r.add(textOf(w), false)
			if p := r.path(textOf(w)); p != "" {
				return []string{p}, nil
			}
		}
	}
	return nil, nil
}

// fileTests are the operators of test that ask for a file.
var fileTests = set("-a -d -e -f -h -L -r -s -x")

// settled notes that paths may be missing from here on, if what runs where they are
// missing ends the line well or may make them.
func (r *reader) settled(paths []string, then ...*syntax.Stmt) {
	if len(paths) == 0 || r.fails(then...) || !slices.ContainsFunc(then, r.acts) {
		return
	}
	r.asked = append(slices.Clip(r.asked), paths...)
}

// acts reports whether a command does more than say something.
func (r *reader) acts(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return true
	}
	name := c.Args[0].Lit()
	return name == "exit" || name == "return" || !quiet[name]
}

// fails reports whether commands end the line badly.
func (r *reader) fails(list ...*syntax.Stmt) bool {
	for i, s := range list {
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			if len(c.Args) == 0 {
				continue
			}
			name := c.Args[0].Lit()
			if name == "exit" || name == "return" {
				return len(c.Args) < 2 || c.Args[1].Lit() != "0"
			}
			if i == len(list)-1 && (name == "false" || r.funcs[name]) { // a function may be anything
				return !s.Negated
			}
		case *syntax.Block:
			if r.fails(c.Stmts...) {
				return true
			}
		case *syntax.Subshell:
			if i == len(list)-1 && r.fails(c.Stmts...) {
				return true
			}
		case *syntax.BinaryCmd:
			if c.Op == syntax.AndStmt && (r.fails(c.X) || r.fails(c.Y)) || c.Op == syntax.OrStmt && r.fails(c.Y) {
				return true
			}
		}
	}
	return false
}
