package policies

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// Tool is another program whose plans ralph reads.
type Tool struct {
	Names   []string // as people write them, in lower case
	Title   string
	Files   []string // where they lie in a project, as path.Match has it; of an import its directory; nil if they lie anywhere
	Dialect string   // that reads them; of an import its file that is markdown; "" if there is none
	Import  string   // format of ralph import; "" if there is none
}

// Tools is the table of docs/formats/README.md; a test keeps the two equal.
var Tools = []Tool{
	{[]string{"speckit", "spec-kit", "specify"}, "spec-kit", []string{"specs/*/tasks.md"}, "spec-kit", ""},
	{[]string{"kiro"}, "Kiro", []string{".kiro/specs/*/tasks.md"}, "checklist", ""},
	{[]string{"cc-sdd", "ccsdd"}, "cc-sdd", []string{".kiro/specs/*/tasks.md"}, "checklist", ""},
	{[]string{"openspec", "open-spec"}, "OpenSpec", []string{"openspec/changes/*/tasks.md"}, "checklist", ""},
	{[]string{"bmad", "bmad-method"}, "BMAD", []string{"_bmad-output/planning-artifacts/epics.md"}, "task", ""},
	{[]string{"gsd", "get-shit-done"}, "GSD", []string{".planning"}, "phase", "gsd"},
	{[]string{"superpowers"}, "superpowers", []string{"docs/superpowers/plans/*.md"}, "task", ""},
	{[]string{"conductor"}, "Conductor", []string{"conductor/tracks/*/plan.md"}, "todo", ""},
	{[]string{"agent-os", "agentos"}, "Agent OS", []string{"agent-os/specs/*/tasks.md"}, "task:Task Group", ""},
	{[]string{"taskmaster", "task-master"}, "Taskmaster", []string{".taskmaster/tasks/tasks.json"}, "", "taskmaster"},
	{[]string{"execplan", "execplans", "exec-plan"}, "ExecPlans", nil, "task:Milestone", ""},
	{[]string{"cursor"}, "Cursor", []string{".cursor/plans/*.plan.md"}, "cursor", ""},
}

// ToolNamed returns the tool with a name as people write it; nil if there is none.
func ToolNamed(name string) *Tool {
	name = strings.ReplaceAll(strings.ToLower(name), " ", "-")
	return lists.Find(Tools, func(t *Tool) bool { return slices.Contains(t.Names, name) })
}

// roadmap is the file of a directory that is imported which is a plan as it is.
const roadmap = "ROADMAP.md"

// ToolAt returns the tool that keeps its plans where a file is, or the directory whose
// roadmap it is: the one that says most about the place. nil if there is none.
func ToolAt(file string) *Tool {
	var found *Tool
	most := 0
	for i := range Tools {
		for _, pattern := range Tools[i].Files {
			parts := strings.Count(pattern, "/") + 1
			if parts > most && (liesAt(file, pattern) || path.Base(file) == roadmap && liesAt(path.Dir(file), pattern)) {
				found, most = &Tools[i], parts
			}
		}
	}
	return found
}

// liesAt reports whether the last steps of a path are as the pattern has them.
func liesAt(file, pattern string) bool {
	steps := strings.Split(file, "/")
	steps = steps[max(0, len(steps)-strings.Count(pattern, "/")-1):]
	is, _ := path.Match(pattern, strings.Join(steps, "/")) // the patterns are ours
	return is
}

// Advice says what to type for the tool's files.
func (t *Tool) Advice() string {
	switch {
	case t.Import != "":
		return "The files of " + t.Title + " are imported: ralph import --as " + t.Import + "."
	case t.Dialect == "task:Milestone":
		return "ExecPlans with headings of milestones are read by the dialect task:Milestone, others by todo."
	}
	return "The files of " + t.Title + " are read by the dialect " + t.Dialect + "."
}
