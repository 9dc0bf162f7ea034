package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf16"
)

// inStrings are the forms of a value that are looked for in a text as it is: itself, in
// strings of JSON, shells, YAML and SQL, and in UTF-16.
func inStrings(v string) []string {
	out := []string{v, quoted(v, true), quoted(v, false)} // what ends with a backslash is no escape of its own
	for _, quote := range []string{`'\''`, `'"'"'`, `''`} {
		out = append(out, strings.ReplaceAll(v, "'", quote))
	}
	little, big := wide(v)
	return append(out, little, big)
}

// quoted is a value inside a JSON string.
func quoted(v string, html bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	_ = e.Encode(v) // a string always can
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

// wide is a value in UTF-16, in both orders of bytes.
func wide(v string) (little, big string) {
	var l, b []byte
	for _, u := range utf16.Encode([]rune(v)) {
		l, b = append(l, byte(u), byte(u>>8)), append(b, byte(u>>8), byte(u)) //nolint:gosec // its halves
	}
	return string(l), string(b)
}

// minWrapped is the least length in bytes of a value that is looked for over line ends and
// space: what is shorter, or has no digit, words may come to.
const minWrapped = 16

// packed are the forms of a value that are looked for in text without space: hexadecimal,
// base64, and itself, if it is long.
func packed(v string) []string {
	asHex := hex.EncodeToString([]byte(v))
	out := []string{asHex, strings.ToUpper(asHex)}
	if len(v) >= minWrapped && strings.ContainsAny(v, digits) && !strings.ContainsAny(v, " \t\r\n:") {
		out = append(out, string(denseText(nil, []byte(v))))
	}
	little, _ := wide(v)
	inner := []string{v, little, quoted(v, true), quoted(v, false)}
	for _, in := range inner {
		for skip := range 3 {
			out = append(out, within(base64.RawStdEncoding, in, skip))
		}
	}
	for skip := range 3 {
		once := within(base64.RawStdEncoding, v, skip)
		for again := range 3 {
			out = append(out, within(base64.RawStdEncoding, once, again))
		}
	}
	return out
}

// within is the part of an encoded text that a value determines alone, when so many
// bytes are before it.
func within(enc *base64.Encoding, v string, before int) string {
	s := enc.EncodeToString(append(make([]byte, before), v...))
	from := (before*8 + 5) / 6
	whole := (before + len(v)) * 8 / 6 // characters without a bit of what follows
	return s[min(from, whole):whole]
}
