package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/text"
)

// hear takes in one event. It returns how the turn ended, if it did.
func (u *turn) hear(ctx context.Context, h heard) *runner.End {
	p := h.Properties
	id := p.SessionID
	switch h.Type {
	case "session.created", "session.updated":
		var s session
		_ = json.Unmarshal(p.Info, &s) // what it does not say is not needed
		if id == "" {
			id = s.ID
		}
		if s.ParentID != "" && u.family[s.ParentID] {
			keep(u, u.family, id, true, maxFamily)
		}
	}
	if !u.family[id] {
		return nil // of another turn in this directory, or a heartbeat: no sign of life
	}
	u.latest = time.Now()
	if h.Type != "message.part.delta" { // it is repeated as a whole: in pieces a secret would be missed
		u.t.Heard(h.raw)
	}
	u.t.Alive()
	if id == u.id && !(h.Type == "session.idle" || h.Type == "session.error" || h.Type == "session.status" && p.Status != nil && p.Status.Type == "idle") {
		u.calm = time.Time{}
	}
	switch h.Type {
	case "message.updated":
		u.message(p.Info)
	case "message.part.updated":
		if p.Part != nil {
			return u.part(*p.Part)
		}
	case "session.status":
		if p.Status != nil {
			return u.state(id, *p.Status)
		}
	case "session.idle":
		if id == u.id {
			return u.look(ctx, false)
		}
	case "session.error":
		var f fault
		if id == u.id && json.Unmarshal(p.Error, &f) == nil && f.Name != "" {
			if u.fault == nil {
				u.fault = &f // the first one says it best
			}
			u.again = time.Now()
		}
	case "permission.asked", "question.asked":
		u.answer(ctx, h.Type == "question.asked", p.ID)
	}
	return nil
}

// message takes in that a message came or changed.
func (u *turn) message(raw json.RawMessage) {
	var m info
	if json.Unmarshal(raw, &m) != nil || u.known[m.ID] {
		return
	}
	switch m.Role {
	case "user":
		if m.SessionID == u.id {
			keep(u, u.users, m.ID, true, maxKept)
		}
	case "assistant":
		keep(u, u.spent, m.ID, costOf(m), maxKept)
		u.spends = true
		if m.SessionID == u.id && m.ModelID != "" {
			u.t.Model(m.ProviderID + "/" + m.ModelID)
		}
	}
}

// part takes in a piece of a message.
func (u *turn) part(p part) *runner.End {
	if u.known[p.MessageID] {
		return nil
	}
	if u.users[p.MessageID] {
		if text, ok := persons(p); ok {
			return u.person(p.MessageID, time.Now(), text)
		}
		return nil
	}
	sub := ""
	if p.SessionID != u.id {
		sub = "  "
	}
	switch {
	case p.Type == "text" && p.Time.End > 0 && !p.Synthetic && u.told[p.ID] == "":
		if keep(u, u.told, p.ID, "said", maxKept) {
			u.t.Say(sub + p.Text)
		}
	case p.Type == "tool" && slices.Contains(stages, p.State.Status) && u.told[p.ID] != p.State.Status:
		if keep(u, u.told, p.ID, p.State.Status, maxKept) {
			u.tool(p, sub)
		}
	}
	return nil
}

// stages of a tool that something is said of.
var stages = []string{"running", "completed", "error"}

// tool says what a tool does. One that runs is a sign of life, but for a subagent,
// which gives its own.
func (u *turn) tool(p part, sub string) {
	switch p.State.Status {
	case "running":
		told := runner.Argument(p.State.Input)
		if told == string(p.State.Input) {
			told = cmp.Or(p.State.Title, told)
		}
		u.t.Say(sub + "[" + p.Tool + "] " + short(u.t.Plain(told), 300))
		if p.Tool != "task" {
			u.t.Tool(p.ID, true)
		}
	case "completed":
		u.t.Tool(p.ID, false)
		u.t.Say(sub + indent(u.t.Plain(p.State.Output)))
	case "error":
		u.t.Tool(p.ID, false)
		u.t.Say(sub + "[" + p.Tool + " failed] " + short(u.t.Plain(p.State.Error), 500))
	}
}

// outputSize is how much of what a tool answered is said, in bytes; all of it
// is in the stream.
const outputSize = 2000

func indent(s string) string {
	s = strings.TrimRight(s, "\n")
	if len(s) > outputSize {
		s = text.Head(s, outputSize) + "\n…"
	}
	if s == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(s, "\n", "\n    ")
}

// nobody is the answer to an agent's question.
const nobody = "Nobody is there to answer. This is not allowed: find another way, or report that you need a person."

// answer refuses what a session asks for, so that it never waits; when a person has
// it, it is theirs to answer.
func (u *turn) answer(ctx context.Context, question bool, id string) {
	if u.taken || id == "" {
		return
	}
	var err error
	if question {
		u.t.Say("[a question, refused]")
		err = u.api.rejectQuestion(ctx, id)
	} else {
		u.t.Say("[a permission, refused]")
		err = u.api.rejectPermission(ctx, id, nobody)
	}
	if err != nil {
		u.t.Say(fmt.Sprintf("[it was not refused: %v]", err))
	}
}
