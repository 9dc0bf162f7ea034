package diag

import (
	"cmp"
	"slices"
	"sync"
)

// Entry declares a code. What docs/diagnostics/ says about it is in texts/CODE.md.
type Entry struct {
	Code     Code
	Severity Severity
	Strict   bool       // a warning or note that `strict` turns into an error
	Others   []Severity // that some of its findings have instead
	About    string     // what it is about: plan, dependency, policy, graph, draft
	Title    string     // one line, what is wrong in general
}

// rows declare the codes about one thing, one a row.
type rows []struct {
	code     Code
	severity Severity // with strict and the other severities
	title    string
}

// Beside the severity of a row, in bits of their own.
const (
	strict Severity = 1 << (iota + 3) // Entry.Strict
	orError
	orWarning
	orNote
	orHint
)

func about(what string, codes rows) []Entry {
	out := make([]Entry, len(codes))
	for i, c := range codes {
		out[i] = Entry{Code: c.code, Severity: c.severity & (strict - 1), Strict: c.severity&strict != 0, About: what, Title: c.title}
		for s := Error; s <= Hint; s++ {
			if c.severity&(strict<<s) != 0 {
				out[i].Others = append(out[i].Others, s)
			}
		}
	}
	return out
}

// Table lists every code, sorted by code.
var Table = sync.OnceValue(func() []Entry {
	t := slices.Concat(
		about("plan", planCodes), about("input", planInputCodes), about("plan", nearCodes), about("dependency", dependencyCodes),
		about("policy", policyCodes), about("graph", graphCodes), about("input", graphInputCodes), about("bead", beadCodes),
		about("bead", taskCodes), about("shepherd", shepherdCodes), about("bead", taskmasterCodes), about("bead", gsdCodes),
		about("draft", draftCodes),
	)
	slices.SortFunc(t, func(a, b Entry) int { return cmp.Compare(a.Code, b.Code) })
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
