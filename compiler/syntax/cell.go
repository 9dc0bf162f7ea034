package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// In cells brackets around an id are not part of it: "[1.1.2]", "[T-4] Title".

// leadingBrackets finds brackets that a cell begins with: v[1:end] is in them.
func leadingBrackets(v string) (end int, ok bool) {
	if len(v) > maxBracketed {
		v = v[:maxBracketed]
	}
	end = strings.IndexByte(v, ']')
	return end, end > 1 && v[0] == '[' && strings.TrimSpace(v[1:end]) != "" && !strings.EqualFold(v[1:end], "x")
}

// maxBracketed bounds how far brackets reach.
const maxBracketed = 200

// unbracketed returns the text of a cell without brackets around its first word.
func (in inline) unbracketed() inline {
	end, ok := leadingBrackets(in.Value)
	if !ok {
		return in
	}
	id, rest := in.text(1, end), in.text(end+1, len(in.Value))
	out := in
	out.Text = id
	out.Range = in.Range
	shift := func(spans []span) (moved []span) {
		for _, s := range spans {
			by := 1
			if s.start > end {
				by = len(in.Value) - len(rest.Value) - len(id.Value) - 1
			}
			moved = append(moved, span{max(s.start-by, 0), s.end - by})
		}
		return moved
	}
	if rest.Value != "" {
		out.Value = id.Value + " " + rest.Value
		out.pieces = append(placed(id, 0), piece{len(id.Value), rest.Range.Start - 1})
		out.pieces = append(out.pieces, placed(rest, len(id.Value)+1)...)
	} else {
		out.pieces = placed(id, 0)
	}
	out.codes, out.strikes = shift(in.codes), shift(in.strikes)
	return out
}

// placed returns the pieces of a text that begins at an offset of another one.
func placed(t Text, at int) []piece {
	if t.pieces == nil {
		return []piece{{at, t.Range.Start}}
	}
	return lists.Map(t.pieces, func(q piece) piece { return piece{q.value + at, q.source} })
}
