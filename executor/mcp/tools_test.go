package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

func names(t *testing.T, r executor.AgentRun) string {
	t.Helper()
	list, err := client(t, r).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, tool := range list.Tools {
		out = append(out, tool.Name)
	}
	return strings.Join(out, " ")
}

// execution §3: a blind review asks for nothing.
func TestWhichToolsATurnHas(t *testing.T) {
	record := func(context.Context, executor.Body) error { return nil }
	for name, c := range map[string]struct {
		change func(*executor.AgentRun)
		want   string
	}{
		"a turn that may ask":     {func(r *executor.AgentRun) { r.Context, r.Record = json.RawMessage(`{}`), record }, "get_context propose_work report_outcome"},
		"a blind review":          {func(r *executor.AgentRun) { r.Record, r.Raw = record, true }, "propose_work report_outcome"},
		"one that is not on file": {func(*executor.AgentRun) {}, "report_outcome"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ask(t)
			c.change(&r)
			during(t, server(t), r, func(r executor.AgentRun) {
				if got := names(t, r); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		})
	}
}

// S4-46
func TestProposalsAreOnRecordBeforeTheyAreAnswered(t *testing.T) {
	var recorded []executor.WorkProposed
	fails := false
	r := ask(t)
	r.Agent, r.Effect.Gate = "dev", "qa"
	r.Record = func(_ context.Context, b executor.Body) error {
		if fails {
			return errors.New("the disk is full")
		}
		recorded = append(recorded, b.(executor.WorkProposed))
		return nil
	}
	during(t, server(t), r, func(r executor.AgentRun) {
		agent := client(t, r)
		for args, want := range map[string]string{
			`{}`: `no "title"`, `{"title":7}`: "must be texts", `{"title":" \n "}`: `no "title"`, `{"title":"a","title":"b"}`: "appears twice", `{"title":"a","Title":"b"}`: "appears twice",
			`{"title":"` + strings.Repeat("x", maxTitle+1) + `"}`:           "at most 200",
			`{"title":"x","text":"` + strings.Repeat("y", maxText+1) + `"}`: "at most 2000",
		} {
			if said, refused := call(t, agent, "propose_work", args); !refused || !strings.Contains(said, want) {
				t.Errorf("%.60s: got %q, want a refusal that says %q", args, said, want)
			}
		}
		if len(recorded) > 0 {
			t.Errorf("recorded %v", recorded)
		}
		fails = true
		if said, refused := call(t, agent, "propose_work", `{"title":"x"}`); !refused || !strings.Contains(said, "the disk is full") {
			t.Errorf("got %q", said)
		}
		fails = false
		for i := range maxProposals {
			said, refused := call(t, agent, "propose_work", fmt.Sprintf(`{"title":"fix\n %d\u001b[31m","text":"it is broken"}`, i))
			if refused || len(recorded) != i+1 {
				t.Fatalf("%d: got %q, and %d are on record", i, said, len(recorded))
			}
		}
		if said, refused := call(t, agent, "propose_work", `{"title":"fix 3[31m","text":"it is broken"}`); refused || len(recorded) != maxProposals {
			t.Errorf("the same again: got %q, and %d are on record", said, len(recorded))
		}
		if said, refused := call(t, agent, "propose_work", `{"title":"one more"}`); !refused || !strings.Contains(said, "no more are taken") {
			t.Errorf("got %q", said)
		}
	})
	want := executor.WorkProposed{Proposal: executor.Proposal{Title: "fix 3[31m", Text: "it is broken"}, Agent: "dev", Gate: "qa"}
	if recorded[3] != want {
		t.Errorf("got %+v, want %+v", recorded[3], want)
	}
}

// S4-41..47, L4-05: the forms in which the seeds' agents report.
func TestTheOutcomesOfBothSeedsAreTaken(t *testing.T) {
	for args, want := range map[string]executor.Outcome{
		`{"result":"success","next_action":"advance_phase","summary":"done","created_issues":["bd-1"],"pointers":[{"path":"a.md"}]}`: {
			Result: "success", NextAction: "advance_phase", Summary: "done", Proposals: []executor.Proposal{{Title: "bd-1"}}, Pointers: []string{"a.md"},
		},
		`{"result":"partial","next_action":"need_human","needs_human":true,"summary":"which?","suggested_next_phase":"plan"}`: {
			Result: "partial", NextAction: "need_human", NeedsHuman: true, Summary: "which?", SuggestedNext: "plan",
		},
		`{"success":true,"pr_url":"https://example.com/1","pr_number":1}`: {Result: "success", Pull: executor.Pull{URL: "https://example.com/1", Number: 1}},
		`{"success":false,"error":"it broke","fatal":true}`:               {Result: "failed", Summary: "it broke", Errors: []string{"it broke"}, Fatal: true},
	} {
		r := ask(t)
		during(t, server(t), r, func(r executor.AgentRun) {
			if said, refused := call(t, client(t, r), "report_outcome", args); refused {
				t.Errorf("%s: %s", args, said)
			}
		})
		got, _ := executor.ParseOutcome([]byte(file(t, r.OutcomeFile())))
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		if string(g) != string(w) {
			t.Errorf("%s\ngot  %s\nwant %s", args, g, w)
		}
	}
}

func TestARawRunWithoutASchemaTakesAnyObject(t *testing.T) {
	r := ask(t)
	r.Raw = true
	during(t, server(t), r, func(r executor.AgentRun) {
		agent := client(t, r)
		for _, args := range []string{`{}`, `{"what":["ever"]}`} {
			if said, refused := call(t, agent, "report_outcome", args); refused || file(t, r.OutcomeFile()) != args {
				t.Errorf("%s: %s", args, said)
			}
		}
		for _, args := range []string{`[1]`, `"x"`} {
			if said, refused := call(t, agent, "report_outcome", args); !refused {
				t.Errorf("%s was taken: %s", args, said)
			}
		}
	})
}

// What is taken can be read by whoever reads the file.
func FuzzReport(f *testing.F) {
	for _, s := range []string{`{"result":"success","summary":"x"}`, `{"success":false,"error":["a",{"message":"b"}]}`, `{"result":"partial","summary":"\u0000","usage":{"tokens":1e99}}`, `[]`, `{"result":{}}`, `{"answer":1}`, "\xff", ``} {
		f.Add(s, verdictSchema)
		f.Add(s, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}}}}}`)
	}
	outcome, err := shapeOf(executor.AgentRun{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, args, schema string) {
		if v, err := outcome.read(json.RawMessage(args)); err == nil {
			if o, _ := executor.ParseOutcome(v); o.Invalid != "" || o.None() {
				t.Errorf("%q was taken, and is read as %+v", args, o)
			}
		}
		any, err := shapeOf(executor.AgentRun{Raw: true, Schema: json.RawMessage(schema)})
		if err != nil {
			return
		}
		checkWire(t, any.wire)
		if v, err := any.read(json.RawMessage(args)); err == nil && len(any.broken(v)) > 0 {
			t.Errorf("%q was taken, and breaks %s", args, schema)
		} else if err != nil && len(err.Error()) > 10_000 {
			t.Errorf("the refusal has %d bytes", len(err.Error()))
		}
	})
}
