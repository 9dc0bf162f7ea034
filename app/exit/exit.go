package exit

import (
	"errors"
	"fmt"
)

// Exit codes; docs/cli.md has the same table.
const (
	Done        = 0   // done
	Input       = 1   // the input is wrong; diagnostics were printed
	Usage       = 2   // the command line is wrong
	NotDone     = 3   // the run ended with nodes not done, or tampered with
	Waiting     = 4   // waiting for a person
	Stale       = 5   // --check: epic.json is not what the plan compiles to
	Bug         = 70  // a bug in ralph
	Interrupted = 130 // Ctrl-C
)

// Error ends the command with an exit code other than Input, which every other error has.
// If Err is nil, everything has already been printed.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the wrapped error, which may be nil.
func (e *Error) Unwrap() error { return e.Err }

// After is the error that ends a command with a code when all has been printed; nil for Done.
func After(code int) error {
	if code == Done {
		return nil
	}
	return &Error{Code: code}
}

// Usagef is an error in the command line.
func Usagef(format string, args ...any) error { return &Error{Usage, fmt.Errorf(format, args...)} }

// Unstarted is why ralph apply does not start anything.
type Unstarted struct{ Why string }

func (u *Unstarted) Error() string { return u.Why + "\n  Nothing was started." }

// Unstartedf is an error about an epic that cannot be applied.
func Unstartedf(format string, args ...any) error {
	return &Error{Input, &Unstarted{fmt.Sprintf(format, args...)}}
}

// Why is the text of an error, without that nothing was started.
func Why(err error) string {
	if u, ok := errors.AsType[*Unstarted](err); ok {
		return u.Why
	}
	return err.Error()
}

// Inputf is an error about an unusable file, where there is no range to point at.
func Inputf(format string, args ...any) error { return &Error{Input, fmt.Errorf(format, args...)} }
