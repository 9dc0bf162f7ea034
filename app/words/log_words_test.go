package words

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

func TestTheLogSaysWhatIsToldOfASession(t *testing.T) { // S4-38, S4-46, S4-64
	for want, body := range map[string]executor.Body{
		"implement #2: agent dev works in session s1":                                                  executor.AgentSession{Session: "s1", Agent: "dev", Turn: "agent-1", Fresh: true},
		"implement #2: agent dev continues in session s1":                                              executor.AgentSession{Session: "s1", Agent: "dev", Turn: "agent-2"},
		"implement #2: agent qa (gate look) works in session s2":                                       executor.AgentSession{Session: "s2", Agent: "qa", Turn: "gate-look", Gate: "look", Fresh: true},
		"implement #2: agent dev proposes work: rotate keys":                                           executor.WorkProposed{Proposal: executor.Proposal{Title: "rotate keys"}, Agent: "dev"},
		"implement #2: a person wrote in the agent's session: no":                                      executor.HumanSpoke{Session: "s1", Text: "no\nnot so"},
		"implement #2: a person wrote in the agent's session (gate look)":                              executor.HumanSpoke{Session: "s2", Gate: "look"},
		"implement #2: agent dev left its session to a person after 1s":                                executor.AgentEnded{Agent: "dev", End: executor.EndTakenOver, Millis: 1000},
		"implement #2: worktree is ready; the agent's session cannot continue there; a new one starts": executor.Prepared{Anew: true},
	} {
		e := executor.Event{Node: "bd-1", Step: "implement", Attempt: 2, Body: body}
		if got := Event(e, func(id ir.NodeID) string { return string(id) }); got != want {
			t.Errorf("%+v says %q, want %q", body, got, want)
		}
	}
}

// A gate's program costs nothing; an agent that says nothing may have cost anything.
func TestACostIsUnknownOnlyWhereAnAgentWasAsked(t *testing.T) { // execution §6: a cost that nobody reports is unknown
	for want, s := range map[string]machine.Spent{
		"":        {Millis: 900, TokensKnown: true, USDKnown: true},
		"unknown": {Millis: 900},
		"≥ $0.01": {Millis: 900, USDMicro: 10_000, TokensKnown: true},
	} {
		if got := SpentShort(s); got != want {
			t.Errorf("%+v is %q, want %q", s, got, want)
		}
	}
}
