package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// Top begins a word that leads to the directory in which the line runs.
const Top = "\uFFFB"

// unknown is the placeholder for text that is not known before the line runs.
const unknown = "\uFFFC"

// templates are ralph's, which are filled before the shell sees them.
var templates = lazyregexp.New(`\$*\$\{run\.[^}]*\}`)

func fill(text string) string {
	return templates.ReplaceAllString(strings.ReplaceAll(text, "${run.worktree}", Top), unknown)
}

// within reads the commands nested in a construct that is not itself a command.
func (r *reader) within(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.apart(func() { r.stmts(n.Stmts) })
			return false
		case *syntax.ProcSubst:
			r.apart(func() { r.stmts(n.Stmts) })
			return false
		}
		return true
	})
}

// word is one of a line of shell; plain says that the shell leaves it as it is.
type word struct {
	text  string
	plain bool
}

// word gives a word's text and reads the commands in it.
func (r *reader) word(w *syntax.Word) word {
	r.within(w)
	return textOf(w)
}

// textOf gives a word's text, without quotes.
func textOf(w *syntax.Word) word {
	var b strings.Builder
	expands := false
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text := unescape(p.Value, "")
			b.WriteString(text)
			expands = expands || text == p.Value && pattern.MatchString(text) || i == 0 && strings.HasPrefix(p.Value, "~")
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					b.WriteString(unescape(lit.Value, "$`\"\\"))
				} else {
					b.WriteString(expanded(q, b.Len() == 0))
				}
			}
		default:
			b.WriteString(expanded(p, b.Len() == 0))
		}
	}
	return word{b.String(), !expands && !strings.Contains(b.String(), unknown)}
}

// expanded is what the shell puts in place of a part, where that can be told: the
// directory that it is in, and the top of the working tree.
func expanded(part syntax.WordPart, first bool) string {
	switch p := part.(type) {
	case *syntax.ParamExp:
		if first && p.Param.Value == "PWD" && p.Exp == nil && p.Index == nil && p.Slice == nil && p.Repl == nil && !p.Length && !p.Excl {
			return "."
		}
	case *syntax.CmdSubst:
		if !first || len(p.Stmts) != 1 {
			break
		}
		if c, ok := p.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(c.Args) == 3 && c.Args[0].Lit() == "git" && c.Args[1].Lit() == "rev-parse" && c.Args[2].Lit() == "--show-toplevel" {
			return Top
		}
	}
	return unknown
}

// pattern matches what the shell takes for a pattern, or for several words.
var pattern = lazyregexp.New(`[*?]|\[.*\]|\{.*\}`)

// unescape drops the backslashes that quote one of these characters; "" is any.
func unescape(s, these string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (these == "" || strings.IndexByte(these, s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
