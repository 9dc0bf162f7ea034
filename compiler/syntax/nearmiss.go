package syntax

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
)

// A word that is one typing mistake away from a control is an error: read as
// prose it would take the control away without a word. docs/plan-language.md,
// "Near misses", says what counts; nearmiss.txt lists what people mean as it is.

// shortest is how many letters a word has that can be nearly another one.
const shortest = 4

// longestNear bounds the words that are compared: no control is longer.
const longestNear = 32

// NearWords finds what a misspelt word was meant to be. Each look costs at most
// the number of its words.
type NearWords struct {
	kind    NearKind
	known   map[string]bool // all forms
	byFirst map[rune][]nearForm
}

type nearForm struct{ form, meant string }

// NearKind is the kind of words: an exception for one kind excuses no other.
type NearKind string

// The kinds, as nearmiss.txt calls them.
const (
	NearLabels   NearKind = "Labels"
	NearValues   NearKind = "Values"
	NearMarkers  NearKind = "Markers"
	NearKeywords NearKind = "Keywords"
)

// NewNearWords knows words in the singular and the plural, in any case.
func NewNearWords(kind NearKind, words []string) *NearWords {
	n := &NearWords{kind: kind, known: map[string]bool{}, byFirst: map[rune][]nearForm{}}
	for _, w := range words {
		for _, form := range []string{spaced(w), stems(w), text.Plural(stems(w))} {
			if n.known[form] {
				continue
			}
			n.known[form] = true
			if letters(form) >= shortest {
				first, _ := utf8.DecodeRuneInString(form)
				n.byFirst[first] = append(n.byFirst[first], nearForm{form, w})
			}
		}
	}
	return n
}

// Find returns the word that written nearly is: one edit away, the first letter
// right, or the same but for characters that look alike. A word that is known, in
// the singular or the plural, or is listed as meant, is not a near miss.
func (n *NearWords) Find(written string) (meant string, ok bool) {
	if len(written) > 2*longestNear || utf8.RuneCountInString(written) > longestNear {
		return "", false
	}
	plain := asASCII(written)
	w := spaced(plain)
	if utf8.RuneCountInString(w) < shortest || n.known[spaced(written)] || n.known[stems(written)] || Exempt(n.kind, written) {
		return "", false
	}
	first, _ := utf8.DecodeRuneInString(w)
	forms := n.byFirst[first]
	for _, f := range forms {
		if f.form == w {
			return f.meant, true
		}
	}
	stem := stems(plain)
	for _, f := range forms {
		if f.form == stem || spell.OneEdit(w, f.form) || spell.OneEdit(stem, f.form) {
			return f.meant, true
		}
	}
	return "", false
}

// NearMiss returns the known value that written nearly is, as plan-language.md §
// "Near misses" says.
func NearMiss(written string, known []string) (string, bool) {
	return NewNearWords(NearValues, known).Find(written)
}

// KnownWord returns the known word equal to written, in any case, in the singular or
// the plural.
func KnownWord(written string, known []string) (string, bool) {
	w, stem := spaced(written), stems(written)
	for _, k := range known {
		if w == spaced(k) || stem == stems(k) {
			return k, true
		}
	}
	return "", false
}

// spaced writes a name in lower case with single spaces between its words,
// without what is in parentheses at its end.
func spaced(s string) string { return strings.Join(nameWords(s), " ") }

func letters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// asASCII writes a word with the characters that its characters look like, and
// without invisible ones.
func asASCII(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cf, unicode.Mn):
			return -1
		case unicode.Is(unicode.Zs, r):
			return ' '
		}
		return r
	}, FoldID(s))
}

//go:embed nearmiss.txt
var exceptionFile string

type exception struct {
	kind NearKind
	word string
}

// exceptions are words near a control that people mean as they are.
var exceptions = sync.OnceValue(func() map[exception]bool {
	m := map[exception]bool{}
	var kind NearKind
	for line := range strings.Lines(exceptionFile) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			kind = NearKind(strings.TrimSpace(title))
		} else if word, _, ok := strings.Cut(line, ":"); ok {
			m[exception{kind, stems(strings.Trim(word, "() "))}] = true
		}
	}
	return m
})

// Exempt reports whether a word is listed as intended.
func Exempt(kind NearKind, w string) bool { return exceptions()[exception{kind, stems(w)}] }

// controlLabels are the labels whose loss changes who judges, what runs or in
// which order, as people write them.
var controlLabels = sync.OnceValue(func() *NearWords {
	var words []string
	for _, s := range labelSpecs {
		if s.name.isControl() {
			words = append(words, s.written...)
		}
	}
	return NewNearWords(NearLabels, words)
})

// Labels say who keeps away from a bead, and what rules of the policy hold.
func (n LabelName) isControl() bool {
	switch n {
	case Approval, Verify, QAAgents, DevAgents, Manual, Owns, Complexity, Policy, Access, Capability, LabelsLabel:
		return true
	}
	return n.IsDependency()
}

// allLabels are the labels of the language.
var allLabels = sync.OnceValue(func() *NearWords { return NewNearWords(NearLabels, LabelNames()) })

// lookupNear is LookupLabel that also finds the control which a misspelt name
// nearly is. meant is how that one is written; "" if the name is right.
func lookupNear(written string) (n LabelName, meant string, ok bool) {
	if n, ok = LookupLabel(written); ok {
		return n, "", true
	}
	if meant, ok = controlLabels().Find(written); ok {
		n, _ = LookupLabel(meant)
	}
	return n, meant, ok
}

// misspelt reports a label that is nearly a control.
func (p *parser) misspelt(written, meant string, at diag.Range, instead string) {
	p.report(diag.Newf("near-miss-label", at, "%s is almost %s", strconv.Quote(written), quoted(meant)).
		WithDetail("%sA misspelt label sets nothing, and what it asks for would be left out. Write %s instead. If the word is intended, write it without bold and colon, or rephrase it.",
			oddCharacter(written), instead).
		WithFix(at, meant))
}

// oddCharacter says which character of a word is not what it seems.
func oddCharacter(s string) string {
	for _, r := range s {
		if r < utf8.RuneSelf {
			continue
		}
		switch plain := asASCII(string(r)); {
		case plain == "":
			return fmt.Sprintf("It contains an invisible character (U+%04X). ", r)
		case isASCII(plain):
			return fmt.Sprintf("%q (U+%04X) is not the character it looks like. ", string(r), r)
		}
	}
	return ""
}
