package bd

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// What the mirror leaves in bd is all that another clone needs of a run.
func TestWhatTheMirrorKeepsComesBack(t *testing.T) { // S2-38, S2-41, K33
	s := newScene(t, []string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Epic.Integration.Gates = []string{"check"}
	})
	s.open()
	s.begin()
	s.play(func() { s.settle(false) })
	s.ended()
	s.settle(true)
	got, err := Recall(context.Background(), s.c, "bd-epic")
	if err != nil {
		t.Fatal(err)
	}
	run, err := machine.New(s.epic)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.events {
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	same := func(what string, got, want any) {
		t.Helper()
		a, aerr := json.Marshal(got)
		b, berr := json.Marshal(want)
		if err := errors.Join(aerr, berr); err != nil || string(a) != string(b) {
			t.Errorf("%s comes back as\n%s\nwant\n%s (%v)", what, a, b, err)
		}
	}
	want, _ := run.Summary().Kept()
	same("the run", got.Run, &want)
	if got.Epic == nil || got.Epic.Digest != got.Digest || len(got.Epic.Nodes) != 2 {
		t.Errorf("the epic comes back as %+v", got.Epic)
	}
	if len(got.Nodes) != len(s.epic.Nodes) {
		t.Errorf("%d nodes, want %d", len(got.Nodes), len(s.epic.Nodes))
	}
	for _, n := range s.epic.Nodes {
		want, _ := run.Node(n.ID).Kept()
		same(string(n.ID), got.Nodes[n.ID].Kept, &want)
		if n := got.Nodes[n.ID]; n.Plan != s.epic.Epic.Plan || n.Bead.Status != "closed" {
			t.Errorf("%s: plan %q, %s", n.Bead.ID, n.Plan, n.Bead.Status)
		}
	}
}

// What is in bd and is not what ralph wrote is never taken for it.
func TestRecallRefusesWhatIsNotRalphs(t *testing.T) { // K33
	for name, c := range map[string]struct {
		id     ir.NodeID
		change map[string]json.RawMessage // of the epic's metadata
		want   string
	}{
		"no such bead":                    {"bd-nowhere", nil, "there is no bead bd-nowhere"},
		"a part of an id":                 {"bd-epi", nil, "there is no bead bd-epi"},
		"a sprint":                        {"bd-1-1", nil, "ralph recover bd-epic"},
		"an epic that was edited":         {"bd-epic", map[string]json.RawMessage{"ralph_digest": []byte(`"sha256:other"`)}, "was changed"},
		"an epic that is none":            {"bd-epic", map[string]json.RawMessage{"ralph_epic": []byte(`"{}"`)}, "cannot be read"},
		"a record that is none":           {"bd-epic", map[string]json.RawMessage{"ralph": []byte(`"text"`)}, `the key "ralph"`},
		"an epic that ralph did not push": {"bd-epic", map[string]json.RawMessage{"ralph_digest": []byte(`""`), "ralph_epic": []byte(`""`)}, "did not push"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, []string{"1.1"})
			if c.change != nil {
				if _, err := s.c.Update(context.Background(), "bd-epic", Change{Metadata: c.change}); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Recall(context.Background(), s.c, c.id)
			var unknown *Unknown
			if !errors.As(err, &unknown) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it said %v, want %q", err, c.want)
			}
		})
	}
}
