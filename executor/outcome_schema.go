package executor

import (
	"encoding/json"
)

// OutcomeSchema is the JSON Schema of an outcome as given to agents: the first form that
// ParseOutcome accepts.
var OutcomeSchema = json.RawMessage(`{
  "type": "object",
  "required": ["result", "summary"],
  "properties": {
    "result": {"type": "string", "enum": ["success", "partial", "failed"], "description": "success: the work is done. partial: you need another turn. failed: it cannot be done."},
    "summary": {"type": "string", "description": "what you did, or why it failed, in a few sentences"},
    "next_action": {"type": "string", "enum": ["advance_phase", "repeat_phase", "need_human", "none"], "description": "need_human: only a person can decide; ask in summary"},
    "suggested_next_phase": {"type": "string", "description": "an earlier step that should run again"},
    "needs_human": {"type": "boolean"},
    "errors": {"type": "array", "items": {"type": "string"}},
    "pointers": {"type": "array", "items": {"type": "string"}, "description": "files or addresses that show the work"},
    "created_issues": {"type": "array", "items": {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}, "text": {"type": "string"}}}, "description": "work that you found and did not do"}
  }
}`)
