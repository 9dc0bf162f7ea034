package opencode

import (
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor/runner"
)

// Words of the policy's on_human_message.
const (
	pause    = "pause"
	review   = "review"
	cooldown = "cooldown"
)

// takes is what happens when a person writes.
func (u *turn) takes() string {
	if u.run.Human.OnHumanMessage == "" {
		return pause
	}
	return u.run.Human.OnHumanMessage
}

// ranShell is what OpenCode writes when a person runs a command in the session.
const ranShell = "The following tool was executed by the user"

// What is recorded of a person who writes nothing.
const (
	ranCommand = "(ran a command in the session)"
	stopped    = "(stopped the agent)"
)

// persons returns what a person wrote, if a part of a user's message is theirs: it
// does not carry ralph's mark, and the program did not write it.
func persons(p part) (string, bool) {
	switch {
	case p.Type != "text" || markOf(p) != "":
		return "", false
	case p.Synthetic && strings.HasPrefix(p.Text, ranShell):
		return ranCommand, true
	case p.Synthetic, strings.TrimSpace(p.Text) == "":
		return "", false
	}
	return p.Text, true
}

// person takes in a message of the session that is a person's. In a sandbox the agent can
// write there as well as a person: only what comes through the relay counts.
func (u *turn) person(id string, said time.Time, text string) *runner.End {
	if u.run.Wall != nil || u.spoke[id] || !keep(u, u.spoke, id, true, maxKept) {
		return nil
	}
	return u.takenOver(said, text)
}

// takenOver records that a person wrote in the session: from here on the turn is not
// judged, and its clocks are stopped.
func (u *turn) takenOver(said time.Time, text string) *runner.End {
	u.heard = time.Now()
	u.taken = true
	u.t.Hold(true)
	if err := u.t.Person(said, text); err != nil {
		return &runner.End{Err: err}
	}
	if u.takes() == pause && u.relay == nil {
		return &runner.End{Taken: true} // and what runs goes on: it is theirs
	}
	u.again = time.Now().Add(pace)
	return nil
}

// theirs reports whether a person has the session until they leave. Its server in a sandbox
// ends with the turn, so that the turn does not end before.
func (u *turn) theirs() bool { return u.taken && u.relay != nil && u.takes() == pause }

// left reports whether the person who has the session has left.
func (u *turn) left() bool { return u.theirs() && u.relay.gone() > settled }

// settled is how long an idle session may still take up a person's last message.
const settled = 3 * time.Second

// afterPerson waits until the person is done.
func (u *turn) afterPerson(list []message, quiet time.Duration) *runner.End {
	need := time.Duration(u.run.Human.IdleCooldownMS) * time.Millisecond
	if u.takes() != cooldown {
		need = 0
	}
	since := min(quiet, time.Since(u.heard))
	// A message that just came has not made the session busy yet.
	answered := len(list) > 0 && list[len(list)-1].Info.Role == "assistant" && list[len(list)-1].Info.Time.Completed > 0
	if !answered {
		need = max(need, settled)
	}
	if since < need {
		u.again = time.Now().Add(min(max(need-since, pace), 2*time.Second))
		return nil
	}
	return &runner.End{Taken: true}
}
