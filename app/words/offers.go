package words

import (
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

// howWords say in what way a decision is made.
var howWords = map[executor.How]string{
	executor.Discard: "from the start", executor.KeepOld: "with the old result", executor.Override: "in spite of the gate",
	executor.Forced: "while it runs", executor.Baseline: "a red base", executor.Drafted: "the draft",
}

// Offer names a decision that can be made about a node that waits for a cause, "" for
// another node and for the whole run: "approve", "answer", "run its gates".
func Offer(w machine.Way, cause executor.Cause) string {
	verb := string(w.Verb)
	switch {
	case w.How == executor.GatesOnly:
		return "run its gates"
	case w.How != executor.HowPlain:
		return verb + With(" ", howWords[w.How], "")
	case w.Key == "" && w.Verb == executor.Approve:
		return verb + " the plan"
	case w.Key == "":
		return verb + " the run"
	case w.Verb == executor.RetryNode && answers(cause):
		return "answer"
	}
	return verb
}

// OfferText says what the text of a decision is, "" if it takes none.
func OfferText(w machine.Way, cause executor.Cause) string {
	switch {
	case w.Verb == executor.Reject:
		return "the reason: what has to change"
	case !w.Message:
		return ""
	case w.Verb == executor.RetryNode && answers(cause):
		return "your answer"
	case w.Verb == executor.RetryNode && cause == executor.CauseTakeover:
		return "what to do"
	case w.Verb == executor.RetryNode:
		return "a hint for the next attempt"
	}
	return "why"
}

// OfferNeeds asks for the text of a decision that is refused without one.
func OfferNeeds(w machine.Way, cause executor.Cause) string {
	switch {
	case w.Verb == executor.Reject:
		return "say what has to change: the next attempt gets it as feedback"
	case w.Verb == executor.RetryNode && answers(cause):
		return "write an answer: the agent goes on with it"
	case w.Verb == executor.RetryNode:
		return "say what to do: another attempt starts with it"
	}
	return "say why: it stays on record"
}

// answers reports whether another attempt answers the agent.
func answers(cause executor.Cause) bool {
	return cause == executor.CauseQuestion || cause == executor.CauseDiagnosis
}
