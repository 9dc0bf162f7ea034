package depend

// Loose items are in no group although the plan has groups. Those that follow
// each other in the document form a group without a name, after the groups that
// are above them.

// gatherLoose makes these groups.
func (in *Input) gatherLoose() {
	if in.Rules.groups != "barrier" || !in.Rules.Grouped {
		return
	}
	open := int32(-1)
	for i := range in.Items {
		switch it := &in.Items[i]; {
		case it.Group >= 0:
			open = -1
		case open < 0:
			open = int32(len(in.Groups))
			in.Groups = append(in.Groups, Group{At: it.At})
			fallthrough
		default:
			it.Group = open
		}
	}
}

// loose reports whether a group is one of them.
func (d *depender) loose(g int32) bool { return int(g) < len(d.Groups) && d.Groups[g].ID == "" }

// placeLoose puts them into the numerical order of the others: after the last of
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
	begins := make([]int32, len(d.Items)) // item → 1 + place of the group that begins with it
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
