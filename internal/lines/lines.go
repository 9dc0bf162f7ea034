// Package lines cuts what comes in pieces into lines, in bounded memory. It imports the
// standard library alone.
package lines

import "bytes"

// Cutter hands on what is written to it line by line. It is not safe for concurrent use.
type Cutter struct {
	// Max is how many bytes of a line are kept; what is longer is cut there.
	Max int
	// Each gets every line, without its end; cut says that the line was longer. It must
	// not keep the bytes. Its error ends the writing.
	Each func(line []byte, cut bool) error

	rest []byte // of a line that goes on
	cut  bool
}

// Write implements io.Writer.
func (c *Cutter) Write(p []byte) (int, error) {
	all := len(p)
	for {
		line, after, whole := bytes.Cut(p, []byte{'\n'})
		if !whole {
			c.keep(p)
			return all, nil
		}
		cut := false
		if len(c.rest) > 0 || len(line) > c.Max {
			c.keep(line)
			line, cut = c.rest, c.cut
		}
		err := c.Each(line, cut)
		if c.rest, c.cut = c.rest[:0], false; cap(c.rest) > 1<<20 {
			c.rest = nil
		}
		if err != nil {
			return all - len(after), err
		}
		p = after
	}
}

// Close hands on the last line, where it has no end.
func (c *Cutter) Close() error {
	line, cut := c.rest, c.cut
	c.rest, c.cut = nil, false
	if len(line) == 0 {
		return nil
	}
	return c.Each(line, cut)
}

func (c *Cutter) keep(b []byte) {
	room := c.Max - len(c.rest)
	c.cut = c.cut || len(b) > room
	c.rest = append(c.rest, b[:min(len(b), room)]...)
}
