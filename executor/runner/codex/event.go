package codex

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
)

// event is a line of `codex exec --json`, as far as ralph looks at it.
type event struct {
	Type    string `json:"type"`
	Thread  string `json:"thread_id"` // thread.started
	Message string `json:"message"`   // error
	Error   struct {
		Message string `json:"message"`
	} `json:"error"` // turn.failed
	Usage *usage `json:"usage"` // turn.completed: of the whole thread
	Item  *item  `json:"item"`  // item.*
}

// usage counts tokens: those from and for the cache are among the input's, those of
// reasoning among the output's.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// item is something that the agent says or does.
type item struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Text    string `json:"text"`    // agent_message, reasoning
	Message string `json:"message"` // error: also warnings

	Command string `json:"command"` // command_execution
	Output  string `json:"aggregated_output"`
	Code    *int   `json:"exit_code"`

	Server    string          `json:"server"` // mcp_tool_call
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    *struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`

	Changes []struct { // file_change
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`

	Query string `json:"query"` // web_search
}

// How much of what a tool was told and answered a person reads, in bytes; the
// stream's file holds all of it.
const (
	shownInput  = 500
	shownOutput = 2000
)

// begins is what a person reads when the item begins; "" is nothing.
func (i *item) begins() string {
	switch i.Type {
	case "command_execution":
		return "$ " + clip(bare(i.Command), shownInput)
	case "mcp_tool_call":
		return fmt.Sprintf("[%s.%s] %s", i.Server, i.Tool, clip(string(i.Arguments), shownInput))
	}
	return ""
}

// ends is what a person reads when the item has ended.
func (i *item) ends() string {
	switch i.Type {
	case "agent_message":
		return i.Text
	case "error":
		return "[codex] " + clip(i.Message, shownOutput)
	case "command_execution":
		out := lastOf(i.Output, shownOutput)
		if i.Code != nil && (*i.Code != 0 || out == "") {
			out = strings.TrimLeft(fmt.Sprintf("%s\n[exit code %d]", out, *i.Code), "\n")
		} else if i.Code == nil {
			out = strings.TrimLeft(fmt.Sprintf("%s\n[%s]", out, i.Status), "\n")
		}
		return out
	case "mcp_tool_call":
		return i.answer()
	case "file_change":
		var list []string
		for _, c := range i.Changes {
			list = append(list, c.Kind+" "+c.Path)
		}
		return clip("[files] "+strings.Join(list, ", "), shownOutput)
	case "web_search":
		return "[web] " + clip(i.Query, shownInput)
	}
	return ""
}

// answer is what a tool of an MCP server answered.
func (i *item) answer() string {
	var said []string
	if i.Result != nil {
		for _, c := range i.Result.Content {
			said = append(said, c.Text)
		}
	}
	if e := string(i.Error); e != "" && e != "null" {
		said = append(said, e)
	}
	return clip(fmt.Sprintf("[%s.%s: %s] %s", i.Server, i.Tool, i.Status, strings.Join(said, " ")), shownOutput)
}

// runs says whether an item is a tool that may take long: while it does, the agent
// is not silent. A list of what is to be done is open as long as the turn.
func (i *item) runs() bool {
	return i.ID != "" && !slices.Contains([]string{"agent_message", "reasoning", "error", "todo_list", ""}, i.Type)
}

// bare is a command without the shell that Codex puts around it.
func bare(cmd string) string {
	for _, shell := range []string{"bash -lc ", "zsh -lc ", "sh -lc ", "bash -c ", "sh -c "} {
		if before, in, ok := strings.Cut(cmd, shell); ok && !strings.ContainsAny(before, " '\"") {
			if word, ok := unquote(in); ok {
				return word
			}
		}
	}
	return cmd
}

// unquote is the one word that a shell would read, without its quotes.
func unquote(s string) (word string, ok bool) {
	var out strings.Builder
	for quote := byte(0); len(s) > 0; s = s[1:] {
		c := s[0]
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && (c == ' ' || c == '\n' || c == '\t'):
			return "", false
		case c == '\\' && len(s) > 1 && (quote == 0 || quote == '"' && strings.IndexByte("$`\"\\", s[1]) >= 0):
			s = s[1:]
			out.WriteByte(s[0])
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), true
}

// lastOf is the end of a text, at most n bytes of it.
func lastOf(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	return "…" + text.Tail(s, n)
}
