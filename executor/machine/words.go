package machine

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

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

// nodeMeanings gives the status that each word means. Where several statuses
// have the same word it is the one that loses least: what is read is not run
// again unless that is safe.
var nodeMeanings = map[executor.Vocabulary]map[string]executor.NodeStatus{
	executor.WordsIssue: {
		"open": executor.Pending, "in_progress": executor.Running, "blocked": executor.Blocked, "closed": executor.Done,
		"deferred": executor.Waiting, "pinned": executor.Waiting, "hooked": executor.Running, // bd alone
	},
	executor.WordsBead: {"running": executor.Running, "awaiting_approval": executor.Waiting, "approved": executor.Done, "rejected": executor.Blocked, "skipped": executor.Skipped},
	executor.WordsTask: {
		"idle": executor.Pending, "running": executor.Running, "paused": executor.Waiting, "awaiting_approval": executor.Waiting, "completed": executor.Done, "failed": executor.Blocked,
	},
	executor.WordsRalphBead: {"pending": executor.Pending, "in_progress": executor.Running, "completed": executor.Done, "failed": executor.Blocked, "blocked": executor.Waiting},
	executor.WordsShepherd:  {"open": executor.Pending, "in_progress": executor.Running, "blocked": executor.Waiting, "closed": executor.Done},
}

var attemptMeanings = map[executor.Vocabulary]map[string]executor.AttemptStatus{
	executor.WordsExecution: {"completed": executor.AttemptPassed, "failed": executor.AttemptFailed, "timeout": executor.AttemptTimeout},
	executor.WordsRun: {
		"pending": executor.AttemptRunning, "running": executor.AttemptRunning, "completed": executor.AttemptPassed, "failed": executor.AttemptFailed,
		"cancelled": executor.AttemptCancelled, "stalled": executor.AttemptStalled,
	},
}

// Word is the vocabulary's word for where a node stands, "" for a vocabulary of
// attempts. A wait that no person has to end, such as a timer or a rate limit,
// is work in progress; a paused task is paused.
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

// NodeMeaning is the status that a vocabulary's word means.
func NodeMeaning(in executor.Vocabulary, word string) (executor.NodeStatus, bool) {
	s, ok := nodeMeanings[in][strings.ToLower(word)]
	return s, ok
}

// AttemptMeaning is the status of an attempt that a vocabulary's word means.
func AttemptMeaning(in executor.Vocabulary, word string) (executor.AttemptStatus, bool) {
	s, ok := attemptMeanings[in][strings.ToLower(word)]
	return s, ok
}

// Words lists a vocabulary, sorted.
func Words(in executor.Vocabulary) []string {
	var out []string
	for w := range inOrder(nodeMeanings[in]) {
		out = append(out, w)
	}
	for w := range inOrder(attemptMeanings[in]) {
		out = append(out, w)
	}
	slices.Sort(out)
	return out
}

// FailureCode says in one word why a node did not succeed, for formats that
// know only "failed": budget, iterations, stop, cancelled; "" if it may still.
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
