package foreign

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// utf16 reports whether bytes are text in UTF-16: they have its mark, or begin with a
// character of one byte beside an empty one.
func utf16(src []byte) bool {
	return bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) ||
		len(src) > 1 && (src[0] == 0 && src[1] >= '\t' || src[0] >= '\t' && src[1] == 0)
}

// fix is what to write where bytes are no JSON.
func fix(src []byte, at int, why error) string {
	rest := src[min(at, len(src)):]
	before := bytes.TrimRight(src[:min(at, len(src))], " \t\r\n")
	switch {
	case why.Error() == early:
		return "Close what is open: the file may be cut off."
	case why.Error() == behind:
		return "Remove it, or write several objects as a list: [{…}, {…}]."
	}
	last := byte(0)
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	c, _ := utf8.DecodeRune(rest)
	switch {
	case c == '\n' || c == '\r' || c == '\t':
		return fmt.Sprintf("Write %s for a %s in a text.", map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}[c], map[rune]string{'\n': "line end", '\r': "carriage return", '\t': "tab"}[c])
	case last == '\\':
		return `Write \\ for a backslash.`
	case c == '\'' || c == '“' || c == '”':
		return fmt.Sprintf("Write \" instead of %c.", c)
	case c == '#' || bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")):
		return "JSON has no comments: remove it."
	case last == ',' && (c == '}' || c == ']'):
		return "Remove the comma before it."
	case last == ',' && c == ',':
		return "Remove one of the commas."
	case last == 0:
		return "It looks like YAML or plain text: name a file of JSON."
	case (last == '{' || last == ',') && unicode.IsLetter(c):
		return "Write the key in double quotes."
	case (last == ':' || last == '[') && unicode.IsLetter(c):
		return "Write a text in double quotes; true, false and null in small letters."
	case bytes.IndexByte([]byte(`"]}elE0123456789`), last) >= 0 && (c == '"' || c == '{' || c == '['):
		return "Write a comma before it."
	}
	return "Fix it here."
}
