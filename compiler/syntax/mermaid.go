package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
)

// Drawing is a mermaid graph.
type Drawing struct {
	Nodes  []DrawnNode
	Arrows []Arrow
}

// DrawnNode is a node or a subgraph of a drawing.
type DrawnNode struct {
	ID       string
	Text     string     // without markup; "" if it has none of its own
	Range    diag.Range // where it is first
	Subgraph bool
	In       int // index of the subgraph around it; -1
}

// Arrow leads from one node to another.
type Arrow struct {
	From, To int
	Range    diag.Range // of both and what is between
}

// Bounds of a drawing: beyond them it is not understood.
const (
	maxArrows    = 100_000
	maxSubgraphs = 32 // one in another
)

// mermaidReader reads the part of mermaid's language that states an order. It
// goes through the text once; the first thing that it does not understand ends it.
type mermaidReader struct {
	p    *parser
	src  string // up to the end of the fence's content
	at   int
	eol  int // end of the line that was looked at last
	last int // end of the vertex that was read last
	d    *Drawing
	byID map[string]int
	open []int // subgraphs
	why  string
}

// mermaid parses a graph. d is nil if the text is not a graph; why then says what is not
// understood at an offset, and is empty for another kind of diagram.
func (p *parser) mermaid(from, to int) (d *Drawing, at int, why string) {
	m := mermaidReader{p: p, src: p.src[:to], at: from, d: &Drawing{}, byID: map[string]int{}}
	if !m.header() {
		return nil, m.at, m.why
	}
	for m.why == "" {
		m.blanks()
		if m.at >= len(m.src) {
			break
		}
		m.statement()
	}
	if m.why == "" && len(m.open) > 0 {
		m.at = m.d.Nodes[m.open[len(m.open)-1]].Range.Start
		m.fail("a subgraph has no end")
	}
	m.depth()
	if m.why != "" {
		return nil, m.at, m.why
	}
	return m.d, 0, ""
}

// depth checks how deep subgraphs are in each other: an id may be put into one
// before it becomes one itself.
func (m *mermaidReader) depth() {
	for i := range m.d.Nodes {
		n := 0
		for in := m.d.Nodes[i].In; in >= 0; in = m.d.Nodes[in].In {
			if n++; n > maxSubgraphs {
				m.at = m.d.Nodes[i].Range.Start
				m.fail("subgraphs are nested too deeply")
				return
			}
		}
	}
}

// line returns the rest of the line from an offset on, which never goes back.
func (m *mermaidReader) line(from int) string {
	if from >= m.eol {
		m.eol = lineEnd(m.src, from)
	}
	return m.src[from:m.eol]
}

func (m *mermaidReader) fail(why string) bool {
	if m.why == "" {
		m.why = why
		m.at = min(m.at, max(0, len(m.src)-1))
	}
	return false
}

// skip passes over some characters.
func (m *mermaidReader) skip(chars string) {
	m.at = len(m.src) - len(strings.TrimLeft(m.src[m.at:], chars))
}

// has reports whether a mark is at the offset.
func (m *mermaidReader) has(mark string) bool { return strings.HasPrefix(m.src[m.at:], mark) }

// blanks passes over what separates statements: blanks, line ends, semicolons
// and comments.
func (m *mermaidReader) blanks() {
	for m.skip(" \t\r\n;"); m.has("%%"); m.skip(" \t\r\n;") {
		m.at += len(m.line(m.at))
	}
}

func (m *mermaidReader) spaces() { m.skip(" \t") }

// word returns the letters and "-" at the offset.
func (m *mermaidReader) word() string {
	end := m.at
	for end < len(m.src) && (isLetter(m.src[end]) || m.src[end] == '-' && end > m.at) {
		end++
	}
	return m.src[m.at:end]
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// header reads "flowchart LR" after comments and front matter.
func (m *mermaidReader) header() bool {
	m.blanks()
	if m.has("---") {
		at := nextLine(m.src, m.at)
		for at < len(m.src) && strings.TrimSpace(m.src[at:lineEnd(m.src, at)]) != "---" {
			at = nextLine(m.src, at)
		}
		m.at = lineEnd(m.src, at)
		m.blanks()
	}
	switch w := m.word(); w {
	case "graph", "flowchart", "flowchart-elk":
		m.at += len(w)
	default:
		return false
	}
	m.spaces()
	switch w := m.word(); w {
	case "TB", "TD", "BT", "RL", "LR":
		m.at += len(w)
	case "":
		if m.has(">") || m.has("<") || m.has("^") {
			m.at++
		}
	default:
		return m.fail("the direction is not known")
	}
	return m.ended()
}

// ended reports whether a statement ends here.
func (m *mermaidReader) ended() bool {
	return m.atEnd() || m.fail("something follows the end of a statement")
}

// atEnd reports whether nothing but blanks is in front of a statement's end.
func (m *mermaidReader) atEnd() bool {
	m.spaces()
	return m.at >= len(m.src) || strings.IndexByte("\r\n;", m.src[m.at]) >= 0 || m.has("%%")
}

// toEnd passes over the rest of a statement and returns it; a semicolon in
// quotation marks does not end it.
func (m *mermaidReader) toEnd() string {
	start, quoted := m.at, false
	for m.at < len(m.src) && m.src[m.at] != '\n' && m.src[m.at] != '\r' && (quoted || m.src[m.at] != ';') {
		quoted = quoted != (m.src[m.at] == '"')
		m.at++
	}
	return strings.TrimSpace(m.src[start:m.at])
}

func (m *mermaidReader) statement() {
	start := m.at
	w := m.word()
	m.at += len(w)
	if m.at >= len(m.src) || strings.IndexByte(" \t\r\n;:", m.src[m.at]) >= 0 {
		switch w {
		case "classDef", "class", "style", "linkStyle", "click", "direction":
			m.toEnd()
			return
		case "accTitle", "accDescr":
			if text := m.toEnd(); !strings.HasPrefix(text, ":") {
				m.fail("a description goes over several lines")
			}
			return
		case "subgraph":
			m.subgraph(start)
			return
		case "end":
			if len(m.open) == 0 {
				m.fail("an end belongs to no subgraph")
				return
			}
			m.open = m.open[:len(m.open)-1]
			m.ended()
			return
		}
	}
	m.at = start
	m.chain()
}

// subgraph reads `subgraph one [Title]`, `subgraph "Title"` and `subgraph Title`.
func (m *mermaidReader) subgraph(start int) {
	m.spaces()
	rest := m.toEnd()
	id, title := rest, rest
	if k := strings.IndexByte(rest, '['); k > 0 && strings.HasSuffix(rest, "]") && rest[0] != '"' {
		id, title = strings.TrimSpace(rest[:k]), rest[k+1:len(rest)-1]
	}
	n := m.node(strings.Trim(id, `"`), start, start+len("subgraph"))
	if m.d.Nodes[n].Subgraph && id != "" {
		m.at = start
		m.fail("a subgraph appears twice")
		return
	}
	node := &m.d.Nodes[n]
	node.Subgraph, node.Text, node.Range = true, drawnText(title), m.p.file.Range(start, max(start, m.at))
	m.open = append(m.open, n)
}

// node returns the node of an id. One that is named inside a subgraph belongs to
// the first one that names it.
func (m *mermaidReader) node(id string, from, to int) int {
	in := -1
	if len(m.open) > 0 {
		in = m.open[len(m.open)-1]
	}
	if n, known := m.byID[id]; known && id != "" {
		if node := &m.d.Nodes[n]; node.In < 0 && !node.Subgraph && in != n {
			node.In = in
		}
		return n
	}
	m.byID[id] = len(m.d.Nodes)
	m.d.Nodes = append(m.d.Nodes, DrawnNode{ID: id, Range: m.p.file.Range(from, to), In: in})
	return len(m.d.Nodes) - 1
}

// chain reads "A & B --> C -- text --> D".
func (m *mermaidReader) chain() {
	start := m.at
	from, ok := m.nodes()
	for ok && !m.atEnd() {
		var seen bool
		if seen, ok = m.link(); !ok {
			return
		}
		m.skip(" \t\r\n") // an arrow may lead to the next line
		next := m.at
		var to []int
		if to, ok = m.nodes(); !ok {
			return
		}
		if seen && !m.arrows(from, to, m.p.file.Range(start, m.last)) {
			m.at = start
			m.fail("there are too many arrows")
			return
		}
		from, start = to, next
	}
}

func (m *mermaidReader) arrows(from, to []int, at diag.Range) bool {
	if len(from)*len(to)+len(m.d.Arrows) > maxArrows {
		return false
	}
	for _, f := range from {
		for _, t := range to {
			m.d.Arrows = append(m.d.Arrows, Arrow{From: f, To: t, Range: at})
		}
	}
	return true
}

func (m *mermaidReader) nodes() (out []int, ok bool) {
	for {
		n, ok := m.vertex()
		if !ok {
			return nil, false
		}
		out = append(out, n)
		m.spaces()
		if !m.has("&") {
			return out, true
		}
		m.at++
		m.spaces()
	}
}

// vertex reads an id with its text: T1, T1[Task 1], T1(["Task 1"]):::done.
func (m *mermaidReader) vertex() (int, bool) {
	start := m.at
	for m.at < len(m.src) {
		r, n := utf8.DecodeRuneInString(m.src[m.at:])
		rest := m.src[m.at+n:]
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' || r == '.' || r == '/' ||
			r == '-' && m.at > start && (rest == "" || strings.IndexByte("->.", rest[0]) < 0)
		if !inside {
			break
		}
		m.at += n
	}
	if m.at == start {
		return 0, m.fail("no node begins")
	}
	id := m.src[start:m.at]
	text, ok := m.shape()
	if !ok {
		return 0, false
	}
	if m.has(":::") {
		for m.at += 3; m.at < len(m.src) && (isWord(m.src[m.at]) || m.src[m.at] == '-'); {
			m.at++
		}
	}
	m.last = m.at
	n := m.node(id, start, m.at)
	if text != "" {
		m.d.Nodes[n].Text = text
	}
	return n, true
}
