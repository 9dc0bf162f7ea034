package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// inline is a run of text without its markup.
type inline struct {
	Text
	codes    []span // of Value: code spans
	strikes  []span // of Value: between ~~
	comments []span // of the file: HTML comments, which are not in Value
	control  int    // offset of the first control character that was left out; -1
	unclosed int    // offset of a comment that does not end here; -1
}

// plain takes the markup off src[start:end]: emphasis, strike-through, code
// marks, links, comments, a few tags, escapes, control characters. What it
// copies keeps its place. Delimiters are paired as people read them, not in
// every corner as CommonMark says: stars in globs stay.
func (p *parser) plain(start, end int) inline {
	src := p.src
	at := trimmed(src, start, end)
	start, end = at.start, at.end
	in := inline{control: -1, unclosed: -1}
	in.Range = p.file.Range(start, end)
	raw := src[start:end]
	if !strings.ContainsAny(raw, "\\`*_~<[]&\n\t\r") && !hasControl(raw) {
		in.Value, in.Raw = raw, raw
		return in
	}
	s := stripper{src: src, end: end, in: &in}
	s.scan(start)
	s.copy(start)
	in.Value = string(s.out)
	in.Raw = raw
	if strings.IndexByte(raw, '\n') >= 0 {
		in.Raw = text.OneLine(raw)
	}
	in.trim()
	in.Code = len(in.codes) == 1 && in.codes[0] == span{0, len(in.Value)} && raw[0] == '`' && raw[len(raw)-1] == '`'
	return in
}

// trim takes spaces off the ends of Value.
func (in *inline) trim() {
	lead := len(in.Value) - len(strings.TrimLeft(in.Value, " "))
	in.Value = strings.TrimRight(in.Value[lead:], " ")
	if lead == 0 {
		return
	}
	for i := range in.pieces {
		if in.pieces[i].value = in.pieces[i].value - lead; in.pieces[i].value < 0 {
			in.pieces[i].source -= in.pieces[i].value
			in.pieces[i].value = 0
		}
	}
	for _, list := range [][]span{in.codes, in.strikes} {
		for i := range list {
			list[i].start = max(0, list[i].start-lead)
			list[i].end = max(0, list[i].end-lead)
		}
	}
}

// text returns Value[start:end] as a Text of its own.
func (in *inline) text(start, end int) Text {
	at := trimmed(in.Value, start, end)
	start, end = at.start, at.end
	t := Text{Value: in.Value[start:end]}
	t.Range = in.Sub(start, end)
	if start == end {
		t.Range.End = t.Range.Start
		return t
	}
	t.Raw = t.Value
	if in.pieces == nil {
		return t
	}
	t.Code = slices.Contains(in.codes, span{start, end})
	for i, q := range in.pieces {
		if q.value >= end || i+1 < len(in.pieces) && in.pieces[i+1].value <= start {
			continue
		}
		if d := start - q.value; d > 0 {
			q.value, q.source = start, q.source+d
		}
		t.pieces = append(t.pieces, piece{q.value - start, q.source})
	}
	if len(t.pieces) == 1 {
		t.pieces = nil
	}
	return t
}

func (p *parser) rng(s span) diag.Range { return p.file.Range(s.start, s.end) }
