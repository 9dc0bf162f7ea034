package gsd

import "bytes"

// withoutComments is a text whose comments are blanked, so that places stay. In code
// <!-- begins no comment. A comment that is never closed is text: nothing is lost.
func withoutComments(src []byte) string {
	const open, end = "<!--", "-->"
	out := bytes.Clone(src)
	last := bytes.LastIndex(src, []byte(end))
	for at := 0; at < len(src); {
		switch {
		case at < last && bytes.HasPrefix(src[at:], []byte(open)):
			stop := at + bytes.Index(src[at:], []byte(end)) + len(end)
			for k := at; k < stop; k++ {
				if out[k] != '\n' && out[k] != '\r' {
					out[k] = ' '
				}
			}
			at = stop
		case src[at] == '`' || src[at] == '~':
			at += codeAt(src, at)
		default:
			at++
		}
	}
	return string(out)
}

// codeAt is the length of the fence or code span that begins here, else of the run of
// marks that begins none.
func codeAt(src []byte, at int) int {
	n := 1
	for at+n < len(src) && src[at+n] == src[at] {
		n++
	}
	mark, rest := src[at:at+n], src[at+n:]
	if n >= 3 && beginsLine(src, at) {
		for from := bytes.IndexByte(rest, '\n') + 1; from > 0; {
			l, _, more := bytes.Cut(rest[from:], []byte("\n"))
			switch {
			case bytes.HasPrefix(bytes.TrimLeft(l, " \t"), mark):
				return n + from + len(l)
			case !more:
				return n
			}
			from += len(l) + 1
		}
		return n
	}
	if i := bytes.Index(rest, mark); i >= 0 && src[at] == '`' && bytes.IndexByte(rest[:i], '\n') < 0 {
		return n + i + n
	}
	return n
}

// beginsLine reports whether nothing but space is before a place in its line.
func beginsLine(src []byte, at int) bool {
	for at > 0 && (src[at-1] == ' ' || src[at-1] == '\t') {
		at--
	}
	return at == 0 || src[at-1] == '\n'
}
