package compiler

import (
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// EditableGate is a command gate whose own definition the agents that it judges may edit.
type EditableGate struct {
	Gate  string   // one of those with the same command
	Files []string // that it runs through, from the project's top
	Keys  []ir.Key // of the nodes that it judges, in order
}

// EditableGates lists the command gates of an epic whose own definition the judged agent may
// edit, once for each command and each list of files, however many gates and nodes have it.
// project is the project's top; nil: no file exists.
func EditableGates(project fs.FS, e *ir.Epic) []*EditableGate {
	o := opener{project: project, through: map[string][]string{}}
	found := map[string]*EditableGate{}
	var order []*EditableGate
	for i := range e.Nodes {
		n := &e.Nodes[i]
		if n.Done || n.Kind == ir.Manual || n.Kind == ir.GateKind {
			continue
		}
		for name, files := range o.files(e, n) {
			id := e.Gates[name].Run + "\x00" + strings.Join(files, "\x00")
			x := found[id]
			if x == nil {
				x = &EditableGate{Gate: name, Files: files}
				found[id] = x
				order = append(order, x)
			}
			if k := len(x.Keys); k == 0 || x.Keys[k-1] != n.Key {
				x.Keys = append(x.Keys, n.Key)
			}
		}
	}
	return order
}

// opener finds what gates run through.
type opener struct {
	project fs.FS
	through map[string][]string // files, by command
}

// files yields the command gates of a node with the files that their commands run through,
// that nothing protects and that the node's agents may change.
func (o opener) files(e *ir.Epic, n *ir.Node) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		var protected []string
		for k := range n.Steps {
			for _, name := range n.Steps[k].Gates {
				protected = append(protected, e.Gates[name].Protect...)
			}
		}
		for _, s := range lists.Each(n.Steps) {
			if s.Access != "write" || s.Agent == "" {
				continue
			}
			for _, name := range s.Gates {
				run := e.Gates[name].Run
				if e.Gates[name].Kind != "command" {
					continue
				}
				files, done := o.through[run]
				if !done {
					files = policies.RunsThrough(o.project, run)
					o.through[run] = files
				}
				open := slices.DeleteFunc(slices.Clone(files), func(f string) bool {
					return glob.MatchAny(protected, f) || len(n.Scope.Owns) > 0 && !glob.MatchAny(n.Scope.Owns, f)
				})
				if len(open) > 0 && !yield(name, open) {
					return
				}
			}
		}
	}
}
