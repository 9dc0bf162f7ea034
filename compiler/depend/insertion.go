package depend

import (
	"slices"
)

// insert puts decimals where they are by their numbers: 2.5 after 2 and before
// 3, wherever the document has it. Without 2 and 3 it stays where it is.
func (d *depender) insert(all []int32) []int32 {
	decimal := func(i int32) bool { return d.Items[i].Number.Shape == "#.#" }
	if !slices.ContainsFunc(all, decimal) {
		return all
	}
	wholes := slices.DeleteFunc(slices.Clone(all), decimal)
	last, first := map[uint64]int{}, map[uint64]int{} // number → its items in wholes
	for k, i := range wholes {
		num := d.Items[i].Number
		if num.Shape != "#" {
			continue
		}
		last[num.Last()] = k
		if _, known := first[num.Last()]; !known {
			first[num.Last()] = k
		}
	}
	behind := make([][]int32, len(wholes)+1) // behind[k+1]: what follows wholes[k]
	k := 0
	for _, i := range all {
		if !decimal(i) {
			k++
			continue
		}
		n, at := d.Items[i].Number.Parts[0].Value, k
		if place, known := last[n]; known {
			at = place + 1
		} else if place, known := first[n+1]; known {
			at = place
		}
		behind[at] = append(behind[at], i)
	}
	out := make([]int32, 0, len(all))
	for k, inserted := range behind {
		slices.SortStableFunc(inserted, func(a, b int32) int { return d.Items[a].Number.Compare(d.Items[b].Number) })
		out = append(out, inserted...)
		if k < len(wholes) {
			out = append(out, wholes[k])
		}
	}
	return out
}
