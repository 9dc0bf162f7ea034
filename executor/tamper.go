package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// Grade says what a change means that ralph did not make.
type Grade string

// Grades of a change.
const (
	Tampered Grade = "tampered" // the run ends with exit code 3 until it is put back or accepted
	Noticed  Grade = "noticed"  // it is said
)

// Drift is something that is not as it was: a setting, a hook, a ref, the
// user's checkout.
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

// ID names a change in commands: the same change has the same.
func (c Drift) ID() string {
	sum := sha256.Sum256([]byte(c.What + "\x00" + c.Was + "\x00" + c.Is))
	return hex.EncodeToString(sum[:4])
}

// AsBefore is what something was that is not told in one value.
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
	// TamperSeen says that somebody who is not ralph changed something. While a
	// change of the same thing is open, Was is what that says: what is trusted.
	TamperSeen struct {
		ID    string `json:"id"`
		Grade Grade  `json:"grade"`
		Drift
		During []During `json:"during,omitempty"` // attempts in flight since it was looked at before
	}
	// TamperUndone says that something is as it was again.
	TamperUndone struct {
		ID   string `json:"id"`
		What string `json:"what"`
	}
)

func (TamperSeen) kind() string   { return "tamper.seen" }
func (TamperUndone) kind() string { return "tamper.undone" }

// Thing is the kind of what changed: it decides what a change means.
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
	Forward bool      // a ref: it is new, or what it was is an ancestor of what it is; a route: nobody need be told
	Young   bool      // foreign: it was made while an attempt was in flight that still is: never trusted
	Node    ir.NodeID // own: whose ref it is; "" if the epic's
	Branch  bool      // own: it is the node's branch
	Over    bool      // own: ralph has set it since: nothing of what others did is left
	During  []During
}

// Watch looks at what is the user's, and at the epic's refs, around everything
// that runs programs of others. It only reads. Its methods but Start, Finish and
// Keep may be called from any goroutine. Every sighting is returned once.
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
	// Keep is told of sightings that are on record now. What is trusted then
	// outlives a crash.
	Keep(done []Sighting) error
}

// Pin is where a ref of the epic stands, as far as it is on record.
type Pin struct {
	Node    ir.NodeID
	Step    string   // "": the node's result
	Attempt int      // of the step
	Commits []string // any of them
}

// Tamper is a change that is on record.
type Tamper struct {
	TamperSeen
	At       time.Time
	State    TamperState
	Accepted string // by whom
	Earlier  int    // runs begun since it was seen
}

// TamperState says what became of a change.
type TamperState string

// States of a change. One that was only noticed stays open.
const (
	TamperOpen     TamperState = "open"
	TamperAccepted TamperState = "accepted"
	TamperIsUndone TamperState = "undone"
	TamperReplaced TamperState = "replaced" // the same thing was changed again: see there
)

// Sighted returns what is to be put on record about a sighting: nil if nothing is.
// again says that the sighting comes from a comparison with what a run that was cut
// had trusted: what was on record by then is not said twice.
func (r *Run) Sighted(s Sighting, again bool) Body {
	open := r.openTamper(s.What)
	if s.Over {
		if open == nil {
			return nil
		}
		return TamperUndone{ID: open.ID, What: s.What}
	}
	if again && (open != nil && open.Is == s.Is || open == nil && r.told[s.What] == s.Drift.ID()) {
		return nil
	}
	grade := r.grade(s)
	if open == nil {
		if grade == "" {
			return nil
		}
		return TamperSeen{ID: s.Drift.ID(), Grade: grade, Drift: s.Drift, During: s.During}
	}
	switch {
	case s.Is == open.Was, s.Was == open.Was && grade == "":
		return TamperUndone{ID: open.ID, What: s.What}
	case s.Is == open.Is:
		return nil
	}
	c := Drift{What: s.What, Was: open.Was, Is: s.Is, Back: open.Back}
	return TamperSeen{ID: c.ID(), Grade: Tampered, Drift: c, During: s.During}
}

// grade says what a sighting means by itself; "" is nothing: people commit, tag
// and fetch, and work where ralph asked them to.
func (r *Run) grade(s Sighting) Grade {
	switch s.Thing {
	case ThingOther:
		return Noticed
	case ThingRoute:
		if s.Forward {
			return ""
		}
		return Noticed
	case ThingForeign:
		switch {
		case s.Forward:
			return ""
		case s.Young:
			return Noticed
		}
	case ThingOwn:
		if r.mayMove(s) {
			return ""
		}
	}
	return Tampered
}

// mayMove reports whether others may move a ref of the epic in this way: a node's
// branch during its attempt and by a person's own fix, that of a manual node at any
// time, and the integration branch forward.
func (r *Run) mayMove(s Sighting) bool {
	n := r.byID[s.Node]
	during := slices.ContainsFunc(s.During, func(d During) bool { return d.Node == s.Node })
	switch {
	case !s.Branch || n == nil || n.ir == nil || strings.HasPrefix(s.Is, "ref: "): // what it leads to would move with it
		return false
	case n.sum:
		return s.Forward
	case n.ir.Kind == ir.Manual:
		return true
	case during || n.status == Running && s.Was != "": // before its first attempt it is ralph that makes it
		return true
	}
	switch n.status { // a person may mend what is not done
	case Waiting, Blocked, Skipped, Cancelled:
		return s.Is != ""
	}
	return false
}

func (r *Run) openTamper(what string) *Tamper {
	for i := len(r.tampers) - 1; i >= 0; i-- {
		if t := &r.tampers[i]; t.What == what && t.State == TamperOpen && t.Grade == Tampered {
			return t
		}
	}
	return nil
}

// tamperSeen applies a change that was seen.
func (r *Run) tamperSeen(b TamperSeen) {
	if open := r.openTamper(b.What); open != nil {
		open.State = TamperReplaced
	}
	for i := range r.tampers { // it was noticed before
		t := &r.tampers[i]
		same := t.ID == b.ID && t.Back == b.Back
		more := t.What == b.What && t.Was == b.Was && t.Was != AsBefore && t.Grade == Noticed && b.Grade == Noticed && t.Earlier == 0
		if t.State == TamperOpen && (same || more) {
			t.State = TamperReplaced
		}
	}
	if r.told == nil {
		r.told = map[string]string{}
	}
	r.told[b.What] = b.ID
	r.tampers = append(r.tampers, Tamper{TamperSeen: b, At: r.at, State: TamperOpen})
}

func (r *Run) tamperUndone(b TamperUndone) {
	delete(r.told, b.What)
	for i := range r.tampers {
		if t := &r.tampers[i]; t.ID == b.ID && t.State == TamperOpen {
			t.State = TamperIsUndone
		}
	}
}

// noticedRuns is for how many runs after the one in which it was seen something is
// shown that was only noticed: nobody settles it, and an apply may have been typed for
// something else.
const noticedRuns = 3

// renewTampers forgets, when a run begins, what is settled, and what was noticed
// long ago; after a run that was cut, nothing.
func (r *Run) renewTampers(cut bool) {
	if cut {
		return
	}
	clear(r.told)
	for i := range r.tampers {
		r.tampers[i].Earlier++
	}
	r.tampers = slices.DeleteFunc(r.tampers, func(t Tamper) bool {
		return t.State != TamperOpen || t.Grade != Tampered && t.Earlier > noticedRuns
	})
}

// considerTamper accepts a change.
func (r *Run) considerTamper(d Decision) (Decision, act, error) {
	if d.How != HowPlain {
		return d, nil, &Refused{Why: "a change is accepted or put back, not overridden", Hint: "ralph approve --tamper " + d.Tamper}
	}
	for i := range r.tampers {
		t := &r.tampers[i]
		if t.ID != d.Tamper || t.Grade != Tampered || t.State == TamperReplaced {
			continue
		}
		switch t.State {
		case TamperAccepted:
			return d, nil, &Refused{Why: "the change " + t.ID + " of " + t.What + " was accepted by " + t.Accepted + " already"}
		case TamperIsUndone:
			continue // it may have come once more
		}
		return d, func() error { t.State, t.Accepted = TamperAccepted, d.By; return nil }, nil
	}
	hint := "no change waits for somebody to accept it"
	for _, t := range r.Tampers() {
		if t.Grade == Tampered && t.State == TamperOpen {
			hint = "ralph approve --tamper " + t.ID + " is about " + t.What + "; ralph status lists all"
			break
		}
	}
	return d, nil, &Refused{Why: "there is no open change " + d.Tamper, Hint: hint}
}

// Tampers returns the changes by others that are open or were seen since the run
// began, oldest first, without those that were replaced.
func (r *Run) Tampers() []Tamper {
	return slices.DeleteFunc(slices.Clone(r.tampers), func(t Tamper) bool { return t.State == TamperReplaced })
}

// Tampered reports whether a change is open that makes the run end as not done.
func (r *Run) Tampered() bool {
	return r.epic.Run.Git.OnTamper != "note" && len(r.OpenTampers()) > 0
}

// OpenTampers returns the changes that are neither accepted nor put back.
func (r *Run) OpenTampers() []Drift {
	var out []Drift
	for _, t := range r.tampers {
		if t.Grade == Tampered && t.State == TamperOpen {
			out = append(out, t.Drift)
		}
	}
	return out
}

// Cut reports whether the last run was watched and did not come to its end.
func (r *Run) Cut() bool { return r.Open() && r.started.Watched }

// AtWork returns the attempts whose programs were at work at the last event.
func (r *Run) AtWork() []During {
	var out []During
	for _, n := range r.nodes {
		for _, e := range n.life.flight {
			d := During{Node: n.id, Step: n.life.attempt.step, Attempt: n.life.attempt.number}
			if e.Kind.Foreign() && !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// Foreign reports whether an effect runs programs that ralph does not answer for:
// agents, gates, setup commands.
func (k EffectKind) Foreign() bool {
	switch k {
	case EffectPrepare, EffectRed, EffectAgent, EffectDiagnose, EffectGate:
		return true
	}
	return false
}

// Pins returns where refs of the epic's nodes stand by the record. Of what was in
// flight it says nothing: its refs may have moved since.
func (r *Run) Pins() []Pin {
	var out []Pin
	for _, n := range r.nodes {
		if n.ir == nil || n.sum || n.busy() || n.status == Running {
			continue
		}
		if n.accepted != nil {
			p := Pin{Node: n.id}
			for _, s := range n.successes {
				p.Commits = append(p.Commits, s.result.Commit)
			}
			out = append(out, p)
		}
		for i := range n.logs {
			l := &n.logs[i]
			if collected := l.Turns > 0 && l.Collected.Result.Commit != "" && n.stepIndex(l.Step) >= 0; collected && l.Status != AttemptRunning && !l.Rejudge {
				out = append(out, Pin{n.id, l.Step, l.Number, []string{l.Collected.Result.Commit}})
			}
		}
	}
	return out
}
