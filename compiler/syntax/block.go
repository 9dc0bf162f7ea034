package syntax

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	markdown "github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ralph-compiler/ralph/diag"
)

// blockKind says what a block is.
type blockKind uint8

const (
	headingBlock blockKind = iota + 1
	paraBlock
	listBlock
	itemBlock // of a list
	fenceBlock
	codeBlock // indented
	htmlBlock
	quoteBlock
	ruleBlock
)

// block is a block of markdown as byte offsets in the file: what is kept of
// goldmark's tree.
type block struct {
	kind    blockKind
	level   uint8 // of a heading
	setext  bool
	closed  bool  // fence: there is a closing line
	col     int32 // column of a fence's opening or a list item's marker
	start   int32 // of the first character, after indentation
	end     int32 // of the last line, before its line end
	a, b    int32 // heading: its text; fence: its content; list item: its content
	info    int32 // fence: start of the info string, which ends with its line; -1
	kids    []block
	ordered bool
}

// blocks reads the structure of src[from:].
func (p *parser) blocks(from int) []block {
	c := chunksOf(p.src, from, p.limits, smallestChunk)
	if c.tooDeep >= 0 {
		p.report(diag.New("nested-too-deeply", p.file.Range(c.tooDeep, lineEnd(p.src, c.tooDeep)), "lists or quotes nest too deeply").WithDetail(
			"This line is nested more than %d levels deep. Flatten the list or the quote.", p.limits.Depth))
		return nil
	}
	if c.tooMany >= 0 {
		p.report(diag.New("plan-too-large", p.file.Range(c.tooMany, lineEnd(p.src, c.tooMany)), "too many lists and quotes begin in one line").WithDetail(
			"Up to here more than %d list and quote markers follow another one on the same line. Write one marker per line.", mostInner(p.src)))
		return nil
	}
	md := newMarkdown()
	out := make([]block, 0, strings.Count(p.src, "\n\n")+strings.Count(p.src, "\n\r\n")+16)
	for i, at := range c.cuts {
		end := len(p.src)
		if i+1 < len(c.cuts) {
			end = c.cuts[i+1]
		}
		out = appendBlocks(out, md, p.src, c.joined(p.file.Bytes, at, end), at)
	}
	return out
}

// newMarkdown returns goldmark's block parser: no inline parsing, no link
// definitions, no tables.
func newMarkdown() markdown.Parser {
	return markdown.NewParser(markdown.WithBlockParsers(
		util.Prioritized(markdown.NewSetextHeadingParser(), 100),
		util.Prioritized(markdown.NewThematicBreakParser(), 200),
		util.Prioritized(markdown.NewListParser(), 300),
		util.Prioritized(markdown.NewListItemParser(), 400),
		util.Prioritized(markdown.NewCodeBlockParser(), 500),
		util.Prioritized(markdown.NewATXHeadingParser(), 600),
		util.Prioritized(markdown.NewFencedCodeBlockParser(), 700),
		util.Prioritized(markdown.NewBlockquoteParser(), 800),
		util.Prioritized(markdown.NewHTMLBlockParser(), 900),
		util.Prioritized(markdown.NewParagraphParser(), 1000),
	))
}

// appendBlocks reads a piece of src that begins at an offset.
func appendBlocks(out []block, md markdown.Parser, src string, piece []byte, from int) []block {
	c := converter{src: src[:from+len(piece)], base: from}
	doc := md.Parse(text.NewReader(piece))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if k, ok := c.block(n); ok {
			out = append(out, k)
			c.lo = int(k.end)
		}
	}
	return out
}

// converter turns goldmark's nodes into blocks.
type converter struct {
	src  string // up to the end of the piece
	base int    // offset of the piece
	lo   int    // offset where the next block begins at the earliest
}

func (c *converter) block(n ast.Node) (block, bool) {
	b := block{info: -1}
	switch n := n.(type) {
	case *ast.Heading:
		b.kind, b.level = headingBlock, uint8(n.Level)
		c.heading(n, &b)
	case *ast.Paragraph, *ast.TextBlock, *ast.CodeBlock:
		if n.Lines().Len() == 0 {
			return b, false
		}
		b.kind = paraBlock
		if n.Kind() == ast.KindCodeBlock {
			b.kind = codeBlock
		}
		b.start, b.end = c.span(n.Lines())
	case *ast.FencedCodeBlock:
		b.kind = fenceBlock
		c.fence(n, &b)
	case *ast.HTMLBlock:
		b.kind = htmlBlock
		c.html(n, &b)
	case *ast.ThematicBreak:
		b.kind = ruleBlock
		b.start, b.end = c.begin(n, "-*_")
	case *ast.Blockquote:
		b.kind = quoteBlock
		b.start, b.end = c.begin(n, ">")
		c.lo = int(b.start) + 1
		b.kids = c.kids(n, &b)
	case *ast.List:
		b.kind, b.ordered = listBlock, n.IsOrdered()
		b.start, b.end = c.begin(n, listMarks)
		b.kids = c.kids(n, &b)
		if len(b.kids) > 0 {
			b.start = b.kids[0].start
		}
	case *ast.ListItem:
		b.kind = itemBlock
		c.item(n, &b)
	default:
		return b, false
	}
	return b, true
}

func (c *converter) kids(n ast.Node, b *block) []block {
	if n.ChildCount() == 0 {
		return nil
	}
	out := make([]block, 0, n.ChildCount())
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		if kid, ok := c.block(k); ok {
			out = append(out, kid)
			b.end = max(b.end, kid.end)
			c.lo = int(kid.end)
		}
	}
	return out
}

func (c *converter) heading(n *ast.Heading, b *block) {
	b.start, b.end = c.begin(n, "#")
	first := lineStart(c.src, int(b.start))
	b.setext = !strings.HasPrefix(c.src[b.start:], "#")
	b.a, b.b = b.end, b.end
	if n.Lines().Len() > 0 {
		b.a, b.b = c.span(n.Lines())
		b.end = max(b.end, c.eolAt(int(b.b)))
	}
	if b.setext { // the underline belongs to it
		b.end = int32(lineEnd(c.src, nextLine(c.src, int(b.b))))
	}
	b.col = int32(columns(c.src[first:b.start]))
}

func (c *converter) html(n *ast.HTMLBlock, b *block) {
	b.start, b.end = c.begin(n, "<")
	if n.Lines().Len() > 0 {
		_, b.end = c.span(n.Lines())
	}
	if n.HasClosure() {
		b.end = c.trim(b.start, c.base+n.ClosureLine.Stop)
	}
}

func (c *converter) item(n *ast.ListItem, b *block) {
	b.start, b.end = c.begin(n, listMarks)
	c.lo = int(b.start) + 1
	b.col = int32(columns(c.src[lineStart(c.src, int(b.start)):b.start]))
	b.kids = c.kids(n, b)
	b.a = b.end
	if len(b.kids) > 0 {
		b.a = b.kids[0].start
	}
	b.b = b.end
}

func (c *converter) fence(n *ast.FencedCodeBlock, b *block) {
	b.start, _ = c.begin(n, "`~")
	open := int(b.start)
	length := 0
	for open+length < len(c.src) && c.src[open+length] == c.src[open] {
		length++
	}
	b.col = int32(columns(c.src[lineStart(c.src, open):open]))
	if n.Info != nil {
		b.info = int32(c.base + n.Info.Segment.Start)
	}
	content := nextLine(c.src, open)
	end := content
	if l := n.Lines().Len(); l > 0 {
		end = max(content, nextLine(c.src, max(content, c.base+n.Lines().At(l-1).Stop-1)))
	}
	b.a, b.b = int32(content), int32(end)
	b.end = c.trim(b.start, end)
	if end < len(c.src) {
		line := strings.TrimLeft(c.src[end:lineEnd(c.src, end)], " \t>")
		if b.closed = fenceCloses(line, c.src[open], length); b.closed {
			b.end = int32(lineEnd(c.src, end))
		}
	}
}

// span returns the first and the last offset of lines, without the last line's
// end.
func (c *converter) span(lines *text.Segments) (start, end int32) {
	s := c.base + lines.At(0).Start
	return int32(s), c.trim(int32(s), c.base+lines.At(lines.Len()-1).Stop)
}

func (c *converter) trim(start int32, end int) int32 {
	end = min(end, len(c.src))
	for end > int(start) && (c.src[end-1] == '\n' || c.src[end-1] == '\r') {
		end--
	}
	return int32(max(end, int(start)))
}

const listMarks = "-+*0123456789"

// begin returns where a block begins, which one of the marks opens, and the end
// of that line. goldmark counts the columns of a tab that the containers of the
// block left over as if they were characters.
func (c *converter) begin(n ast.Node, marks string) (start, end int32) {
	at := min(c.base+max(n.Pos(), 0), len(c.src))
	for t := max(at-3, c.lo, c.base); t < at; t++ {
		if strings.IndexByte(marks, c.src[t]) < 0 {
			continue
		}
		blank := len(strings.TrimRight(c.src[max(c.base, t-16):t], " \t"))
		if strings.IndexByte(c.src[max(c.base, t-16):t][blank:], '\t') >= 0 {
			at = t
			break
		}
	}
	return int32(at), c.eolAt(at)
}

func (c *converter) eolAt(at int) int32 { return int32(lineEnd(c.src, at)) }
