package beadsmith

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// bead is attempt i of a node as a bead with a number.
func bead(node *ir.Node, n *ir.NodeHistory, i, number int) Bead {
	a := &n.Attempts[i]
	return Bead{
		ID: fmt.Sprintf("%s/%s/%d", node.ID, a.Step, a.Number), TaskID: string(node.ID), BeadNumber: number,
		Status: beadStatus(n, i), StartedAt: stamp(a.Started), CompletedAt: stamp(a.Ended), StartCheckpointHash: a.From,
		Prompt: a.Prompt, Response: a.Response, FilesChanged: changes(a.Files), TestResults: tests(a), CommitHash: a.Commit,
		TokensUsed: a.Tokens, IterationCount: max(a.Iterations-1, 0), Errors: taskErrors(a), RejectionFeedback: feedback(n, i),
	}
}

// changes are the changed files; a renamed one is deleted and created.
func changes(files []ir.FileChange) []FileChange {
	out := []FileChange{}
	for _, f := range files {
		kind := f.Type
		if f.Type == "renamed" {
			out = append(out, FileChange{FilePath: f.From, ChangeType: "deleted"})
			kind = "created"
		}
		out = append(out, FileChange{
			FilePath: f.Path, ChangeType: kind, Diff: f.Diff, LinesAdded: max(f.Added, 0), LinesRemoved: max(f.Removed, 0),
		})
	}
	return out
}

// tests are the results that test tools reported to the gates; of a command that
// reported none, how it ended. Tests that were skipped have no place in the format.
func tests(a *ir.Attempt) []TestResult {
	var out []TestResult
	for _, g := range a.Gates {
		for _, r := range g.Results {
			if r.State != "skip" {
				out = append(out, TestResult{Name: r.Name, Passed: r.State == "pass", Output: r.Output, DurationMs: r.Millis})
			}
		}
		if len(g.Results) == 0 && g.Kind == "command" {
			out = append(out, TestResult{Name: g.Gate, Passed: g.Verdict == "pass", Output: g.Message, DurationMs: g.Millis})
		}
	}
	return out
}

// passed says whether all tests passed; nil if none ran.
func passed(results []TestResult) *bool {
	if len(results) == 0 {
		return nil
	}
	all := !slices.ContainsFunc(results, func(r TestResult) bool { return !r.Passed })
	return &all
}

// Result is the result of an attempt at a node of an epic.
func Result(e *ir.Epic, node *ir.Node, a *ir.Attempt, number int) BeadResult {
	r := BeadResult{
		BeadNumber: number, CommitHash: a.Commit, TestResults: tests(a), Errors: taskErrors(a),
		TokensUsed: a.Tokens, IsDone: isDone(e, node, a),
	}
	r.FilesChanged = lists.Map(changes(a.Files), func(f FileChange) string { return f.FilePath })
	r.Success = len(r.Errors) == 0 && (a.Status != "running" || len(a.Gates) > 0) // judged: its agent came to its end
	return r
}

// lastLines is how many lines from the end are an agent's last words.
const lastLines = 10

// isDone reports whether the agent said that it is done: by a promise that the node
// asks for, else by the word DONE in its last lines.
func isDone(e *ir.Epic, node *ir.Node, a *ir.Attempt) bool {
	words := promises(e, node)
	if len(words) == 0 {
		words = []string{doneMarker}
	}
	lines := strings.Split(strings.TrimRight(a.Response, " \t\r\n"), "\n")
	end := strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
	return slices.ContainsFunc(words, func(w string) bool { return text.OneLine(a.Promise) == w || bounded(w).MatchString(end) })
}

// bounded finds words that are no part of longer ones.
func bounded(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^\pL\pN_])` + regexp.QuoteMeta(words) + `(?:$|[^\pL\pN_])`)
}

// promises are the texts that gates of a node ask for.
func promises(e *ir.Epic, node *ir.Node) []string {
	var out []string
	for _, name := range gatesOf(node) {
		if p := e.Gates[name].Promise; p != "" {
			out = append(out, text.OneLine(p))
		}
	}
	return out
}

// gatesOf lists the gates of a node's steps, each once.
func gatesOf(node *ir.Node) []string {
	var out []string
	for i := range node.Steps {
		out = lists.Include(out, node.Steps[i].Gates...)
	}
	return out
}
