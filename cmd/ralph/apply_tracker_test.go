//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

// mirroredRepo is a repository with a beads database of the stand-in, and an epic
// whose run is mirrored into it.
func mirroredRepo(t *testing.T, lines []string, change ...func(*ir.Epic)) (*applyRepo, *beads, *bdtest.Fake) {
	t.Helper()
	change = append([]func(*ir.Epic){func(e *ir.Epic) {
		e.Run.Tracker = &ir.Tracker{Kind: "bd", Prefix: "bd", Actor: "ralph", Approvals: true, PollMS: 600_000}
		work := e.Runners["sh"]
		work.Run = []string{"sh", "-c", `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`}
		e.Runners["sh"] = work
	}}, change...)
	r := newApplyRepo(t, executortest.Epic(lines, change...))
	f := bdtest.New(t)
	f.Init(r.dir)
	return r, &beads{f.Program, func(dir string, args ...string) json.RawMessage { return f.Do(dir, "ann", args...) }}, f
}

// A sprint that was left to people, given back and approved while nobody was at work
// is finished by the next apply, not by the one after it.
func TestOneApplyTakesAllThatWasSaidAboutABead(t *testing.T) { // issue point 3
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r, b, f := mirroredRepo(t, []string{"1.1"}, func(e *ir.Epic) {
		e.Gates["people"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann"}, OnTimeout: "fail", OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = []string{"check", "people"}
	})
	b.ralph(t, r, exitWaiting, "apply")
	f.Do(r.dir, "bob", "label", "add", "bd-1-1", "ashep:excluded")
	if _, said := b.ralph(t, r, exitWaiting, "apply"); !strings.Contains(said, "labelled ashep:excluded in bd by bob: pause 1.1") {
		t.Fatalf("it does not say that it is paused:\n%s", said)
	}
	f.Do(r.dir, "bob", "label", "remove", "bd-1-1", "ashep:excluded")
	f.Do(r.dir, "ann", "label", "add", "bd-1-1", "human:approved")
	out, said := b.ralph(t, r, exitDone, "apply")
	if got := string(f.Do(r.dir, "ann", "show", "bd-1-1")); !strings.Contains(got, `"status":"closed"`) {
		t.Errorf("%s\nralph said\n%s%s", got, out, said)
	}
}
