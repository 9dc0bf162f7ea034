package diag

import (
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"
)

// Range is a half-open interval of bytes, [Start, End), of one file. The zero
// Range means "no place": the diagnostic is about the invocation as a whole.
// Start == End marks the place where something is missing.
type Range struct {
	File  string `json:"file"`
	Start int    `json:"start"` // in bytes, from 0
	End   int    `json:"end"`   // in bytes, exclusive
}

// IsZero reports whether r names no place.
func (r Range) IsZero() bool { return r == Range{} }

// Sub returns the part of r from start to end, both relative to r.Start.
func (r Range) Sub(start, end int) Range {
	return Range{File: r.File, Start: r.Start + start, End: r.Start + end}
}

// Position is a place as people count: Line and Column from 1, Column in
// Unicode code points.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// File is a source file as it was read. Name is the path that is shown, with
// forward slashes, relative to the project or as the user typed it.
type File struct {
	Name  string
	Bytes []byte

	lines []int // offset of the first byte of each line; made on first use
}

// NewFile returns a File over b, which must not change afterwards.
func NewFile(name string, b []byte) *File { return &File{Name: name, Bytes: b} }

// Range returns the range [start, end) of f.
func (f *File) Range(start, end int) Range { return Range{File: f.Name, Start: start, End: end} }

// Text returns the bytes of r, which must lie in f.
func (f *File) Text(r Range) string { return string(f.Bytes[r.Start:r.End]) }

// Position returns the line and column of a byte offset. Offsets beyond the end
// are taken for the end. Not safe for concurrent use.
func (f *File) Position(offset int) Position {
	f.index()
	offset = min(max(offset, 0), len(f.Bytes))
	line := sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > offset })
	start := f.lines[line-1]
	return Position{Line: line, Column: utf8.RuneCount(f.Bytes[start:offset]) + 1}
}

// Line returns the text of a line (from 1) without its line ending, and the
// offset of its first byte.
func (f *File) Line(n int) (text string, offset int) {
	f.index()
	if n < 1 || n > len(f.lines) {
		return "", len(f.Bytes)
	}
	start, end := f.lines[n-1], len(f.Bytes)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	if end > start && f.Bytes[end-1] == '\r' {
		end--
	}
	return string(f.Bytes[start:end]), start
}

func (f *File) index() {
	if f.lines != nil {
		return
	}
	f.lines = []int{0}
	for i, c := range f.Bytes {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	f.lines = slices.Clip(f.lines)
}
