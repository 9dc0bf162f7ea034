package compiler

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// owned appends the paths of Owns. It restricts what may change, so what is no
// path of the project is never passed over. It reports false if the label says more.
func (l *lowering) owned(to *[]string, lb *syntax.Label) bool {
	var out []string
	named, _, prose, more := scopePaths(lb)
	for _, s := range prose {
		l.unfit(lb, s, "a list of paths or globs, with commas between them")
	}
	for _, s := range named {
		p := strings.TrimPrefix(s.Value, "./")
		if bad := badPath(p); bad != "" {
			l.leavesProject(s, bad)
			continue
		}
		if bareWord.MatchString(p) && !fileWord.MatchString(p) && l.missing(p) {
			l.diags.Add(diag.Newf("owns-nothing", s.Range, "%q is not a path of the project", clip(p)).
				WithDetail("Owns restricts the item to paths, and nothing in the project has this name. If it is a directory that the item makes, write \"%s/**\"; if it is text, leave it out.", clip(p)))
		}
		out = l.glob(out, lb, s)
	}
	*to = append(*to, unique(out)...)
	return len(prose) == 0 && !more
}

// forecast appends the paths of Files or Reads, which restrict nothing: a code span
// that is no path, such as a route of a URL, is text. It reports false if the label says
// more than paths: then the label is a part of the prompt as well.
func (l *lowering) forecast(to *[]string, lb *syntax.Label) bool {
	var out []string
	named, text, prose, more := scopePaths(lb)
	for _, s := range named {
		switch p := strings.TrimPrefix(s.Value, "./"); {
		case s.Strict && badPath(p) != "":
			l.leavesProject(s, badPath(p))
		case !s.Strict && noPath(p):
			text = append(text, s)
		default:
			out = l.glob(out, lb, s)
		}
	}
	*to = append(*to, unique(out)...)
	l.pathTexts = append(l.pathTexts, text...)
	return len(text) == 0 && len(prose) == 0 && !more
}

// reportPathTexts says once what is no path below Files and Reads.
func (l *lowering) reportPathTexts() {
	text := l.pathTexts
	if len(text) == 0 {
		return
	}
	slices.SortFunc(text, func(a, b ir.Stated) int { return a.Range.Start - b.Range.Start })
	d := diag.Newf("path-text", text[0].Range, "%q is not a path of the project", clip(text[0].Value)).
		WithDetail("It is read as text%s, which is fine if that is intended. A path under Files or Reads is relative to the project and stays inside it, without spaces and \"?\", and its braces hold a list with commas.", andOthers(len(text)-1))
	for _, s := range text[1:min(len(text), mostPlaces)] {
		d = d.WithRelated(s.Range, "text, too")
	}
	l.diags.Add(d)
}

func andOthers(n int) string {
	if n == 0 {
		return ""
	}
	return ", and so " + text.Form(n, "is", "are") + " " + text.Count(n, "other")
}

// noPath reports whether what is below Files or Reads is not a path of the project:
// a route, a query, a pattern of something else.
func noPath(p string) bool {
	return badPath(p) != "" || strings.Contains(p, "..") || strings.Contains(p, "?") || strings.Contains(p, "{") && !strings.Contains(p, ",")
}

func (l *lowering) leavesProject(s ir.Stated, bad string) {
	l.diags.Add(diag.New("path-leaves-project", s.Range, "the path leaves the project").
		WithDetail("%q %s. Paths in a plan are relative to the project and stay inside it: write it without a leading slash and without \"..\".", clip(s.Value), bad))
}

// glob appends a path or glob, if it is one.
func (l *lowering) glob(to []string, lb *syntax.Label, s ir.Stated) []string {
	p := strings.TrimPrefix(s.Value, "./")
	if err := glob.Check(p); err != nil {
		l.unfit(lb, s, "a list of paths or globs")
		return to
	}
	return append(to, p)
}

var (
	bareWord = lazyregexp.New(`^\pL+$`)
	fileWord = lazyregexp.New(`^(?:\p{Lu}+|\p{Lu}\pL*file)$`) // LICENSE, Makefile
)

// missing reports whether the project is known and has no such path.
func (l *lowering) missing(p string) bool {
	if l.project == nil {
		return false
	}
	_, err := fs.Stat(l.project, p)
	return errors.Is(err, fs.ErrNotExist)
}

// scopePaths reads the paths of a scope label: the code spans of an entry if it
// has any ("Modify: `src/login.ts:88-140`"), else what is between commas,
// without a reason after a dash or in parentheses. Line numbers after a path
// are dropped. What holds a space is no path: code spans are listed as text, the
// rest as prose. more: something is beside the paths.
func scopePaths(lb *syntax.Label) (out, text, prose []ir.Stated, more bool) {
	for _, e := range entries(lb) {
		from := 0
		words, beside := pathWords(e)
		more = more || beside
		for _, w := range words {
			r, v := e.at, w.text
			if i := strings.Index(e.text[from:], v); i >= 0 && e.value.Value != "" {
				r = e.value.Sub(from+i, from+i+len(v))
				from += i + len(v)
			}
			v = lineNumbers.ReplaceAllString(v, "")
			s := ir.Stated{Value: v, Range: r, Strict: lb.From == syntax.FromDirective}
			switch spaced := strings.ContainsAny(v, " \t\n"); {
			case v == "", depend.SaysNone(v):
			case spaced && w.code && lb.Name != syntax.Owns:
				text = append(text, s)
			case spaced:
				prose = append(prose, s)
			default:
				out = append(out, s)
			}
		}
	}
	return out, text, prose, more
}

// newPaths are the paths of a scope label that `(new)` follows.
func newPaths(lb *syntax.Label) (out []string) {
	for _, e := range entries(lb) {
		text := e.text
		if strings.Contains(e.value.Raw, "`") {
			text = e.value.Raw
		}
		if !strings.Contains(text, "(") {
			continue
		}
		for _, m := range markedNew.FindAllStringSubmatch(text, -1) {
			if p := strings.Trim(m[1]+m[2], `"'[]*_`); p != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

var markedNew = lazyregexp.New("(?i)(?:`([^`\\s]+)`|([^\\s,`()|]+))[*_]{0,3}[ \t]*[*_]{0,3}\\(new\\b[^()\n]{0,40}\\)")

var (
	codeSpan    = lazyregexp.New("`+([^`]+)`+")
	lineNumbers = lazyregexp.New(`:\d+(?:-\d+)?(?::\d+)?$`)
)

// pathWord is what may be a path.
type pathWord struct {
	text string
	code bool // it is a code span
}

// pathWords cuts an entry into what may be paths. beside: a remark is there, too, not
// in parentheses.
func pathWords(e entry) (out []pathWord, beside bool) {
	text := e.text
	if strings.Contains(e.value.Raw, "`") {
		text = e.value.Raw
	}
	for _, v := range cutOutsideBraces(text) {
		if spans := codeSpan.FindAllStringSubmatch(v, -1); len(spans) > 0 {
			for _, m := range spans {
				out = append(out, pathWord{strings.TrimSpace(m[1]), true})
			}
			beside = beside || saysMore(codeSpan.ReplaceAllString(v, ""))
			continue
		}
		for _, dash := range []string{" - ", " – ", " — ", " ("} {
			if i := strings.Index(v, dash); i > 0 {
				beside = beside || saysMore(v[i:])
				v = v[:i]
			}
		}
		out = append(out, pathWord{text: strings.Trim(strings.TrimSpace(v), "`[]\"'")})
	}
	return out, beside
}

var (
	inParens = lazyregexp.New(`\([^()]*\)`)
	pathVerb = lazyregexp.New(`^[\s*_]*\pL+(?: \pL+)?[*_]*:`) // "Modify: `a.go`"
)

// saysMore reports whether words are beside paths: more than a verb in front of them and
// remarks in parentheses.
func saysMore(rest string) bool {
	rest = pathVerb.ReplaceAllString(inParens.ReplaceAllString(rest, ""), "")
	return strings.Count(rest, " ") > 0 && len(strings.Fields(strings.TrimFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) }))) > 0
}

// cutOutsideBraces cuts a text at its commas, but not at those of "{a,b}" and of
// code spans.
func cutOutsideBraces(text string) []string {
	var out []string
	depth, from, code := 0, 0, false
	for i := range len(text) {
		switch text[i] {
		case '`':
			code = !code
		case '{':
			depth++
		case '}':
			depth = max(depth-1, 0)
		case ',':
			if depth == 0 && !code {
				out = append(out, text[from:i])
				from = i + 1
			}
		}
	}
	return append(out, text[from:])
}
