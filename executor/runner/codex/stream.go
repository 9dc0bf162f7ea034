package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// stream follows Codex' output in a turn. One goroutine calls it; after the
// program has ended it may be read.
type stream struct {
	turn             *runner.Turn
	end              context.CancelCauseFunc // ends the program
	patience, linger time.Duration

	began  bool   // a turn has started
	final  bool   // and it is over, as Codex says
	failed string // why it is not
	again  string // what Codex has tried again for, since it last went on
	thread string
	answer string // the last message
	usage  *usage
	wait   *time.Timer // ends the program when it has waited for too long
	over   *time.Timer // and when it stays after its final word
}

// errLingers ends a program that has said its final word and does not go.
var errLingers = errors.New("it did not end after its final word")

// maxLine is how much of a line is kept, in bytes.
const maxLine = 16 << 20

// hear takes a line of the stream.
func (s *stream) hear(line []byte, _ bool) error {
	s.turn.Heard(line)
	var e event
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(line, &e); err != nil && !errors.As(err, &wrong) { // a field of another type is left out
		return nil
	}
	switch e.Type {
	case "thread.started":
		s.turn.Alive()
		if e.Thread == "" {
			return nil
		}
		s.thread = e.Thread
		if err := s.turn.Session(e.Thread); err != nil {
			s.end(fmt.Errorf("put the session on record: %w", err))
		}
	case "turn.started":
		s.turn.Alive()
		s.began, s.final, s.failed, s.again = true, false, "", ""
		stopTimer(s.over)
	case "turn.completed":
		s.turn.Alive()
		s.stop()
		s.final = true
		if e.Usage != nil {
			s.usage = e.Usage
		}
		s.over = time.AfterFunc(s.linger, func() { s.end(errLingers) })
	case "turn.failed":
		s.stop()
		s.fail(e.Error.Message)
		s.turn.Say("[codex] the turn failed: " + clip(s.failed, shownOutput))
		s.over = time.AfterFunc(s.linger, func() { s.end(errLingers) })
	case "error":
		s.trouble(e.Message)
	case "item.started", "item.updated", "item.completed":
		if e.Item != nil {
			s.item(e.Type, e.Item)
		}
	}
	return nil
}

// item takes what the agent says or does.
func (s *stream) item(kind string, i *item) {
	if i.Type != "error" { // a warning is no progress
		s.goesOn()
	}
	s.turn.Alive()
	i.Command, i.Output, i.Arguments = s.turn.Plain(i.Command), s.turn.Plain(i.Output), json.RawMessage(s.turn.Plain(string(i.Arguments)))
	switch kind {
	case "item.started":
		s.turn.Say(i.begins())
		if i.runs() {
			s.turn.Tool(i.ID, true)
		}
	case "item.completed":
		if i.Type == "agent_message" {
			s.answer = i.Text
		}
		s.turn.Say(i.ends())
		s.turn.Tool(i.ID, false)
	}
}

// trouble takes an error of the stream: Codex tries again, or the turn has failed.
func (s *stream) trouble(message string) {
	s.turn.Say("[codex] " + clip(message, shownOutput))
	why, again := retried(message)
	if !again {
		s.fail(message)
		return
	}
	s.again = why
	class := classify(why, true)
	if s.wait == nil && (class == executor.FailLimit || strings.Contains(message, waiting)) {
		s.wait = time.AfterFunc(s.patience, func() {
			s.end(&executor.Failure{Class: class, Err: fmt.Errorf("codex could not go on for %s: %s", s.patience, why)})
		})
	}
}

func (s *stream) fail(message string) {
	if s.failed = strings.TrimSpace(message); s.failed == "" {
		s.failed = "it does not say why"
	}
}

// goesOn forgets the trouble that there was: the agent works.
func (s *stream) goesOn() {
	stopTimer(s.wait)
	s.wait, s.again, s.failed = nil, "", ""
}

func stopTimer(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}

// stop ends the clocks.
func (s *stream) stop() {
	stopTimer(s.wait)
	stopTimer(s.over)
}

// used is what the turn cost: Codex counts over the whole thread.
func (s *stream) used(r executor.AgentRun) executor.Usage {
	if s.usage == nil {
		return executor.Usage{}
	}
	u := s.usage
	now := runner.Totals{
		Input: max(u.Input-u.Cached-u.CacheWrite, 0), Output: u.Output, CacheRead: u.Cached, CacheWrite: u.CacheWrite,
	}
	if r.Fork {
		if err := s.turn.Forked(r.Effect.Session, s.thread); err != nil {
			s.turn.Say("[ralph] what was used before the copy is counted again: " + err.Error())
		}
	}
	mine, err := s.turn.Cumulative(s.thread, now)
	if err != nil {
		s.turn.Say("[ralph] what the session used cannot be kept: " + err.Error())
	}
	return mine.Usage(r.Alias)
}
