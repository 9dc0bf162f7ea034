package view

import (
	"fmt"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
)

func TestADrawingHasRoomForEveryNode(t *testing.T) {
	t.Parallel()
	lines := []string{"0"}
	needs := ""
	for i := 1; i <= 30; i++ {
		lines = append(lines, fmt.Sprintf("1.%d: 0", i))
		needs += fmt.Sprintf(" 1.%d", i)
	}
	e := executortest.Epic(append(lines, "2: 0"+needs, "3: 1.7"))
	views := []machine.NodeView{{Key: executor.Integration, ID: executor.Integration}}
	for i := range e.Nodes {
		views = append(views, machine.NodeView{Key: e.Nodes[i].Key, Title: e.Nodes[i].Title})
	}
	d := DrawGraph(e, views)
	if got, want := len(d.Boxes), len(e.Nodes)+1; got != want {
		t.Errorf("%d boxes, want %d", got, want)
	}
	if got, want := len(d.Lines), 30+30+1+2; got != want { // 0→2 is implied; 2 and 3 lead to the sum
		t.Errorf("%d lines, want %d", got, want)
	}
	for i, a := range d.Boxes {
		if a.X < 0 || a.Y < drawTop || a.X+a.W > d.Width || a.Y+a.H > d.Height {
			t.Errorf("%s lies outside: %+v of %d × %d", a.Key, a, d.Width, d.Height)
		}
		for _, b := range d.Boxes[:i] {
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s and %s overlap", a.Key, b.Key)
			}
		}
	}
}
