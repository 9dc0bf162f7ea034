package compiler

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// reservedKey names the sum of all results in commands such as status and log.
const reservedKey = "integration"

// checkIDs looks at all ids of the plan together: the same one twice, ids that
// look alike, gaps, order, empty phases, "(parallel)" against the letters.
func (l *lowering) checkIDs() {
	l.checkSpelling()
	l.checkTwice()
	if len(l.deps.items) == 0 {
		return
	}
	l.checkPhases()
	numeric := !l.deps.rules.inDocument && l.dialect.Numbers != "never"
	if numeric {
		l.checkSequence()
	}
	l.checkParallel()
}

// checkSpelling compares each id as written with its ASCII form.
func (l *lowering) checkSpelling() {
	folded := diag.Range{}
	padded := l.dialect.Name == "sprint"
	for i := range l.tree.Items {
		it, key := &l.tree.Items[i], string(l.deps.items[i].key)
		if key == reservedKey {
			l.diags.Add(diag.New("look-alike-id", it.KeyRange, "the id is reserved").
				WithDetail("%q names the joined result of all items in commands. Give the item another id.", reservedKey))
		}
		written := key
		if r := it.KeyRange; !it.Placed && r.Start >= 0 && r.Start < r.End && r.End <= len(l.tree.File.Bytes) {
			written = l.tree.File.Text(r)
		}
		plain := spelling(written, padded)
		if l.dialect.IgnoreCase && strings.EqualFold(written, plain) && strings.ToLower(plain) == key {
			if written != key && folded.IsZero() {
				folded = it.KeyRange
			}
			continue
		}
		if padded {
			plain = strings.ToLower(plain)
		}
		if written != plain && len(plain) > 0 {
			l.diags.Add(diag.Newf("look-alike-id", it.KeyRange, "%q is not written plainly", clip(written)).
				WithDetail("%s. Write %q.", oddity(written, plain), plain).WithFix(it.KeyRange, plain))
		}
	}
	if !folded.IsZero() {
		l.diags.Add(diag.New("id-case", folded, "ids are read in lower case").
			WithDetail("The dialect ignores the case of ids: %q is %q in epic.json and on the command line.", l.tree.File.Text(folded), strings.ToLower(l.tree.File.Text(folded))))
	}
}

// spelling writes an id in plain ASCII: full-width forms and digits of other
// scripts become ASCII, letters that look like Latin ones too; with padded,
// leading zeros go.
func spelling(id string, padded bool) string {
	var b strings.Builder
	for _, r := range id {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r >= 0xFF01 && r <= 0xFF5E: // full width
			b.WriteRune(r - 0xFEE0)
		case digitOf(r) >= 0:
			b.WriteByte(byte('0' + digitOf(r)))
		default:
			if c, ok := lookAlike[r]; ok {
				b.WriteByte(c)
			} else {
				b.WriteRune(r)
			}
		}
	}
	if !padded {
		return b.String()
	}
	return unpadded(b.String())
}

// digitOf returns the value of a decimal digit of another script, or -1: blocks
// of ten that begin at a known place.
func digitOf(r rune) int {
	for _, zero := range []rune{0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50, 0xFF10, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6} {
		if r >= zero && r <= zero+9 {
			return int(r - zero)
		}
	}
	return -1
}

// lookAlike maps letters and signs that cannot be told from ASCII ones by eye.
var lookAlike = map[rune]byte{
	'а': 'a', 'с': 'c', 'е': 'e', 'о': 'o', 'р': 'p', 'х': 'x', 'у': 'y', 'ѕ': 's', 'і': 'i', 'ј': 'j', 'ԁ': 'd', 'ɡ': 'g', // Cyrillic, IPA
	'А': 'A', 'В': 'B', 'С': 'C', 'Е': 'E', 'Н': 'H', 'К': 'K', 'М': 'M', 'О': 'O', 'Р': 'P', 'Т': 'T', 'Х': 'X',
	'α': 'a', 'ο': 'o', 'ν': 'v', // Greek
	'․': '.', '。': '.', '．': '.', '·': '.', '‐': '-', '‑': '-', '−': '-',
}

func oddity(written, plain string) string {
	for _, r := range written {
		if r >= utf8.RuneSelf {
			return fmt.Sprintf("%q (U+%04X) is not the ASCII character that it looks like", string(r), r)
		}
	}
	if strings.EqualFold(written, plain) {
		return "Letters in the id are lower case"
	}
	return "Numbers in the id have no leading zeros"
}

// checkTwice reports ids that stand twice, and ids that are the same number.
func (l *lowering) checkTwice() {
	exact := make(map[ir.Key]int, len(l.deps.items))
	alike := make(map[string]int, len(l.deps.items))
	for i := range l.deps.items {
		it := &l.deps.items[i]
		if _, twice := exact[it.key]; twice { // reported by syntax
			continue
		}
		exact[it.key] = i
		text := it.num.text()
		if len(it.num.parts) == 0 {
			text = strings.ToLower(string(it.key))
		}
		if first, twice := alike[text]; twice {
			other := &l.deps.items[first]
			l.diags.Add(diag.Newf("look-alike-id", it.at, "%q and %q look the same", clip(string(it.key)), clip(string(other.key))).
				WithDetail("The ids differ only by case or leading zeros, so a reader takes them for one. Give this one another number.").
				WithRelated(other.at, "the other one"))
			continue
		}
		alike[text] = i
	}
}

// checkPhases warns about phases without items.
func (l *lowering) checkPhases() {
	if l.dialect.Phase.None() {
		return
	}
	filled := make([]bool, len(l.deps.groups))
	for i := range l.deps.items {
		if g := l.deps.items[i].group; g >= 0 {
			filled[g] = true
		}
	}
	for g := range l.deps.groups {
		if !filled[g] {
			l.diags.Add(diag.Newf("empty-phase", l.deps.groups[g].at, "phase %s has no items", clip(l.deps.groups[g].id)).
				WithDetail("What follows waits for the phase before it. If items stand below this heading, %s; else remove the phase.", itemsAs(l.dialect)))
		}
	}
}

// itemsAs says how the items of a dialect are written.
func itemsAs(d syntax.Dialect) string {
	switch d.In {
	case syntax.InCheckbox:
		return "begin their check boxes with ids, as the dialect \"" + d.Name + "\" wants them"
	case syntax.InBold:
		return "write them as bold lines with ids, as the dialect \"" + d.Name + "\" wants them"
	case syntax.InTable:
		return "write them as rows with ids, as the dialect \"" + d.Name + "\" wants them"
	}
	return "write their headings as the dialect \"" + d.Name + "\" wants them"
}

// checkSequence looks for gaps in the numbers, and for items that stand in
// another order than their numbers.
func (l *lowering) checkSequence() {
	byGroup := make([][]int, len(l.deps.groups)+1)
	for i := range l.deps.items {
		g := l.deps.items[i].group
		if g < 0 && l.deps.rules.grouped {
			continue
		}
		if g < 0 {
			g = int32(len(l.deps.groups))
		}
		byGroup[g] = append(byGroup[g], i)
	}
	struck := l.struck()
	for _, idx := range byGroup {
		l.order(idx)
		l.gaps(idx, struck)
	}
	l.phaseGaps()
}

func (l *lowering) order(idx []int) {
	for k := 1; k < len(idx); k++ {
		a, b := &l.deps.items[idx[k-1]], &l.deps.items[idx[k]]
		if a.num.shape == b.num.shape && a.num.compare(b.num) > 0 && !a.num.base(b.num) {
			l.diags.Add(diag.Newf("number-order", b.at, "%s stands behind %s", clip(string(b.key)), clip(string(a.key))).
				WithDetail("Numbers decide what runs first, not the place in the file. Move %s before %s to make the plan read as it runs.", b.key, a.key).
				WithRelated(a.at, "%s is here", a.key))
			return
		}
	}
}

func (l *lowering) gaps(idx []int, struck map[string]bool) {
	sorted := slices.Clone(idx)
	slices.SortStableFunc(sorted, func(a, b int) int { return l.deps.items[a].num.compare(l.deps.items[b].num) })
	reported := 0
	for k := 1; k < len(sorted) && reported < 10; k++ {
		a, b := &l.deps.items[sorted[k-1]], &l.deps.items[sorted[k]]
		if a.num.shape != b.num.shape || len(a.num.parts) == 0 || b.num.last() <= a.num.last()+1 || !samePrefix(a.num, b.num) || struck[following(a.num)] {
			continue
		}
		reported++
		l.diags.Add(diag.Newf("number-gap", b.at, "a number is missing between %s and %s", clip(string(a.key)), clip(string(b.key))).
			WithDetail("%s follows %s directly. If an item is missing, its heading may not be in the form of the dialect; else renumber %s, or leave it: ids need not be consecutive.", b.key, a.key, b.key).
			WithRelated(a.at, "%s is here", a.key))
	}
}

// struck returns the numbers of struck-through items, and further names of the others, as text.
func (l *lowering) struck() map[string]bool {
	out := make(map[string]bool, len(l.tree.Cancelled))
	for i := range l.tree.Cancelled {
		if num, ok := parseNumber(l.tree.Cancelled[i].ID); ok && !l.tree.Cancelled[i].Phase {
			num.parts = slices.Clone(num.parts)
			if k := len(num.parts); k > 0 {
				num.parts[k-1].letters = ""
			}
			out[num.text()] = true
		}
	}
	for i := range l.tree.Items {
		for _, name := range l.tree.Items[i].Names {
			out[name] = true
		}
	}
	return out
}

// following returns the number behind a, as text.
func following(a number) string {
	parts := slices.Clone(a.parts)
	parts[len(parts)-1] = part{n: a.last() + 1}
	return number{shape: a.shape, parts: parts}.text()
}

func samePrefix(a, b number) bool {
	if len(a.parts) != len(b.parts) {
		return false
	}
	return slices.Equal(a.parts[:len(a.parts)-1], b.parts[:len(b.parts)-1])
}

func (l *lowering) phaseGaps() {
	gs := slices.Clone(l.deps.groups)
	gs = slices.DeleteFunc(gs, func(g depGroup) bool { return len(g.num.parts) != 1 || g.num.shape != "#" })
	slices.SortStableFunc(gs, func(a, b depGroup) int { return a.num.compare(b.num) })
	for k := 1; k < len(gs); k++ {
		if gs[k].num.last() > gs[k-1].num.last()+1+uint64(len(gs[k-1].also)) {
			l.diags.Add(diag.Newf("number-gap", gs[k].at, "a number is missing between phase %s and %s", clip(gs[k-1].id), clip(gs[k].id)).
				WithDetail("Phase %s follows phase %s directly. If a phase is missing, look at its heading; else renumber, or leave it.", gs[k].id, gs[k-1].id).
				WithRelated(gs[k-1].at, "phase %s is here", gs[k-1].id))
		}
	}
}

// checkParallel compares "(parallel)" with the letters.
func (l *lowering) checkParallel() {
	if l.dialect.ParallelMark != "" && !inLists(l.dialect) || l.dialect.Letters == "sequence" {
		return
	}
	sides := map[string]int{}
	side := func(i int) string {
		num := l.deps.items[i].num
		if len(num.parts) == 0 {
			return ""
		}
		num.parts = slices.Clone(num.parts)
		num.parts[len(num.parts)-1].letters = ""
		return num.text()
	}
	marked := false
	for i := range l.tree.Items {
		marked = marked || l.tree.Items[i].Parallel
	}
	if !marked {
		return
	}
	for i := range l.deps.items {
		sides[side(i)]++
	}
	for i := range l.tree.Items {
		it := &l.tree.Items[i]
		if it.Parallel && inLists(l.dialect) {
			if l.isMark(it) {
				continue
			}
			instead := "Leave \"(parallel)\" out, or say what the items wait for."
			if mark := l.dialect.ParallelMark; mark != "" {
				instead = fmt.Sprintf("Write %q behind the ids of those that run side by side, or leave \"(parallel)\" out.", mark)
			}
			l.diags.Add(diag.Newf("parallel-mark", cmpRange(it.ParallelMark, it.KeyRange), "%s is parallel to nothing", clip(it.ID)).
				WithDetail("Items of the dialect %q follow each other as they stand, whatever their letters. %s", l.dialect.Name, instead))
			continue
		}
		if it.Parallel && sides[side(i)] < 2 {
			bare := strings.TrimRight(it.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
			l.diags.Add(diag.Newf("parallel-mark", cmpRange(it.ParallelMark, it.KeyRange), "%s is parallel to nothing", clip(it.ID)).
				WithDetail("No other item has the same number with another letter, so %s runs alone. Write %sa and %sb for items side by side, or leave \"(parallel)\" out.", it.ID, bare, bare))
		}
	}
}

// isMark reports whether an item is marked as parallel by the dialect's own mark.
func (l *lowering) isMark(it *syntax.Item) bool {
	return it.Parallel && l.tree.File.Text(it.ParallelMark) == l.dialect.ParallelMark
}
