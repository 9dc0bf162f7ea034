package acp

import (
	"encoding/json"
	"strings"

	sdk "github.com/coder/acp-go-sdk"
)

// update is a session/update, of any kind: what ralph reads of it. Other fields and
// unknown kinds are left alone.
type update struct {
	Kind      string          `json:"sessionUpdate"`
	MessageID string          `json:"messageId"`
	Content   json.RawMessage `json:"content"` // of a message: one block; of a tool call: a list

	// Of a tool call.
	ToolCallID string       `json:"toolCallId"`
	Title      string       `json:"title"`
	Tool       sdk.ToolKind `json:"kind"`
	Status     string       `json:"status"` // "" in an update: as it was

	Entries []struct { // of a plan
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"entries"`

	Used int64     `json:"used"` // tokens in the context
	Cost *sdk.Cost `json:"cost"` // of the session so far

	Meta struct {
		Model string `json:"_claude/model"`
	} `json:"_meta"`
}

// Kinds of updates that say something.
const (
	messageChunk = "agent_message_chunk"
	thoughtChunk = "agent_thought_chunk"
	userChunk    = "user_message_chunk"
	toolCall     = "tool_call"
	toolUpdate   = "tool_call_update"
	planUpdate   = "plan"
	usageUpdate  = "usage_update"
)

// saidIn is what a block of content says; "" if it is no text.
func saidIn(block json.RawMessage) string {
	var b struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(block, &b) != nil || b.Type != "text" {
		return ""
	}
	return b.Text
}

// results is what a tool call says that came out of it.
func results(content json.RawMessage) string {
	var list []struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
		Path    string          `json:"path"`
	}
	if json.Unmarshal(content, &list) != nil {
		return ""
	}
	var parts []string
	for _, c := range list {
		switch {
		case c.Type == "content":
			if s := strings.TrimSpace(saidIn(c.Content)); s != "" {
				parts = append(parts, s)
			}
		case c.Type == "diff" && c.Path != "":
			parts = append(parts, "changed "+c.Path)
		}
	}
	return strings.Join(parts, "\n")
}
