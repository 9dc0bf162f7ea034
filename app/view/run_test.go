package view

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// Events are shown once they are durable. By then the run may be far ahead of them: what
// is said about one must not depend on how far.
func TestALineDoesNotDependOnHowFarTheRunIs(t *testing.T) {
	epics, err := filepath.Glob("../../executor/machine/testdata/journal/*.epic.json")
	if err != nil || len(epics) == 0 {
		t.Fatalf("no journals: %v", err)
	}
	for _, path := range epics {
		t.Run(filepath.Base(path), func(t *testing.T) {
			epic, events := recorded(t, path)
			lines := func(ahead int) (out []string) {
				run, err := machine.New(epic)
				if err != nil {
					t.Fatal(err)
				}
				v := NewRun(io.Discard, io.Discard, epic, run, false)
				applied := 0
				for k, e := range events {
					for ; applied < len(events) && applied <= k+ahead; applied++ {
						if err := run.Apply(events[applied]); err != nil {
							t.Fatal(err)
						}
					}
					out = append(out, v.Line(e))
				}
				return out
			}
			want := lines(0)
			for _, ahead := range []int{1, 10, len(events)} {
				for k, got := range lines(ahead) {
					if got != want[k] {
						t.Errorf("%d ahead, event %d (%s): %q, want %q", ahead, events[k].Seq, events[k].Kind(), got, want[k])
					}
				}
			}
		})
	}
}

// recorded reads an epic, and the journal beside it.
func recorded(t *testing.T, path string) (*ir.Epic, []executor.Event) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	epic := &ir.Epic{}
	if err := json.Unmarshal(text, epic); err != nil {
		t.Fatal(err)
	}
	journal, err := os.ReadFile(path[:len(path)-len("epic.json")] + "events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var events []executor.Event
	for in := bufio.NewScanner(bytes.NewReader(journal)); in.Scan(); {
		var e executor.Event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return epic, events
}
