package opencode

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// How long something may be missing before that means something.
const (
	unheard    = 2 * time.Minute // a message that is not answered although the session is idle
	unfinished = 5 * time.Second // an answer that is not complete although the session is idle
)

// look asks for the session's state, and for its messages if it is idle: the
// stream only says when to look. It returns how the turn ended, if it did. cut says
// that events were missed.
func (u *turn) look(ctx context.Context, cut bool) *runner.End {
	u.again, u.latest = time.Time{}, time.Now()
	all, err := u.api.statuses(ctx)
	if err != nil {
		return u.broken(ctx, err)
	}
	if cut {
		u.catchUp(ctx)
	}
	for id := range u.family {
		if end := u.state(id, all[id]); end != nil {
			return end
		}
	}
	if s, ok := all[u.id]; ok && s.Type != "idle" {
		u.calm = time.Time{}
		if !cut {
			return nil
		}
	} else if u.calm.IsZero() {
		u.calm = time.Now()
	}
	list, err := u.api.messages(ctx, u.id)
	if err != nil {
		return u.broken(ctx, err)
	}
	// A session that begins to work between the two answers looks like one that
	// stopped: it counts as calm from when its messages changed last.
	if at := progress(list); at != u.last {
		u.last = at
		if !u.calm.IsZero() {
			u.calm = time.Now()
		}
	}
	return u.judge(list)
}

// progress is how far a session is.
func progress(list []message) string {
	if len(list) == 0 {
		return ""
	}
	m := list[len(list)-1]
	return fmt.Sprint(len(list), m.Info.ID, len(m.Parts), m.Info.Time.Completed)
}

// broken is a look that failed: the next one may not, unless the server is gone or
// does not know the session.
func (u *turn) broken(ctx context.Context, err error) *runner.End {
	if ctx.Err() != nil {
		return nil // follow sees it
	}
	if r, ok := errors.AsType[*statusError](err); ok && r.code/100 == 4 {
		return &runner.End{Err: err}
	}
	u.again = time.Now().Add(time.Second)
	return nil
}

// catchUp does what was missed while no one listened: it finds the
// subagents that began, what they spent, and what was asked.
func (u *turn) catchUp(ctx context.Context) {
	children, _ := get[[]session](ctx, u.api, of("session", u.id, "/children")) // what fails here is tried again at the next cut
	for _, c := range children {
		if c.Time.Created < float64(u.began.UnixMilli()) && !u.family[c.ID] {
			continue // of an earlier turn
		}
		if !keep(u, u.family, c.ID, true, maxFamily) {
			return
		}
		list, _ := u.api.messages(ctx, c.ID)
		for _, m := range list {
			if m.Info.Role == "assistant" && m.Info.Time.Created >= float64(u.began.UnixMilli()) {
				keep(u, u.spent, m.Info.ID, costOf(m.Info), maxKept)
			}
		}
	}
	permissions, _ := get[[]asked](ctx, u.api, "/permission")
	questions, _ := get[[]asked](ctx, u.api, "/question")
	permissions, questions = permissions[:min(len(permissions), maxFamily)], questions[:min(len(questions), maxFamily)]
	for i, a := range append(permissions, questions...) {
		if u.family[a.SessionID] {
			u.answer(ctx, i >= len(permissions), a.ID)
		}
	}
}

// judge finds out from the messages whether the turn is over, and how.
func (u *turn) judge(list []message) *runner.End {
	ours := -1
	var last *message // of the agent's
	for i := range list {
		m := &list[i]
		if u.known[m.Info.ID] {
			continue
		}
		switch m.Info.Role {
		case "user":
			for _, p := range m.Parts {
				if markOf(p) == u.mark {
					ours = i
				} else if text, ok := persons(p); ok {
					if end := u.person(m.Info.ID, moment(m.Info.Time.Created), text); end != nil {
						return end
					}
				}
			}
		case "assistant":
			last = m
			keep(u, u.spent, m.Info.ID, costOf(m.Info), maxKept)
			u.t.Model(m.Info.ProviderID + "/" + m.Info.ModelID)
		}
	}
	if u.calm.IsZero() {
		return nil
	}
	quiet := time.Since(u.calm)
	switch {
	case u.theirs():
		return nil
	case u.taken:
		return u.afterPerson(list, quiet)
	case ours >= 0 && last != nil && last.Info.Error != nil:
		return u.failed(*last.Info.Error)
	case last != nil && last.Info.Time.Completed > 0 && last.Info.Finish != "" && last.Info.Finish != "tool-calls":
		return &runner.End{Final: true, Answer: words(*last)}
	case u.fault != nil && (last == nil || last.Info.Time.Completed == 0 || quiet > unfinished):
		return u.failed(*u.fault)
	case last == nil && min(quiet, time.Since(u.began)) > unheard:
		return &runner.End{Err: &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("opencode took the message and did nothing for %v", unheard)}}
	case last != nil && quiet > unfinished && last.Info.Finish == "tool-calls":
		return &runner.End{Final: true, Answer: words(*last)} // it stopped after a tool, such as one that was refused
	case last != nil && quiet > unfinished:
		return &runner.End{Died: "was stopped in the middle of its turn"}
	}
	u.again = time.Now().Add(pace)
	return nil
}

// words is the text of a message.
func words(m message) string {
	said := lists.Keep(m.Parts, func(p part) bool { return p.Type == "text" && !p.Synthetic && strings.TrimSpace(p.Text) != "" })
	return strings.Join(lists.Map(said, func(p part) string { return p.Text }), "\n\n")
}
