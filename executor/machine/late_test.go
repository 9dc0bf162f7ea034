package machine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// recorded reads the epic and events of a run that a release of November 2026 wrote:
// its reports do not say of which start they are.
func recorded(t *testing.T, name string) (*ir.Epic, []executor.Event) {
	t.Helper()
	dir := filepath.Join("testdata", "journal")
	b, err := os.ReadFile(filepath.Join(dir, name+".epic.json"))
	if err != nil {
		t.Fatal(err)
	}
	epic := &ir.Epic{}
	if err := json.Unmarshal(b, epic); err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(filepath.Join(dir, name+".events.jsonl")); err != nil {
		t.Fatal(err)
	}
	var events []executor.Event
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var e executor.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again, lines.Bytes()) {
			t.Errorf("event %d\n%s\nis written as\n%s", e.Seq, lines.Bytes(), again)
		}
		events = append(events, e)
	}
	return epic, events
}

func TestAJournalOfAnEarlierReleaseStandsAsItDid(t *testing.T) { // execution §1
	for _, name := range []string{"0", "1", "2", "3"} {
		epic, events := recorded(t, name)
		want, err := os.ReadFile(filepath.Join("testdata", "journal", name+".state.txt"))
		if err != nil {
			t.Fatal(err)
		}
		run, err := New(epic)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := run.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if got := stands(run, events[len(events)-1].At); got != string(want) {
			t.Errorf("run %s stands\n%s\nand stood\n%s", name, got, want)
		}
		s := &sim{t: t, epic: epic, events: events, run: run}
		s.crash() // what is gone on with is numbered from here on
		s.put(executor.Event{Body: executor.RunStarted{Epic: "bd-e", Digest: epic.Digest, Base: executor.Tree{Commit: "base", Tree: "base"}, Slots: 2, By: "me"}})
	}
}

// stands is how a run stands, in words that do not depend on the forms of today.
func stands(r *Run, now time.Time) string {
	var b bytes.Buffer
	for _, n := range r.nodes {
		v, _ := r.View(n.id)
		fmt.Fprintf(&b, "%s %s %s %s, %d attempts, %d successes, used %v, failures %d, stage %d, inputs %v\n",
			n.id, n.status, n.wait.For, n.wait.Cause, len(v.Attempts), len(n.successes), n.life.used, n.life.failures, n.life.stage, n.life.inputs)
		for _, e := range n.life.flight {
			fmt.Fprintf(&b, "  in flight: %s of event %d\n", e.Key("e"), e.Seq)
		}
	}
	todo := r.Todo(now)
	for _, e := range todo.Record {
		fmt.Fprintf(&b, "record %s %s\n", e.Kind(), e.Node)
	}
	for _, e := range todo.Start {
		fmt.Fprintf(&b, "start %s %s %v\n", e.Key("e"), e.Commit, e.Inputs)
	}
	fmt.Fprintf(&b, "wake %s, done %v\n", todo.Wake, todo.Done)
	return b.String()
}

// A worker that was given up, and whose effect began anew, says nothing any more.
func TestTheReportOfAnEarlierStartIsRefused(t *testing.T) { // execution §1, §9
	epic := &ir.Epic{Epic: ir.Header{ID: "bd-e", Integration: ir.Integration{Mode: "dag"}}, Digest: "d", Nodes: []ir.Node{{
		ID: "bd-1", Key: "1", Steps: []ir.Step{{Name: "s", Agent: "a", Access: "write", Next: "s", Limits: ir.StepLimits{Attempts: 3}}},
	}}, Agents: map[string]ir.Agent{"a": {Runner: "r"}}, Runners: map[string]ir.Runner{"r": {}}}
	run, err := New(epic)
	if err != nil {
		t.Fatal(err)
	}
	put := func(e executor.Event) {
		t.Helper()
		e.Seq = run.Seq() + 1
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	begin := func() executor.Effect {
		t.Helper()
		for {
			todo := run.Todo(time.UnixMilli(0))
			if len(todo.Record) > 0 {
				put(todo.Record[0])
				continue
			}
			e := todo.Start[0]
			put(e.Started())
			e.Seq = run.Seq()
			return e
		}
	}
	started := executor.RunStarted{Epic: "bd-e", Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: 1, By: "me"}
	put(executor.Event{Body: started})
	prepare := begin()
	put(prepare.Says(executor.Prepared{}))
	first := begin()
	put(executor.Event{Body: started}) // ralph died, and its agent did not
	put(begin().Says(executor.Prepared{}))
	second := begin()
	if first.Key("e") != second.Key("e") || first.Seq == second.Seq {
		t.Fatalf("the agent began as event %d of %s, then as event %d of %s", first.Seq, first.Key("e"), second.Seq, second.Key("e"))
	}
	before := stands(run, time.UnixMilli(0))
	ended := executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "success", Summary: "of the first"}}
	for what, late := range map[string]executor.Event{
		"the end of the first start":     first.Says(ended),
		"the failure of the first start": first.Says(executor.EffectFailed{Class: executor.FailTransient, Detail: "no"}),
		"an end that names no start":     {Node: "bd-1", Step: "s", Attempt: 1, Body: ended},
		"what another effect reports":    second.Says(executor.Prepared{}),
		"a start that never was":         {Node: "bd-1", Step: "s", Attempt: 1, Of: 4711, Body: ended},
	} {
		late.Seq = run.Seq() + 1
		if err := run.Apply(late); !errors.Is(err, ErrLate) {
			t.Errorf("%s: Apply says %v, want ErrLate", what, err)
		}
		if after := stands(run, time.UnixMilli(0)); after != before {
			t.Errorf("%s: the run stands\n%s\nand stood\n%s", what, after, before)
		}
	}
	long := first.Says(executor.EffectFailed{Class: executor.FailTransient, Holds: slices.Repeat([]string{strings.Repeat("c", 40)}, 200)})
	parts, _ := long.Split()
	if len(parts) < 2 {
		t.Fatalf("the report has %d parts", len(parts))
	}
	parts[0].Seq = run.Seq() + 1
	if err := run.Apply(parts[0]); !errors.Is(err, ErrLate) || run.lists != nil {
		t.Errorf("the first part of a late report: Apply says %v, want ErrLate; %d lists are kept", err, len(run.lists))
	}
	put(first.Says(executor.AgentSession{Session: "of the first", Agent: "a", Turn: "agent-1"})) // it is kept, and not gone on in
	if v, _ := run.View("bd-1"); len(v.Attempts[0].Sessions) != 1 || v.Attempts[0].Session != "" {
		t.Errorf("what the first start told is not only kept: %+v", v.Attempts[0])
	}
	put(second.Says(executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "success", Summary: "of the second"}}))
	if v, _ := run.View("bd-1"); !strings.Contains(v.Attempts[0].Outcome.Summary, "second") {
		t.Errorf("the attempt came to %+v", v.Attempts[0].Outcome)
	}
}
