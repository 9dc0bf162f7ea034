package syntax

import (
	"strings"
)

// The lines directly below a label's line belong to its value as long as they can be a
// part of it. What is below that is text of the item, as everything is that a label
// does not take.

// continues reports whether lines below a label's line can belong to its value.
func continues(n LabelName) bool {
	s := shapeOf(n)
	return s == list || s == prose || s == checks
}

// valueEnd returns where the value of a label ends whose lines go on at from.
func (p *parser) valueEnd(l *lineLabel, from, end int) int {
	to := end
	for at, stop := range p.lines(from, end) {
		if _, label := p.labelLine(at, stop); label || p.boldAside(at, stop) {
			to = at
			break
		}
	}
	if strings.TrimSpace(p.src[l.value:from]) == "" { // the value begins below
		from = nextLine(p.src[:to], from)
	}
	if from >= to {
		return to
	}
	switch {
	case l.name.IsDependency():
		return p.namesEnd(l.value, from, to)
	case l.name == Owns || l.name == Files || l.name == Reads:
		return p.linesEnd(from, to, pathFirst.MatchString)
	case l.name == DevAgents || l.name == QAAgents:
		return p.linesEnd(from, to, func(line string) bool { return line[0] == '`' || line[0] == '@' || !strings.Contains(line, " ") })
	case l.name == LabelsLabel || l.name == Capability || l.name == Implements:
		return p.linesEnd(from, to, func(string) bool { return false })
	}
	return to // any text is a value
}

// namesEnd ends the value of a dependency label above the first line from which on nothing
// names anything.
func (p *parser) namesEnd(value, from, to int) int {
	if p.names == nil || to-value > maxPlainValue {
		return to
	}
	tail := value + p.readValue(p.src[value:to]).Tail
	if tail >= to {
		return to
	}
	return max(from, lineStart(p.src, tail))
}

// linesEnd ends a list above the first line that no comma leads to, and that does not
// begin like an entry.
func (p *parser) linesEnd(from, to int, entry func(line string) bool) int {
	above := strings.TrimSpace(p.src[lineStart(p.src, from-1):from])
	for at, stop := range p.lines(from, to) {
		line := strings.TrimSpace(p.src[at:stop])
		if line != "" && !strings.HasSuffix(above, ",") && !entry(line) {
			return at
		}
		above = line
	}
	return to
}

// commandLines splits a text whose first line is one code span and that continues below it:
// below Verify that line is a command, and so is each that follows it while it is one
// code span; the lines after them are another text.
func (p *parser) commandLines(t Text) (first Text, rest []ListItem) {
	at := nextLine(p.src[:t.Range.End], t.Range.Start)
	if at >= t.Range.End {
		return t, nil
	}
	if first = p.plain(t.Range.Start, at).Text; !first.Code {
		return t, nil
	}
	for at < t.Range.End {
		next := nextLine(p.src[:t.Range.End], at)
		line := p.plain(at, next).Text
		if !line.Code {
			line, next = p.plain(at, t.Range.End).Text, t.Range.End
		}
		rest = append(rest, ListItem{Text: line, Range: line.Range})
		at = next
	}
	return first, rest
}
