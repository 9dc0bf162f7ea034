package syntax

// commandLines parts a text that goes on behind a first line that is one code span:
// below Verify that line is a command, and so is each that follows it while it is one
// code span; the lines behind them are another text.
func (p *parser) commandLines(t Text) (first Text, rest []ListItem, ok bool) {
	at := nextLine(p.src[:t.Range.End], t.Range.Start)
	if at >= t.Range.End {
		return t, nil, false
	}
	first = p.plain(t.Range.Start, at).Text
	if !first.Code {
		return t, nil, false
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
	return first, rest, true
}
