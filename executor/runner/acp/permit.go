package acp

import (
	"encoding/json"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/ralph-compiler/ralph/internal/text"
)

// permission is what a program asks before it uses a tool. Its options are read
// leniently: kinds that ralph does not know are never chosen.
type permission struct {
	ToolCall struct {
		ID    string       `json:"toolCallId"`
		Kind  sdk.ToolKind `json:"kind"`
		Title string       `json:"title"`
	} `json:"toolCall"`
	Options []struct {
		ID   string                   `json:"optionId"`
		Kind sdk.PermissionOptionKind `json:"kind"`
	} `json:"options"`
}

// edits are the kinds of tools that change files and nothing else.
var edits = map[sdk.ToolKind]bool{sdk.ToolKindEdit: true, sdk.ToolKindDelete: true, sdk.ToolKindMove: true}

// ask answers a request of the program at once: there is no person whom it could be
// put to. It implements listener.ask.
func (h *heard) ask(method string, params json.RawMessage) any {
	if method != sdk.ClientMethodSessionRequestPermission {
		return nil
	}
	var p permission
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return nil
	}
	kind := p.ToolCall.Kind
	t := h.tools[p.ToolCall.ID]
	edit := edits[kind] || t != nil && edits[t.kind] // it may ask for a path in the name of an edit
	refuse := h.read && edit
	var outcome sdk.RequestPermissionOutcome
	if id, ok := p.choose(refuse); ok {
		outcome.Selected = &sdk.RequestPermissionOutcomeSelected{OptionId: sdk.PermissionOptionId(id)}
	} else {
		outcome.Cancelled = &sdk.RequestPermissionOutcomeCancelled{}
	}
	switch {
	case refuse:
		h.turn.Say("  refused: this agent may not change files: " + text.Clip(p.ToolCall.Title, 300))
	case outcome.Cancelled != nil:
		h.turn.Say("  not answered, because it offers no way to allow it: " + text.Clip(p.ToolCall.Title, 300))
	case p.ToolCall.ID != "":
		h.turn.Tool(p.ToolCall.ID, true)
	}
	h.turn.Alive()
	return sdk.RequestPermissionResponse{Outcome: outcome}
}

// choose finds the option that allows or refuses, this once if it can be: "always"
// may be written into the user's settings.
func (p permission) choose(refuse bool) (string, bool) {
	want := []sdk.PermissionOptionKind{sdk.PermissionOptionKindAllowOnce, sdk.PermissionOptionKindAllowAlways}
	if refuse {
		want = []sdk.PermissionOptionKind{sdk.PermissionOptionKindRejectOnce, sdk.PermissionOptionKindRejectAlways}
	}
	for _, k := range want {
		for _, o := range p.Options {
			if o.Kind == k {
				return o.ID, true
			}
		}
	}
	return "", false
}
