package redact

import "bytes"

// finder looks for many needles at once (Wu and Manber): it looks at two bytes, and
// goes on by as many as no needle can begin or end at.
type finder struct {
	needles []needle
	least   int             // length of the shortest
	longest int             // and of the longest
	shift   *[1 << 16]uint8 // by two bytes: how far to go on
	begin   *[1 << 16]int32 // by two bytes: which of lists
	lists   [][]int         // needles that have these two last of their first least bytes, longest first
	within  *[1 << 16]bool  // pairs that are anywhere in a needle
	heads   *[1 << 16]int32 // by two bytes: which of starts
	starts  [][]int         // needles that begin with these two
	first   [256]bool       // bytes that needles begin with
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
	f.shift, f.begin, f.heads, f.within = new([1 << 16]uint8), new([1 << 16]int32), new([1 << 16]int32), new([1 << 16]bool)
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
		list(&f.lists, &f.begin[pair(n.form[f.least-2], n.form[f.least-1])], i)
		list(&f.starts, &f.heads[pair(n.form[0], n.form[1])], i)
	}
	return f
}

// list adds a needle to one of lists, whose number, from 1, is in at.
func list(lists *[][]int, at *int32, needle int) {
	if *at == 0 {
		*lists = append(*lists, nil)
		*at = int32(len(*lists)) //nolint:gosec // there are 65,536 pairs
	}
	(*lists)[*at-1] = append((*lists)[*at-1], needle)
}

// next returns where the first needle is in b at or after from, and which; -1
// if none does.
func (f *finder) next(b []byte, from int) (at, which int) {
	if len(f.needles) == 0 {
		return -1, 0
	}
	shift := f.shift
	for i := from + f.least - 1; i < len(b); {
		p := pair(b[i-1], b[i])
		if s := shift[p]; s > 0 {
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

// opens returns how many bytes at the end of b may be the beginning of a needle. Whole
// says that one may have begun before b.
func (f *finder) opens(b []byte) (n int, whole bool) {
	if len(f.needles) == 0 || len(b) == 0 {
		return 0, false
	}
	n = 1
	for n < len(b) && n < f.longest-1 && f.within[pair(b[len(b)-n-1], b[len(b)-n])] {
		n++
	}
	for whole = n == len(b); n > 1; n-- {
		tail := b[len(b)-n:]
		h := f.heads[pair(tail[0], tail[1])]
		if h == 0 {
			continue
		}
		for _, i := range f.starts[h-1] {
			if form := f.needles[i].form; len(form) > n && bytes.HasPrefix(form, tail) {
				return n, whole
			}
		}
	}
	if !f.first[b[len(b)-1]] {
		n = 0
	}
	return n, whole
}

// has reports whether b contains any needle.
func (f *finder) has(b []byte) bool {
	at, _ := f.next(b, 0)
	return at >= 0
}
