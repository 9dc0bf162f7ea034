package bead

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Format is the name of the format: of --as, and of its keys in Node.Ext.
const Format = "bead"

// Types of issues.
const (
	TypeWork  = "beads-ralph-work"
	TypeMerge = "beads-ralph-merge"
)

// Assignee is who scrum agents' beads are assigned to.
const Assignee = "beads-ralph-scrum-master"

// Metadata returns the metadata of a node's bead: where its work is done, by whom, who
// judges it, and the result of every attempt so far. Missing values are null or empty, never left out, except branches_to_merge, which
// only merging beads have. h may be nil: nothing was run. An error means that n's kept
// foreign keys are broken.
func Metadata(e *ir.Epic, n *ir.Node, h *ir.History) (map[string]json.RawMessage, error) {
	w := &writer{e: e, h: h}
	o, err := w.metadata(n)
	if err != nil {
		return nil, err
	}
	out := make(map[string]json.RawMessage, len(o))
	for _, m := range o {
		out[m.Name] = m.Value
	}
	return out, nil
}

// writer knows what all beads of an epic need.
type writer struct {
	e     *ir.Epic
	h     *ir.History
	byKey map[ir.Key]*ir.Node // nil: search
}

func (w *writer) node(key ir.Key) *ir.Node {
	if w.byKey != nil {
		return w.byKey[key]
	}
	return lists.Find(w.e.Nodes, func(n *ir.Node) bool { return n.Key == key })
}

// merges reports whether a node brings branches together.
func merges(n *ir.Node) bool { return n.Kind == ir.Merge || len(n.Merges) > 1 }

func (w *writer) metadata(n *ir.Node) (foreign.Object, error) {
	k, err := keptOf(n)
	if err != nil {
		return nil, err
	}
	nh := w.h.Node(n.ID)
	var o foreign.Object
	foreign.Put(&o, "worktree_path", w.worktree(n, nh))
	foreign.Put(&o, "branch", branch(n, nh, k))
	source := cmp.Or(k.or("source_branch", n.Git.Base), w.e.Epic.Base)
	if source == "" && w.h != nil {
		source = w.h.Base
	}
	foreign.Put(&o, "source_branch", source)
	foreign.Put(&o, "phase", k.or("phase", n.Phase))
	sprint := k.or("sprint", string(n.Key))
	foreign.Put(&o, "sprint", sprint)
	foreign.Put(&o, "plan_file", k.or("plan_file", w.e.Epic.Plan))
	foreign.Put(&o, "plan_section", k.or("plan_section", n.Section))
	foreign.Put(&o, "plan_sprint_id", k.or("plan_sprint_id", sprint))
	if merges(n) {
		list, err := w.branches(n, k)
		if err != nil {
			return nil, err
		}
		foreign.Put(&o, "branches_to_merge", list)
	}
	step := work(n)
	agent := w.e.Agents[step.Agent]
	foreign.Put(&o, "dev_agent_path", asSaid(k.text("dev_agent_path"), agentPath(agent, step.Agent)))
	foreign.Put(&o, "dev_model", w.model(step.Model))
	foreign.Put(&o, "dev_prompts", prompts(n))
	foreign.Put(&o, "qa_agents", w.qaAgents(n, k))
	foreign.Put(&o, "max_retry_attempts", n.Limits.Attempts)
	if err := w.tracking(&o, n, nh, k); err != nil {
		return nil, err
	}
	o.Rest(k.metadata, ownKeys...)
	return o, nil
}

// worktree is the absolute path of a node's worktree; relative to the repository if
// its place is unknown.
func (w *writer) worktree(n *ir.Node, nh *ir.NodeHistory) string {
	if nh.Worktree != "" {
		return nh.Worktree
	}
	if w.h == nil || w.h.Top == "" {
		return n.Git.Worktree
	}
	rel := strings.ReplaceAll(n.Git.Worktree, "{repo}", filepath.Base(w.h.Top))
	return filepath.Join(w.h.Top, filepath.FromSlash(rel))
}

// branch is the branch of a node: until its work begins, the one that an import asked
// for and git cannot have.
func branch(n *ir.Node, nh *ir.NodeHistory, k *kept) string {
	if was := k.text("branch"); was != "" && !started(nh) {
		return was
	}
	return n.Git.Branch
}

// branches are what a node merges: the branches of those that it waits for, in the
// order of its edges, then those of an import that no node of the epic makes.
func (w *writer) branches(n *ir.Node, k *kept) ([]string, error) {
	out := []string{}
	for _, a := range n.After {
		if a.Type == ir.Blocks {
			p := w.node(a.Key)
			of, err := keptOf(p)
			if err != nil {
				return nil, err
			}
			out = append(out, branch(p, w.h.Node(p.ID), of))
		}
	}
	more := lists.Map(foreign.List(k.metadata["branches_to_merge"]), foreign.Text)
	return lists.Include(out, more...), nil
}

// work is the step that does a node's work; nodes that only people work on have an
// empty one.
func work(n *ir.Node) *ir.Step {
	if len(n.Steps) == 0 {
		return &ir.Step{}
	}
	return &n.Steps[ir.WorkStep(n)]
}

// agentFolder is where the files of agents are.
const agentFolder = ".claude/agents/"

// agentPath is the file of an agent, else where it would be; "" for none.
func agentPath(a ir.Agent, name string) string {
	if a.Path != "" || name == "" {
		return a.Path
	}
	return agentFolder + name
}

// asSaid is the path of an agent as an import had it, where that is the same agent:
// with or without .md, and a name or a path outside the project where nobody declares
// another file.
func asSaid(said, file string) string {
	if said == "" {
		return file
	}
	clean := cleaned(said)
	where := strings.TrimSuffix(clean, ".md")
	if isName(clean) || isOutside(clean) {
		where = agentFolder + path.Base(where)
	}
	if strings.TrimSuffix(file, ".md") == where {
		return said
	}
	return file
}

// models are the words that the format has for models.
var models = []string{"sonnet", "opus", "haiku"}

// model is the name of a model: the id of an alias if that is a word of the
// format, else the alias.
func (w *writer) model(name string) string {
	if !slices.Contains(models, name) && slices.Contains(models, w.e.Models[name].ID) {
		return w.e.Models[name].ID
	}
	return name
}

// qaAgent is a QA agent as a bead has it.
type qaAgent struct {
	AgentPath    string          `json:"agent_path"`
	Model        string          `json:"model"`
	Prompt       string          `json:"prompt"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Gate         string          `json:"gate,omitempty"` // of the policy: an import leaves it to its own policy
}

// qaAgents are the gates of a node that agents judge, those of the policy too, in
// their order.
func (w *writer) qaAgents(n *ir.Node, k *kept) []json.RawMessage {
	out := []json.RawMessage{}
	seen := map[string]bool{}
	for i := range n.Steps {
		for _, name := range n.Steps[i].Gates {
			g := w.e.Gates[name]
			if g.Kind != "agent" && g.Kind != "review" || seen[name] {
				continue
			}
			seen[name] = true
			q := qaAgent{
				AgentPath: agentPath(w.e.Agents[g.Agent], g.Agent), Model: w.model(g.Model), Prompt: question(g.Prompt),
				InputSchema: g.InputSchema, OutputSchema: g.OutputSchema,
			}
			if g.From != "plan" {
				q.Gate = name
			}
			out = append(out, k.qaAgent(path.Base(name), q))
		}
	}
	return out
}

// question is the prompt of a gate without the contract, which the output schema says.
func question(lines []string) string {
	if i := slices.Index(lines, ir.Contract); i >= 0 {
		lines = lines[:i]
	}
	return strings.TrimRight(strings.ReplaceAll(strings.Join(lines, "\n"), "$${run.", "${run."), "\n")
}

// prompts are the prompts of a node's agent, one piece of work each: a task, or a
// paragraph of the prompt.
func prompts(n *ir.Node) []string {
	tasks := lists.Map(n.Tasks, func(t ir.Task) string { return strings.Join(append([]string{t.Text}, t.Detail...), "\n") })
	whole := strings.Join(n.Prompt, "\n")
	if whole == strings.Join(tasks, "\n\n") { // nothing but its tasks
		return tasks
	}
	out := []string{}
	for p := range strings.SplitSeq(whole, "\n\n") {
		switch p = strings.Trim(p, "\n"); {
		case strings.HasPrefix(p, "Tasks:\n") && len(tasks) > 0:
			out = append(out, tasks...)
		case p != "":
			out = append(out, p)
		}
	}
	return out
}

func wrong(n *ir.Node, err error) error {
	return fmt.Errorf("the foreign keys of node %s (ext.%s): %w", n.Key, Format, err)
}
