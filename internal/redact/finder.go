package redact

import "bytes"

// finder looks for many needles at once (Wu and Manber): it looks at two bytes, and
// goes on by as many as no needle can begin or end at.
type finder struct {
	needles []needle
	least   int       // length of the shortest
	longest int       // and of the longest
	shift   []uint8   // by two bytes: how far to go on
	begin   []int32   // by two bytes: which of lists
	lists   [][]int   // needles that have these two last of their first least bytes, longest first
	within  []bool    // pairs that stand anywhere in a needle
	first   [256]bool // bytes that needles begin with
}

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// newFinder takes needles of at least two bytes, longest first.
func newFinder(needles []needle) *finder {
	f := &finder{needles: needles}
	if len(needles) == 0 {
		return f
	}
	f.longest = len(needles[0].form)
	f.least = len(needles[len(needles)-1].form)
	f.shift, f.begin, f.within = make([]uint8, 1<<16), make([]int32, 1<<16), make([]bool, 1<<16)
	far := uint8(min(f.least-1, 255))
	for i := range f.shift {
		f.shift[i] = far
	}
	for i, n := range needles {
		f.first[n.form[0]] = true
		for k := 1; k < len(n.form); k++ {
			p := pair(n.form[k-1], n.form[k])
			f.within[p] = true
			if k < f.least {
				f.shift[p] = min(f.shift[p], uint8(min(f.least-1-k, 255)))
			}
		}
		p := pair(n.form[f.least-2], n.form[f.least-1])
		if f.begin[p] == 0 {
			f.lists = append(f.lists, nil)
			f.begin[p] = int32(len(f.lists))
		}
		f.lists[f.begin[p]-1] = append(f.lists[f.begin[p]-1], i)
	}
	return f
}

// next returns where the first needle stands in b at or behind from, and which; -1
// if none does.
func (f *finder) next(b []byte, from int) (at, which int) {
	if len(f.needles) == 0 {
		return -1, 0
	}
	for i := from + f.least - 1; i < len(b); {
		p := pair(b[i-1], b[i])
		if s := f.shift[p]; s > 0 {
			i += int(s)
			continue
		}
		at := i - f.least + 1
		for _, k := range f.lists[f.begin[p]-1] {
			if bytes.HasPrefix(b[at:], f.needles[k].form) {
				return at, k
			}
		}
		i++
	}
	return -1, 0
}

// opens returns how many bytes at the end of b may be the beginning of a needle.
func (f *finder) opens(b []byte) int {
	if len(f.needles) == 0 || len(b) == 0 {
		return 0
	}
	n := 1
	for n < len(b) && n < f.longest-1 && f.within[pair(b[len(b)-n-1], b[len(b)-n])] {
		n++
	}
	for ; n > 0; n-- {
		tail := b[len(b)-n:]
		if !f.first[tail[0]] {
			continue
		}
		for i := range f.needles {
			if form := f.needles[i].form; len(form) > n && bytes.HasPrefix(form, tail) {
				return n
			}
		}
	}
	return 0
}

// has reports whether any needle stands in b.
func (f *finder) has(b []byte) bool {
	at, _ := f.next(b, 0)
	return at >= 0
}
