package executor

import (
	"slices"
	"strings"
)

// Vocabulary is the set of words that one of the formats that ralph reads and
// writes has for where something stands.
type Vocabulary string

// Vocabularies. Those of attempts speak of one try, the others of a node.
const (
	WordsIssue     Vocabulary = "issue"      // open, in_progress, closed, blocked (scrum agents and bd)
	WordsBead      Vocabulary = "bead"       // running, awaiting_approval, approved, rejected, skipped (a task's beads)
	WordsTask      Vocabulary = "task"       // idle, running, paused, awaiting_approval, completed, failed
	WordsRalphBead Vocabulary = "ralph-bead" // pending, in_progress, completed, failed, blocked
	WordsShepherd  Vocabulary = "shepherd"   // open, in_progress, blocked, closed
	WordsExecution Vocabulary = "execution"  // of an attempt: completed, failed, timeout
	WordsRun       Vocabulary = "run"        // of an attempt: pending, running, completed, failed, cancelled, stalled
)

// Vocabularies lists all of them.
var Vocabularies = []Vocabulary{WordsIssue, WordsBead, WordsTask, WordsRalphBead, WordsShepherd, WordsExecution, WordsRun}

// nodeWords gives the word for each status of a node, in the order of the
// statuses: pending, ready, running, waiting, done, blocked, skipped, cancelled.
// Words that depend on why a node waits are refined by Word.
var nodeWords = map[Vocabulary][nodeStatuses]string{
	WordsIssue:     {"open", "open", "in_progress", "blocked", "closed", "blocked", "closed", "closed"},
	WordsBead:      {"running", "running", "running", "awaiting_approval", "approved", "rejected", "skipped", "rejected"},
	WordsTask:      {"idle", "idle", "running", "awaiting_approval", "completed", "failed", "completed", "failed"},
	WordsRalphBead: {"pending", "pending", "in_progress", "blocked", "completed", "failed", "completed", "failed"},
	WordsShepherd:  {"open", "open", "in_progress", "blocked", "closed", "blocked", "closed", "closed"},
}

// attemptWords gives the word for each status of an attempt, from running on:
// running, passed, failed, stopped, timeout, stalled, cancelled, error.
var attemptWords = map[Vocabulary][attemptStatuses - 1]string{
	WordsExecution: {"", "completed", "failed", "failed", "timeout", "timeout", "failed", "failed"},
	WordsRun:       {"running", "completed", "failed", "failed", "failed", "stalled", "cancelled", "failed"},
}

// nodeMeanings gives the status that each word means. Where several statuses
// have the same word it is the one that loses least: what is read is not run
// again unless that is safe.
var nodeMeanings = map[Vocabulary]map[string]NodeStatus{
	WordsIssue: {
		"open": Pending, "in_progress": Running, "blocked": Blocked, "closed": Done,
		"deferred": Waiting, "pinned": Waiting, "hooked": Running, // bd alone
	},
	WordsBead: {"running": Running, "awaiting_approval": Waiting, "approved": Done, "rejected": Blocked, "skipped": Skipped},
	WordsTask: {
		"idle": Pending, "running": Running, "paused": Waiting, "awaiting_approval": Waiting, "completed": Done, "failed": Blocked,
	},
	WordsRalphBead: {"pending": Pending, "in_progress": Running, "completed": Done, "failed": Blocked, "blocked": Waiting},
	WordsShepherd:  {"open": Pending, "in_progress": Running, "blocked": Waiting, "closed": Done},
}

var attemptMeanings = map[Vocabulary]map[string]AttemptStatus{
	WordsExecution: {"completed": AttemptPassed, "failed": AttemptFailed, "timeout": AttemptTimeout},
	WordsRun: {
		"pending": AttemptRunning, "running": AttemptRunning, "completed": AttemptPassed, "failed": AttemptFailed,
		"cancelled": AttemptCancelled, "stalled": AttemptStalled,
	},
}

// Word is the vocabulary's word for where a node stands, "" for a vocabulary of
// attempts. A wait that no person has to end, such as a timer or a rate limit,
// is work in progress; a paused task is paused.
func (v NodeView) Word(in Vocabulary) string {
	words, ok := nodeWords[in]
	if !ok {
		return ""
	}
	if v.Status != Waiting {
		return words[v.Status]
	}
	switch {
	case v.For == ForTimer || v.For == ForLimit:
		return words[Running]
	case in == WordsTask && (v.For == ForBudget || v.Cause == CausePaused || v.Cause == CauseHeld):
		return "paused"
	case in == WordsBead && v.For == ForBudget:
		return words[Running]
	}
	return words[Waiting]
}

// Word is the vocabulary's word for how an attempt stands, "" for a vocabulary
// of nodes, and for what it has no word: an execution that is going on.
func (s AttemptStatus) Word(in Vocabulary) string {
	words, ok := attemptWords[in]
	if !ok || s < AttemptRunning || s >= attemptStatuses {
		return ""
	}
	return words[s-1]
}

// NodeMeaning is the status that a vocabulary's word means.
func NodeMeaning(in Vocabulary, word string) (NodeStatus, bool) {
	s, ok := nodeMeanings[in][strings.ToLower(word)]
	return s, ok
}

// AttemptMeaning is the status of an attempt that a vocabulary's word means.
func AttemptMeaning(in Vocabulary, word string) (AttemptStatus, bool) {
	s, ok := attemptMeanings[in][strings.ToLower(word)]
	return s, ok
}

// Words lists a vocabulary, sorted.
func Words(in Vocabulary) []string {
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
	case v.Status == Cancelled:
		return "cancelled"
	case v.Status == Waiting && v.For == ForBudget:
		return "budget"
	case v.Status != Blocked:
		return ""
	}
	switch v.BlockedBy {
	case ByStop:
		return "stop"
	case ByBudget:
		return "budget"
	}
	return "iterations"
}
