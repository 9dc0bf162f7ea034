package reveal

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns JSON with all invisible characters escaped like \u202e: the same
// values, and harmless on a screen.
func JSON(b []byte) []byte {
	hidden := func(r rune) bool { return r >= 0x7f && Hides(r) }
	if bytes.IndexFunc(b, hidden) < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case !hidden(r):
			out = append(out, b[i:i+n]...)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}

// JSONWriter hands on to w what is written to it, as JSON does. A character that is
// cut between two writes is held back.
func JSONWriter(w io.Writer) io.Writer { return &jsonWriter{w: w} }

type jsonWriter struct {
	w    io.Writer
	rest []byte
}

func (j *jsonWriter) Write(p []byte) (int, error) {
	b := append(j.rest, p...)
	whole := len(b)
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if at := len(b) - back; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				whole = at
			}
			break
		}
	}
	j.rest = bytes.Clone(b[whole:])
	if _, err := j.w.Write(JSON(b[:whole])); err != nil {
		return 0, err
	}
	return len(p), nil
}
