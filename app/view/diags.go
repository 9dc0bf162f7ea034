package view

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	"github.com/owenrumney/go-sarif/v3/pkg/report"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/version"
)

// Sayf prints a line for people; a file's name in it cannot control the terminal.
func Sayf(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, reveal.Words(fmt.Sprintf(format, args...)))
}

// Diagnostics prints diagnostics in one of the three formats.
type Diagnostics struct {
	Format string
	project.Sources
}

// Print writes text to errOut, since diagnostics are not the result there, and the
// machine formats to out, since they are the requested result.
func (v Diagnostics) Print(out, errOut io.Writer, list diag.List) error {
	switch v.Format {
	case project.FormatJSON:
		return WriteJSON(out, v.JSON(list))
	case project.FormatSARIF:
		return v.sarif(out, list)
	}
	return v.text(errOut, list)
}

// SayCompilation shows the diagnostics of an implicit compile.
func SayCompilation(c *project.Compilation, w io.Writer) error {
	if err := (Diagnostics{project.FormatText, c.Sources}).text(w, c.Diags); err != nil || c.Hint == "" {
		return err
	}
	_, err := fmt.Fprintln(w, reveal.Words(c.Hint))
	return err
}

func (v Diagnostics) text(w io.Writer, list diag.List) error {
	style := term.For(w)
	roles := map[diag.Severity]term.Colour{
		diag.Error: term.Bad, diag.Warning: term.Warn, diag.Note: term.Info, diag.Hint: term.Faint, 0: term.Info,
	}
	shown, files := v.FromHere(list)
	return diag.Text{
		Files: files,
		Paint: func(s diag.Severity, text string) string { return style.Paint(roles[s], text) },
		Clean: reveal.Words,
		Width: columns.Of,
		Fold:  3,
	}.Write(w, shown)
}

// WriteJSON writes v as indented JSON and a line feed, with invisible characters escaped.
func WriteJSON[V any](w io.Writer, v V) error {
	enc := json.NewEncoder(reveal.JSONWriter(w))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (v Diagnostics) sarif(w io.Writer, list diag.List) error {
	doc := report.NewV210Report()
	run := sarif.NewRunWithInformationURI("ralph", "https://github.com/ralph-compiler/ralph")
	run.WithColumnKind("unicodeCodePoints")
	run.Tool.Driver.WithVersion(version.Ralph())
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
			res.AddFixe(sarif.NewFix().WithDescription(sarif.NewTextMessage("fix it")).AddArtifactChange(change))
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
	if s == diag.Error || s == diag.Warning {
		return s.String()
	}
	return "note"
}

// artifact names a file as a relative URI.
func artifact(file string) *sarif.ArtifactLocation {
	return sarif.NewSimpleArtifactLocation((&url.URL{Path: file}).EscapedPath())
}

func (v Diagnostics) location(r diag.Range) *sarif.Location {
	physical := sarif.NewPhysicalLocation().WithArtifactLocation(artifact(r.File))
	if v.Files[r.File] != nil {
		physical.WithRegion(v.region(r))
	}
	return sarif.NewLocationWithPhysicalLocation(physical)
}

func (v Diagnostics) region(r diag.Range) *sarif.Region {
	p := v.At(r)
	region := sarif.NewRegion().WithByteOffset(r.Start).WithByteLength(r.End - r.Start)
	if p.From != nil {
		region.WithStartLine(p.From.Line).WithStartColumn(p.From.Column).WithEndLine(p.To.Line).WithEndColumn(p.To.Column)
	}
	return region
}
