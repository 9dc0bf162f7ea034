package taskmaster

import (
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// circles reports tasks that wait for each other or for themselves. Without other
// mistakes the compiler does, which sees no draft otherwise.
func (d *decoding) circles() {
	if !d.Diags.HasErrors() {
		return
	}
	const open, done = 1, 2
	const most = 10
	found := 0
	state := make([]int, len(d.read))
	for start := range d.read {
		path, edge := []int{start}, []int{0} // tasks, each waiting for the next; the edge of each that is looked at
		for len(path) > 0 {
			at := path[len(path)-1]
			edges, k := d.read[at].node.Edges, edge[len(edge)-1]
			if state[at] == done || k == len(edges) {
				state[at] = done
				path, edge = path[:len(path)-1], edge[:len(edge)-1]
				continue
			}
			state[at] = open
			edge[len(edge)-1]++
			switch to := d.known[string(edges[k].Key)]; state[to] {
			case open:
				if found++; found > most {
					return
				}
				d.circle(path, to, edges[k].Range)
			case done:
			default:
				path, edge = append(path, to), append(edge, 0)
			}
		}
	}
}

// circle reports the tasks at the end of a path, from one on.
func (d *decoding) circle(path []int, from int, at diag.Range) {
	var names []string
	for i := len(path) - 1; i >= 0; i-- {
		names = append(names, d.read[path[i]].id)
		if path[i] == from {
			break
		}
	}
	if len(names) == 1 {
		d.Diags.Add(diag.Newf("self-dependency", at, "task %s waits for itself", foreign.Clip(names[0])).
			WithDetail("A task that depends on itself can never start. Remove the dependency."))
		return
	}
	d.Diags.Add(diag.Newf("dependency-cycle", at, "%d tasks wait for each other", len(names)).
		WithDetail("None of %s can be the first. Take one of the dependencies out.", listed(names)))
}
