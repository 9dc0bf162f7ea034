package syntax

import (
	"slices"
	"strings"
)

// goldmark's tree is what costs memory, so the text is given to it in pieces.
// A piece may begin at an ATX heading in column 0, which ends every list, quote
// and paragraph, as long as it is certain that no fence or HTML block is open
// there. Not to cut is always right: whenever two readings are possible, the
// scanner stops cutting, for a while or for good.

// smallestChunk keeps the pieces large enough for goldmark's fixed costs not to
// matter.
const smallestChunk = 8 << 10

type chunker struct {
	src    string
	limits Limits

	mode   chunkMode
	doubt  bool   // the open block may be inside a list: it ends where the list ends
	char   byte   // of the open fence
	length int    // of the open fence
	indent int    // of the opening line
	until  string // what ends the HTML block
	stop   bool   // no more cuts

	cuts    []int  // where the pieces begin
	blanks  []span // of superfluous blank lines
	tooDeep int    // offset of the first line that nests too deeply; -1
	inner   int    // markers of lists and quotes that follow another in their line
	tooMany int    // offset of the line with which these are too many; -1
}

type chunkMode uint8

const (
	inText chunkMode = iota
	inFence
	inHTML      // up to a marker
	inHTMLBlock // up to a blank line
)

// chunksOf cuts src[from:] into pieces.
func chunksOf(src string, from int, limits Limits, smallest int) *chunker {
	c := &chunker{src: src, limits: limits, tooDeep: -1, tooMany: -1, cuts: []int{from}}
	blank, first := 0, 0 // blank lines in a row; where those too many begin
	for at := from; at < len(src); {
		end := nextLine(src, at)
		line := strings.TrimRight(src[at:end], "\r\n")
		if c.line(at, line) && at-c.cuts[len(c.cuts)-1] >= smallest {
			c.cuts = append(c.cuts, at)
		}
		if strings.Trim(line, " \t") != "" {
			blank = 0
		} else if blank++; blank == maxBlank {
			first = at
		} else if blank == maxBlank+1 {
			c.blanks = append(c.blanks, span{first, at})
		} else if blank > maxBlank {
			c.blanks[len(c.blanks)-1].end = at
		}
		at = end
	}
	return c
}

// maxBlank is how many blank lines in a row goldmark gets to see: each costs as
// much as lists are open.
const maxBlank = 64

// joined returns src[from:to] as bytes, with the line ends of superfluous blank
// lines turned into spaces.
func (c *chunker) joined(b []byte, from, to int) []byte {
	out := b[from:to:to]
	owned := false
	for len(c.blanks) > 0 && c.blanks[0].start < to {
		s := c.blanks[0]
		c.blanks = c.blanks[1:]
		if !owned {
			out, owned = slices.Clone(out), true
		}
		for i := s.start; i < min(s.end, to); i++ {
			out[i-from] = ' '
		}
	}
	return out
}

// line parses the next line and reports whether a piece may begin with it.
func (c *chunker) line(at int, line string) bool {
	rest := strings.TrimLeft(line, " \t")
	blank := rest == ""
	indent := columns(line[:len(line)-len(rest)])
	if c.mode != inText {
		c.inside(line, rest, indent)
		return false
	}
	if blank {
		return false
	}
	if heading := strings.TrimLeft(line, "#"); indent == 0 && len(heading) < len(line) &&
		len(line)-len(heading) <= 6 && (heading == "" || heading[0] == ' ' || heading[0] == '\t') {
		return !c.stop
	}
	depth, content, column := containers(line)
	if (depth > c.limits.Depth || depth > 0 && column > 8*c.limits.Depth) && c.tooDeep < 0 && !isRule(line) {
		c.tooDeep = at
	}
	if depth > 1 && !isRule(line) {
		if c.inner += depth - 1; c.inner > mostInner(c.src) && c.tooMany < 0 {
			c.tooMany = at
		}
	}
	if !c.stop && content != "" {
		c.opens(rest, content, depth, indent, column)
	}
	return false
}

// inside handles a line of an open fence or HTML block; rest is the line without leading blanks.
func (c *chunker) inside(line, rest string, indent int) {
	blank := rest == ""
	switch c.mode {
	case inFence:
		closing := fenceCloses(rest, c.char, c.length)
		switch {
		case blank:
		case !c.doubt && closing && indent <= 3, c.doubt && closing && indent == c.indent:
			c.mode = inText
		case c.doubt && (closing || indent < c.indent):
			c.giveUp()
		}
	case inHTML:
		if endsHTML(line, c.until) {
			c.mode = inText
		} else if c.doubt && !blank && indent <= c.indent {
			c.giveUp()
		}
	case inHTMLBlock:
		if blank {
			c.mode = inText
		} else if _, content, _ := containers(line); fenceOpens(content) > 0 || htmlEnd(content) != "" {
			c.giveUp()
		}
	}
}

// opens handles a line that may open a fence or an HTML block; content begins at a column,
// nested in depth lists and quotes.
func (c *chunker) opens(rest, content string, depth, indent, column int) {
	switch content[0] {
	case '`', '~':
		if n := fenceOpens(content); n > 0 {
			c.mode, c.char, c.length, c.indent = inFence, content[0], n, column
			c.doubt = depth > 0 || indent > 0
			if strings.HasPrefix(rest, ">") {
				c.giveUp()
			}
		}
	case '<':
		c.doubt, c.indent = depth > 0 || indent > 0, indent
		until := htmlEnd(content)
		switch {
		case until == "":
			c.mode = inHTMLBlock
		case !endsHTML(content[2:], until):
			c.mode, c.until = inHTML, until
		}
	}
}

func (c *chunker) giveUp() { c.stop, c.mode = true, inText }

// containers counts the list and quote markers that a line begins with and
// returns what follows and its column.
func containers(line string) (depth int, content string, column int) {
	i := 0
	for {
		j := skipBlanks(line, i)
		k := j
		switch {
		case k == len(line):
			return depth, "", columns(line[:j])
		case line[k] == '>':
			k++
		case strings.IndexByte("-+*", line[k]) >= 0:
			k++
			if k < len(line) && line[k] != ' ' && line[k] != '\t' {
				return depth, line[j:], columns(line[:j])
			}
		case line[k] >= '0' && line[k] <= '9':
			for k < len(line) && k-j < 10 && line[k] >= '0' && line[k] <= '9' {
				k++
			}
			if k == len(line) || line[k] != '.' && line[k] != ')' ||
				k+1 < len(line) && line[k+1] != ' ' && line[k+1] != '\t' {
				return depth, line[j:], columns(line[:j])
			}
			k++
		default:
			return depth, line[j:], columns(line[:j])
		}
		depth++
		i = k
	}
}

// columns returns the width of s with tab stops of four columns.
func columns(s string) int {
	n := 0
	for i := range len(s) {
		if n++; s[i] == '\t' {
			n += 3 - (n-1)%4
		}
	}
	return n
}

// fenceOpens returns the length of the fence that begins with s, or 0.
func fenceOpens(s string) int {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return 0
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 || s[0] == '`' && strings.IndexByte(s[n:], '`') >= 0 {
		return 0
	}
	return n
}

func fenceCloses(s string, char byte, length int) bool {
	rest := strings.TrimLeft(s, string(char))
	return len(s)-len(rest) >= length && strings.TrimSpace(rest) == ""
}

// endsHTML reports whether a line ends the block that ends with until.
func endsHTML(line, until string) bool {
	if until == "</" {
		return closesRaw(line)
	}
	return strings.Contains(line, until)
}

// htmlEnd returns what ends the HTML block that begins with s; "" if a blank
// line does.
func htmlEnd(s string) string {
	switch {
	case strings.HasPrefix(s, "<!--"):
		return "-->"
	case strings.HasPrefix(s, "<?"):
		return "?>"
	case strings.HasPrefix(s, "<![CDATA["):
		return "]]>"
	case len(s) > 2 && s[1] == '!':
		return ">"
	}
	low := strings.ToLower(s[:min(len(s), 12)])
	for _, tag := range rawTags {
		if after, ok := strings.CutPrefix(low, "<"+tag); ok && (after == "" || strings.IndexByte(" \t>/", after[0]) >= 0) {
			return "</"
		}
	}
	return ""
}

var rawTags = []string{"script", "pre", "style", "textarea"}

func closesRaw(line string) bool {
	low := strings.ToLower(line)
	return slices.ContainsFunc(rawTags, func(tag string) bool { return strings.Contains(low, "</"+tag+">") })
}

func isRule(line string) bool {
	return strings.Trim(line, " \t-") == "" || strings.Trim(line, " \t*") == ""
}

// mostInner is how many markers may follow another: each costs as much as a line.
func mostInner(src string) int { return max(smallLines, len(src)/innerBytes) }
