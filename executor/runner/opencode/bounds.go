package opencode

import (
	"fmt"

	"github.com/ralph-compiler/ralph/executor/runner"
)

// How much a turn keeps of what its server names. A server in a sandbox is the agent's to
// command, as plugins and programs there can do with it what they like: it may name any number.
const (
	maxKept    = 20_000 // messages of a session, new ones of a turn, and parts of them
	maxFamily  = 1000   // sessions of a turn: its own and those of subagents
	maxServers = 200    // MCP servers of a directory
	maxID      = 128    // bytes of what names one of them
)

// keep notes what belongs to an ID. Where that is too much it notes nothing, and the turn
// ends: see turn.flood.
func keep[V any](u *turn, in map[string]V, id string, v V, most int) bool {
	if _, known := in[id]; !known && (len(in) >= most || len(id) > maxID) {
		u.flood = true
		return false
	}
	in[id] = v
	return true
}

// tooMuch is the failure of a turn whose server names too much: a person is to look.
func tooMuch() error {
	return runner.Configuration(fmt.Errorf("opencode's server names more than %d messages or parts of a turn, %d subagents or %d MCP servers, or one by an ID of more than %d bytes", maxKept, maxFamily, maxServers, maxID))
}
