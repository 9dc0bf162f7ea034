package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// maxCells bounds the cells that are read of a row.
const maxCells = 64

// table is a table of the plan.
type table struct {
	head []inline
	rows []tableRow

	misspelt []int // columns whose header was reported
}

type tableRow struct {
	cells    []inline
	at       span // the line
	comments []span
	table    *table
}

// tableOf reads the table in src[at:end], a paragraph. Lines above its header
// are skipped; ok is false when there is none.
func (p *parser) tableOf(at, end int) (*table, bool) {
	if strings.IndexByte(p.src[at:end], '|') < 0 {
		return nil, false
	}
	head := at
	for {
		next := nextLine(p.src[:end], at)
		if next >= end {
			return nil, false
		}
		head, at = at, next
		if isDelimiterRow(p.src[at:min(lineEnd(p.src, at), end)]) {
			break
		}
	}
	t := &table{head: p.cells(head, min(lineEnd(p.src, head), end))}
	t.rows = make([]tableRow, 0, strings.Count(p.src[at:end], "\n"))
	for at, stop := range p.lines(nextLine(p.src[:end], at), end) {
		row := tableRow{cells: p.cells(at, stop), at: span{at, stop}, table: t}
		for _, c := range row.cells {
			row.comments = append(row.comments, c.comments...)
		}
		t.rows = append(t.rows, row)
	}
	return t, true
}

// isDelimiterRow reports whether a line is "|---|:--:|".
func isDelimiterRow(s string) bool {
	s = strings.TrimSpace(s)
	if strings.IndexByte(s, '-') < 0 || strings.IndexByte(s, '|') < 0 {
		return false
	}
	return strings.Trim(s, "|-: \t") == ""
}

// cells splits a row at its bars; a bar after a backslash is text.
func (p *parser) cells(at, end int) []inline {
	at = trimmed(p.src, at, end).start
	if at < end && p.src[at] == '|' {
		at++
	}
	out := make([]inline, 0, min(strings.Count(p.src[at:end], "|")+1, maxCells))
	start := at
	for i := at; i < end && len(out) < maxCells; i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '|':
			out = append(out, p.plain(start, i))
			start = i + 1
		}
	}
	if start < end && strings.TrimSpace(p.src[start:end]) != "" && len(out) < maxCells {
		out = append(out, p.plain(start, end))
	}
	return out
}

func (r *tableRow) cell(i int) *inline {
	if i < 0 || i >= len(r.cells) {
		return nil
	}
	return &r.cells[i]
}

// column finds a column by its header words.
func (t *table) column(words []string) int {
	return slices.IndexFunc(t.head, func(in inline) bool {
		name := stems(in.Value)
		return name != "" && slices.ContainsFunc(words, func(w string) bool { return name == stems(w) })
	})
}

// tableItems reads the rows of a table as items, where the dialect has them.
func (p *parser) tableItems(b *block) {
	t, ok := p.tableOf(int(b.start), int(b.end))
	id := -1
	if ok {
		id = t.column(p.dialect.Columns.ID)
	}
	if id < 0 {
		p.push(elem{b: b, cand: -1})
		return
	}
	name := t.column(p.dialect.Columns.Title)
	p.stream, p.cands = slices.Grow(p.stream, len(t.rows)), slices.Grow(p.cands, len(t.rows))
	found := false
	for _, row := range lists.Each(t.rows) {
		c, ok := p.rowItem(row, id, name)
		if !ok {
			p.missedRow(row.cell(id))
			continue
		}
		found = true
		p.addCand(c, elem{b: b, from: int32(row.at.start), to: int32(row.at.end), cand: -1})
	}
	if !found {
		p.push(elem{b: b, cand: -1})
	}
}

func (p *parser) rowItem(row *tableRow, id, named int) (cand, bool) {
	cell := row.cell(id)
	if cell == nil || cell.Value == "" {
		return cand{}, false
	}
	t, ok := p.readTitle(cell.unbracketed(), &p.item)
	if !ok {
		return cand{}, false
	}
	p.controls(*cell)
	c := cand{title: t, level: 7, row: row, line: row.at}
	slot := cell
	if name := row.cell(named); name != nil && named != id {
		p.controls(*name)
		cell := title{in: *name, kind: c.kind}
		start := cell.leading(name.Value)
		end := cell.ending(p, name.Value, start)
		c.text, c.strikeIn = name.text(start, end), !c.struck && name.struckOut(start, end)
		c.kind, c.kindAt, c.parallel, c.parAt, c.near = cell.kind, cell.kindAt, cell.parallel, cell.parAt, cell.near
		if cell.done {
			c.done, c.doneAt = true, cell.doneAt
		}
		c.path = strings.TrimSpace(c.path + " " + c.text.Value)
		slot = name
	}
	prefix := " "
	if slot.Range.Start == slot.Range.End {
		prefix = ""
	}
	c.slot = Slot{Offset: slot.Range.End, Form: CellEnd, Prefix: prefix}
	if slot.unclosed >= 0 {
		c.slot.Offset, c.slot.Prefix = slot.unclosed, ""
	}
	return c, true
}

// rowLabels gives an item the cells of its row whose columns are labels.
func (p *parser) rowLabels(it *Item, c *cand) {
	t := c.row.table
	it.Range = p.rng(c.row.at)
	depends := t.column(p.dialect.Columns.Depends)
	for i := range c.row.cells {
		if i >= len(t.head) {
			break
		}
		n, ok := p.headed(t, i)
		if i == depends {
			n, ok = DependsOn, true
		}
		if cell := &c.row.cells[i]; ok && cell.Value != "" && i != t.column(p.dialect.Columns.ID) && i != t.column(p.dialect.Columns.Title) {
			it.Body.Labels = append(it.Body.Labels, cellLabel(n, t.head[i].Value, cell))
		}
	}
}

// headed returns the label that heads a column; one that is misspelt is reported
// once.
func (p *parser) headed(t *table, i int) (LabelName, bool) {
	n, meant, ok := lookupNear(t.head[i].Value)
	if meant != "" && !slices.Contains(t.misspelt, i) {
		t.misspelt = append(t.misspelt, i)
		p.misspelt(t.head[i].Value, meant, t.head[i].Range, meant)
	}
	return n, ok
}

func cellLabel(n LabelName, written string, cell *inline) Label {
	return Label{Name: n, Written: written, NameRange: cell.Range, Value: cell.Text, From: FromCell}
}

// dependencyRows reads rows "| Depends on | 1.1 |" of a two-column table.
func (p *parser) dependencyRows(at, end int) (out []Label, ok bool) {
	t, ok := p.tableOf(at, end)
	if !ok || len(t.head) != 2 {
		return nil, false
	}
	rows := append([]tableRow{{cells: t.head}}, t.rows...)
	for i := range rows {
		if len(rows[i].cells) < 2 {
			continue
		}
		name := &rows[i].cells[0]
		n, meant, known := lookupNear(name.Value)
		if !known || !n.IsDependency() {
			continue
		}
		l := cellLabel(n, name.Value, &rows[i].cells[1])
		l.NameRange, l.Meant = name.Range, meant
		out = append(out, l)
	}
	return out, len(out) > 0
}

// tables finds the tables of the plan that state dependencies: one column has
// the ids of items, another one is headed by a dependency label.
func (p *parser) tables() {
	var items map[string]int
	for _, e := range lists.Each(p.stream) {
		if e.b.kind != paraBlock || e.cand >= 0 || e.to > 0 || len(p.plan.Items) == 0 ||
			strings.IndexByte(p.src[e.b.start:e.b.end], '|') < 0 {
			continue
		}
		t, ok := p.tableOf(int(e.b.start), int(e.b.end))
		if !ok {
			continue
		}
		columns := t.dependencies()
		if len(columns) == 0 {
			continue
		}
		if items == nil {
			items = lists.Index(p.plan.Items, func(x *Item) string { return x.ID })
		}
		p.dependencyTable(t, columns, items)
	}
}

// dependencies returns the columns that are headed by a dependency label.
func (t *table) dependencies() map[int]LabelName {
	out := map[int]LabelName{}
	for i := range t.head {
		if n, _, ok := lookupNear(t.head[i].Value); ok && n.IsDependency() {
			out[i] = n
		}
	}
	return out
}

func (p *parser) dependencyTable(t *table, columns map[int]LabelName, items map[string]int) {
	id, best := -1, 0
	for c := range t.head {
		if _, taken := columns[c]; taken {
			continue
		}
		hits := lists.Count(t.rows, func(r *tableRow) bool {
			_, ok := p.cellItem(r.cell(c), items)
			return ok
		})
		if hits > best {
			id, best = c, hits
		}
	}
	if id < 0 {
		return
	}
	for c := range columns {
		p.headed(t, c)
	}
	for _, row := range lists.Each(t.rows) {
		k, ok := p.cellItem(row.cell(id), items)
		if !ok {
			if cell := row.cell(id); cell != nil && cell.Value != "" {
				p.report(diag.Newf("table-row", cell.Range, "%s is not an item of this plan", quoted(cell.Value)).WithDetail(
					"The other rows of this table state dependencies of items; this row is read as prose. Write the id of an item."))
			}
			continue
		}
		for c := range t.head {
			n, isLabel := columns[c]
			cell := row.cell(c)
			if !isLabel || cell == nil || cell.Value == "" {
				continue
			}
			body := &p.plan.Items[k].Body
			l := cellLabel(n, t.head[c].Value, cell)
			l.At = len(body.Prose)
			body.Labels = append(body.Labels, l)
		}
	}
}

// cellItem returns the item whose id a cell holds, with or without its keyword.
func (p *parser) cellItem(c *inline, items map[string]int) (int, bool) {
	if c == nil || c.Value == "" || len(c.Value) > 200 {
		return 0, false
	}
	if k, ok := items[c.Value]; ok {
		return k, true
	}
	v := strings.TrimLeftFunc(c.Value, func(r rune) bool { return r == ' ' || isEmoji(r) })
	if end, ok := leadingBrackets(v); ok && strings.TrimSpace(v[end+1:]) == "" {
		v = strings.TrimSpace(v[1:end])
	}
	if k, ok := items[v]; ok {
		return k, true
	}
	n, gap, _ := p.item.keyword(v)
	m := p.item.match(v[n+gap:])
	if m.look != goodID {
		return 0, false
	}
	k, ok := items[m.id]
	return k, ok
}
