package term

import (
	"bytes"
	"fmt"
	"io"
	"os"

	xterm "golang.org/x/term"
)

// Size returns the columns and rows of the terminal that w is; 80 and 24 if it
// does not say.
func Size(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		if c, r, err := xterm.GetSize(int(f.Fd())); err == nil && c > 0 && r > 0 {
			return c, r
		}
	}
	return 80, 24
}

// Block is a block of lines at the bottom of a terminal that is drawn again and
// again, while other lines scroll by above it. Every change is one write, so that
// nothing flickers. It is not safe for concurrent use.
type Block struct {
	w     io.Writer
	size  func() (columns, rows int)
	shown []int // widths of the lines that are there now
}

// NewBlock returns a block on the terminal w.
func NewBlock(w io.Writer) *Block {
	return &Block{w: w, size: func() (int, int) { return Size(w) }}
}

// Sequences that terminals understand. Those that do not know synchronized
// updates pass over them.
const (
	beginUpdate = "\x1b[?2026h\x1b[?25l"
	endUpdate   = "\x1b[?25h\x1b[?2026l"
	clearBelow  = "\x1b[J"
	clearRight  = "\x1b[K"
)

// Draw writes above (whole lines, with their newlines) where it stays, and below
// it the block's lines, cut to the width of the terminal. Lines must be harmless
// already (Clean) and may be painted with Paint. What does not fit on the screen
// is left out at the end.
func (b *Block) Draw(above []byte, lines []string) {
	columns, rows := b.size()
	var out bytes.Buffer
	out.WriteString(beginUpdate)
	b.home(&out, columns)
	if len(above) > 0 {
		out.WriteString(clearBelow)
		out.Write(above)
	}
	if most := max(rows-1, 1); len(lines) > most {
		lines = lines[:most]
	}
	b.shown = b.shown[:0]
	for _, line := range lines {
		line = Cut(line, columns-1)
		b.shown = append(b.shown, Width(line))
		out.WriteString(line)
		out.WriteString(clearRight + "\n")
	}
	out.WriteString(clearBelow)
	out.WriteString(endUpdate)
	_, _ = b.w.Write(out.Bytes()) // a terminal that went away does not end the run
}

// Clear takes the block away and leaves the cursor where it began.
func (b *Block) Clear() {
	if len(b.shown) > 0 {
		b.Draw(nil, nil)
	}
}

// home puts the cursor on the block's first line. A terminal that became narrower
// since has wrapped the lines that are there.
func (b *Block) home(out *bytes.Buffer, columns int) {
	up := 0
	for _, w := range b.shown {
		up += max(1, (w+columns-1)/columns)
	}
	out.WriteByte('\r')
	if up > 0 {
		fmt.Fprintf(out, "\x1b[%dA", up)
	}
}
