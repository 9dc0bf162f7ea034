package main

import (
	"errors"
	"io"

	"github.com/ralph-compiler/ralph/ir"
)

// loadEpic reads and checks an epic.json.
func loadEpic(file string, in io.Reader) (*ir.Epic, []byte, error) {
	var b []byte
	var err error
	if file == "-" {
		b, err = readStdin(in)
	} else {
		b, err = readFile(file)
	}
	if err != nil {
		return nil, nil, err
	}
	epic, err := ir.Decode(b)
	if err != nil {
		return nil, b, loadError(file, err)
	}
	return epic, b, nil
}

// loadError says what to do about an epic.json that cannot be used.
func loadError(file string, err error) error {
	var edited *ir.DigestError
	if errors.As(err, &edited) {
		return inputErrorf("%s was edited by hand: its digest does not fit its content.\n  Change the plan or the policy instead and run: ralph compile", file)
	}
	return inputErrorf("%s: %w", file, err)
}
