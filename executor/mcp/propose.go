package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/strictjson"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Bounds of proposals.
const (
	maxProposals = 20   // of one turn
	maxTitle     = 200  // bytes
	maxText      = 2000 // bytes
)

var proposalSchema = json.RawMessage(`{
  "type": "object",
  "required": ["title"],
  "properties": {
    "title": {"type": "string", "description": "what should be done, in one line of at most 200 bytes"},
    "text": {"type": "string", "description": "why, and where, in at most 2000 bytes"}
  }
}`)

// propose puts work that the agent found on record.
func (t *turn) propose(args json.RawMessage) (string, error) {
	var p struct{ Title, Text string }
	if err := strictjson.Check(args, maxDepth, true); err != nil {
		return "", notRecorded(err)
	}
	if err := json.Unmarshal(args, &p); err != nil {
		return "", notRecorded(fmt.Errorf(`"title" and "text" must be texts`))
	}
	redact := func(s string) string {
		if t.server.Redact != nil {
			s = t.server.Redact(s)
		}
		return strings.TrimSpace(executor.Clean(s))
	}
	made := executor.Proposal{Title: text.OneLine(redact(p.Title)), Text: redact(p.Text)}
	switch {
	case made.Title == "":
		return "", notRecorded(fmt.Errorf(`it has no "title": write in one line what should be done`))
	case len(made.Title) > maxTitle:
		return "", notRecorded(fmt.Errorf(`"title" has %d bytes; at most %d are taken. Write the rest into "text"`, len(made.Title), maxTitle))
	case len(made.Text) > maxText:
		return "", notRecorded(fmt.Errorf(`"text" has %d bytes; at most %d are taken. Write it shorter`, len(made.Text), maxText))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.over:
		return "", errOver
	case t.proposed[made]:
		return "It is on record already.", nil
	case len(t.proposed) == maxProposals:
		return "", notRecorded(fmt.Errorf("%d proposals were made in this turn, and no more are taken: name the rest in the summary of your outcome", maxProposals))
	}
	err := t.run.Record(t.ctx, executor.WorkProposed{Proposal: made, Agent: t.run.Agent, Gate: t.run.Effect.Gate})
	if err != nil {
		return "", fmt.Errorf("ralph could not record it (%v)", err)
	}
	t.proposed[made] = true
	return "Recorded for a person to decide. Go on with your task.", nil
}

func notRecorded(err error) error {
	return fmt.Errorf("propose_work did not take this, and recorded nothing: %w", err)
}
