package policies

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
)

// printable returns s for a message: control characters replaced, cut to a
// length that leaves the summary readable.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError || unicode.In(r, unicode.Cf) {
			return '·'
		}
		return r
	}, s)
	return text.Shorten(s, 32)
}

func quoted(s string) string { return strconv.Quote(printable(s)) }

// sentence gives a text a capital letter.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

func hclSentence(s string) string {
	if s = strings.TrimSpace(s); s != "" && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}

func article(noun string) string {
	noun = word(noun)
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// describe puts a path, "policy.web.step.build", into words: step "build" of
// policy "web".
func describe(path string) string {
	if path == "" {
		return "a policy file"
	}
	var out []string
	parts := strings.Split(path, ".")
	for i := 0; i < len(parts); i++ {
		b := fileBlock.block(parts[i])
		if len(out) > 0 || b == nil {
			b = map[string]*block{"step": stepBlock, "field": fieldBlock}[parts[i]]
		}
		if b != nil && b.label != "" && i+1 < len(parts) {
			out = append(out, parts[i]+" "+quoted(parts[i+1]))
			i++
			continue
		}
		out = append(out, parts[i])
	}
	slices.Reverse(out)
	return strings.Join(out, " of ")
}

// suggested says which of the known words was probably meant, after lead; where none
// is near, otherwise.
func suggested(dg diag.Diagnostic, word string, known []string, lead, otherwise string) diag.Diagnostic {
	if near, ok := spell.Nearest(word, known); ok {
		return dg.WithDetail("%sDid you mean %q?", lead, near)
	}
	return dg.WithDetail("%s", otherwise)
}
