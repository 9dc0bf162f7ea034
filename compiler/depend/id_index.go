package depend

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
	bare := unpadded(id)
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
	bare := unpadded(id)
	if at, ok = x.padded[bare]; !ok && bare != id {
		at, ok = x.ids[bare]
	}
	return at, ok
}

// unpadded takes the leading zeros from the numbers of an id.
func unpadded(id string) string {
	for i := 0; ; i++ {
		if i+1 >= len(id) {
			return id
		}
		if id[i] == '0' && digit(id[i+1]) && (i == 0 || !digit(id[i-1])) {
			break
		}
	}
	out := make([]byte, 0, len(id))
	for i := 0; i < len(id); i++ {
		if i == 0 || !digit(id[i-1]) {
			for i+1 < len(id) && id[i] == '0' && digit(id[i+1]) {
				i++
			}
		}
		out = append(out, id[i])
	}
	return string(out)
}
