package machine

import "github.com/ralph-compiler/ralph/executor"

// Vocabularies lists all of them.
var Vocabularies = []executor.Vocabulary{executor.WordsIssue, executor.WordsBead, executor.WordsTask, executor.WordsRalphBead, executor.WordsShepherd, executor.WordsExecution, executor.WordsRun}

// nodeWords gives the word for each status of a node, in the order of the
// statuses: pending, ready, running, waiting, done, blocked, skipped, cancelled.
// Words that depend on why a node waits are refined by Word.
var nodeWords = map[executor.Vocabulary][executor.NodeStatuses]string{
	executor.WordsIssue:     {"open", "open", "in_progress", "blocked", "closed", "blocked", "closed", "closed"},
	executor.WordsBead:      {"running", "running", "running", "awaiting_approval", "approved", "rejected", "skipped", "rejected"},
	executor.WordsTask:      {"idle", "idle", "running", "awaiting_approval", "completed", "failed", "completed", "failed"},
	executor.WordsRalphBead: {"pending", "pending", "in_progress", "blocked", "completed", "failed", "completed", "failed"},
	executor.WordsShepherd:  {"open", "open", "in_progress", "blocked", "closed", "blocked", "closed", "closed"},
}

// Word is the vocabulary's word for a node's state, "" for a vocabulary of attempts. A
// wait that no person has to end, such as a timer or a rate limit, is work in progress;
// a paused task is paused.
func (v NodeView) Word(in executor.Vocabulary) string {
	words, ok := nodeWords[in]
	if !ok {
		return ""
	}
	if v.Status != executor.Waiting {
		return words[v.Status]
	}
	switch {
	case v.For == executor.ForTimer || v.For == executor.ForLimit:
		return words[executor.Running]
	case in == executor.WordsTask && (v.For == executor.ForBudget || v.Cause == executor.CausePaused || v.Cause == executor.CauseHeld):
		return "paused"
	case in == executor.WordsBead && v.For == executor.ForBudget:
		return words[executor.Running]
	}
	return words[executor.Waiting]
}

// FailureCode is the reason, in one word, why a node did not succeed, for formats that
// know only "failed": budget, iterations, stop, cancelled; "" if it may still succeed.
func (v NodeView) FailureCode() string {
	switch {
	case v.Status == executor.Cancelled:
		return "cancelled"
	case v.Status == executor.Waiting && v.For == executor.ForBudget:
		return "budget"
	case v.Status != executor.Blocked:
		return ""
	}
	switch v.BlockedBy {
	case executor.ByStop:
		return "stop"
	case executor.ByBudget:
		return "budget"
	}
	return "iterations"
}
