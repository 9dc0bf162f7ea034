package codex

import "bytes"

// maxLine is how much of a line is kept, in bytes; a longer one is cut there.
const maxLine = 16 << 20

// lines cuts a stream into lines.
type lines struct {
	line func(b []byte) // is told each line that is not empty; b is not kept
	rest []byte
}

// feed takes the next piece.
func (l *lines) feed(b []byte) {
	for {
		at := bytes.IndexByte(b, '\n')
		if at < 0 {
			l.add(b)
			return
		}
		if len(l.rest) == 0 {
			l.tell(b[:at])
		} else {
			l.add(b[:at])
			l.tell(l.rest)
			l.rest = nil
		}
		b = b[at+1:]
	}
}

// end tells the last line, if it was not ended.
func (l *lines) end() {
	l.tell(l.rest)
	l.rest = nil
}

func (l *lines) add(b []byte) {
	l.rest = append(l.rest, b[:min(len(b), maxLine-len(l.rest))]...)
}

func (l *lines) tell(b []byte) {
	if b = bytes.TrimSpace(b); len(b) > 0 {
		l.line(b)
	}
}
