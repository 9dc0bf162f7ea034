package compiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// reservedKey names the sum of all results in commands such as status and log.
const reservedKey = "integration"

// checkIDs looks at all ids of the plan together: the same one twice, ids that
// look alike, gaps, order, empty phases, "(parallel)" against the letters.
func (l *lowering) checkIDs() {
	l.checkSpelling()
	l.checkTwice()
	if len(l.deps.Items) == 0 {
		return
	}
	l.checkPhases()
	if !l.deps.Rules.InDocument && l.dialect.Numbers != "never" {
		l.checkSequence()
	}
	l.checkParallel()
}

// checkSpelling compares each id as written with its ASCII form.
func (l *lowering) checkSpelling() {
	folded := diag.Range{}
	padded := l.dialect.Name == "sprint"
	for i, it := range lists.Each(l.tree.Items) {
		key := string(l.deps.Items[i].Key)
		if key == reservedKey {
			l.diags.Add(diag.New("look-alike-id", it.KeyRange, "the id is reserved").
				WithDetail("%q names the joined result of all items in commands. Give the item another id.", reservedKey))
		}
		written := key
		if r := it.KeyRange; !it.Placed && r.Start >= 0 && r.Start < r.End && r.End <= len(l.tree.File.Bytes) {
			written = l.tree.File.Text(r)
		}
		plain := depend.PlainID(written, padded)
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
				WithDetail("%s. Write %q.", depend.Oddity(written, plain), plain).WithFix(it.KeyRange, plain))
		}
	}
	if !folded.IsZero() {
		l.diags.Add(diag.New("id-case", folded, "ids are read in lower case").
			WithDetail("The dialect ignores the case of ids: %q is %q in epic.json and on the command line.", l.tree.File.Text(folded), strings.ToLower(l.tree.File.Text(folded))))
	}
}

// checkTwice reports duplicate ids, and ids that are the same number.
func (l *lowering) checkTwice() {
	exact := make(map[ir.Key]int, len(l.deps.Items))
	alike := make(map[string]int, len(l.deps.Items))
	for i, it := range lists.Each(l.deps.Items) {
		if _, twice := exact[it.Key]; twice { // reported by syntax
			continue
		}
		exact[it.Key] = i
		text := it.Number.Text()
		if len(it.Number.Parts) == 0 {
			text = strings.ToLower(string(it.Key))
		}
		if first, twice := alike[text]; twice {
			other := &l.deps.Items[first]
			l.diags.Add(diag.Newf("look-alike-id", it.At, "%q and %q look the same", clip(string(it.Key)), clip(string(other.Key))).
				WithDetail("The ids differ only by case or leading zeros, so a reader cannot tell them apart. Give this one another number.").
				WithRelated(other.At, "the other one"))
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
	filled := make([]bool, len(l.deps.Groups))
	for i := range l.deps.Items {
		if g := l.deps.Items[i].Group; g >= 0 {
			filled[g] = true
		}
	}
	for g := range l.deps.Groups {
		if !filled[g] {
			l.diags.Add(diag.Newf("empty-phase", l.deps.Groups[g].At, "phase %s has no items", clip(l.deps.Groups[g].ID)).
				WithDetail("What follows waits for the phase before it. If there are items below this heading, %s; else remove the phase.", itemsAs(l.dialect)))
		}
	}
}

// itemsAs says how the items of a dialect are written.
func itemsAs(d syntax.Dialect) string {
	how := map[syntax.Place]string{
		syntax.InCheckbox: "begin their check boxes with ids", syntax.InBold: "write them as bold lines with ids", syntax.InTable: "write them as rows with ids",
	}[d.In]
	if how == "" {
		return "write their headings as the dialect \"" + d.Name + "\" requires"
	}
	return how + ", as the dialect \"" + d.Name + "\" requires"
}

// checkSequence looks for gaps in the numbers, and for items that stand in
// another order than their numbers.
func (l *lowering) checkSequence() {
	byGroup := make([][]int, len(l.deps.Groups)+1)
	for i := range l.deps.Items {
		switch g := l.deps.Items[i].Group; {
		case g >= 0:
			byGroup[g] = append(byGroup[g], i)
		case !l.deps.Rules.Grouped:
			byGroup[len(l.deps.Groups)] = append(byGroup[len(l.deps.Groups)], i)
		}
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
		a, b := &l.deps.Items[idx[k-1]], &l.deps.Items[idx[k]]
		if a.Number.Shape == b.Number.Shape && a.Number.Compare(b.Number) > 0 && !a.Number.SameBase(b.Number) {
			l.diags.Add(diag.Newf("number-order", b.At, "%s comes after %s", clip(string(b.Key)), clip(string(a.Key))).
				WithDetail("Numbers decide what runs first, not the place in the file. Move %s before %s to make the plan read as it runs.", b.Key, a.Key).
				WithRelated(a.At, "%s is here", a.Key))
			return
		}
	}
}

func (l *lowering) gaps(idx []int, struck map[string]bool) {
	sorted := slices.Clone(idx)
	slices.SortStableFunc(sorted, func(a, b int) int { return l.deps.Items[a].Number.Compare(l.deps.Items[b].Number) })
	reported := 0
	for k := 1; k < len(sorted) && reported < 10; k++ {
		a, b := &l.deps.Items[sorted[k-1]], &l.deps.Items[sorted[k]]
		if a.Number.Shape != b.Number.Shape || len(a.Number.Parts) == 0 || b.Number.Last() <= a.Number.Last()+1 || !samePrefix(a.Number, b.Number) || struck[following(a.Number)] {
			continue
		}
		reported++
		l.diags.Add(diag.Newf("number-gap", b.At, "the numbering jumps from %s to %s", clip(string(a.Key)), clip(string(b.Key))).
			WithDetail("%s follows %s directly. If an item is missing, its heading may not be in the dialect's form; else renumber %s, or leave it: ids need not be consecutive.", b.Key, a.Key, b.Key).
			WithRelated(a.At, "%s is here", a.Key))
	}
}

// struck returns the numbers of struck-through items, and further names of the others, as text.
func (l *lowering) struck() map[string]bool {
	out := make(map[string]bool, len(l.tree.Cancelled))
	for i := range l.tree.Cancelled {
		if num, ok := depend.ParseNumber(l.tree.Cancelled[i].ID); ok && !l.tree.Cancelled[i].Phase {
			num.Parts = slices.Clone(num.Parts)
			if k := len(num.Parts); k > 0 {
				num.Parts[k-1].Letters = ""
			}
			out[num.Text()] = true
		}
	}
	for i := range l.tree.Items {
		for _, name := range l.tree.Items[i].Names {
			out[name] = true
		}
	}
	return out
}

// following returns the number after a, as text.
func following(a depend.Number) string {
	parts := slices.Clone(a.Parts)
	parts[len(parts)-1] = depend.Part{Value: a.Last() + 1}
	return depend.Number{Shape: a.Shape, Parts: parts}.Text()
}

func samePrefix(a, b depend.Number) bool {
	return len(a.Parts) == len(b.Parts) && slices.Equal(a.Parts[:len(a.Parts)-1], b.Parts[:len(b.Parts)-1])
}

func (l *lowering) phaseGaps() {
	gs := slices.Clone(l.deps.Groups)
	gs = slices.DeleteFunc(gs, func(g depend.Group) bool { return len(g.Number.Parts) != 1 || g.Number.Shape != "#" })
	slices.SortStableFunc(gs, func(a, b depend.Group) int { return a.Number.Compare(b.Number) })
	for k := 1; k < len(gs); k++ {
		if gs[k].Number.Last() > gs[k-1].Number.Last()+1+uint64(len(gs[k-1].Also)) {
			l.diags.Add(diag.Newf("number-gap", gs[k].At, "the numbering jumps from phase %s to %s", clip(gs[k-1].ID), clip(gs[k].ID)).
				WithDetail("Phase %s follows phase %s directly. If a phase is missing, look at its heading; else renumber, or leave it.", gs[k].ID, gs[k-1].ID).
				WithRelated(gs[k-1].At, "phase %s is here", gs[k-1].ID))
		}
	}
}

// checkParallel compares "(parallel)" with the letters.
func (l *lowering) checkParallel() {
	if l.dialect.ParallelMark != "" && !depend.InLists(l.dialect) || l.dialect.Letters == "sequence" {
		return
	}
	sides := map[string]int{}
	side := func(i int) string {
		num := l.deps.Items[i].Number
		if len(num.Parts) == 0 {
			return ""
		}
		num.Parts = slices.Clone(num.Parts)
		num.Parts[len(num.Parts)-1].Letters = ""
		return num.Text()
	}
	marked := false
	for i := range l.tree.Items {
		marked = marked || l.tree.Items[i].Parallel
	}
	if !marked {
		return
	}
	for i := range l.deps.Items {
		sides[side(i)]++
	}
	for i, it := range lists.Each(l.tree.Items) {
		if it.Parallel && depend.InLists(l.dialect) {
			if l.isMark(it) {
				continue
			}
			instead := "Leave \"(parallel)\" out, or say what the items wait for."
			if mark := l.dialect.ParallelMark; mark != "" {
				instead = fmt.Sprintf("Write %q after the ids of those that run side by side, or leave \"(parallel)\" out.", mark)
			}
			l.diags.Add(diag.Newf("parallel-mark", cmpRange(it.ParallelMark, it.KeyRange), "%s is parallel to nothing", clip(it.ID)).
				WithDetail("Items of the dialect %q follow each other in document order, whatever their letters. %s", l.dialect.Name, instead))
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
