package text

import (
	"bytes"
	"cmp"
	"slices"
)

// Edit replaces a part of a text.
type Edit struct {
	From, To int
	With     string
}

// Edited returns the bytes with the edits, which do not overlap; all other bytes stay.
func Edited(b []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return b
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.From, b.From) })
	var out bytes.Buffer
	out.Grow(len(b) + 40*len(edits))
	from := 0
	for _, e := range edits {
		out.Write(b[from:e.From])
		out.WriteString(e.With)
		from = e.To
	}
	out.Write(b[from:])
	return out.Bytes()
}
