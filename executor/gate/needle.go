package gate

import "bytes"

// needle looks for a text in output that comes in pieces. The empty text is in
// every output.
type needle struct {
	text  []byte
	rest  []byte // end of what came, too short to hold the text
	found bool
}

func (n *needle) heard(b []byte) {
	if n.found || len(n.text) == 0 {
		return
	}
	keep := len(n.text) - 1
	// Across the seam, then within the piece: the piece itself is not copied.
	n.rest = append(n.rest, b[:min(len(b), keep)]...)
	n.found = bytes.Contains(n.rest, n.text) || bytes.Contains(b, n.text)
	if len(b) >= keep {
		n.rest = append(n.rest[:0], b[len(b)-keep:]...)
	} else if over := len(n.rest) - keep; over > 0 {
		n.rest = append(n.rest[:0], n.rest[over:]...)
	}
}
