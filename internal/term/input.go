package term

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
)

// Input reads what a person types at a terminal.
type Input struct {
	file  *os.File
	lines *bufio.Reader
}

// NewInput reads from a terminal.
func NewInput(file *os.File) *Input { return &Input{file: file, lines: bufio.NewReader(file)} }

// Forget drops what was typed and not read yet: it was typed before the question that
// comes next was on the screen, and is no answer to it.
func (in *Input) Forget() {
	flushInput(in.file)
	in.lines.Reset(in.file)
}

// Line returns the next line that is typed, without spaces around it. At the end of the
// input it returns io.EOF.
func (in *Input) Line() (string, error) {
	line, err := in.lines.ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return strings.TrimSpace(line), err
}

// Text returns the lines that are typed up to an empty one. Lines that are pasted
// together belong together: an empty one between them ends nothing.
func (in *Input) Text() (string, error) {
	var lines []string
	for {
		line, err := in.Line()
		if errors.Is(err, io.EOF) && len(lines) > 0 {
			return strings.TrimSpace(strings.Join(lines, "\n")), nil
		}
		if err != nil || line == "" && in.lines.Buffered() == 0 && !inputWaits(in.file) {
			return strings.TrimSpace(strings.Join(lines, "\n")), err
		}
		lines = append(lines, line)
	}
}
