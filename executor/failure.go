package executor

import "errors"

// ErrNoCopy is in the error of a turn that was to work in a copy of a session, where the
// program cannot copy any.
var ErrNoCopy = errors.New("cannot copy a session")

// Failure is an error of a known class; other errors are transient.
type Failure struct {
	Class FailureClass
	Err   error
	Until string   // limit: RFC 3339, "" if it was not said
	Paths []string // conflict, protected
	Head  Tree     // foreign, moved: where the integration branch is
	Holds []string // foreign: see EffectFailed
	Back  bool     // foreign: see EffectFailed
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// Bug is an error that should be impossible.
type Bug struct{ What string }

func (b *Bug) Error() string { return "bug in ralph: " + b.What }

// FailureClass says what kind of failure an effect met.
type FailureClass string

// Classes of failure.
const (
	FailConflict    FailureClass = "conflict"      // results do not merge: the step "merge" begins
	FailConfig      FailureClass = "configuration" // cannot work until something is changed: a person
	FailTransient   FailureClass = "transient"     // may work next time: tried again with backoff
	FailCrash       FailureClass = "crash"         // the agent was killed by a signal that was not ours
	FailInterrupted FailureClass = "interrupted"   // by ralph's own end; counts nothing
	FailLost        FailureClass = "lost"          // its worker was lost, with unknown progress: begun again with backoff, with a count of its own
	FailLimit       FailureClass = "limit"         // a rate limit: the runner is parked; counts nothing
	FailForeign     FailureClass = "foreign"       // publish of the sum: others have put commits on the branch, up to Head: a person
	FailMoved       FailureClass = "moved"         // land: the branch has moved on to Head; to be merged anew from there
	FailProtected   FailureClass = "protected"     // a merge changed what is protected: a person
	FailSession     FailureClass = "session"       // the session cannot be gone on with: a fresh one on a tree that is put back; counts nothing
)
