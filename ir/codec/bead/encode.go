package bead

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Encode writes the nodes of an epic as beads, with what was run: one object if the epic
// has one node, else a list in epic order. Values are true: where the format requires
// others, breaches are returned, node by node. h may be nil.
func Encode(out io.Writer, e *ir.Epic, h *ir.History) ([]foreign.Breach, error) {
	w := &writer{e: e, h: h, byKey: make(map[ir.Key]*ir.Node, len(e.Nodes))}
	for i := range e.Nodes {
		w.byKey[e.Nodes[i].Key] = &e.Nodes[i]
	}
	var breaches []foreign.Breach
	list := []json.RawMessage{}
	for _, n := range lists.Each(e.Nodes) {
		o, err := w.issue(n)
		if err != nil {
			return nil, err
		}
		raw, err := foreign.JSON(o)
		if err != nil {
			return nil, wrong(n, err)
		}
		breaches = append(breaches, breachesOf(n.Key, raw)...)
		list = append(list, raw)
	}
	return breaches, foreign.WriteOne(out, list)
}

// breachesOf holds what was written to what the format demands, and to its model.
func breachesOf(key ir.Key, raw []byte) []foreign.Breach {
	var out []foreign.Breach
	r := foreign.Reader{File: diag.NewFile("", raw), Format: Format}
	for _, v := range r.Objects() {
		found := demands(v)
		var m rules
		m.bead(v)
		for _, x := range m.found {
			if !slices.ContainsFunc(found, func(d demand) bool { return d.pointer == x.pointer }) {
				found = append(found, x)
			}
		}
		for _, x := range found {
			out = append(out, foreign.Breach{Node: key, Pointer: x.pointer, Message: x.message})
		}
	}
	return out
}

// issue writes a node with everything of its top level.
func (w *writer) issue(n *ir.Node) (foreign.Object, error) {
	k, err := keptOf(n)
	if err != nil {
		return nil, err
	}
	metadata, err := w.metadata(n)
	if err != nil {
		return nil, err
	}
	nh := w.h.Node(n.ID)
	began := started(nh)
	var o foreign.Object
	foreign.Put(&o, "id", n.ID)
	title := n.Title
	if strings.TrimFunc(title, blank) == "" {
		title = string(n.Key)
	}
	foreign.Put(&o, "title", title)
	foreign.Put(&o, "description", description(n))
	status := Status(n, nh)
	if was := foreign.Text(k.top["status"]); was != "" && !began && !n.Done {
		status = was
	}
	foreign.Put(&o, "status", status)
	foreign.Put(&o, "priority", n.Priority)
	k.put(&o, "priority")
	foreign.Put(&o, "issue_type", IssueType(n))
	foreign.Put(&o, "assignee", Assignee)
	if !began {
		k.put(&o, "assignee")
	}
	owner := w.e.Epic.Owner
	if raw, own := k.top["owner"]; own {
		owner = foreign.Text(raw)
	}
	o.Text("owner", owner)
	foreign.Put(&o, "dependencies", w.dependencies(n, k))
	foreign.Put(&o, "labels", Labels(n))
	if c := comments(nh, k); len(c) > 0 {
		foreign.Put(&o, "comments", c)
	}
	foreign.Put(&o, "metadata", metadata)
	k.put(&o, "external_ref")
	o.Text("external_ref", nh.PRURL)
	w.times(&o, nh, k, status == "closed")
	o.Rest(k.top, topKeys...)
	return o, nil
}

func started(nh *ir.NodeHistory) bool { return len(nh.Attempts) > 0 || !nh.Started.IsZero() }

// Status is a node's status in the words of issues: open, in_progress, blocked, closed.
func Status(n *ir.Node, nh *ir.NodeHistory) string {
	if n.Done {
		return "closed"
	}
	return cmp.Or(nh.Words["issue"], "open")
}

// IssueType is the type of a node's bead.
func IssueType(n *ir.Node) string {
	if merges(n) {
		return TypeMerge
	}
	return TypeWork
}

// Labels are the labels of a node's bead: phase-01, sprint-1-2, merge, then its own.
func Labels(n *ir.Node) []string {
	return lists.Include([]string{}, slices.Concat(conventional(n.Phase, string(n.Key), merges(n)), n.Labels)...)
}

// conventional are the labels that every bead has: the phase has two digits, the
// sprint as many as it has.
func conventional(phase, sprint string, merge bool) []string {
	var out []string
	if phasePattern.MatchString(phase) {
		digits := strings.TrimRight(phase, "abcdefghijklmnopqrstuvwxyz")
		out = append(out, fmt.Sprintf("phase-%s%s", strings.Repeat("0", max(2-len(digits), 0)), phase))
	} else if s := foreign.Slug(phase); s != "" {
		out = append(out, "phase-"+s)
	}
	if s := foreign.Slug(sprint); s != "" {
		out = append(out, "sprint-"+s)
	}
	if merge {
		out = append(out, "merge")
	}
	return out
}

// description is the goal of a node, and the prose that its agent is told besides.
func description(n *ir.Node) string {
	var parts []string
	if n.Goal != "" {
		parts = append(parts, n.Goal)
	}
	for p := range strings.SplitSeq(prose(n), "\n\n") {
		first, _, _ := strings.Cut(p, "\n")
		switch {
		case p == "", first == "Tasks:", first == "Acceptance criteria:", first == "Files:":
		default:
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n\n")
}

// prose is the prompt of a node after the paragraph that begins with its key and
// title; "" if the prompt was not made by the compiler.
func prose(n *ir.Node) string {
	i := slices.IndexFunc(n.Prompt, func(l string) bool {
		return strings.HasSuffix(l, string(n.Key)+": "+n.Title)
	})
	if i < 0 {
		return ""
	}
	_, rest, _ := strings.Cut(strings.Join(n.Prompt[i:], "\n"), "\n\n")
	return rest
}

// dependencies are the ids of what a node waits for, then those of an import that are
// not in the epic.
func (w *writer) dependencies(n *ir.Node, k *kept) []json.RawMessage {
	out := []json.RawMessage{}
	for _, a := range n.After {
		if a.Type == ir.Blocks {
			out = append(out, foreign.Raw(w.node(a.Key).ID))
		}
	}
	return append(out, foreign.List(k.top["dependencies"])...)
}

// comments are those that a bead came with, then what ralph has to tell.
func comments(nh *ir.NodeHistory, k *kept) []json.RawMessage {
	out := foreign.List(k.top["comments"])
	for _, c := range nh.Comments {
		out = append(out, foreign.Raw(foreign.Object{foreign.Key("author", c.Author), foreign.Key("text", c.Text), foreign.Key("created_at", stamp(c.At))}))
	}
	return out
}

// times are those of the history and, where it has none, of an import. Nothing is
// made up: a node that has not begun has no times of its own.
func (w *writer) times(o *foreign.Object, nh *ir.NodeHistory, k *kept, closed bool) {
	put := func(key string, t time.Time) {
		k.put(o, key)
		if s := stamp(t); s != nil {
			foreign.Put(o, key, s)
		}
	}
	if k.put(o, "created_at"); k.top["created_at"] == nil && w.h != nil {
		put("created_at", w.h.Started)
	}
	put("updated_at", nh.Updated)
	if closed {
		put("closed_at", nh.Ended)
	}
}
