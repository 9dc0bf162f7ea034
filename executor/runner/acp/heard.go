package acp

import (
	"encoding/json"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/text"
)

// heard is what a program says in the turn's session.
type heard struct {
	turn *runner.Turn
	read bool // the agent may not change files

	mu      sync.Mutex // guards the rest
	session string     // "" while nothing in it is of this turn: a replayed history is not
	over    bool
	tools   map[string]*tool
	called  bool // a tool was called

	message strings.Builder // the message that is being said
	thought strings.Builder // what is thought before it
	id      string          // of it, if the program says any
	cut     bool            // what comes next is another message
	last    string          // the message before it
	line    string          // what was not shown yet: a line that goes on
	doing   string          // the entry of the plan that was shown last

	used   int64    // tokens in the context, as was said last
	cost   *float64 // in US dollars, of the session so far
	before *float64 // the same when the turn began
}

// tool is a tool call as far as it is known.
type tool struct {
	kind  sdk.ToolKind
	title string
	shown bool // a person was told that it begins
}

// Bounds, in bytes: of a message, of a line that does not end, and of what is shown
// of a tool's results.
const (
	maxAnswer = 4 << 20
	maxShown  = 16 << 10
	maxResult = 2000
)

// begin says that what comes from now on in the session is of the turn.
func (h *heard) begin(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session = session
	h.before, h.cost = h.cost, nil
}

// raw keeps a line of the program's. Messages that come in pieces are kept as a whole,
// in endMessage: in pieces a secret would not be recognised.
func (h *heard) raw(line []byte) {
	var m struct {
		Params struct {
			Update update `json:"update"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) == nil && (m.Params.Update.Kind == messageChunk || m.Params.Update.Kind == thoughtChunk) && saidIn(m.Params.Update.Content) != "" {
		return
	}
	h.turn.Heard(line)
}

// keep keeps what came in pieces.
func (h *heard) keep(kind string, whole *strings.Builder) {
	if whole.Len() > 0 {
		b, _ := json.Marshal(map[string]string{"whole": kind, "text": whole.String()}) // texts always can
		h.turn.Heard(b)
	}
	whole.Reset()
}

// update takes what is said.
func (h *heard) update(session string, u update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	if u.Kind == usageUpdate && (h.session == "" || session == h.session) {
		if u.Used > 0 {
			h.used = u.Used
		}
		if u.Cost != nil && (u.Cost.Currency == "USD" || u.Cost.Currency == "") {
			h.cost = new(u.Cost.Amount)
		}
	}
	if h.session == "" {
		return
	}
	if session != h.session { // of an agent that it started
		h.turn.Alive()
		return
	}
	if u.Meta.Model != "" {
		h.turn.Model(u.Meta.Model)
	}
	switch u.Kind {
	case messageChunk:
		h.chunk(u.MessageID, saidIn(u.Content))
	case thoughtChunk:
		h.thought.WriteString(text.Clip(saidIn(u.Content), max(0, maxAnswer-h.thought.Len())))
		h.cut = h.cut || u.MessageID == "" // those who number their messages say so themselves
	case userChunk:
		h.cut = true
	case toolCall, toolUpdate:
		h.toolCall(u)
	case planUpdate:
		h.plan(u)
	case usageUpdate:
	default:
		return // such as which commands there are: it may come from a clock
	}
	h.turn.Alive()
}

// chunk takes a piece of a message.
func (h *heard) chunk(id, s string) {
	if h.cut || id != h.id {
		h.endMessage()
		h.id, h.cut = id, false
	}
	h.message.WriteString(s)
	if h.message.Len() > maxAnswer {
		all := h.message.String()
		h.message.Reset()
		h.message.WriteString(all[:maxAnswer/4] + "\n[the middle is left out here]\n" + all[len(all)-maxAnswer/4:])
	}
	h.line += s
	if at := strings.LastIndexByte(h.line, '\n'); at >= 0 || len(h.line) > maxShown {
		if at < 0 {
			at = len(h.line) - 1
		}
		h.turn.Say(h.line[:at+1])
		h.line = h.line[at+1:]
	}
}

// endMessage ends the message that is being said.
func (h *heard) endMessage() {
	if h.line != "" {
		h.turn.Say(h.line)
		h.line = ""
	}
	if s := h.message.String(); strings.TrimSpace(s) != "" {
		h.last = s
	}
	h.keep(thoughtChunk, &h.thought)
	h.keep(messageChunk, &h.message)
}

// toolCall takes the beginning, the progress or the end of a tool call.
func (h *heard) toolCall(u update) {
	t := h.tools[u.ToolCallID]
	if t == nil {
		h.endMessage()
		h.cut, h.called = true, true
		t = &tool{}
		h.tools[u.ToolCallID] = t
	}
	if u.Tool != "" {
		t.kind = u.Tool
	}
	if u.Title != "" && !t.shown {
		t.title = u.Title
	}
	switch sdk.ToolCallStatus(u.Status) {
	case sdk.ToolCallStatusCompleted, sdk.ToolCallStatusFailed:
		h.show(t)
		if s := results(u.Content); s != "" {
			h.turn.Say(indent(text.Clip(h.turn.Plain(s), maxResult)))
		}
		if u.Status == string(sdk.ToolCallStatusFailed) {
			h.turn.Say("  failed")
		}
		h.turn.Tool(u.ToolCallID, false)
	case sdk.ToolCallStatusPending:
		// Its arguments are still being written: a model that falls silent then is stalled.
	default:
		if u.Kind == toolCall && u.Status == "" { // pending is what it is if nothing is said
			return
		}
		h.turn.Tool(u.ToolCallID, true)
		if u.Status != "" {
			h.show(t)
		}
	}
}

// show shows once that a tool begins.
func (h *heard) show(t *tool) {
	if !t.shown {
		t.shown = true
		h.turn.Say("> " + strings.TrimSpace(string(t.kind)+" "+text.Clip(h.turn.Plain(t.title), 300)))
	}
}

// plan shows what the agent is about to do.
func (h *heard) plan(u update) {
	for _, e := range u.Entries {
		if e.Status == string(sdk.PlanEntryStatusInProgress) && e.Content != h.doing {
			h.doing = e.Content
			h.turn.Say("plan: " + text.Clip(h.turn.Plain(e.Content), 300))
		}
	}
}

// lost forgets which tools run: what was too long to be read may have been the end
// of one.
func (h *heard) lost() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.tools {
		h.turn.Tool(id, false)
	}
}

// end says that the turn is over, and returns the agent's last message.
func (h *heard) end() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.endMessage()
	return h.last
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
