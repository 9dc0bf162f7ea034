package executor

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

// No event takes more than an engine may carry, however many nodes the epic has, and what
// is read back is what was split.
func TestNoEventIsLarge(t *testing.T) {
	const many = 5000
	var inputs []Result
	var shas []string
	var nodeIDs []ir.NodeID
	var trees []NamedTree
	var found []Orphan
	for i := range many {
		sha, id := fmt.Sprintf("%040d", i), ir.NodeID(fmt.Sprintf("bd-%06d", i))
		tree := Tree{Commit: sha, Tree: sha}
		inputs, shas, nodeIDs = append(inputs, Result{Node: id, Tree: tree}), append(shas, sha), append(nodeIDs, id)
		trees = append(trees, NamedTree{Name: "release/" + string(id), Tree: tree})
		found = append(found, Orphan{Node: id, Step: "implement", Attempt: 1, Start: sha, Result: tree, Seq: int64(i), Work: "sha256:" + sha, Merged: shas[max(0, i-3):], Problems: []string{"a problem of \"one\" kind"}})
	}
	for _, want := range []Body{
		NodeStarted{Key: "1", Work: "w", Inputs: inputs},
		NodeWaiting{For: ForHuman, Cause: CauseOlder, Loses: shas},
		EffectFailed{Class: FailForeign, Holds: shas},
		EffectFailed{Class: FailForeign, Holds: []string{}},
		EffectFailed{Class: FailForeign, Detail: "x"},
		RunStarted{Epic: "bd-e", Slots: 3, Only: nodeIDs, Rerun: nodeIDs[:1], Merged: nodeIDs, Theirs: shas, Bases: trees},
		RunStarted{Epic: "bd-e", Slots: 3, Only: nodeIDs[:3]},
		RunRecovered{From: "bd", Holds: shas, Others: shas[:2], Bases: trees},
		RunRecovered{From: "bd", Holds: []string{}, Bases: trees},
		TailLost{After: 7, Found: found},
		TailLost{After: 7, Found: []Orphan{{Node: "bd-1", Step: "merge", Attempt: 1, Merged: shas, Problems: []string{"one"}}}},
		TailLost{After: 7, Found: []Orphan{found[0], {Node: "bd-1", Step: "merge", Attempt: 1, Merged: shas}, found[1]}},
	} {
		var l Lists
		var lost []Orphan
		parts, last := Event{Node: "n", Of: 5, Body: want}.Split()
		parts, seq := append(parts, last), int64(0)
		for i, e := range parts {
			seq++
			e.Seq = seq
			b, err := json.Marshal(e)
			if err != nil || len(b) > 4000 {
				t.Fatalf("%s takes %d bytes: %v", e.Kind(), len(b), err)
			}
			var back Event
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			switch body := back.Body.(type) {
			case InputsListed:
				if err := l.Add(body); err != nil {
					t.Fatal(err)
				}
				continue
			}
			got, err := l.Complete(back.Body)
			if body, ok := got.(TailLost); ok && err == nil {
				if lost = append(lost, body.Found...); i < len(parts)-1 {
					continue
				}
				body.After, body.Found = 7, lost
				got = body
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s is read back as another: %v", e.Kind(), err)
			}
			if back.Of != 5 || i != len(parts)-1 {
				t.Errorf("%s is event %d of %d, of start %d", e.Kind(), i+1, len(parts), back.Of)
			}
		}
	}
}

// Each part of a lost tail begins after the part before it.
func TestALostTailIsOneGap(t *testing.T) {
	found := slices.Repeat([]Orphan{{Node: "bd-1", Step: "implement", Attempt: 1}}, 100)
	found[0].Merged = slices.Repeat([]string{"0123456789012345678901234567890123456789"}, 200)
	parts, last := Event{Seq: 900, Body: TailLost{After: 7, Found: found}}.Split()
	if len(parts) < 2 {
		t.Fatalf("%d parts", len(parts))
	}
	before := int64(7)
	for i, e := range append(parts, last) {
		if b, ok := e.Body.(TailLost); e.Seq != 900+int64(i) || ok && b.After != before || i == 0 && !ok {
			t.Errorf("part %d is event %d, after %d", i, e.Seq, b.After)
		}
		before = e.Seq
	}
}

func TestAListThatIsNotOnRecordIsRefused(t *testing.T) {
	a, b := Result{Node: "a", Tree: Tree{Commit: "1", Tree: "1"}}, Result{Node: "b", Tree: Tree{Commit: "2", Tree: "2"}}
	refers := NodeStarted{ListRef: ListRef{Listed: 1, List: Lists{{"", []Result{a}}}.digest()}}
	var l Lists
	if _, err := l.Complete(refers); err == nil {
		t.Error("a list that is missing")
	}
	if l.Add(InputsListed{After: 1, Inputs: []Result{b}}) == nil {
		t.Error("a part without the one before it")
	}
	_ = l.Add(InputsListed{Inputs: []Result{b}})
	if _, err := l.Complete(refers); err == nil {
		t.Error("another list")
	}
	_ = l.Add(InputsListed{Inputs: []Result{a}}) // it begins anew
	if got, err := l.Complete(refers); err != nil || got.(NodeStarted).Inputs[0] != a {
		t.Errorf("%+v: %v", got, err)
	}
}

// What a person says fits into an event however JSON writes it, and keeps its beginning.
func TestANoteFitsIntoAnEvent(t *testing.T) {
	for name, said := range map[string]string{
		"quotes": strings.Repeat(`"`, 2000), "lines": strings.Repeat("\n.", 1000), "separators": strings.Repeat("\u2028x", 500),
		"control characters": strings.Repeat("a\x01", 990), "letters": strings.Repeat("é", 1500),
	} {
		kept := Note(said)
		b, err := json.Marshal(Event{Seq: 1, Node: "bd-000001", Body: Decided{Decision: Decision{ID: "d", Verb: Pause, By: "ann", Message: kept}}})
		if err != nil || len(b) > 4000 || len(kept) < 900 {
			t.Errorf("%s: %d bytes, of which %d are the note: %v", name, len(b), len(kept), err)
		}
	}
	if said := "as \"it\" is\n\tsaid"; Note(" "+said+"\n") != said {
		t.Errorf("changed: %q", Note(said))
	}
}

// However much a text escapes, and however many steps a node has, an event takes less than 4 kB.
func TestTextsAndStepsFitIntoAnEvent(t *testing.T) {
	t.Parallel()
	worst := strings.Repeat("\"\n", 4*MaxNote)
	steps := make([]StepDone, 40)
	for i := range steps {
		steps[i] = StepDone{Step: fmt.Sprintf("step-%d", i), Judge: "sha256:" + strings.Repeat("a", 64), Result: Tree{Commit: strings.Repeat("b", 40), Tree: strings.Repeat("c", 40)}}
	}
	judged := GateJudged{Gate: "unit", Verdict: Fail, Message: Note(worst)}
	judged.Bound()
	for _, body := range []Body{
		NodeDone{Work: "sha256:" + strings.Repeat("a", 64), Judge: "sha256:" + strings.Repeat("b", 64), Steps: steps},
		NodeWaiting{For: ForHuman, Cause: CauseManual, Detail: Fitting(worst)},
		EffectFailed{Class: FailTransient, Detail: Plain(worst)},
		Diagnosed{Action: "human", Note: Plain(worst)},
		HumanSpoke{Text: Fitting(worst)},
		judged,
	} {
		var lists Lists
		parts, last := Event{Seq: 7, Node: "bd-1-1", Step: "implement", Body: body}.Split()
		for _, e := range append(parts, last) {
			if b, err := json.Marshal(e); err != nil || len(b) >= 4096 {
				t.Errorf("%s: %d bytes, %v", e.Kind(), len(b), err)
			}
			if l, is := e.Body.(InputsListed); is {
				if err := lists.Add(l); err != nil {
					t.Error(err)
				}
			}
		}
		if whole, err := lists.Complete(last.Body); err != nil || !reflect.DeepEqual(whole, body) {
			t.Errorf("%s comes back as %+v, %v", last.Kind(), whole, err)
		}
	}
}
