package cli

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// page is what a terminal of some columns and rows shows, where programs may go to any
// place of it, and to its other screen.
type page struct {
	columns, rows int
	cells         [][]rune
	other         [][]rune // of the usual screen, while the other one is shown
	row, col      int
	first, last   int // rows that scroll
	saved         [2]int
	cursor        bool
	unknown       []string // sequences
}

// paged is what stands on a terminal after all that was written to it.
func (x *terminal) paged(rows int) *page {
	x.mu.Lock()
	raw := x.raw.String()
	x.mu.Unlock()
	p := &page{columns: x.columns, rows: rows, cursor: true, last: rows - 1}
	p.clear()
	for raw != "" {
		n := p.next(raw)
		if n == 0 {
			break // not whole yet
		}
		raw = raw[n:]
	}
	return p
}

func (p *page) String() string {
	var b strings.Builder
	for _, l := range p.cells {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return b.String()
}

func (p *page) clear() {
	p.cells = make([][]rune, p.rows)
	for i := range p.cells {
		p.cells[i] = []rune(strings.Repeat(" ", p.columns))
	}
}

// next does what raw begins with, and returns its length; 0 if that is not whole.
func (p *page) next(raw string) int {
	switch {
	case strings.HasPrefix(raw, "\x1b["):
		end := strings.IndexFunc(raw[2:], func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return 0
		}
		p.sequence(raw[2:2+end], raw[2+end])
		return end + 3
	case strings.HasPrefix(raw, "\x1b]"):
		return strings.IndexAny(raw, "\a\\") + 1
	case strings.HasPrefix(raw, "\x1bM"):
		if p.row == p.first {
			p.scroll(p.first, 1, false)
		} else {
			p.row = max(p.row-1, 0)
		}
		return 2
	case raw[0] == 0x1b:
		return min(len(raw), 2)
	}
	r, n := utf8.DecodeRuneInString(raw)
	switch {
	case r == '\r':
		p.col = 0
	case r == '\n' && p.row == p.last:
		p.scroll(p.first, 1, true)
	case r == '\n':
		p.row = min(p.row+1, p.rows-1)
	case r == '\b':
		p.col = max(min(p.col, p.columns-1)-1, 0)
	case r == '\t':
		p.col = min((p.col/8+1)*8, p.columns-1)
	case r >= ' ':
		p.put(r)
	}
	return n
}

func (p *page) put(r rune) {
	if p.col >= p.columns {
		p.col = 0
		p.next("\n")
	}
	p.cells[p.row][p.col] = r
	p.col++
}

// sequence does what a control sequence says.
func (p *page) sequence(args string, what byte) {
	list := strings.Split(args, ";")
	arg := func(i, usual int) int {
		if i < len(list) {
			if n, err := strconv.Atoi(list[i]); err == nil && n > 0 {
				return n
			}
		}
		return usual
	}
	n := arg(0, 1)
	line := p.cells[p.row]
	col := min(p.col, p.columns-1)
	switch what {
	case 'H', 'f':
		p.row, p.col = min(n, p.rows)-1, min(arg(1, 1), p.columns)-1
	case 'A':
		p.row = max(p.row-n, 0)
	case 'B':
		p.row = min(p.row+n, p.rows-1)
	case 'C':
		p.col = min(p.col+n, p.columns-1)
	case 'D':
		p.col = max(col-n, 0)
	case 'G', '`':
		p.col = min(n, p.columns) - 1
	case 'd':
		p.row = min(n, p.rows) - 1
	case 'I':
		p.col = min((p.col/8+n)*8, p.columns-1)
	case 'Z':
		p.col = max((col+7)/8-n, 0) * 8
	case 'X':
		blank(line[col:min(col+n, p.columns)])
	case 'P':
		blank(line[copy(line[col:], line[min(col+n, p.columns):])+col:])
	case '@':
		copy(line[min(col+n, p.columns):], line[col:])
		blank(line[col:min(col+n, p.columns)])
	case 'K':
		p.erase(arg(0, 0), line, col)
	case 'J':
		for i := range p.cells {
			if i > p.row && arg(0, 0) == 0 || i < p.row && arg(0, 0) == 1 || arg(0, 0) >= 2 {
				blank(p.cells[i])
			}
		}
		p.erase(arg(0, 0), line, col)
	case 'L', 'M':
		p.scroll(p.row, n, what == 'M')
	case 'S', 'T':
		p.scroll(p.first, n, what == 'S')
	case 'r':
		p.first, p.last, p.row, p.col = n-1, min(arg(1, p.rows), p.rows)-1, 0, 0
	case 'W': // where tabs are
	case 'h', 'l':
		p.mode(args, what == 'h')
	case 'm', 'u', 'q', 'p', 'n', 'c', 't': // colours, questions
	default:
		p.unknown = append(p.unknown, args+string(what))
	}
}

func blank(cells []rune) {
	for i := range cells {
		cells[i] = ' '
	}
}

func (p *page) erase(how int, line []rune, col int) {
	switch how {
	case 0:
		blank(line[col:])
	case 1:
		blank(line[:col+1])
	default:
		blank(line)
	}
}

// scroll moves the rows from one on, as far as rows scroll.
func (p *page) scroll(from, n int, up bool) {
	part := p.cells[from : p.last+1]
	for range min(n, len(part)) {
		if up {
			first := part[0]
			blank(first)
			copy(part, part[1:])
			part[len(part)-1] = first
		} else {
			last := part[len(part)-1]
			blank(last)
			copy(part[1:], part)
			part[0] = last
		}
	}
}

func (p *page) mode(args string, on bool) {
	switch args {
	case "?25":
		p.cursor = on
	case "?1049":
		if on && p.other == nil {
			p.other, p.saved = p.cells, [2]int{p.row, p.col}
			p.clear()
		} else if !on && p.other != nil {
			p.cells, p.other = p.other, nil
			p.row, p.col = p.saved[0], p.saved[1]
		}
	}
}
