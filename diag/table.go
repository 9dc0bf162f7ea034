package diag

import (
	"slices"
	"sync"
)

// Entry declares a code. What docs/diagnostics/ says about it stands in texts/CODE.md.
type Entry struct {
	Code     Code
	Severity Severity
	Strict   bool   // a warning or note that `strict` turns into an error
	About    string // what it is about: plan, dependency, policy, graph, draft
	Title    string // one line, what is wrong in general
}

// Table lists every code, sorted by code.
var Table = sync.OnceValue(func() []Entry {
	t := slices.Concat(planCodes, nearCodes, dependencyCodes, policyCodes, graphCodes, beadCodes, taskCodes, shepherdCodes, taskmasterCodes, gsdCodes, draftCodes)
	slices.SortFunc(t, func(a, b Entry) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return t
})

var byCode = sync.OnceValue(func() map[Code]Entry {
	m := make(map[Code]Entry, len(Table()))
	for _, e := range Table() {
		if _, twice := m[e.Code]; twice {
			panic("diag: code declared twice: " + string(e.Code))
		}
		m[e.Code] = e
	}
	return m
})

// Lookup returns the entry of a code.
func Lookup(c Code) (Entry, bool) {
	e, ok := byCode()[c]
	return e, ok
}
