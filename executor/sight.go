package executor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// Sight is what the sender of a letter saw: the letter does not apply to what came after.
type Sight struct {
	Run   int64     `json:"run,omitempty"`   // event that began the run which it is for, as whichRun says; 0: whichever reads it
	Began time.Time `json:"began,omitzero"`  // when that was
	State string    `json:"state,omitempty"` // where the node stood, or the run
	Text  string    `json:"text,omitempty"`  // of the node, the begin of its digest
	Seq   int64     `json:"seq,omitempty"`   // last event that was shown; 0: unknown. What happened to the node since refuses a decision that ends a wait
}

// OfRun reports whether a decision is for the run that its sender saw. The others end a
// wait and are bound to the attempt: they count as long as that attempt waits.
func (v Verb) OfRun() bool {
	switch v {
	case Skip, Cancel, Pause, Resume:
		return true
	case Approve, Reject, RetryNode:
	}
	return false
}

// WasPaused reports whether a pause was seen.
func (s Sight) WasPaused() bool { return strings.HasPrefix(s.State, "paused by ") }

// Earlier reads a letter of an earlier release: "STANDING, the text DIGEST", or the text
// alone. It is not bound to what it omits.
func (s Sight) Earlier(about string) Sight {
	state, text, _ := strings.Cut(about, "the text ")
	s.Text = text
	if state = strings.TrimSuffix(state, ", "); !strings.HasPrefix(s.State, state) {
		s.State = cmp.Or(state, s.State)
	}
	return s
}

// Grade is the meaning of a change that ralph did not make.
type Grade string

// Drift is a changed thing: a setting, a hook, a ref, the user's checkout.
type Drift struct {
	What string `json:"what"`           // unique: "core.hooksPath in .git/config", "refs/heads/x"
	Was  string `json:"was,omitempty"`  // "": it was not there
	Is   string `json:"is,omitempty"`   // "": it is not there
	Back string `json:"back,omitempty"` // command that puts it back; it loses nothing of what is there by then
	Look string `json:"look,omitempty"` // command that shows what changed

	// Of the user's checkout: what files held when they were as before, as git names
	// it ("": there was none). Nil if that is not kept.
	Files map[string]string `json:"files,omitempty"`
}

// ID names a change in commands: the same change has the same ID.
func (c Drift) ID() string {
	sum := sha256.Sum256([]byte(c.What + "\x00" + c.Was + "\x00" + c.Is))
	return hex.EncodeToString(sum[:4])
}

// AsBefore describes a former state that does not fit into one value.
const AsBefore = "as it was when the run began"

// String says what changed, in one line.
func (c Drift) String() string {
	switch {
	case c.Was == AsBefore:
		return c.What + ": " + c.Is
	case c.Was == "":
		return c.What + " is new: " + c.Is
	case c.Is == "":
		return c.What + " is gone; it was " + c.Was
	}
	return c.What + " was " + c.Was + " and is " + c.Is
}

// During is an attempt that was in flight.
type During struct {
	Node    ir.NodeID `json:"node"`
	Step    string    `json:"step,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
}

// Events about what others changed.
type (
	// TamperSeen records a change that ralph did not make. While a
	// change of the same thing is open, Was is what that says: what is trusted.
	TamperSeen struct {
		ID    string `json:"id"`
		Grade Grade  `json:"grade"`
		Drift
		During []During `json:"during,omitempty"` // attempts in flight since it was looked at before
	}
	// TamperUndone records that something was put back.
	TamperUndone struct {
		ID   string `json:"id"`
		What string `json:"what"`
	}
)

func (TamperSeen) EventName() string { return "tamper.seen" }

func (TamperUndone) EventName() string { return "tamper.undone" }

// Thing is the kind of a changed thing, which decides how the change is graded.
type Thing string

// Things that are looked at.
const (
	ThingSetting Thing = "setting" // of the repository, a hook, a file of info/
	ThingForeign Thing = "foreign" // a branch or tag of the user's
	ThingOwn     Thing = "own"     // a ref of this epic
	ThingRoute   Thing = "route"   // where git goes, for a name that is new or to what was known before
	ThingOther   Thing = "other"   // other refs, other epics, the user's checkout
)

// Sighting is a difference between two looks (see Watch).
type Sighting struct {
	Drift
	Thing   Thing
	Forward bool      // a ref: it is new, or what it was is an ancestor of what it is; a route: no report is needed
	Young   bool      // foreign: it was made while an attempt was in flight that still is: never trusted
	Node    ir.NodeID // own: whose ref it is; "" if the epic's
	Branch  bool      // own: it is the node's branch
	Over    bool      // own: ralph has set it since: nothing of what others did is left
	During  []During
}

// Watch checks the user's things and the epic's refs around everything that runs foreign
// programs. It only reads. Its methods except Start, Finish and Keep may be called from
// any goroutine. Every sighting is returned once.
type Watch interface {
	// Start begins to watch. It compares what is there with open (What and Was of
	// changes that are neither accepted nor put back); if the last run did not come to its end,
	// also with what was trusted in it: cut, and with the refs that are on record.
	Start(open []Drift, cut bool, during []During, pins []Pin) []Sighting
	// Begin looks before an effect, also at what it is about to overwrite; End after
	// one that runs programs of others.
	Begin(e Effect) []Sighting
	End(e Effect) []Sighting
	// Finish looks once more, when nothing runs: also at other refs and the
	// user's checkout.
	Finish() []Sighting
	// Keep gets the sightings that are on record now. What is trusted then
	// outlives a crash.
	Keep(done []Sighting) error
}

// Pin is the recorded commit of a ref of the epic.
type Pin struct {
	Node    ir.NodeID
	Step    string   // "": the node's result
	Attempt int      // of the step
	Commits []string // any of them
}

// Foreign reports whether an effect runs programs outside ralph's control: agents,
// gates, setup commands.
func (k EffectKind) Foreign() bool {
	switch k {
	case EffectPrepare, EffectRed, EffectAgent, EffectDiagnose, EffectGate:
		return true
	}
	return false
}
