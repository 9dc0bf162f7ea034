package gsd

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

var taskNumber = lazyregexp.New(`^Task \d{1,4}[a-z]?\s*[:.–—-]\s*`)

// task makes an entry of the task list of a <task>.
func (d *decoding) task(p *plan, src string, e element) {
	p.tasks++
	fields, between := d.elements(p.file, src, e.from, e.to)
	field := func(names ...string) string {
		i := slices.IndexFunc(fields, func(f element) bool { return f.name == names[0] })
		if i < 0 && len(names) > 1 {
			i = slices.IndexFunc(fields, func(f element) bool { return f.name == names[1] })
		}
		if i < 0 {
			return ""
		}
		return text.OneLine(src[fields[i].from:fields[i].to])
	}
	t := ir.Task{Text: taskNumber.ReplaceAllString(field("name"), "")}
	used := []string{"name"}
	at := p.file.Range(e.start, e.from)
	switch kind := e.attr("type"); {
	case strings.HasPrefix(kind, "checkpoint:human-action"):
		p.people++
		p.asks = at
		t.Text = lead("A person does this, ask for it", t.Text, field("action", "what-built"))
		used = append(used, "action")
	case strings.HasPrefix(kind, "checkpoint:decision"):
		p.asks = at
		t.Text = lead("A person decides this, ask and wait for the answer", t.Text, field("decision"))
		used = append(used, "decision")
	case strings.HasPrefix(kind, "checkpoint"):
		p.people++
		p.looks = at
		t.Text = lead("Look at it", t.Text, field("what-built"))
		used = append(used, "what-built", "resume-signal")
	}
	for _, b := range between {
		t.Detail = append(t.Detail, lines(src[b[0]:b[1]])...)
	}
	for _, f := range fields {
		if inner := src[f.from:f.to]; !slices.Contains(used, f.name) && strings.TrimSpace(inner) != "" {
			d.field(p, src, f, inner, &t)
		}
	}
	if t.Text == "" {
		t.Text = p.lastHeading()
	}
	if t.Text == "" && len(t.Detail) > 0 {
		t.Text, t.Detail = t.Detail[0], t.Detail[1:]
	}
	t.Text = cmp.Or(t.Text, "Task "+strconv.Itoa(p.tasks))
	if p.looks == at {
		p.checks = append(p.checks, t)
		return
	}
	p.node.Tasks = append(p.node.Tasks, t)
}

// field reads what an element of a task says.
func (d *decoding) field(p *plan, src string, f element, inner string, t *ir.Task) {
	n := &p.node
	switch f.name {
	case "action":
		t.Detail = append(t.Detail, lines(inner)...)
	case "files":
		t.Detail = append(t.Detail, "Files: "+text.OneLine(inner))
		for part := range strings.FieldsFuncSeq(inner, func(r rune) bool { return r == ',' || r == '\n' }) {
			p.addPath(&n.Scope.Files, strings.TrimPrefix(strings.TrimSpace(part), "- "))
		}
	case "read_first":
		t.Detail = append(t.Detail, labelled("Read first", inner)...)
		for _, s := range points(inner) {
			s, _, _ = strings.Cut(s, " ")
			p.addPath(&n.Scope.Reads, s)
		}
	case "verify":
		d.verify(p, src, f, t)
	case "automated":
		d.command(p, f, inner)
	case "done", "acceptance_criteria":
		n.Acceptance = append(n.Acceptance, points(inner)...)
	default:
		t.Detail = append(t.Detail, labelled(sentence(strings.NewReplacer("_", " ", "-", " ").Replace(f.name)), inner)...)
	}
}

var sectionHeading = lazyregexp.New(`^#{2,6}\s+(?:Task\s+)?(?:\d{1,4}[.):]?\s+)?(\S.*)$`)

// lastHeading takes the heading right before a task without a name out of the text.
func (p *plan) lastHeading() string {
	lines := p.node.Text
	if len(lines) == 0 {
		return ""
	}
	m := sectionHeading.FindStringSubmatch(lines[len(lines)-1])
	if m == nil || strings.EqualFold(m[1], "tasks") {
		return ""
	}
	p.node.Text = lines[:len(lines)-1]
	return text.OneLine(m[1])
}

// lead puts what a person does before the name of a task.
func lead(what, name, about string) string {
	switch {
	case name == "":
		return what + ": " + about
	case about == "" || about == name:
		return what + ": " + name
	}
	return what + ": " + name + " (" + about + ")"
}

func labelled(name, inner string) []string {
	got := lines(inner)
	if len(got) == 1 {
		only, _ := bulleted(strings.TrimSpace(got[0]))
		return []string{name + ": " + only}
	}
	return append([]string{name + ":"}, got...)
}

// verify reads how a task is checked: <automated> is a command, and so is a text that
// is one code span; other text is a criterion.
func (d *decoding) verify(p *plan, text string, e element, t *ir.Task) {
	parts, between := d.elements(p.file, text, e.from, e.to)
	for _, x := range parts {
		if x.name == "automated" {
			d.command(p, x, text[x.from:x.to])
		} else {
			t.Detail = append(t.Detail, labelled(sentence(x.name), text[x.from:x.to])...)
		}
	}
	for _, b := range between {
		s := strings.TrimSpace(text[b[0]:b[1]])
		if span, ok := strings.CutPrefix(s, "`"); ok && strings.HasSuffix(span, "`") && !strings.ContainsAny(span[:len(span)-1], "`\n") {
			d.command(p, element{from: b[0], to: b[1]}, span[:len(span)-1])
			continue
		}
		p.node.Acceptance = append(p.node.Acceptance, points(s)...)
	}
}

var entities = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'")

// command makes a gate of a command. GSD writes MISSING where there is none yet.
func (d *decoding) command(p *plan, e element, inner string) {
	n := &p.node
	run := strings.Join(lines(entities.Replace(inner)), "\n")
	if code, ok := strings.CutPrefix(run, "`"); ok && strings.HasSuffix(code, "`") && !strings.Contains(code[:len(code)-1], "`") {
		run = code[:len(code)-1]
	}
	at := p.file.Range(e.from, e.to)
	switch {
	case strings.TrimSpace(run) == "":
	case strings.HasPrefix(run, "MISSING"):
		n.Acceptance = append(n.Acceptance, text.OneLine(run))
	case hides(run):
		d.diags.Add(diag.New("hidden-in-command", at, "the command has invisible characters").
			WithDetail("It is “%s”: what a reader sees is not what runs. Remove them.", short(ir.Printable(run))))
	case !p.commands[run]:
		p.commands[run] = true
		n.Verify = append(n.Verify, ir.DraftGate{Run: run, Range: at})
	}
}

// hides reports whether a command has characters that do not show.
func hides(run string) bool {
	plain := strings.NewReplacer("\n", " ", "\t", " ").Replace(run)
	return ir.Printable(plain) != plain
}
