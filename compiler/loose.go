package compiler

// Loose items stand in no group although the plan has groups. Those that follow
// each other in the document form a group without a name, behind the groups that
// stand above them.

// gatherLoose makes these groups.
func (in *depInput) gatherLoose() {
	if in.rules.groups != "barrier" || !in.rules.grouped {
		return
	}
	open := int32(-1)
	for i := range in.items {
		switch it := &in.items[i]; {
		case it.group >= 0:
			open = -1
		case open < 0:
			open = int32(len(in.groups))
			in.groups = append(in.groups, depGroup{at: it.at})
			fallthrough
		default:
			it.group = open
		}
	}
}

// loose reports whether a group is one of them.
func (d *depender) loose(g int32) bool { return int(g) < len(d.groups) && d.groups[g].id == "" }

// placeLoose puts them into the numerical order of the others: behind the last of
// those that begin above them.
func (d *depender) placeLoose(members [][]int32) {
	var loose, order []int32
	for _, g := range d.order {
		if d.loose(g) {
			loose = append(loose, g)
			continue
		}
		order = append(order, g)
	}
	if len(loose) == 0 {
		return
	}
	begins := make([]int32, len(d.items)) // item → 1 + place of the group that begins with it
	for k, g := range order {
		begins[members[g][0]] = int32(k + 1)
	}
	behind := make([][]int32, len(order)+1)
	at, i := int32(0), int32(0)
	for _, g := range loose { // they were made in document order
		for ; i < members[g][0]; i++ {
			at = max(at, begins[i])
		}
		behind[at] = append(behind[at], g)
	}
	d.order = append(d.order[:0], behind[0]...)
	for k, g := range order {
		d.order = append(append(d.order, g), behind[k+1]...)
	}
}
