package yaml

import (
	"strings"
	"unicode/utf8"
)

// explained returns the error with the place where its cause most probably is and
// what to write there. The library knows the line only, and often that of what it
// was reading when it gave up.
func (e *SyntaxError) explained(text []byte) *SyntaxError {
	lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	line := func(n int) string {
		if n < 1 || n > len(lines) {
			return ""
		}
		return strings.TrimRight(lines[n-1], "\r")
	}
	e.Line = min(max(e.Line, 1), len(lines))
	at := indent(line(e.Line))
	switch {
	case strings.HasPrefix(e.Message, "mapping values are not allowed"):
		at, e.Fix = secondColon(line(e.Line), at)
	case strings.HasPrefix(e.Message, "found character that cannot start"):
		at, e.Fix = oddCharacter(line(e.Line), at)
	case strings.HasPrefix(e.Message, "did not find expected ',' or"):
		for n := e.Line; n <= len(lines) && n < e.Line+3; n++ {
			if i := strings.LastIndexAny(line(n), "[{"); i >= 0 && !strings.ContainsAny(line(n)[i:], "]}") {
				e.Line, at = n, i
				break
			}
		}
		e.Fix = "Close the bracket that is opened here."
	case strings.HasPrefix(e.Message, "found unexpected end of stream"):
		for n := e.Line; n > 0; n-- {
			if i, open := openQuote(line(n)); open {
				e.Line, at = n, i
				break
			}
		}
		e.Fix = "Close the quote that is opened here."
	case strings.HasPrefix(e.Message, "did not find expected"):
		if i := strings.Index(line(e.Line), `: '`); i >= 0 && strings.Count(line(e.Line), "'") > 2 {
			at, e.Fix = i+2, "Inside single quotes an apostrophe is written twice; or use double quotes."
			break
		}
		for n := e.Line + 1; n <= len(lines) && strings.Contains(e.Message, "indicator") || n == e.Line+1; n++ {
			if s := strings.TrimSpace(line(n)); s != "" && !strings.HasPrefix(s, "#") {
				e.Line, at = n, indent(line(n))
				break
			}
		}
		e.Fix = "Indent this line like the others of its mapping or list."
	case strings.HasPrefix(e.Message, "could not find expected ':'"):
		e.Fix = "Write a colon and a space after the key, or indent the line if it goes on with the text above."
	case strings.Contains(e.Message, "anchor"), strings.HasPrefix(e.Message, "aliases"):
		at = indexOr(line(e.Line), "*", at)
		e.Fix = "Write the value out, or quote a text that begins with *."
	case strings.HasPrefix(e.Message, "block sequence entries"):
		at = indexOr(line(e.Line), "- ", at)
		e.Fix = "Begin the list on a line of its own, or quote a text that begins with \"- \"."
	case strings.HasPrefix(e.Message, "found unknown escape"):
		at = indexOr(line(e.Line), `\`, at)
		e.Fix = "Write \\\\ for a backslash, or use single quotes."
	}
	e.Column = utf8.RuneCountInString(line(e.Line)[:min(at, len(line(e.Line)))]) + 1
	return e
}

// indexOr is where a line first has a text, else at.
func indexOr(line, text string, at int) int {
	if i := strings.Index(line, text); i >= 0 {
		return i
	}
	return at
}

// indent is where what a line says begins.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// secondColon is where a line has a colon too many.
func secondColon(line string, at int) (int, string) {
	first := strings.Index(line, ": ")
	if first < 0 {
		return at, "Write a colon after the key above, or indent this line like its neighbours."
	}
	if i := strings.Index(line[first+2:], ": "); i >= 0 {
		value := strings.TrimSpace(line[first+2:])
		return first + 2 + i, "Quote the value: \"" + strings.ReplaceAll(value, `"`, `\"`) + "\"."
	}
	return at, "Indent this line like its neighbours, or write a colon and nothing else behind the key above."
}

// oddCharacter is where a line has what no value may begin with.
func oddCharacter(line string, at int) (int, string) {
	if i := strings.IndexByte(line[:at], '\t'); i >= 0 {
		return i, "Indent with spaces: YAML takes no tabs there."
	}
	for i := at; i < len(line); i++ {
		if strings.IndexByte("@`%\t", line[i]) >= 0 && (i == at || strings.IndexByte(" [,", line[i-1]) >= 0) {
			return i, "Quote the value: no plain one begins with this character."
		}
	}
	return at, "Quote the value."
}

// openQuote is where a line opens a double or single quote that it does not close.
func openQuote(line string) (int, bool) {
	var quote byte
	at := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == 0 && (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" [{,:-", line[i-1]) >= 0):
			quote, at = c, i
		case quote == '"' && c == '\\':
			i++
		case c == quote:
			quote = 0
		}
	}
	return at, quote != 0
}
