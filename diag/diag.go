package diag

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says how bad a diagnostic is. The zero value is invalid, so that a
// forgotten field shows.
type Severity uint8

// Severities, worst first.
const (
	Error   Severity = iota + 1 // nothing is written
	Warning                     // probably not what was meant
	Note                        // a fact that the reader should know, once
	Hint                        // could be better; folded in text output
)

var severityNames = [...]string{"invalid", "error", "warning", "note", "hint"}

func (s Severity) String() string { return severityNames[s] }

// MarshalText writes the severity's word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Code names a kind of diagnostic, in kebab-case. A code is never reused.
type Code string

// Diagnostic is one finding.
type Diagnostic struct {
	Code     Code      `json:"code"`
	Severity Severity  `json:"severity"`
	Summary  string    `json:"summary"`           // at most 60 characters, no period, no path
	Detail   string    `json:"detail,omitempty"`  // sentences; the last says what to write instead
	Range    Range     `json:"range"`             // tight: what the caret stands under
	Related  []Related `json:"related,omitempty"` // other places: "first declared here"
	Fix      *Fix      `json:"fix,omitempty"`     // the edit that mends it, when there is exactly one
	More     int       `json:"more,omitempty"`    // how many others of its code and severity are left out
}

// Related is another place that explains a diagnostic.
type Related struct {
	Range   Range  `json:"range"`
	Message string `json:"message"`
}

// Fix replaces the bytes of Range by Text.
type Fix struct {
	Range Range  `json:"range"`
	Text  string `json:"text"`
}

// Fixed returns the bytes with the fixes, which do not overlap; all other bytes stay.
func Fixed(b []byte, fixes []Fix) []byte {
	if len(fixes) == 0 {
		return b
	}
	slices.SortStableFunc(fixes, func(a, b Fix) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
	var out bytes.Buffer
	out.Grow(len(b) + 40*len(fixes))
	from := 0
	for _, f := range fixes {
		out.Write(b[from:f.Range.Start])
		out.WriteString(f.Text)
		from = f.Range.End
	}
	out.Write(b[from:])
	return out.Bytes()
}

// New returns a diagnostic of a declared code with the severity of the table.
// It panics when the code is not in the table: that is a bug in ralph.
func New(code Code, r Range, summary string) Diagnostic {
	e, ok := Lookup(code)
	if !ok {
		panic(fmt.Sprintf("diag: code %q is not in the table", code))
	}
	return Diagnostic{Code: code, Severity: e.Severity, Summary: summary, Range: r}
}

// Newf is New with a formatted summary.
func Newf(code Code, r Range, format string, args ...any) Diagnostic {
	return New(code, r, fmt.Sprintf(format, args...))
}

// WithDetail returns d with a formatted detail.
func (d Diagnostic) WithDetail(format string, args ...any) Diagnostic {
	d.Detail = fmt.Sprintf(format, args...)
	return d
}

// WithRelated returns d with one more related place. A zero range adds nothing.
func (d Diagnostic) WithRelated(r Range, format string, args ...any) Diagnostic {
	if r.IsZero() {
		return d
	}
	d.Related = append(slices.Clip(d.Related), Related{Range: r, Message: fmt.Sprintf(format, args...)})
	return d
}

// WithAll returns d with all of many places that a message fits, up to most.
func (d Diagnostic) WithAll(places []Range, most int, message string) Diagnostic {
	for _, r := range places[:min(len(places), most)] {
		d = d.WithRelated(r, "%s", message)
	}
	return d
}

// WithFix returns d with an edit that mends it.
func (d Diagnostic) WithFix(r Range, text string) Diagnostic {
	d.Fix = &Fix{Range: r, Text: text}
	return d
}

// List is a collection of diagnostics. The zero value is empty and ready.
type List []Diagnostic

// Most is how many diagnostics of one code and severity are kept; one of them
// says how many more there were.
const Most = 100

// Add appends diagnostics. A list that becomes long is cut to Most of each code and
// severity, in the order of Add, so that its size is bounded whatever the input.
func (l *List) Add(ds ...Diagnostic) {
	before := len(*l)
	*l = append(*l, ds...)
	if before/roomy != len(*l)/roomy {
		l.Cap()
	}
}

const roomy = 4096

// Cap keeps Most diagnostics of each code and severity, the first ones, and counts
// the others.
func (l *List) Cap() {
	if len(*l) <= Most {
		return
	}
	type kind struct {
		code     Code
		severity Severity
	}
	seen, last := map[kind]int{}, map[kind]int{}
	out := (*l)[:0]
	for _, d := range *l {
		k := kind{d.Code, d.Severity}
		if seen[k]++; seen[k] > Most {
			out[last[k]].More += 1 + d.More
			continue
		}
		last[k] = len(out)
		out = append(out, d)
	}
	clear((*l)[len(out):])
	*l = out
}

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Count returns how many diagnostics have the severity s.
func (l List) Count(s Severity) int {
	n := 0
	for _, d := range l {
		if d.Severity == s {
			n += 1 + d.More
		}
	}
	return n
}

// Sort orders the list by file, offset, severity, code, summary and removes
// exact repetitions (same code, place and summary).
func (l *List) Sort() {
	slices.SortStableFunc(*l, func(a, b Diagnostic) int {
		return cmp.Or(
			strings.Compare(a.Range.File, b.Range.File),
			cmp.Compare(a.Range.Start, b.Range.Start),
			cmp.Compare(a.Severity, b.Severity),
			strings.Compare(string(a.Code), string(b.Code)),
			strings.Compare(a.Summary, b.Summary),
		)
	})
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool {
		return a.Code == b.Code && a.Range == b.Range && a.Summary == b.Summary
	})
}

// Strict returns the list with those warnings and notes that the table marks as
// strict turned into errors.
func (l List) Strict() List {
	out := slices.Clone(l)
	for i := range out {
		if e, ok := Lookup(out[i].Code); ok && e.Strict && out[i].Severity > Error {
			out[i].Severity = Error
		}
	}
	return out
}
