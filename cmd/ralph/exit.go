package main

import "fmt"

// Exit codes: docs/cli.md has the same table.
const (
	exitDone        = 0   // done
	exitInput       = 1   // the input is wrong; diagnostics were printed
	exitUsage       = 2   // the command line is wrong
	exitNotDone     = 3   // the run ended with nodes not done, or tampered with
	exitWaiting     = 4   // waiting for a person
	exitStale       = 5   // --check: epic.json is not what the plan compiles to
	exitBug         = 70  // a bug in ralph
	exitInterrupted = 130 // Ctrl-C
)

// exitError ends the command with a code. With a nil err everything has been
// said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageErrorf is what the user typed wrongly.
func usageErrorf(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// inputErrorf is a file that cannot be used, where there is no range to point at.
func inputErrorf(format string, args ...any) error {
	return &exitError{exitInput, fmt.Errorf(format, args...)}
}
