package sandbox

import "os"

// Terminal is a terminal that a program inside gets as its input and outputs. It is made
// inside: nothing of the one that ralph runs in is there.
type Terminal struct {
	Columns, Rows uint16 // of its window at first
	// Lead gets the leading end before the program runs, and closes it. Reading there fails
	// once all that runs inside is gone.
	Lead func(leader *os.File)
}

// With is a sandbox as this one whose program gets the terminal.
func (s *Sandbox) With(t Terminal) *Sandbox { return &Sandbox{spec: s.spec, terminal: &t} }
