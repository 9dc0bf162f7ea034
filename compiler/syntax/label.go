package syntax

import (
	"cmp"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// lineLabel is a line that begins with a bold label.
type lineLabel struct {
	name    LabelName
	known   bool
	meant   string // the control that the name nearly is; "" if it is right
	written string
	at      span // of the name
	value   int  // offset of what follows the colon
}

// longestName bounds what is taken for a label's name.
const longestName = 80

// labelLine reads src[at:end] as "**Label**: value" or "**Label:** value", and as
// "**Success Criteria** (what must be TRUE):".
func (p *parser) labelLine(at, end int) (lineLabel, bool) {
	name, rest, colon, ok := p.boldStart(at, end)
	aside := 0
	if ok && !colon {
		aside = behindAside(p.src[rest:end])
	}
	if !ok || !colon && aside == 0 {
		return lineLabel{}, false
	}
	l := lineLabel{written: p.src[name.start:name.end], at: name, value: rest + aside}
	l.name, l.meant, l.known = lookupNear(l.written)
	return l, aside == 0 || l.name == Acceptance && l.meant == ""
}

// boldStart reads the bold text that a line begins with. colon reports whether
// it ends with a colon or one follows; rest is the offset after all of that.
func (p *parser) boldStart(at, end int) (name span, rest int, colon, ok bool) {
	at = end - len(strings.TrimLeftFunc(p.src[at:end], func(r rune) bool { return isBlank(r) || r == '\t' }))
	if end-at < 5 || p.src[at] != '*' && p.src[at] != '_' || p.src[at+1] != p.src[at] {
		return name, 0, false, false
	}
	n := run(p.src, at, end)
	if n > 3 {
		return name, 0, false, false
	}
	start := at + n
	k := strings.Index(p.src[start:min(end, start+longestName)], p.src[at:start])
	if k <= 0 {
		return name, 0, false, false
	}
	rest = start + k + n
	stop := start + k
	for _, c := range []string{":", "："} {
		if s, found := strings.CutSuffix(strings.TrimRight(p.src[start:stop], " "), c); found {
			stop, colon = start+len(s), true
		}
	}
	j := rest
	for !colon && j < end && p.src[j] == ' ' {
		j++
	}
	for _, c := range []string{":", "："} { // also a second one: "**Goal:**: build it"
		if strings.HasPrefix(p.src[j:end], c) {
			rest, colon = j+len(c), true
			break
		}
	}
	start = stop - len(strings.TrimLeftFunc(p.src[start:stop], isBlank))
	stop = start + len(strings.TrimRight(p.src[start:stop], " "))
	if start >= stop || strings.ContainsAny(p.src[start:stop], "`<[\n") {
		return name, 0, false, false
	}
	return span{start, stop}, rest, colon, true
}

// boldAside reports whether a line is "**Settings** (the exact names):": no label, but no
// part of the label above it either.
func (p *parser) boldAside(at, end int) bool {
	_, rest, colon, ok := p.boldStart(at, end)
	return ok && !colon && behindAside(p.src[rest:end]) > 0
}

// behindAside returns where a text continues after "(what must be true):" at its
// beginning; 0 if it does not begin so.
func behindAside(s string) int {
	if !strings.HasPrefix(strings.TrimLeft(s, " "), "(") {
		return 0
	}
	open := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			open++
		case ')':
			if open--; open > 0 {
				continue
			}
			if strings.HasPrefix(s[i:], "):") {
				return i + len("):")
			}
			return 0
		}
	}
	return 0
}

// headingLabel reads a heading whose text is a label, alone or with a value.
func (p *parser) headingLabel(b *block) (Label, bool) {
	in := p.plain(int(b.a), int(b.b))
	v := in.Value
	i := len(v) - len(strings.TrimLeftFunc(v, isBlank))
	name, value := v[i:], ""
	at := len(v)
	if k := strings.Index(v[i:], ":"); k >= 0 {
		name, value, at = v[i:i+k], v[i+k+1:], i+k+1
	}
	if strings.TrimSpace(name) == "" || len(name) > longestName {
		return Label{}, false
	}
	n, meant, ok := lookupNear(strings.TrimFunc(name, isBlank))
	if !ok {
		return Label{}, false
	}
	l := Label{Name: n, Meant: meant, Written: strings.TrimSpace(name), NameRange: in.Sub(i, i+len(strings.TrimRight(name, " "))), From: FromHeading}
	l.Value = in.text(at, at+len(value))
	l.Lines = []string{strings.TrimSpace(p.src[b.start:lineEnd(p.src, int(b.start))])}
	return l, true
}

// unknown remembers a label that means nothing, for one hint a name.
func (p *parser) unknown(l lineLabel) {
	key := stems(l.written)
	if u, ok := p.unknowns[key]; ok {
		u.n++
		return
	}
	if len(p.unknownOrder) >= maxUnknown {
		return
	}
	u := &unknownLabel{written: l.written, at: p.rng(l.at), n: 1}
	p.unknowns[key] = u
	p.unknownOrder = append(p.unknownOrder, u)
}

type unknownLabel struct {
	written string
	at      diag.Range
	n       int
}

// maxUnknown bounds the hints about labels that mean nothing.
const maxUnknown = 50

// reportUnknown hints at labels that are read as prose: one hint for each name
// that is near a label, one for all the others.
func (p *parser) reportUnknown() {
	var others []*unknownLabel
	for _, u := range p.unknownOrder {
		near, ok := nearestLabel(u.written)
		if !ok {
			others = append(others, u)
			continue
		}
		d := diag.Newf("unknown-label", u.at, "%s is not one of ralph's labels", quoted(u.written))
		if meant, ok := allLabels().Find(u.written); ok {
			near, d.Severity = meant, diag.Warning
		}
		d = d.WithDetail("It is read as prose%s. Did you mean %q?", places(u.n), near)
		if u.n == 1 {
			d = d.WithFix(u.at, near)
		}
		p.report(d)
	}
	switch len(others) {
	case 0:
		return
	case 1:
		u := others[0]
		p.report(diag.Newf("unknown-label", u.at, "%s is not one of ralph's labels", quoted(u.written)).WithDetail(
			"It is read as prose%s. Ignore this if that is intended.", places(u.n)))
		return
	}
	names := clipped(others, 2*maxRelated, func(u *unknownLabel) string { return u.written })
	p.report(diag.Newf("unknown-label", others[0].at, "%s read as prose", text.Counted(len(others), "bold name is", "bold names are")).WithDetail(
		"No label of ralph has these names, so they are prose: %s. Ignore this if that is intended.", names))
}

func places(n int) string {
	if n == 1 {
		return ""
	}
	return ", here and in " + text.Count(n-1, "other place")
}

func nearestLabel(written string) (string, bool) {
	if Exempt(NearLabels, written) {
		return "", false
	}
	return nearest(written, LabelNames())
}

// nearLabel warns of a known label in a form that is not read: without a colon,
// or with the value inside the bold text.
func (p *parser) nearLabel(at, end int, followed bool) {
	name, rest, colon, ok := p.boldStart(at, end)
	if !ok || colon {
		return
	}
	written := p.src[name.start:name.end]
	tail := strings.TrimSpace(p.src[rest:end])
	if before, _, found := strings.Cut(written, ":"); found && tail == "" {
		if n, meant, known := lookupNear(before); known {
			p.report(diag.Newf("label-form", p.rng(name), "the value of %s is inside the bold text", quoted(before)).WithDetail(
				"It is read as prose, and the field %s is not set. Write **%s**: value, with only the name in bold.", labelWord(n), cmp.Or(meant, before)))
		}
		return
	}
	n, meant, known := lookupNear(written)
	if !known || tail == "" && !followed || tail != "" && !strings.HasPrefix(tail, "-") && !strings.HasPrefix(tail, "–") && !strings.HasPrefix(tail, "—") && !isValue(n, tail) {
		return
	}
	p.report(diag.Newf("label-form", p.rng(name), "%s has no colon", quoted(written)).WithDetail(
		"Without a colon it is prose, and what follows does not become %s. Write **%s**: instead.", labelWord(n), cmp.Or(meant, written)))
}

func labelWord(n LabelName) string { return strings.ReplaceAll(string(n), "_", " ") }

// attributes reads "word", "key=value" and key="quoted value" in src[at:end].
func (p *parser) attributes(at, end int) (out []Attr, bad diag.Range) {
	for {
		at = end - len(strings.TrimLeft(p.src[at:end], " \t\r\n,{}"))
		if at >= end {
			return out, bad
		}
		a := Attr{}
		start := at
		at = upTo(p.src, at, end, " \t\r\n=,{}")
		a.Key = strings.ToLower(p.src[start:at])
		a.Range, a.ValueRange = p.file.Range(start, at), p.file.Range(at, at)
		if at < end && p.src[at] == '=' {
			at++
			var ok bool
			if a.Value, a.ValueRange, at, ok = p.attrValue(at, end); !ok && bad.IsZero() {
				bad = p.file.Range(start, end)
			}
		}
		if start == at {
			at++
			continue
		}
		a.Range.End = at
		out = append(out, a)
	}
}

// attrValue reads a value, quoted or up to the next space.
func (p *parser) attrValue(at, end int) (string, diag.Range, int, bool) {
	start := at
	if at >= end || p.src[at] != '"' && p.src[at] != '\'' {
		at = upTo(p.src, at, end, " \t\r\n}")
		v := strings.TrimRight(p.src[start:at], ",")
		return v, p.file.Range(start, start+len(v)), at, true
	}
	quote := p.src[at]
	var b strings.Builder
	for at++; at < end; at++ {
		switch c := p.src[at]; {
		case c == quote:
			return b.String(), p.file.Range(start+1, at), at + 1, true
		case c == '\\' && at+1 < end && (p.src[at+1] == quote || p.src[at+1] == '\\'):
			at++
			b.WriteByte(p.src[at])
		case c == '\n':
			b.WriteByte(' ')
		case c != '\r':
			b.WriteByte(c)
		}
	}
	return b.String(), p.file.Range(start+1, end), end, false
}
