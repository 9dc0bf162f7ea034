package opencode

import (
	"encoding/json"
	"time"
)

// What OpenCode's server says, as far as it is read here. Everything else that it
// says is ignored, so that a later version may say more.
type (
	session struct {
		ID        string `json:"id"`
		Directory string `json:"directory"`
		ParentID  string `json:"parentID"`
		Time      span   `json:"time"`
	}

	// status of a session; one that is idle has none.
	status struct {
		Type    string `json:"type"` // idle, busy, retry
		Attempt int    `json:"attempt"`
		Message string `json:"message"`
		Next    int64  `json:"next"` // milliseconds since 1970
	}

	message struct {
		Info  info   `json:"info"`
		Parts []part `json:"parts"`
	}

	info struct {
		ID         string  `json:"id"`
		SessionID  string  `json:"sessionID"`
		Role       string  `json:"role"` // user, assistant
		ProviderID string  `json:"providerID"`
		ModelID    string  `json:"modelID"`
		Finish     string  `json:"finish"`
		Error      *fault  `json:"error"`
		Cost       float64 `json:"cost"` // US dollars
		Tokens     tokens  `json:"tokens"`
		Time       span    `json:"time"`
	}

	tokens struct {
		Input     float64 `json:"input"`
		Output    float64 `json:"output"`
		Reasoning float64 `json:"reasoning"`
		Cache     struct {
			Read  float64 `json:"read"`
			Write float64 `json:"write"`
		} `json:"cache"`
	}

	// span is in milliseconds since 1970; what has not happened is 0.
	span struct {
		Created   float64 `json:"created"`
		Completed float64 `json:"completed"`
		End       float64 `json:"end"`
	}

	part struct {
		ID        string          `json:"id"`
		SessionID string          `json:"sessionID"`
		MessageID string          `json:"messageID"`
		Type      string          `json:"type"` // text, reasoning, tool, compaction, …
		Text      string          `json:"text"`
		Synthetic bool            `json:"synthetic"` // by the program
		Metadata  json.RawMessage `json:"metadata"`
		Tool      string          `json:"tool"`
		State     toolState       `json:"state"`
		Time      span            `json:"time"`
	}

	toolState struct {
		Status string          `json:"status"` // pending, running, completed, error
		Title  string          `json:"title"`
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
	}

	// fault is why a turn failed.
	fault struct {
		Name string `json:"name"`
		Data struct {
			Message         string            `json:"message"`
			StatusCode      int               `json:"statusCode"`
			ResponseHeaders map[string]string `json:"responseHeaders"`
		} `json:"data"`
	}

	// asked is a question, or a permission that is asked for.
	asked struct {
		ID        string `json:"id"`
		SessionID string `json:"sessionID"`
	}

	mcpStatus struct {
		Status string `json:"status"` // connected, disabled, failed, …
		Error  string `json:"error"`
	}

	agent struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Native      bool   `json:"native"`
		Hidden      bool   `json:"hidden"`
		Model       *struct {
			ProviderID string `json:"providerID"`
			ModelID    string `json:"modelID"`
		} `json:"model"`
		Permission []rule `json:"permission"`
	}

	// rule of a permission ruleset; of those that match, the last one counts.
	rule struct {
		Permission string `json:"permission"`
		Pattern    string `json:"pattern"`
		Action     string `json:"action"` // allow, ask, deny
	}

	config struct {
		MCP map[string]struct {
			Enabled *bool `json:"enabled"`
		} `json:"mcp"`
	}

	// event of the stream.
	event struct {
		Type       string     `json:"type"`
		Properties properties `json:"properties"`
	}

	// properties of all kinds of events in one.
	properties struct {
		ID        string          `json:"id"`
		SessionID string          `json:"sessionID"`
		Info      json.RawMessage `json:"info"` // a session or a message
		Part      *part           `json:"part"`
		Status    *status         `json:"status"`
		Error     json.RawMessage `json:"error"`
	}
)

// mark is the metadata by which the parts of ralph's own messages are told from a
// person's.
type mark struct {
	Ralph string `json:"ralph"`
}

// markOf is the mark that a part carries; "" if none.
func markOf(p part) string {
	var m mark
	_ = json.Unmarshal(p.Metadata, &m) // what is no mark is none
	return m.Ralph
}

func moment(ms float64) time.Time { return time.UnixMilli(int64(ms)) }
