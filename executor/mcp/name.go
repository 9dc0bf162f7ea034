package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// maxName bounds a name, in bytes: agents put their own words around it and the
// tool's name, and models take 64 in all.
const maxName = 40

// nameOf names the server of a turn: ralph_KEY_STEP_ATTEMPT_TURN.
func nameOf(r executor.AgentRun) string {
	key := ""
	if r.Node != nil {
		key = string(r.Node.Key)
	}
	step := r.Effect.Step
	if step == "" && r.Step != nil {
		step = r.Step.Name
	}
	whole := strings.Join([]string{"ralph", key, step, strconv.Itoa(r.Effect.Attempt), r.Turn()}, "_")
	var b strings.Builder
	for _, c := range strings.ToLower(whole) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && b.String()[b.Len()-1] != '_': // two in a row separate an agent's words
			b.WriteByte('_')
		}
	}
	name := strings.Trim(b.String(), "_")
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(whole))
	return short(name, "_"+hex.EncodeToString(sum[:3]))
}

// short makes a name with that end.
func short(name, end string) string {
	return strings.TrimRight(name[:min(len(name), maxName-len(end))], "_") + end
}
