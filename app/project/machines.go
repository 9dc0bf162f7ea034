package project

import (
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// Place is a range with its lines and columns, for machines.
type Place struct {
	diag.Range
	From *diag.Position `json:"from,omitempty"`
	To   *diag.Position `json:"to,omitempty"`
}

// At adds line and column to a range; without them if the file is unknown.
func (s Sources) At(r diag.Range) Place {
	p := Place{Range: r}
	if f := s.Files[r.File]; f != nil {
		from, to := f.Position(r.Start), f.Position(r.End)
		p.From, p.To = &from, &to
	}
	return p
}

// DiagnosticsJSON is `ralph validate --format json`.
type DiagnosticsJSON struct {
	Errors      int              `json:"errors"`
	Warnings    int              `json:"warnings"`
	Diagnostics []DiagnosticJSON `json:"diagnostics"`
}

// DiagnosticJSON is one of them.
type DiagnosticJSON struct {
	Code     diag.Code     `json:"code"`
	Severity string        `json:"severity"` // error, warning, note, hint
	Summary  string        `json:"summary"`
	Detail   string        `json:"detail"`
	Range    *Place        `json:"range"`
	Related  []RelatedJSON `json:"related"`
	Fix      *FixJSON      `json:"fix"`
	More     int           `json:"more,omitempty"`
}

// RelatedJSON is another place that a diagnostic is about.
type RelatedJSON struct {
	Range   Place  `json:"range"`
	Message string `json:"message"`
}

// FixJSON is a text that, in the place of a range, ends what a diagnostic is about.
type FixJSON struct {
	Range Place  `json:"range"`
	Text  string `json:"text"`
}

// JSON is a list of diagnostics for machines.
func (s Sources) JSON(list diag.List) DiagnosticsJSON {
	out := DiagnosticsJSON{list.Count(diag.Error), list.Count(diag.Warning), make([]DiagnosticJSON, 0, len(list))}
	for _, d := range list {
		j := DiagnosticJSON{Code: d.Code, Severity: d.Severity.String(), Summary: d.Summary, Detail: d.Detail, Related: []RelatedJSON{}, More: d.More}
		if !d.Range.IsZero() {
			p := s.At(d.Range)
			j.Range = &p
		}
		for _, r := range d.Related {
			j.Related = append(j.Related, RelatedJSON{s.At(r.Range), r.Message})
		}
		if d.Fix != nil {
			j.Fix = &FixJSON{s.At(d.Fix.Range), d.Fix.Text}
		}
		out.Diagnostics = append(out.Diagnostics, j)
	}
	return out
}

// WhyJSON is `ralph why --json`: where the values of a sprint come from.
type WhyJSON struct {
	Key     ir.Key       `json:"key"`
	Reasons []ReasonJSON `json:"reasons"`
}

// ReasonJSON is where one value comes from.
type ReasonJSON struct {
	Field  string `json:"field"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Range  *Place `json:"range"`
}

// Why are reasons for machines.
func (s Sources) Why(key ir.Key, reasons []compiler.Reason) WhyJSON {
	out := WhyJSON{key, []ReasonJSON{}}
	for _, x := range reasons {
		j := ReasonJSON{Field: x.Field, Value: x.Value, Origin: x.Origin}
		if !x.Range.IsZero() {
			p := s.At(x.Range)
			j.Range = &p
		}
		out.Reasons = append(out.Reasons, j)
	}
	return out
}
