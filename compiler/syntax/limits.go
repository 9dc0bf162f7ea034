package syntax

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
)

// Default limits.
const (
	defaultBytes = 64 << 20
	defaultLine  = 1 << 20
	defaultDepth = 64
	defaultItems = 1_000_000
)

// A line costs much more than its bytes, so lines are bounded by the plan's size.
const (
	smallLines = 20_000
	lineBytes  = 16
	innerBytes = 8
)

func (l Limits) orDefault() Limits {
	l.Bytes = min(cmp.Or(max(l.Bytes, 0), defaultBytes), math.MaxInt32-1) // offsets of blocks are 32 bits wide
	l.Line = cmp.Or(max(l.Line, 0), defaultLine)
	l.Depth = cmp.Or(max(l.Depth, 0), defaultDepth)
	l.Items = cmp.Or(max(l.Items, 0), defaultItems)
	return l
}

var bom = []byte("\uFEFF")

// check refuses what cannot be read as a plan at all.
func (p *parser) check() bool {
	b := p.file.Bytes
	switch {
	case len(b) > p.limits.Bytes:
		p.report(diag.New("plan-too-large", p.file.Range(0, 0), "the plan is too large").WithDetail(
			"The plan has %s; the limit is %s. Split it into several plans, or raise the limit.",
			bytesText(len(b)), bytesText(p.limits.Bytes)))
		return false
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		p.report(diag.New("not-utf8", p.file.Range(0, 2), "the plan is UTF-16").WithDetail(
			"The file begins with the byte order mark of UTF-16. Save it as UTF-8."))
		return false
	}
	longest, at, start, lines := 0, 0, 0, 0
	for start < len(b) {
		n := bytes.IndexByte(b[start:], '\n')
		if n < 0 {
			n = len(b) - start
		}
		if n > longest {
			longest, at = n, start
		}
		if n > 1 || n == 1 && b[start] != '\r' {
			if lines++; lines > max(smallLines, len(b)/lineBytes) {
				p.report(diag.New("plan-too-large", p.file.Range(start, start), "the plan has too many short lines").WithDetail(
					"It has more than %d lines, which are shorter than %d bytes on average. Remove what says nothing, or split the plan into several.", smallLines, lineBytes))
				return false
			}
		}
		start += n + 1
	}
	if longest > p.limits.Line {
		p.report(diag.New("plan-line-too-long", p.file.Range(at, at), "a line of the plan is too long").WithDetail(
			"The line has %s; the limit is %s. Break the line.", bytesText(longest), bytesText(p.limits.Line)))
		return false
	}
	if at := invalidUTF8(b); at >= 0 {
		p.report(diag.New("not-utf8", p.file.Range(at, at+1), "the plan is not UTF-8").WithDetail(
			"The byte 0x%02X does not belong to a UTF-8 character. Save the file as UTF-8.", b[at]))
		return false
	}
	return true
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	at := 0
	for r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(b[at:]) {
		at += n
	}
	return at
}

func bytesText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
