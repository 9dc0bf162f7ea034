package gsd

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// GSD names a plan by its file, 01-02-PLAN.md: plan 2 of phase 1. Phases that were
// inserted later are 02.1; a project may put a code before the number.
var (
	pairForm  = lazyregexp.New(`^(?:[A-Za-z]{1,12}-)?(\d{1,6}(?:\.\d{1,6}){0,3}[a-zA-Z]?)-(\d{1,6}[a-zA-Z]?)(?:-.*)?$`)
	plainForm = lazyregexp.New(`^(\d{1,6}[a-zA-Z]?)(?:-.*)?$`)
	longForm  = lazyregexp.New(`^(\d{1,6}(?:\.\d{1,6}){0,3}[a-zA-Z]?)-.*[^\d.-].*-(\d{1,6}[a-zA-Z]?)$`)
	phaseForm = lazyregexp.New(`^(?:[Pp]hase[ -]?|[A-Za-z]{1,12}-)?(\d{1,6}(?:\.\d{1,6}){0,3}[a-zA-Z]?)(?:[-_ :/].*)?$`)
)

// quick is the phase of GSD's quick plans, which has no number.
const quick = "quick"

// number returns a number as it is compared: without zeros before it, in lower case.
func number(s string) string {
	parts := strings.Split(strings.ToLower(s), ".")
	for i, p := range parts {
		digits := strings.TrimRight(p, "abcdefghijklmnopqrstuvwxyz")
		parts[i] = cmp.Or(strings.TrimLeft(digits, "0"), "0") + p[len(digits):]
	}
	return strings.Join(parts, ".")
}

// padded is a number as GSD writes it: two digits before the first dot.
func padded(s string) string {
	if len(s)-len(strings.TrimLeft(s, "0123456789")) == 1 {
		return "0" + s
	}
	return s
}

// nameParts returns the numbers of phase and plan that a path gives; "" where it gives
// none.
func nameParts(name string) (ph, plan string) {
	base := path.Base(name)
	stem := base[:len(base)-len(path.Ext(base))]
	for _, word := range []string{"PLAN", "SUMMARY"} {
		if len(stem) >= len(word) && strings.EqualFold(stem[len(stem)-len(word):], word) {
			stem = strings.TrimRight(stem[:len(stem)-len(word)], "-")
			break
		}
	}
	if m := pairForm.FindStringSubmatch(stem); m != nil {
		return number(m[1]), number(m[2])
	}
	if m := plainForm.FindStringSubmatch(stem); m != nil {
		plan = number(m[1])
	} else if stem == "" {
		plan = "1" // PLAN.md, the only plan of its phase
	}
	dir := path.Dir(name)
	if path.Base(path.Dir(dir)) == quick {
		return quick, plan
	}
	if m := phaseForm.FindStringSubmatch(path.Base(dir)); m != nil {
		ph = number(m[1])
	}
	return ph, plan
}

// phaseNumber reads a phase as front matter, a heading or a dependency writes it:
// 01-foundation, 2.1, "Phase 3".
func phaseNumber(s string) string {
	if m := phaseForm.FindStringSubmatch(strings.TrimSpace(s)); m != nil {
		return number(m[1])
	}
	if strings.EqualFold(strings.TrimSpace(s), quick) {
		return quick
	}
	return ""
}

// compareNumbers orders 2 before 2.1 before 10; what is no number comes last.
func compareNumbers(a, b string) int {
	for a != "" && b != "" {
		x, restA, _ := strings.Cut(a, ".")
		y, restB, _ := strings.Cut(b, ".")
		dx, dy := strings.TrimRight(x, "abcdefghijklmnopqrstuvwxyz"), strings.TrimRight(y, "abcdefghijklmnopqrstuvwxyz")
		m, errM := strconv.Atoi(dx)
		n, errN := strconv.Atoi(dy)
		if errM != nil || errN != nil {
			return cmp.Or(cmp.Compare(len(dy), len(dx)), cmp.Compare(x, y))
		}
		if c := cmp.Or(cmp.Compare(m, n), cmp.Compare(x[len(dx):], y[len(dy):])); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}
