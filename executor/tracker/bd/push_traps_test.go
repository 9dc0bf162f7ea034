package bd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// An id that belongs to another bead is refused with that bead's title, and nothing
// is written.
func TestForeignBeadsAreRefused(t *testing.T) { // beads: trap 3; issue: ids compared before every write
	c, f, dir := fakeDatabase(t)
	e := irtest.Rich()
	f.Do(dir, "ana", "create", "Ana's bead", "--id", string(e.Nodes[3].ID))
	f.Do(dir, "ana", "create", "Of another epic", "--id", string(e.Epic.ID), "-l", "ralph-epic:bd-other")
	before := beads(t, f, dir)
	f.Forget()
	_, err := Push(context.Background(), c, e, PushOptions{})
	var o *Occupied
	if !errors.As(err, &o) || len(o.Beads) != 2 {
		t.Fatal(err)
	}
	for _, want := range []string{string(e.Nodes[3].ID) + ` "Ana's bead"`, `"Of another epic" (of epic bd-other)`, "nothing was written"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
	same(t, "refused", beads(t, f, dir), before)
	for _, cmd := range f.Commands() {
		if cmd != "list" && cmd != "export" {
			t.Errorf("it called %s", cmd)
		}
	}
}

// bd takes a part of an id for the one bead that it fits: a push never relies on it.
func TestAPartOfAnIDIsNotTakenForIt(t *testing.T) { // beads: trap 3
	c, f, dir := fakeDatabase(t)
	e := irtest.Worked()
	longer := string(e.Nodes[0].ID) + "x"
	f.Do(dir, "ana", "create", "Ana's bead", "--id", longer)
	before := beads(t, f, dir)
	push1(t, c, e)
	e.Nodes[0].Title = "Another"
	ir.Seal(e)
	push1(t, c, e)
	after := beads(t, f, dir)
	if after[longer] != before[longer] {
		t.Errorf("%s became %s", before[longer], after[longer])
	}
}

// The types that the database has stay.
func TestTypesAreMerged(t *testing.T) { // issue: types.custom is read, merged, written, and said
	c, f, dir := fakeDatabase(t)
	f.Do(dir, "ana", "config", "set", "types.custom", "hers, beads-ralph-work")
	var said []string
	p, err := Push(context.Background(), c, irtest.Worked(), PushOptions{Progress: func(s string) { said = append(said, s) }})
	if err != nil || !slices.Equal(p.Types, []string{"beads-ralph-merge"}) {
		t.Fatalf("%+v, %v", p, err)
	}
	if v, _ := c.Config(context.Background(), "types.custom"); v != "hers,beads-ralph-work,beads-ralph-merge" {
		t.Errorf("types.custom is %q", v)
	}
	if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "beads-ralph-merge") }) {
		t.Errorf("it said %q", said)
	}
}

// An import that leaves edges out is an error, and the next push adds them.
func TestSkippedDependenciesAreAnError(t *testing.T) { // beads: trap 2
	c, f, dir := fakeDatabase(t)
	f.Faults(bdtest.Fault{On: "import", Do: bdtest.Skips})
	e := irtest.Worked()
	_, err := Push(context.Background(), c, e, PushOptions{})
	if err == nil || !strings.Contains(err.Error(), "left out dependencies") {
		t.Fatal(err)
	}
	f.Faults()
	push1(t, c, e)
	other, f2, dir2 := fakeDatabase(t)
	push1(t, other, e)
	same(t, "after the second push", beads(t, f, dir), beads(t, f2, dir2))
}

// Keys that ralph does not know do no harm.
func TestUnknownKeysAreNoHarm(t *testing.T) { // issue: unknown JSON fields
	c, f, _ := fakeDatabase(t)
	f.Faults(bdtest.Fault{Do: bdtest.Keys})
	push1(t, c, irtest.Rich())
	push1(t, c, changed(irtest.Rich()))
	f.Forget()
	if push1(t, c, changed(irtest.Rich())); len(f.Calls()) != 1 {
		t.Errorf("calls: %v", f.Commands())
	}
}

// bd exits 0 with help for what it does not know: that is no answer.
func TestHelpIsNoAnswer(t *testing.T) { // beads: trap 11
	for _, on := range []string{"list", "import", "config get"} {
		c, f, _ := fakeDatabase(t)
		f.Faults(bdtest.Fault{On: on, Do: bdtest.Help})
		if _, err := Push(context.Background(), c, irtest.Worked(), PushOptions{}); err == nil || !strings.Contains(err.Error(), "not the JSON") {
			t.Errorf("%s: %v", on, err)
		}
	}
}
