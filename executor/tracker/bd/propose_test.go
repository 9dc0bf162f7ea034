package bd

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

func TestBdWhatTheWorkerWrites(t *testing.T) {
	c, _ := database(t)
	t.Run("proposals", func(t *testing.T) { testProposals(t, c) })
	t.Run("a bead", func(t *testing.T) { testBead(t, c) })
}

// What agents propose becomes deferred beads that hang at the node's bead, each
// once; what people did with them stays. S4-20, S4-42
func testProposals(t *testing.T, c *Client) {
	ctx := context.Background()
	epic := executortest.Epic([]string{"1.1"})
	node := epic.Nodes[0].ID
	rows := `{"id":"` + string(node) + `","title":"N","issue_type":"task","status":"open","priority":1,"updated_at":"2026-01-01T00:00:00Z"}` + "\n"
	if _, err := c.Import(ctx, []byte(rows), quick); err != nil {
		t.Fatal(err)
	}
	list := []machine.Proposed{
		{Proposal: executor.Proposal{Title: "Fix the clock", Text: "It is late."}, Node: "1.1", Agent: "dev"},
		{Proposal: executor.Proposal{Title: "fix  the CLOCK"}, Node: "1.1"},
		{Proposal: executor.Proposal{Title: "Tidy up"}, Node: "integration"},
	}
	made, err := Propose(ctx, c, epic, list)
	if err != nil || len(made) != 2 {
		t.Fatalf("made %v, %v; want two", made, err)
	}
	by, err := c.ByID(ctx, made...)
	if err != nil {
		t.Fatal(err)
	}
	got := by[made[0]]
	if got.Title != "Fix the clock" || got.Status != "deferred" || got.Priority != 1 || !slices.Contains(got.Labels, ProposalLabel) ||
		!strings.HasPrefix(got.Description, "It is late.\n") || !strings.Contains(got.Description, "dev proposed this at 1.1") {
		t.Errorf("the first is %+v", got)
	}
	if len(got.Dependencies) != 1 || got.Dependencies[0].To != string(node) || got.Dependencies[0].Type != string(ir.DiscoveredFrom) {
		t.Errorf("its edges are %+v", got.Dependencies)
	}
	if ready, err := c.Ready(ctx); err != nil || len(ready) != 1 || ready[0].ID != string(node) {
		t.Errorf("ready: %v, %v; want the node alone", ids(ready), err)
	}
	// A second apply, or one after a crash; a person has opened one of them meanwhile.
	if _, err := c.Update(ctx, made[0], Change{Status: "open", Title: "Fix the clock soon"}); err != nil {
		t.Fatal(err)
	}
	if again, err := Propose(ctx, c, epic, list); err != nil || len(again) != 0 {
		t.Errorf("proposed again: %v, %v", again, err)
	}
	if i, _, err := c.Show(ctx, made[0]); err != nil || i.Status != "open" || i.Title != "Fix the clock soon" {
		t.Errorf("what a person changed became %+v, %v", i, err)
	}
	if again, err := Propose(ctx, c, epic, append(list, machine.Proposed{Proposal: executor.Proposal{Title: "One more"}, Node: "1.1"})); err != nil || len(again) != 1 {
		t.Errorf("one more: %v, %v", again, err)
	}
}

// What the worker needs of a bead: shown by its exact id, one phase at a time,
// labels, status, taken and given back. S4-13, S4-110..112, S4-115..119, K16
func testBead(t *testing.T, c *Client) {
	ctx := context.Background()
	rows := `{"id":"bd-n1","title":"N","issue_type":"task","status":"open","priority":2,"labels":["phase:plan","phase:old","keep"],"updated_at":"2026-01-01T00:00:00Z"}` + "\n"
	if _, err := c.Import(ctx, []byte(rows), quick); err != nil {
		t.Fatal(err)
	}
	if _, there, err := c.Show(ctx, "bd-n"); there || err != nil {
		t.Errorf("a part of an id was taken for it: %v, %v", there, err)
	}
	i, there, err := c.Show(ctx, "bd-n1")
	if !there || err != nil {
		t.Fatalf("show: %v, %v", there, err)
	}
	if _, many := i.Phase(); !many {
		t.Errorf("two phases are not told: %v", i.Labels)
	}
	i, err = UpdatePhase(ctx, c, i, "implement", Change{Status: "in_progress", If: "open", Assignee: "ralph"})
	if err != nil || i.Status != "in_progress" || i.Assignee != "ralph" {
		t.Fatalf("claimed: %+v, %v", i, err)
	}
	i, _, err = c.Show(ctx, "bd-n1")
	if step, many := i.Phase(); err != nil || step != "implement" || many || !slices.Contains(i.Labels, "keep") {
		t.Errorf("labels after a phase was set: %v, %v", i.Labels, err)
	}
	calls := c.called()
	if _, err := UpdatePhase(ctx, c, i, "implement", Change{}); err != nil || c.called() != calls {
		t.Errorf("the same phase again: %d calls, %v", c.called()-calls, err)
	}
	if _, err := c.Update(ctx, "bd-n1", Change{Add: []string{"x"}}); err != nil {
		t.Error(err)
	}
	if _, err := c.Update(ctx, "bd-n1", Change{Remove: []string{"keep"}}); err != nil {
		t.Error(err)
	}
	if _, err := c.Update(ctx, "bd-n1", Change{Status: "blocked"}); err != nil {
		t.Error(err)
	}
	if _, err := c.Update(ctx, "bd-n1", Change{Status: "open", Unassign: true}); err != nil {
		t.Error(err)
	}
	i, _, err = c.Show(ctx, "bd-n1")
	slices.Sort(i.Labels)
	if err != nil || i.Status != "open" || i.Assignee != "" || strings.Join(i.Labels, " ") != "phase:implement x" {
		t.Errorf("in the end it is %+v, %v", i, err)
	}
}

// A mirror that is ended before it has filed what agents propose says so, and the next one
// files it. S4-20
func TestProposalsThatWereNotFiledAreUnsent(t *testing.T) {
	s := newScene(t, []string{"1.1"}, func(e *ir.Epic) { e.Run.Tracker.Proposals = true })
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind != executor.EffectAgent {
			return nil
		}
		return executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "success", Proposals: []executor.Proposal{{Title: "Fix the clock"}}}}
	}
	s.open()
	s.begin()
	s.play(nil)
	s.ended()
	s.m.take()
	for s.m.c == nil || !s.m.pushed || !s.m.listed || len(s.m.queue) > 0 { // all but the proposals
		s.m.step(t.Context(), true)
	}
	unsent, err := s.m.Close(t.Context())
	if err != nil || len(unsent) != 1 || unsent[0].What != "what agents propose (1 piece of work)" {
		t.Fatalf("unsent: %q, %v", unsent, err)
	}
	s.open()
	s.settle(true)
	if unsent, err := s.m.Close(t.Context()); err != nil || len(unsent) != 0 {
		t.Errorf("unsent in the end: %q, %v", unsent, err)
	}
	if !slices.ContainsFunc(s.said, func(line string) bool { return strings.HasPrefix(line, "bd: agents propose ") }) {
		t.Errorf("said: %q", s.said)
	}
}
