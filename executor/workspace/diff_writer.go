package workspace

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// mostOfFile is how much of one file's diff is written, in bytes.
const mostOfFile = 4 << 20

// mostHeader is longer than a line above a hunk: it holds two quoted paths at most.
const mostHeader = 64 << 10

// diffWriter passes a unified diff of git on. To a binary file it adds the sizes; of
// a huge one it passes only the beginning, and says so. Lines of files begin with one
// of " +-\", so that no file can write what is taken for a line of git's.
type diffWriter struct {
	w    io.Writer
	size func(oid string) int // -1: not known

	rest     []byte // the beginning of a line
	mid      bool   // the beginning of this line is written, or left out
	old, new string // the names of the file's contents
	hunk     bool
	written  int // of the file
	out      int // left out of it
}

func (d *diffWriter) Write(p []byte) (int, error) {
	d.rest = append(d.rest, p...)
	var b bytes.Buffer
	from := 0
	for {
		i := bytes.IndexByte(d.rest[from:], '\n')
		if i < 0 {
			break
		}
		d.line(&b, d.rest[from:from+i+1])
		from += i + 1
		d.mid = false
	}
	d.rest = append(d.rest[:0], d.rest[from:]...)
	if len(d.rest) > mostHeader {
		d.line(&b, d.rest)
		d.rest, d.mid = d.rest[:0], true
	}
	_, err := d.w.Write(b.Bytes())
	return len(p), err
}

// Close writes what is left.
func (d *diffWriter) Close() error {
	var b bytes.Buffer
	if len(d.rest) > 0 {
		d.line(&b, append(d.rest, '\n'))
	}
	d.cut(&b)
	_, err := d.w.Write(b.Bytes())
	return err
}

// line passes a line on, or a part of a very long one.
func (d *diffWriter) line(b *bytes.Buffer, line []byte) {
	if d.mid || d.hunk && bytes.IndexByte([]byte(" +-\\"), line[0]) >= 0 {
		d.body(b, line)
		return
	}
	switch text := string(line); {
	case strings.HasPrefix(text, "diff --git "):
		d.cut(b)
		d.hunk, d.written, d.out, d.old, d.new = false, 0, 0, "", ""
	case strings.HasPrefix(text, "@@ "):
		d.hunk = true
		d.body(b, line)
		return
	case strings.HasPrefix(text, "index "):
		names, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(text, "index ")), " ")
		d.old, d.new, _ = strings.Cut(names, "..")
	case strings.HasPrefix(text, "Binary files ") && d.new != "":
		fmt.Fprintf(b, "%s (%s → %s bytes)\n", strings.TrimSuffix(text, "\n"), d.bytes(d.old), d.bytes(d.new))
		return
	}
	b.Write(line)
}

// body passes on what a file holds, as far as there is room.
func (d *diffWriter) body(b *bytes.Buffer, line []byte) {
	n := min(len(line), max(mostOfFile-d.written, 0))
	if n < len(line) && d.out == 0 && (n > 0 || d.mid) {
		b.Write(line[:n])
		b.WriteByte('\n')
	} else {
		b.Write(line[:n])
	}
	d.written, d.out = d.written+n, d.out+len(line)-n
}

// cut says that something was left out. A line that begins so is a note to every
// program that reads diffs.
func (d *diffWriter) cut(b *bytes.Buffer) {
	if d.out == 0 {
		return
	}
	all := "git diff " + d.old + " " + d.new
	switch {
	case none(d.old):
		all = "git show " + d.new
	case none(d.new):
		all = "git show " + d.old
	}
	fmt.Fprintf(b, "\\ %d more bytes of this file are not shown: %s\n", d.out, all)
}

// none reports whether git names no object.
func none(oid string) bool { return strings.Trim(oid, "0") == "" }

func (d *diffWriter) bytes(oid string) string {
	if none(oid) {
		return "0"
	}
	if n := d.size(oid); n >= 0 {
		return fmt.Sprint(n)
	}
	return "?"
}
