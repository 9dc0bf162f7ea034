package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	"github.com/owenrumney/go-sarif/v3/pkg/report"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// Formats of diagnostics.
const (
	formatText  = "text"
	formatJSON  = "json"
	formatSARIF = "sarif"
)

// diagsView prints diagnostics in one of the three formats.
type diagsView struct {
	format string
	sources
}

// print writes text to errOut, since diagnostics are not the result there, and
// the machine formats to out, since they are what was asked for.
func (v diagsView) print(out, errOut io.Writer, list diag.List) error {
	switch v.format {
	case formatJSON:
		return v.json(out, list)
	case formatSARIF:
		return v.sarif(out, list)
	}
	return v.text(errOut, list)
}

// say shows what a compile that nobody asked for has to say.
func (c *compilation) say(w io.Writer) error {
	if err := (diagsView{formatText, c.sources}).text(w, c.Diags); err != nil || c.hint == "" {
		return err
	}
	_, err := fmt.Fprintln(w, reveal.Words(c.hint))
	return err
}

func (v diagsView) text(w io.Writer, list diag.List) error {
	style := term.For(w)
	roles := map[diag.Severity]term.Colour{
		diag.Error: term.Bad, diag.Warning: term.Warn, diag.Note: term.Info, diag.Hint: term.Faint, 0: term.Info,
	}
	shown, files := v.fromHere(list)
	return diag.Text{
		Files: files,
		Paint: func(s diag.Severity, text string) string { return style.Paint(roles[s], text) },
		Clean: reveal.Words,
		Width: columns.Of,
		Fold:  3,
	}.Write(w, shown)
}

// place is a range with its lines and columns, for machines.
type place struct {
	diag.Range
	From *diag.Position `json:"from,omitempty"`
	To   *diag.Position `json:"to,omitempty"`
}

func (s sources) place(r diag.Range) place {
	p := place{Range: r}
	if f := s.files[r.File]; f != nil {
		from, to := f.Position(r.Start), f.Position(r.End)
		p.From, p.To = &from, &to
	}
	return p
}

func (v diagsView) json(w io.Writer, list diag.List) error {
	type related struct {
		Range   place  `json:"range"`
		Message string `json:"message"`
	}
	type fix struct {
		Range place  `json:"range"`
		Text  string `json:"text"`
	}
	type diagnostic struct {
		Code     diag.Code     `json:"code"`
		Severity diag.Severity `json:"severity"`
		Summary  string        `json:"summary"`
		Detail   string        `json:"detail"`
		Range    *place        `json:"range"`
		Related  []related     `json:"related"`
		Fix      *fix          `json:"fix"`
		More     int           `json:"more,omitempty"`
	}
	ds := make([]diagnostic, 0, len(list))
	for _, d := range list {
		j := diagnostic{Code: d.Code, Severity: d.Severity, Summary: d.Summary, Detail: d.Detail, Related: []related{}, More: d.More}
		if !d.Range.IsZero() {
			p := v.place(d.Range)
			j.Range = &p
		}
		for _, r := range d.Related {
			j.Related = append(j.Related, related{v.place(r.Range), r.Message})
		}
		if d.Fix != nil {
			j.Fix = &fix{v.place(d.Fix.Range), d.Fix.Text}
		}
		ds = append(ds, j)
	}
	return writeJSON(w, struct {
		Errors      int          `json:"errors"`
		Warnings    int          `json:"warnings"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}{list.Count(diag.Error), list.Count(diag.Warning), ds})
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(reveal.JSONWriter(w))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (v diagsView) sarif(w io.Writer, list diag.List) error {
	doc := report.NewV210Report()
	run := sarif.NewRunWithInformationURI("ralph", "https://github.com/ralph-compiler/ralph")
	run.WithColumnKind("unicodeCodePoints")
	run.Tool.Driver.WithVersion(version())
	for _, d := range list {
		why := ""
		e, known := diag.Lookup(d.Code)
		if known {
			why = e.Why()
		}
		rule := run.AddRule(string(d.Code)).WithDescription(e.Title).WithMarkdownHelp(why)
		rule.WithHelpURI("https://github.com/ralph-compiler/ralph/blob/main/docs/diagnostics/" + string(d.Code) + ".md")
		text := d.Summary
		if d.Detail != "" {
			text += ". " + d.Detail
		}
		if d.More > 0 {
			text += fmt.Sprintf(" And %d more like it.", d.More)
		}
		res := sarif.NewRuleResult(string(d.Code)).WithLevel(sarifLevel(d.Severity)).WithMessage(sarif.NewTextMessage(reveal.Words(text)))
		if !d.Range.IsZero() {
			res.AddLocation(v.location(d.Range))
		}
		for i, r := range d.Related {
			res.AddRelatedLocation(v.location(r.Range).WithID(i + 1).WithMessage(sarif.NewTextMessage(reveal.Words(r.Message))))
		}
		if d.Fix != nil {
			change := sarif.NewArtifactChange().
				WithArtifactLocation(artifact(d.Fix.Range.File)).
				AddReplacement(sarif.NewReplacement().WithDeletedRegion(v.region(d.Fix.Range)).WithInsertedContent(sarif.NewArtifactContent().WithText(d.Fix.Text)))
			res.AddFixe(sarif.NewFix().WithDescription(sarif.NewTextMessage("mend it")).AddArtifactChange(change))
		}
		run.AddResult(res)
	}
	doc.AddRun(run)
	if err := doc.PrettyWrite(reveal.JSONWriter(w)); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	_, err := fmt.Fprintln(w)
	return err
}

func sarifLevel(s diag.Severity) string {
	switch s {
	case diag.Error, diag.Warning:
		return s.String()
	}
	return "note"
}

// artifact names a file as a relative URI.
func artifact(file string) *sarif.ArtifactLocation {
	return sarif.NewSimpleArtifactLocation((&url.URL{Path: file}).EscapedPath())
}

func (v diagsView) location(r diag.Range) *sarif.Location {
	physical := sarif.NewPhysicalLocation().WithArtifactLocation(artifact(r.File))
	if v.files[r.File] != nil {
		physical.WithRegion(v.region(r))
	}
	return sarif.NewLocationWithPhysicalLocation(physical)
}

func (v diagsView) region(r diag.Range) *sarif.Region {
	p := v.place(r)
	region := sarif.NewRegion().WithByteOffset(r.Start).WithByteLength(r.End - r.Start)
	if p.From != nil {
		region.WithStartLine(p.From.Line).WithStartColumn(p.From.Column).WithEndLine(p.To.Line).WithEndColumn(p.To.Column)
	}
	return region
}
