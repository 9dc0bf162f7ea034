package sandboxtest

import (
	_ "embed" // the table
	"fmt"
	"slices"
	"strings"
)

// Attack is a row of the table.
type Attack struct {
	ID      string // "R01"
	Does    string // what it tries
	Control Control
	want    map[string]want // by level, and by level+InGroup
}

// InGroup is the end of the name of a level whose sandboxes have a control group.
const InGroup = "-group"

// Control says how it is shown that an attack works which is blocked without a sandbox, too.
type Control string

// Controls.
const (
	NoControl Control = ""          // it succeeds without a sandbox
	UserNS    Control = "userns"    // it succeeds as root of a user namespace
	Elsewhere Control = "elsewhere" // it succeeds against files that stand in for the system's
	OpenProxy Control = "proxy"     // it succeeds through a proxy that refuses nothing
	Unproved  Control = "unproved"  // nothing shows it
)

// Result is what came of an attack.
type Result struct {
	ID        string `json:"id"`
	Succeeded bool   `json:"succeeded"`
	Seen      string `json:"seen"` // what stopped it: "EPERM"; or what it did
}

// want is a cell of the table.
type want struct {
	passes, blocked bool
	seen            []string // how it is blocked; empty: in any way
}

// Table is all attacks, in the order in which they run.
type Table []Attack

//go:embed attacks.txt
var attacks string

// Attacks returns the table.
func Attacks() Table {
	t, err := parse(attacks)
	if err != nil {
		panic(err) // it is part of the program
	}
	return t
}

// With returns the attacks that have a control.
func (t Table) With(c Control) Table {
	return slices.DeleteFunc(slices.Clone(t), func(a Attack) bool { return a.Control != c })
}

// IDs returns the ids, in the table's order.
func (t Table) IDs() []string {
	var ids []string
	for _, a := range t {
		ids = append(ids, a.ID)
	}
	return ids
}

// Wrong compares results with a level's column: what differs, a line each, and the ids of
// attacks that showed nothing at this level because the machine blocks them itself. A
// level that the table lacks is an error of its own.
func (t Table) Wrong(level string, results []Result) (wrong, silent []string) {
	by := map[string]Result{}
	for _, r := range results {
		if _, twice := by[r.ID]; twice || !slices.ContainsFunc(t, func(a Attack) bool { return a.ID == r.ID }) {
			wrong = append(wrong, fmt.Sprintf("%s: a result that the table does not expect", r.ID))
		}
		by[r.ID] = r
	}
	for _, a := range t {
		w, known := a.want[level]
		r, ran := by[a.ID]
		switch {
		case !known:
			return append(wrong, fmt.Sprintf("the table has no level %q", level)), nil
		case !ran:
			wrong = append(wrong, fmt.Sprintf("%s (%s): no result", a.ID, a.Does))
		case !w.allows(r):
			wrong = append(wrong, fmt.Sprintf("%s (%s): %s, want %s", a.ID, a.Does, r, w))
		case w.passes && !r.Succeeded:
			silent = append(silent, a.ID)
		}
	}
	return wrong, silent
}

func (w want) allows(r Result) bool {
	if r.Succeeded {
		return w.passes
	}
	return w.blocked && (len(w.seen) == 0 || slices.Contains(w.seen, r.Seen))
}

func (w want) String() string {
	switch {
	case w.passes && !w.blocked:
		return "success"
	case w.passes:
		return "success or " + strings.Join(w.seen, "/")
	case len(w.seen) == 0:
		return "blocked"
	}
	return strings.Join(w.seen, "/")
}

func (r Result) String() string {
	if r.Succeeded {
		return strings.TrimSpace("success " + r.Seen)
	}
	return r.Seen
}

// parse reads a table.
func parse(text string) (Table, error) {
	var head []string
	var t Table
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if head == nil {
			head = cells
			if k := len(head); k < 4 || head[0] != "id" || head[k-2] != "control" || head[k-1] != "attack" {
				return nil, fmt.Errorf("line %d: want id, levels, control, attack", n+1)
			}
			continue
		}
		a, err := row(head, cells)
		if err == nil && slices.Contains(t.IDs(), a.ID) {
			err = fmt.Errorf("%s is there twice", a.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		t = append(t, a)
	}
	return t, nil
}

func row(head, cells []string) (Attack, error) {
	k := len(head)
	if len(cells) != k {
		return Attack{}, fmt.Errorf("%d cells, want %d", len(cells), k)
	}
	a := Attack{ID: cells[0], Does: cells[k-1], Control: Control(cells[k-2]), want: map[string]want{}}
	if a.ID == "" || a.Does == "" {
		return a, fmt.Errorf("an attack has an id and says what it does")
	}
	if !slices.Contains([]Control{NoControl, UserNS, Elsewhere, OpenProxy, Unproved}, a.Control) {
		return a, fmt.Errorf("no control is called %q", a.Control)
	}
	for i := 1; i < k-2; i++ {
		if cells[i] == "" {
			return a, fmt.Errorf("%s says nothing about %s", a.ID, head[i])
		}
		without, with, both := strings.Cut(strings.TrimSuffix(cells[i], ")"), " (group: ")
		if !both {
			with = without
		}
		a.want[head[i]], a.want[head[i]+InGroup] = cell(without), cell(with)
	}
	if none, ok := a.want["none"]; !ok || !none.passes && a.Control == NoControl {
		return a, fmt.Errorf("%s is blocked without a sandbox and names no control", a.ID)
	}
	return a, nil
}

func cell(s string) want {
	var w want
	for _, alt := range strings.Split(s, "/") {
		switch alt {
		case "X":
			w.passes = true
		case "-":
			w.blocked = true
		default:
			w.blocked = true
			w.seen = append(w.seen, alt)
		}
	}
	return w
}
