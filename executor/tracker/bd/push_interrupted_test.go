package bd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/internal/temptest"
	"github.com/ralph-compiler/ralph/ir"
)

// changed is an epic that has changed in every way that a plan can: a title, labels,
// an edge more and one less, a node more, a node less, one that is done.
func changed(e *ir.Epic) *ir.Epic {
	n := e.Nodes
	n[1].Title = "Another title"
	n[1].Labels = []string{"new"}
	n[1].Priority = 1
	last := len(n) - 1
	more := n[last]
	more.ID, more.Key, more.Title = "bd-more01", "9.9", "One more"
	more.After = []ir.Edge{{Key: n[2].Key, From: "explicit", Type: ir.Blocks}}
	more.Merges = nil
	gone := n[last].Key
	n[last] = more
	for i := range n {
		n[i].After = slices.DeleteFunc(n[i].After, func(x ir.Edge) bool { return x.Key == gone })
	}
	for i := range n[:last] {
		if i > 3 && len(n[i].After) == 1 && len(n[i].Merges) == 0 {
			n[i].After = nil
			break
		}
	}
	n[0].Done = true
	ir.Seal(e)
	return e
}

// many is an epic of which each node has changed.
func many(e *ir.Epic) *ir.Epic {
	for i := range e.Nodes {
		e.Nodes[i].Acceptance = append(e.Nodes[i].Acceptance, "It is documented")
		e.Nodes[i].Labels = []string{fmt.Sprint("l", i%3)}
	}
	ir.Seal(e)
	return e
}

// A push that is killed, at any call, before, in or behind what it writes, is made
// good by the next one; and in no state between looks a bead ready that is not.
func TestAnInterruptedPushConverges(t *testing.T) { // issue: resumable
	for name, s := range scenarios {
		if testing.Short() && name != "first, large" && name != "changed" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temptest.Share(t, 3)
			prepare := func() (*Client, *bdtest.Fake, string) {
				c, f, dir := fakeDatabase(t)
				for _, e := range s.before {
					push1(t, c, e())
				}
				f.Forget()
				return c, f, dir
			}
			c, f, dir := prepare()
			first := push1(t, c, s.push())
			want, wantReady := beads(t, f, dir), ready(t, f, dir)
			if first.Nothing() {
				t.Fatal("the scenario writes nothing")
			}
			again := push1(t, c, s.push())
			if again.Calls != 1 {
				t.Errorf("the push after it: %+v", again)
			}
			reads := []string{"list", "config get"}
			for n, command := range f.Commands()[:first.Calls] {
				for _, do := range []string{bdtest.Kill, bdtest.Torn, bdtest.Answer} {
					if slices.Contains(reads, command) || do == bdtest.Torn && command != "import" {
						continue
					}
					what := fmt.Sprintf("%s at call %d (%s)", do, n+1, command)
					c, f, dir := prepare()
					f.Faults(bdtest.Fault{Nth: n + 1, Do: do})
					if _, err := Push(context.Background(), c, s.push(), PushOptions{}); err == nil {
						t.Errorf("%s: the push says nothing", what)
					}
					for _, id := range ready(t, f, dir) {
						if strings.HasPrefix(name, "first") && !slices.Contains(wantReady, id) {
							t.Errorf("%s: %s looks ready", what, id)
						}
					}
					f.Faults()
					push1(t, c, s.push())
					same(t, what, beads(t, f, dir), want)
					if p := push1(t, c, s.push()); p.Calls != 1 {
						t.Errorf("%s: the push after that: %+v", what, p)
					}
				}
			}
		})
	}
}
