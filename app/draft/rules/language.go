package rules

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
)

//go:embed language.md
var languagePage string

//go:embed example.md
var examplePlan string

// offered are the labels in a planner's prompt, with what follows them.
var offered = []struct {
	name  syntax.LabelName
	value string
}{
	{syntax.Goal, "one sentence: what changes"},
	{syntax.Tasks, "a list of checkboxes, `- [ ] …`, in the order of the work"},
	{syntax.Acceptance, "a list; each point can be checked by somebody who did not do the work"},
	{syntax.Verify, "the commands that judge the sprint: one code span, or fences marked `sh`, with `name=` and `timeout=` after it"},
	{syntax.Owns, "paths and globs: the only files that the sprint may change; everything else is refused"},
	{syntax.Files, "paths and globs that it will probably change, where Owns would be too narrow"},
	{syntax.Reads, "paths and globs that are worth reading"},
	{syntax.Implements, "ids of requirements"},
	{syntax.DependsOn, "ids, instead of what the number says"},
	{syntax.Blocks, "ids that additionally wait for this sprint"},
	{syntax.Estimate, "how long it takes, such as `3h`"},
	{syntax.Complexity, "a level, where the words of the title mislead"},
	{syntax.Priority, "`P0` (critical) to `P4`"},
	{syntax.Lane, "one word: a track of work"},
	{syntax.LabelsLabel, "words for filters"},
	{syntax.Type, "one word, such as feature or bug"},
	{syntax.Capability, "what the agent must be able to do, where the usual one cannot"},
	{syntax.DevAgents, "a list, ``- `name` - note``: who does it, where the policy's choice does not fit"},
	{syntax.QAAgents, "a list, ``- `name` - what to look for``: agents that judge it"},
	{syntax.Approval, "`required from @name`: a person who has to agree"},
	{syntax.Description, "text"},
}

// withheld are the labels that are the project's or the journal's, not a planner's.
var withheld = []syntax.LabelName{
	syntax.Worktree, syntax.Branch, syntax.SourceBranch, syntax.IntegrationBranch, syntax.Policy, syntax.Attempts, syntax.Iterations, syntax.Timeout,
	syntax.Deadline, syntax.Budget, syntax.Access, syntax.Model, syntax.Session, syntax.Prompt, syntax.Manual, syntax.Related, syntax.DiscoveredFrom,
	syntax.Parent, syntax.Status, syntax.SessionID, syntax.PR, syntax.Outcome, syntax.Progress, syntax.Review,
}

// language is the plan language on a page, as lines.
func language() []string {
	var rows strings.Builder
	rows.WriteString("| label | value |\n|---|---|\n")
	for _, o := range offered {
		fmt.Fprintf(&rows, "| %s | %s |\n", o.name.Written()[0], o.value)
	}
	return lines(strings.Replace(languagePage, "<!-- labels -->\n", rows.String(), 1))
}

// lines cuts a text into lines.
func lines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }
