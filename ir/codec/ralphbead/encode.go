package ralphbead

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Encode writes each node as a bead: an epic of one node as an object, one of
// several as a list of them. A node that was read from a bead gets back what its
// file had besides; what ralph ran since is in status and ralph_meta.
func Encode(w io.Writer, e *ir.Epic, h *ir.History) ([]foreign.Breach, error) {
	list := make([]foreign.Object, 0, len(e.Nodes))
	var breaches []foreign.Breach
	for i := range e.Nodes {
		b := &writing{e: e, n: &e.Nodes[i], h: h.Node(e.Nodes[i].ID)}
		if h != nil {
			b.program = h.Program
		}
		list = append(list, b.bead())
		breaches = append(breaches, b.breaches...)
	}
	return breaches, foreign.WriteOne(w, list)
}

// writing is the state of writing one bead.
type writing struct {
	e        *ir.Epic
	n        *ir.Node
	h        *ir.NodeHistory
	program  string
	ext      map[string]json.RawMessage // what its file had besides; nil: it comes from no bead
	breaches []foreign.Breach
}

func (w *writing) breach(is bool, pointer, format string, args ...any) {
	if is {
		w.breaches = append(w.breaches, foreign.Breach{Node: w.n.Key, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
	}
}

// members are those of an object that was kept; none of what is no object.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

// known are the keys that the other functions write from ext; the rest are the
// user's own.
var known = []string{"$schema", "priority", "status", "ralph_meta", "constraints", "dod", "artifacts", "blocking"}

func (w *writing) bead() foreign.Object {
	n := w.n
	if n.Ext[Format] != nil {
		if w.ext, _ = foreign.Kept(n, Format); w.ext == nil {
			w.ext = map[string]json.RawMessage{}
		}
	}
	var o foreign.Object
	o.Add("$schema", w.ext["$schema"])
	foreign.Put(&o, "id", n.ID)
	o.Text("title", n.Title)
	intent := w.intent()
	w.breach(intent == "", "/intent", "must say what is to be accomplished")
	foreign.Put(&o, "intent", intent)
	o.Text("type", w.kind())
	foreign.Put(&o, "priority", w.priority())
	if n.Lane != "" {
		w.breach(!slices.Contains(seedLanes, n.Lane) && !slices.Contains(repositoryLanes, n.Lane), "/lane", "must be one of %s, not %s", strings.Join(seedLanes, ", "), n.Lane)
		foreign.Put(&o, "lane", n.Lane)
	}
	foreign.Put(&o, "dod", w.dod())
	if c := w.constraints(); len(c) > 0 {
		foreign.Put(&o, "constraints", c)
	}
	if m := w.meta(); len(m) > 0 {
		foreign.Put(&o, "ralph_meta", m)
	}
	o.Add("status", w.status())
	o.Add("artifacts", w.ext["artifacts"])
	o.Add("blocking", w.ext["blocking"])
	o.Rest(w.ext, known...)
	return o
}

// intent is the goal; a sprint of a plan also says what its tasks and criteria are.
func (w *writing) intent() string {
	n := w.n
	if w.ext != nil {
		return n.Goal
	}
	text := cmp.Or(n.Goal, n.Title)
	part := func(head string, items []string) {
		if len(items) > 0 {
			text += "\n\n" + head + "\n- " + strings.Join(items, "\n- ")
		}
	}
	tasks := lists.Map(n.Tasks, func(t ir.Task) string { return t.Text })
	part("Tasks:", tasks)
	part("Acceptance criteria:", n.Acceptance)
	return text
}

func (w *writing) kind() string {
	t := w.n.Type
	switch {
	case t == "" && w.ext != nil:
		return ""
	case w.ext == nil && w.n.Kind == ir.GateKind:
		return "gate"
	case t == "":
		return "task"
	case t == "bug":
		return "bugfix"
	}
	w.breach(!slices.Contains([]string{"task", "feature", "bugfix", "gate"}, t), "/type", "must be task, feature, bugfix or gate, not %s", t)
	return t
}

// priority is 5 only where the bead said so and it was not changed since.
func (w *writing) priority() int {
	if string(w.ext["priority"]) == "5" && w.n.Priority == 4 {
		return 5
	}
	return w.n.Priority
}

func (w *writing) constraints() foreign.Object {
	var o foreign.Object
	n := w.n
	old := members(w.ext["constraints"])
	if n.Limits.Attempts > 0 {
		foreign.Put(&o, "max_iterations", n.Limits.Attempts)
	} else {
		o.Add("max_iterations", old["max_iterations"])
	}
	if ms := n.Limits.Budget.WallMS; ms > 0 {
		foreign.Put(&o, "time_budget_minutes", (ms+59_999)/60_000)
	} else {
		o.Add("time_budget_minutes", old["time_budget_minutes"])
	}
	if n.Limits.Deadline != "" {
		foreign.Put(&o, "deadline", deadline(n.Limits.Deadline))
	}
	if dirs, kept := old["allowed_dirs"]; kept {
		o.Add("allowed_dirs", dirs)
	} else if w.ext == nil && len(n.Scope.Owns) > 0 {
		foreign.Put(&o, "allowed_dirs", n.Scope.Owns)
	}
	o.Add("forbidden_ops", old["forbidden_ops"])
	o.Add("migration_rules", old["migration_rules"])
	o.Rest(old, "max_iterations", "time_budget_minutes", "allowed_dirs", "forbidden_ops", "migration_rules")
	return o
}

// deadline is a time with seconds: of a day its last one.
func deadline(s string) string {
	end, _ := ir.Deadline(s)
	if len(s) == len(time.DateOnly) {
		end = end.Add(-time.Second)
	}
	return end.Format(time.RFC3339)
}
