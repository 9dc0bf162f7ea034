package depend

import "github.com/ralph-compiler/ralph/compiler/syntax"

// idIndex finds what has an id. With zeros, leading zeros make no other id: 01 is 1,
// and 1 is 01.
type idIndex struct {
	ids    map[string]int32
	padded map[string]int32 // what is written with leading zeros, by its id without
	zeros  bool
}

// add registers an id; the first item with it keeps it.
func (x *idIndex) add(id string, at int32) {
	if _, twice := x.ids[id]; !twice {
		x.ids[id] = at
	}
	bare := syntax.Unpadded(id)
	if !x.zeros || bare == id {
		return
	}
	if x.padded == nil {
		x.padded = map[string]int32{}
	}
	if _, twice := x.padded[bare]; !twice {
		x.padded[bare] = at
	}
}

func (x *idIndex) find(id string) (int32, bool) {
	at, ok := x.ids[id]
	if ok || !x.zeros {
		return at, ok
	}
	bare := syntax.Unpadded(id)
	if at, ok = x.padded[bare]; !ok && bare != id {
		at, ok = x.ids[bare]
	}
	return at, ok
}
