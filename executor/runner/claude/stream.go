package claude

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lines"
	"github.com/ralph-compiler/ralph/internal/text"
)

// stream is what was heard of a turn.
type stream struct {
	lines lines.Cutter
	turn  *runner.Turn
	run   executor.AgentRun
	id    string // of the session
	agent string // that Claude Code is told to be; "" is its own
	in    *input
	stop  func() // ends the program: there is nothing more to wait for
	over  func() // the last result seems to be there
	begun func() // the program has read its files
	now   func() time.Time

	mu      sync.Mutex // guards the rest
	any     bool       // something was heard
	final   *line      // the last result
	said    string     // the agent's last message
	broken  *line      // the last failure that Claude Code worded, of the agent itself
	until   time.Time  // when a limit ends that was refused
	config  error      // why the turn cannot work
	spent   runner.Totals
	live    map[string]tokens // of responses since the last result, by message
	writing map[string]string // message that comes now, by subagent
}

func newStream(t *runner.Turn, r executor.AgentRun, id, agent string, in *input) *stream {
	s := &stream{turn: t, run: r, id: id, agent: agent, in: in, live: map[string]tokens{}, writing: map[string]string{}, now: time.Now}
	s.stop, s.over, s.begun = func() {}, func() {}, func() {}
	s.lines = lines.Cutter{Max: maxLine, Each: s.heard}
	return s
}

// heard takes a line. The text of a response that is still coming is a sign of
// life and is not kept: it comes again as a whole.
func (s *stream) heard(b []byte, _ bool) error {
	l, ok := read(b)
	if !ok || l.Type != "stream_event" || l.Event.Type == "message_start" || l.Event.Type == "message_delta" {
		s.turn.Heard(b)
	}
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.any = true
	switch l.Type {
	case "system":
		s.system(l)
	case "assistant":
		s.assistant(l)
	case "user":
		s.answered(l)
	case "stream_event":
		s.coming(l)
	case "rate_limit_event":
		s.limit(l.Limit)
	case "result":
		s.result(l)
	case "control_request":
		s.in.unanswered(l.RequestID)
	case "tool_progress", "tool_use_summary":
		s.turn.Alive()
	}
	return nil
}

func (s *stream) system(l line) {
	switch l.Subtype {
	case "init":
		s.init(l)
	case "api_retry":
		s.turn.Say(fmt.Sprintf("[the model does not answer: %s; try %d of %d in %s]", failedWith(l.Error, l.ErrorStatus), l.Attempt, l.MaxRetries, time.Duration(l.RetryMS)*time.Millisecond))
	case "permission_denied":
		why := l.Why
		if why == "" {
			_ = json.Unmarshal(l.Message, &why) // another form: no reason
		}
		s.turn.Say("[refused: " + l.Tool + "] " + oneLine(why, 300))
	case "compact_boundary":
		s.turn.Say("[the conversation was compacted]")
	case "task_started", "task_updated", "task_notification", "status":
		s.turn.Alive()
	}
}

// init is how a turn begins. An agent or a server that is not there is no error for
// the program: it would work as another agent, or one that could not report.
func (s *stream) init(l line) {
	s.turn.Alive()
	if l.Model != "" {
		s.turn.Model(l.Model)
	}
	s.begun()
	if s.agent != "" && len(l.Agents) > 0 && !slices.Contains(l.Agents, s.agent) {
		s.config = runner.Configuration(fmt.Errorf("agent %s: Claude Code has no agent %q of its own; it has %s (agents of the project go by path, not by slug)", runner.AgentOf(s.run), s.agent, strings.Join(l.Agents, ", ")))
		s.stop()
		return
	}
	if s.run.Tools == nil {
		return
	}
	status := "missing"
	for _, m := range l.Servers {
		if m.Name == server {
			status = m.Status
		}
	}
	if status != "connected" && status != "pending" {
		s.config = runner.Configuration(fmt.Errorf("agent %s: Claude Code did not connect to ralph's MCP server, with which agents report: its status is %q; a proxy for addresses on this machine may be in the way (NO_PROXY=127.0.0.1)", runner.AgentOf(s.run), status))
		s.stop()
	}
}

func (s *stream) assistant(l line) {
	var m spoken
	if json.Unmarshal(l.Message, &m) != nil {
		s.turn.Alive()
		return
	}
	if l.Error != "" && l.Parent == "" {
		failed := l
		s.broken = &failed
		s.limit(l.Params.Limit)
	}
	real := m.Model != "" && m.Model != "<synthetic>"
	if real && l.Parent == "" {
		s.turn.Model(m.Model)
		s.broken = nil // it answers again
	}
	if real && m.Usage != nil && m.ID != "" {
		if _, known := s.live[m.ID]; !known { // the events of the response say it better
			s.live[m.ID] = *m.Usage
			s.count()
		}
	}
	for _, b := range blocks(m.Content) {
		switch {
		case b.Type == "text" && strings.TrimSpace(b.Text) != "":
			if l.Parent == "" && l.Error == "" {
				s.said = b.Text
			}
			s.say(l, b.Text)
		case b.Type == "tool_use":
			s.turn.Tool(b.ID, true)
			s.say(l, "→ "+b.Name+" "+oneLine(runner.Argument(json.RawMessage(s.turn.Plain(string(b.Input)))), 200))
		default:
			s.turn.Alive()
		}
	}
}

// answered is what tools said.
func (s *stream) answered(l line) {
	var m spoken
	_ = json.Unmarshal(l.Message, &m) // another form: a sign of life
	s.turn.Alive()
	for _, b := range blocks(m.Content) {
		if b.Type != "tool_result" {
			continue
		}
		s.turn.Tool(b.ToolID, false)
		sign := "  "
		if b.IsError {
			sign = "✗ "
		}
		if said := short(s.turn.Plain(words(b.Content))); said != "" || b.IsError {
			s.say(l, sign+strings.ReplaceAll(said, "\n", "\n  "))
		}
	}
}

// say adds to the transcript; a subagent's part is set off.
func (s *stream) say(l line, text string) {
	if l.Parent != "" {
		text = "│ " + strings.ReplaceAll(text, "\n", "\n│ ")
	}
	s.turn.Say(text)
}

// coming counts a response while it comes: of a turn that is killed nothing else
// says what it took.
func (s *stream) coming(l line) {
	s.turn.Alive()
	switch e := l.Event; {
	case e.Type == "message_start" && e.Message.ID != "":
		s.writing[l.Parent] = e.Message.ID
		if e.Message.Usage != nil {
			s.live[e.Message.ID] = *e.Message.Usage
			s.count()
		}
	case e.Type == "message_delta" && e.Usage != nil:
		id := s.writing[l.Parent]
		if u, known := s.live[id]; known {
			s.live[id] = tokens{
				Input: max(u.Input, e.Usage.Input), Output: max(u.Output, e.Usage.Output),
				CacheRead: max(u.CacheRead, e.Usage.CacheRead), CacheWrite: max(u.CacheWrite, e.Usage.CacheWrite),
			}
			s.count()
		}
	}
}

func (s *stream) limit(l *limitInfo) {
	if l != nil && l.Status == "rejected" && l.ResetsAt > 0 {
		s.until = time.Unix(l.ResetsAt, 0)
	}
}

// result ends the turn, or a part of it.
func (s *stream) result(l line) {
	s.turn.Alive()
	switch used, whole := sum(l.SinceLast), sum(l.Session); {
	case l.SinceLast != nil:
		s.spent, s.live = s.spent.Plus(used), map[string]tokens{}
	case l.Session != nil:
		if now, err := s.turn.Cumulative(s.id, whole); err == nil {
			s.spent, s.live = s.spent.Plus(now), map[string]tokens{}
		}
	}
	s.count()
	for _, d := range l.Denials {
		s.turn.Say("[was refused: " + d.Tool + "]")
	}
	final := l
	s.final = &final
	s.over()
}

// count reports the usage so far to the turn.
func (s *stream) count() {
	total := s.spent
	for _, u := range s.live {
		total = total.Plus(runner.Totals{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
	}
	s.turn.Spent(total.Usage(s.run.Alias))
}

// sum adds up models. A cost is known if it is known of each.
func sum(models map[string]model) runner.Totals {
	var out runner.Totals
	known := true
	for _, m := range models {
		out = out.Plus(runner.Totals{Input: m.Input, Output: m.Output, CacheRead: m.CacheRead, CacheWrite: m.CacheWrite, USD: m.USD})
		known = known && m.USD != nil && m.Basis != "unknown"
	}
	if !known {
		out.USD = nil
	}
	return out
}

// failedWith words what the model's server answered.
func failedWith(kind string, status int) string {
	kind = strings.ReplaceAll(kind, "_", " ")
	switch {
	case status == 0 && (kind == "" || kind == "unknown"):
		return "no connection"
	case status == 0:
		return kind
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, kind))
}

// short is the beginning of what a tool answered.
func short(s string) string {
	const most, lines = 400, 4
	s = strings.TrimSpace(s)
	cut := false
	if all := strings.SplitN(s, "\n", lines+1); len(all) > lines {
		s, cut = strings.Join(all[:lines], "\n"), true
	}
	if len(s) > most {
		s, cut = text.Head(s, most), true
	}
	if cut {
		s += " …"
	}
	return s
}
