package syntax

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/diag"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The comment of a case says why it is there. A line "dialect: NAME" chooses the
// dialect, "crlf" and "bom" change the plan before it is read.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no golden cases: %v", err)
	}
	dialects := builtinDialects()
	var all []Dialect
	for _, name := range slices.Sorted(maps.Keys(dialects)) {
		all = append(all, dialects[name])
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			opts := Options{Dialect: Sprint(), Dialects: all}
			src := file(a, "plan.md")
			for line := range strings.Lines(string(a.Comment)) {
				switch key, value, _ := strings.Cut(strings.TrimSpace(line), ": "); key {
				case "dialect":
					opts.Dialect = dialects[value]
				case "ignore_case":
					opts.Dialect.IgnoreCase = true
				case "crlf":
					src = strings.ReplaceAll(src, "\n", "\r\n")
				case "bom":
					src = "\uFEFF" + src
				case "no final newline":
					src = strings.TrimSuffix(src, "\n")
				}
			}
			src = strings.NewReplacer("^[", "\x1b", "\\u{202e}", "\u202e").Replace(src)
			plan, diags := Parse(diag.NewFile("plan.md", []byte(src)), opts)
			got := map[string]string{"out/tree": printTree(plan), "out/diags": printDiags(plan.File, diags)}
			if *update {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "out/") })
				for _, n := range slices.Sorted(maps.Keys(got)) {
					a.Files = append(a.Files, txtar.File{Name: n, Data: []byte(got[n])})
				}
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, n := range slices.Sorted(maps.Keys(got)) {
				if want := file(a, n); got[n] != want {
					t.Errorf("%s differs (go test ./compiler/syntax -update rewrites it)\ngot:\n%s\nwant:\n%s", n, got[n], want)
				}
			}
		})
	}
}

func file(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func printDiags(f *diag.File, diags diag.List) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s: %s %s: %s\n", f.Position(d.Range.Start), d.Severity, d.Code, d.Summary)
		fmt.Fprintf(&b, "    at %q\n    %s\n", short(f.Text(d.Range)), d.Detail)
		for _, r := range d.Related {
			fmt.Fprintf(&b, "    %s: %s\n", f.Position(r.Range.Start), r.Message)
		}
		if d.Fix != nil {
			fmt.Fprintf(&b, "    fix: %q to %q\n", f.Text(d.Fix.Range), d.Fix.Text)
		}
	}
	return b.String()
}

func short(s string) string {
	if len(s) > 70 {
		return s[:70] + "…"
	}
	return s
}

type printer struct {
	strings.Builder
	f *diag.File
}

func (p *printer) line(indent int, format string, args ...any) {
	p.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

func (p *printer) at(r diag.Range) string {
	if r.IsZero() {
		return "-"
	}
	return fmt.Sprintf("%s %q", p.f.Position(r.Start), short(p.f.Text(r)))
}

func printTree(t *Plan) string {
	p := &printer{f: t.File}
	fm := &t.FrontMatter
	if fm.Present() {
		p.line(0, "front matter to byte %d", fm.Range.End)
		for _, s := range []struct {
			name string
			list []Stated
		}{
			{"ralph", []Stated{fm.Ralph}},
			{"id", []Stated{fm.ID}},
			{"title", []Stated{fm.Title}},
			{"policy", []Stated{fm.Policy}},
			{"policies", fm.Policies},
			{"base", []Stated{fm.Base}},
			{"integration", []Stated{fm.Integration}},
			{"owner", []Stated{fm.Owner}},
			{"labels", fm.Labels},
			{"dialect", []Stated{fm.Dialect}},
		} {
			for _, v := range s.list {
				if v.Set() {
					p.line(1, "%s: %q at %s", s.name, v.Value, p.at(v.Range))
				}
			}
		}
	}
	p.line(0, "title %q at %s", t.Title, p.at(t.TitleRange))
	p.annotation(t.Epic, t.EpicSlot)
	p.section(&t.Section, 1)
	for i := range t.Phases {
		ph := &t.Phases[i]
		p.line(0, "phase %s %q at %s items %v%s%s", ph.ID, ph.Name, p.at(ph.IDRange), ph.Items, flagged(" implicit", ph.Implicit), flagged(" done by "+ph.DoneBy, ph.Done))
		p.section(&ph.Section, 1)
	}
	for i := range t.Splits {
		sp := &t.Splits[i]
		p.line(0, "split %s %q at %s items %v%s", sp.ID, sp.Name, p.at(sp.IDRange), sp.Items, flagged(" done by "+sp.DoneBy, sp.Done))
		p.section(&sp.Section, 1)
	}
	for i := range t.Items {
		it := &t.Items[i]
		p.line(0, "item %s %q at %s phase %d level %d %s%s%s%s", it.ID, it.Title, p.at(it.KeyRange), it.Phase, it.Level, it.Kind,
			flagged(" parallel", it.Parallel), flagged(" optional", it.Optional), flagged(" done by "+it.DoneBy, it.Done))
		p.line(1, "section %s", it.Section)
		if it.FirstPart > 0 {
			p.line(1, "first part %s", t.Items[it.FirstPart].ID)
		}
		if !it.TitleRange.IsZero() {
			p.line(1, "title at %s", p.at(it.TitleRange))
		}
		if it.Done {
			p.line(1, "done at %s", p.at(it.DoneRange))
		}
		for _, tag := range it.Tags {
			p.line(1, "tag %s at %s", tag.Value, p.at(tag.Range))
		}
		p.annotation(it.Annotation, it.Slot)
		p.section(&it.Body, 1)
	}
	for _, c := range t.Cancelled {
		p.line(0, "cancelled %s at %s", c.ID, p.at(c.Range))
	}
	for i := range t.Orders {
		p.order(&t.Orders[i])
	}
	for _, o := range t.Others {
		p.line(0, "dialect %s: %d, %d outside", o.Dialect, o.Items, o.Outside)
	}
	if len(t.Words) > 0 {
		p.line(0, "words %q", t.Words)
	}
	return p.String()
}

func (p *printer) order(o *Order) {
	p.line(0, "order at %s names %d%s", p.at(o.Range), o.Named, flagged(" headed", o.Headed))
	for _, l := range o.Lines {
		p.line(1, "%q at %s: %s%s", l.Name.Value, p.at(l.Name.Range), p.at(l.Value.Range), flagged(" aside", l.Aside)+flagged(" plain", l.Plain))
	}
	for _, w := range o.Waves {
		p.line(1, "wave at %s", p.at(w.Range))
		for _, t := range w.Tasks {
			p.line(2, "%s at %s", t.Value, p.at(t.Range))
		}
	}
	if o.Drawing == nil {
		return
	}
	for i, n := range o.Drawing.Nodes {
		p.line(1, "node %d %s %q in %d at %s%s", i, n.ID, n.Text, n.In, p.at(n.Range), flagged(" subgraph", n.Subgraph))
	}
	for _, a := range o.Drawing.Arrows {
		p.line(1, "%d -> %d at %s", a.From, a.To, p.at(a.Range))
	}
}

func flagged(s string, on bool) string {
	if on {
		return s
	}
	return ""
}

func (p *printer) annotation(a Annotation, s Slot) {
	if a.Set() {
		p.line(1, "annotation %s at %s", a.ID, p.at(a.Range))
		return
	}
	before := lineStart(string(p.f.Bytes), max(0, min(s.Offset, len(p.f.Bytes))))
	if s.Form == OwnLine {
		p.line(1, "slot %d own line %q %q before line %d", s.Offset, s.Prefix, s.Suffix, p.f.Position(s.Offset).Line)
		return
	}
	p.line(1, "slot %d behind %q %q", s.Offset, short(string(p.f.Bytes[before:s.Offset])), s.Prefix)
}

// labelSources names where labels were read from.
var labelSources = map[LabelFrom]string{
	FromBold: "label", FromHeading: "heading", FromDirective: "directive", FromCell: "table",
	FromTitle: "title", FromFrontMatter: "front matter", FromPlain: "plain",
}

func (p *printer) section(s *Section, n int) {
	if s.Boxes != (Boxes{}) {
		p.line(n, "boxes %d ticked %d open", s.Boxes.Ticked, s.Boxes.Open)
	}
	for i := range s.Labels {
		l := &s.Labels[i]
		p.line(n, "label %s (%s) = %q at %s%s", l.Name, labelSources[l.From], l.Value.Value, p.at(l.Value.Range), flagged(" code", l.Value.Code))
		for _, it := range l.Items {
			p.listItem(&it, n+1)
		}
		for _, t := range l.Text {
			p.line(n+1, "text %q", t)
		}
		for _, f := range l.Fences {
			p.line(n+1, "fence %s %v %q", f.Lang, attrs(f.Info), f.Content)
		}
	}
	for _, t := range s.Tasks {
		p.line(n, "task")
		p.listItem(&t, n+1)
	}
	for _, f := range s.Fragments {
		p.line(n, "fragment %q at %s", f.Source, p.at(f.Range))
	}
	for _, f := range s.Outputs {
		p.line(n, "output %v %q", attrs(f.Info), f.Content)
	}
	for _, l := range s.Prose {
		p.line(n, "| %s", strings.ReplaceAll(l, "\x1b", "^["))
	}
}

func attrs(list []Attr) (out []string) {
	for _, a := range list {
		out = append(out, a.Key+"="+a.Value)
	}
	return out
}

func (p *printer) listItem(it *ListItem, n int) {
	box := [...]string{"-", "[ ]", "[x]"}[it.Box]
	p.line(n, "%s %q%s", box, it.Text.Value, flagged(" code", it.Text.Code))
	for _, d := range it.Detail {
		p.line(n+1, "| %s", d)
	}
}
