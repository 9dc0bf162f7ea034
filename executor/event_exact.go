package executor

import (
	"bytes"

	"github.com/ralph-compiler/ralph/ir"
)

// exact reads JSON in exactly the form in which events are written. What differs is
// left to the general reader.
type exact struct {
	rest []byte
	bad  bool
}

// has passes what is next, if it is that.
func (x *exact) has(what string) bool {
	rest, found := bytes.CutPrefix(x.rest, []byte(what))
	if found {
		x.rest = rest
	}
	return found
}

// word reads the string that follows a field's name; "" if it is left out.
func (x *exact) word(field string) string {
	if !x.has(field) {
		return ""
	}
	end := bytes.IndexByte(x.rest, '"')
	if end < 0 {
		x.bad = true
		return ""
	}
	w := string(x.rest[:end])
	x.bad = x.bad || !plainWord(w)
	x.rest = x.rest[end+1:]
	return w
}

// number reads the number that follows a field's name; 0 if it is left out.
func (x *exact) number(field string) int64 {
	if !x.has(field) {
		return 0
	}
	n, i := int64(0), 0
	for i < len(x.rest) && i < 18 && x.rest[i] >= '0' && x.rest[i] <= '9' {
		n = n*10 + int64(x.rest[i]-'0')
		i++
	}
	x.bad = x.bad || i == 0 || x.rest[0] == '0' && i > 1
	x.rest = x.rest[i:]
	return n
}

// envelope reads an event in exactly the form that AppendJSON gives it, all but
// its data.
func envelope(b []byte) (w wireEvent, ok bool) {
	x := exact{rest: b}
	w.V = int(x.number(`{"v":`))
	w.Seq, w.At = x.number(`,"seq":`), x.number(`,"at":`)
	w.Kind = x.word(`,"kind":"`)
	w.Node, w.Step = ir.NodeID(x.word(`,"node":"`)), x.word(`,"step":"`)
	w.Attempt, w.Of = int(x.number(`,"attempt":`)), x.number(`,"of":`)
	if x.bad || w.V == 0 || w.Seq == 0 || w.Kind == "" || !x.has(`,"data":`) {
		return w, false
	}
	data, found := bytes.CutSuffix(x.rest, []byte("}"))
	w.Data = data
	return w, found && len(data) > 1 && data[0] == '{'
}

// exactEffect reads what EffectStarted.appendJSON wrote: of all events more than a
// third are of this kind.
func exactEffect(data []byte) (s EffectStarted, ok bool) {
	x := exact{rest: data}
	s.Kind = EffectKind(x.word(`{"effect":"`))
	s.Gate, s.Iteration = x.word(`,"gate":"`), int(x.number(`,"iteration":`))
	s.Redo = x.has(`,"redo":true`)
	return s, !x.bad && string(x.rest) == "}" && s.Kind != ""
}
