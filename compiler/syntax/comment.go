package syntax

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
)

const (
	epicMark      = "beads-ralph-epic:"
	nodeMark      = "beads-ralph:"
	directiveMark = "ralph:"
)

// html parses an HTML block: comments that mean something, and what people
// can see of it.
func (r *reader) html(b *block) {
	p := r.p
	in := p.plain(int(b.start), int(b.end))
	p.comments(r, in.comments)
	if text := p.shown(int(b.start), int(b.end)); strings.TrimSpace(text) != "" && !strings.HasPrefix(strings.TrimSpace(text), "<!--") {
		r.verbatim(b)
	}
}

// comments looks at comments for annotations and directives. r is nil where no
// section is.
func (p *parser) comments(r *reader, list []span) {
	for _, c := range list {
		end := c.end - 3
		at := trimmed(p.src, c.start+4, end).start
		body := p.src[at:max(at, end)]
		switch {
		case strings.HasPrefix(body, epicMark):
			p.epicAnnotation(r, c, at+len(epicMark), end)
		case strings.HasPrefix(body, nodeMark):
			p.nodeAnnotation(r, c, at+len(nodeMark), end)
		case strings.HasPrefix(body, directiveMark):
			p.directive(r, c, at+len(directiveMark), end)
		default:
			p.nearComment(c, body)
		}
	}
}

// annotationID reads the id of an annotation.
func (p *parser) annotationID(c span, at, end int) (Annotation, bool) {
	id := trimmed(p.src, at, end)
	a := Annotation{ID: p.src[id.start:id.end], Range: p.rng(c)}
	if !isNodeID(a.ID) {
		p.report(diag.New("malformed-annotation", a.Range, "an annotation has no usable id").WithDetail(
			"An id has letters, digits, “-”, “_” and single “.” inside, at most 64 of them, such as bd-a1b2c3. Restore the id, or delete the comment: the next compile writes a new one."))
		return Annotation{}, false
	}
	return a, true
}

// isNodeID reports whether an id can be a part of git's refs; "integration" is
// the one that ralph itself has there.
func isNodeID(s string) bool {
	if s == "integration" || strings.Contains(s, "..") || strings.HasSuffix(s, ".") || strings.HasSuffix(s, ".lock") {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c < utf8.RuneSelf && isWord(c) || i > 0 && strings.IndexByte("-_.", c) >= 0) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

func (p *parser) epicAnnotation(r *reader, c span, at, end int) {
	a, ok := p.annotationID(c, at, end)
	if !ok {
		return
	}
	if p.plan.Epic.Set() {
		p.twoAnnotations(&p.plan.Epic, a, "the plan")
		return
	}
	p.plan.Epic = a
	if r != nil && r.kind != planSection {
		p.report(diag.New("misplaced-annotation", a.Range, "the id of the epic is inside a section").WithDetail(
			"It was read anyway. Move the line below the title of the plan."))
	}
}

// firstLines is how far below a heading an annotation is as a rule.
const firstLines = 3

func (p *parser) nodeAnnotation(r *reader, c span, at, end int) {
	a, ok := p.annotationID(c, at, end)
	if !ok {
		return
	}
	switch {
	case r == nil || r.annotation == nil:
		p.strays = append(p.strays, a)
		return
	case r.annotation.Set():
		p.twoAnnotations(r.annotation, a, "one item")
		return
	case r.lines >= firstLines:
		p.report(diag.New("misplaced-annotation", a.Range, "an annotation is far below its heading").WithDetail(
			"It was read as the id of the item above it. Move the line directly below the heading."))
	}
	*r.annotation = a
	p.annotated(a)
}

// reportStrays reports ids that belong to no item. Where there are no items they belong
// to those of another dialect.
func (p *parser) reportStrays() {
	if len(p.plan.Items) == 0 {
		p.plan.Strays = len(p.strays)
		return
	}
	for _, a := range p.strays {
		p.report(diag.New("misplaced-annotation", a.Range, "an annotation belongs to no item").WithDetail(
			"The id %s belongs below an item's heading, and there is none here. Move the line below its item, or delete it.", a.ID))
	}
}

// twoAnnotations reports a second annotation in one place.
func (p *parser) twoAnnotations(first *Annotation, second Annotation, who string) {
	d := diag.Newf("duplicate-annotation", second.Range, "%s has two annotations", who)
	if first.ID == second.ID {
		d = diag.Newf("duplicate-annotation", second.Range, "the annotation %s appears twice", quoted(second.ID))
	}
	p.report(d.WithDetail("An id names one item. Delete the lower one.").
		WithRelated(first.Range, "the first annotation").WithFix(p.wholeLine(second.Range), ""))
}

// annotated remembers the id of an item and reports one that is there twice.
func (p *parser) annotated(a Annotation) {
	if first, ok := p.annotations[a.ID]; ok {
		p.twoAnnotations(&first, a, "")
		return
	}
	p.annotations[a.ID] = a
}

// wholeLine widens a range to its line if nothing else is there.
func (p *parser) wholeLine(r diag.Range) diag.Range {
	start, next := lineStart(p.src, r.Start), nextLine(p.src, r.End)
	if strings.TrimSpace(p.src[start:r.Start]) == "" && strings.TrimSpace(p.src[r.End:next]) == "" {
		return p.file.Range(start, next)
	}
	return r
}

// directive reads "key=value …" as labels.
func (p *parser) directive(r *reader, c span, at, end int) {
	if r == nil {
		p.report(diag.New("misplaced-directive", p.rng(c), "a directive belongs to no section").WithDetail(
			"It is neither below the title nor in a group or an item. Move it below the heading that it is about."))
		return
	}
	attrs, bad := p.attributes(at, end)
	if !bad.IsZero() {
		p.report(diag.New("malformed-directive", bad, "a quoted value is not closed").WithDetail(
			`Write key="value" with both quotes; a quote inside the value is written \".`))
	}
	if len(attrs) == 0 {
		p.report(diag.New("malformed-directive", p.rng(c), "a directive is empty").WithDetail("Write <!-- ralph: key=value -->, or delete it."))
	}
	for _, a := range attrs {
		n, known := fieldOf(a.Key)
		key := a.Range
		key.End = key.Start + len(a.Key)
		if !known {
			d := diag.Newf("unknown-directive", key, "%s is not a field of a directive", quoted(a.Key))
			if near, ok := nearest(a.Key, directiveKeys()); ok {
				d = d.WithDetail("Did you mean %q?", near).WithFix(key, near)
			} else {
				d = d.WithDetail("A directive takes the same fields as the labels of a plan; use one of them, or write an ordinary comment.")
			}
			p.report(d)
			continue
		}
		if a.Value == "" {
			p.report(diag.Newf("malformed-directive", a.Range, "%s has no value", quoted(a.Key)).WithDetail(
				"Write %s=value, without spaces around the sign; quote a value that has spaces.", a.Key))
			continue
		}
		l := Label{Name: n, Written: a.Key, NameRange: key, From: FromDirective}
		l.Value = Text{Value: a.Value, Raw: a.Value, Range: a.ValueRange}
		again := r.keepOpen()
		r.add(l)
		again()
	}
}

// fieldOf returns the field of a directive: a label as it may be written, or its name in
// the epic.
func fieldOf(key string) (LabelName, bool) {
	if n, ok := LookupLabel(key); ok {
		return n, true
	}
	return LabelName(key), slices.Contains(directiveKeys(), key)
}
