package claude

import (
	"encoding/json"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// maxLine is how long a line of the stream may be, in bytes; a longer one is cut,
// and cannot be read.
const maxLine = 64 << 20

// line is what is read of a line of the stream; there is more in it.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Parent  string `json:"parent_tool_use_id"` // of a subagent: the tool call that began it

	// system
	SessionID string `json:"session_id"`
	Model     string `json:"model"`
	Servers   []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`
	Agents      []string `json:"agents"`
	Attempt     int      `json:"attempt"`
	MaxRetries  int      `json:"max_retries"`
	RetryMS     int64    `json:"retry_delay_ms"`
	ErrorStatus int      `json:"error_status"`
	Tool        string   `json:"tool_name"`
	Why         string   `json:"decision_reason"`

	// assistant, user; of system lines a text
	Message json.RawMessage `json:"message"`

	// assistant: a failure that Claude Code words itself
	Error     string `json:"error"`
	APIStatus int    `json:"api_error_status"` // of result, too
	Params    struct {
		Limit *limitInfo `json:"rate_limit_info"`
	} `json:"api_error_params"`

	Limit *limitInfo  `json:"rate_limit_info"`
	Event streamEvent `json:"event"`

	// result
	IsError   bool             `json:"is_error"`
	Result    *string          `json:"result"`
	Errors    []string         `json:"errors"`
	Terminal  string           `json:"terminal_reason"`
	CostUSD   *float64         `json:"total_cost_usd"`
	Session   map[string]model `json:"modelUsage"`
	SinceLast map[string]model `json:"model_usage_since_last_result"`
	Denials   []struct {
		Tool string `json:"tool_name"`
	} `json:"permission_denials"`

	RequestID string `json:"request_id"` // control_request
}

// limitInfo is what a response said about a limit.
type limitInfo struct {
	Status   string `json:"status"` // allowed, allowed_warning, rejected
	ResetsAt int64  `json:"resetsAt"`
}

// model is what one model was used for.
type model struct {
	Input      int64    `json:"inputTokens"`
	Output     int64    `json:"outputTokens"`
	CacheRead  int64    `json:"cacheReadInputTokens"`
	CacheWrite int64    `json:"cacheCreationInputTokens"`
	USD        *float64 `json:"costUSD"`
	Basis      string   `json:"costBasis"` // unknown: the price is a guess
}

// spoken is a message of a model, or to it.
type spoken struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // a text, or blocks
	Usage   *tokens         `json:"usage"`
}

// tokens are what a response of the model says that it took.
type tokens struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// streamEvent is a piece of a response that is still coming.
type streamEvent struct {
	Type    string  `json:"type"`
	Message spoken  `json:"message"`
	Usage   *tokens `json:"usage"`
}

// block is a part of a message.
type block struct {
	Type    string          `json:"type"` // text, tool_use, tool_result, thinking, …
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	ToolID  string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"` // a text, or blocks
	IsError bool            `json:"is_error"`
}

// blocks reads the parts of a message, whichever form it has.
func blocks(raw json.RawMessage) []block {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if s == "" {
			return nil
		}
		return []block{{Type: "text", Text: s}}
	}
	var each []json.RawMessage
	if json.Unmarshal(raw, &each) != nil {
		return nil
	}
	var out []block
	for _, r := range each {
		var b block
		if json.Unmarshal(r, &b) == nil { // one that changed its form is left out alone
			out = append(out, b)
		}
	}
	return out
}

// words is all text of a message.
func words(raw json.RawMessage) string {
	return strings.Join(lists.Map(lists.Keep(blocks(raw), func(b block) bool { return b.Type == "text" && b.Text != "" }), func(b block) string { return b.Text }), "\n")
}

// read takes a line apart. What has another form than expected is left out, not
// the whole line.
func read(b []byte) (line, bool) {
	var l line
	if err := json.Unmarshal(b, &l); err == nil {
		return l, true
	}
	l = line{}
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil {
		return line{}, false
	}
	for name, v := range fields {
		one, err := json.Marshal(map[string]json.RawMessage{name: v})
		if err != nil {
			continue
		}
		was := l
		if json.Unmarshal(one, &l) != nil {
			l = was
		}
	}
	return l, true
}
