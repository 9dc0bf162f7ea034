package gate_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/gate"
)

// asked is a runner that approves, and keeps what it was asked.
func asked(prompt *string) map[string]executor.Runner {
	return map[string]executor.Runner{"command": executortest.Runner{Do: func(_ context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
		*prompt, *r.Answer = string(r.Prompt), []byte("APPROVED")
		return executor.AgentEnded{End: executor.EndExited}, nil
	}}}
}

// Only what a review that was interrupted left of its own may be in its directory.
func TestTheDirectoryOfAReviewIsEmpty(t *testing.T) {
	for _, c := range []struct {
		there string
		plan  bool
		ok    bool
	}{
		{"acceptance.md diff.patch", false, true},
		{"acceptance.md diff.patch plan.md", true, true},
		{"plan.md", false, false},
		{"notes.md", false, false},
		{"notes.md", true, false},
		{"acceptance.md diff.patch notes.md plan.md", true, false},
	} {
		r := judgeBy(t, "")
		if c.plan {
			r.Plan = func(context.Context) ([]byte, error) { return []byte("# Search\n"), nil }
		}
		files := strings.Fields(c.there)
		for _, name := range files {
			if err := os.WriteFile(filepath.Join(r.Dir, name), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var prompt string
		got, err := gate.Review{Runners: asked(&prompt)}.Judge(t.Context(), r)
		if err != nil || (got.Verdict == executor.Pass) != c.ok || (prompt != "") != c.ok || !c.ok && !strings.Contains(got.Message, "must be empty, and holds ") {
			t.Errorf("%+v: got %+v, %v", c, got, err)
		}
		for _, name := range files {
			if b, err := os.ReadFile(filepath.Join(r.Dir, name)); err != nil || (string(b) == "old") != !c.ok {
				t.Errorf("%+v: %s holds %q, %v", c, name, b, err)
			}
		}
	}
}

// What is not there to judge is said, and what is there is not said twice.
func TestWhatAReviewIsTold(t *testing.T) {
	const nothing, none, first = "## Diff\n\nThe diff is empty: nothing was changed.\n", "The sprint names no acceptance criteria: judge whether", "## What the plan was first asked for"
	plan := func(context.Context) ([]byte, error) { return []byte("# Search\n"), nil }
	for name, c := range map[string]struct {
		change    func(*executor.GateRun)
		has, lack string
	}{
		"a change":                       {func(*executor.GateRun) {}, "## Diff\n\n```diff\n+func login() {}\n```\n", nothing},
		"no change":                      {func(r *executor.GateRun) { r.Diff = func(context.Context, io.Writer) error { return nil } }, nothing, "```diff"},
		"criteria":                       {func(*executor.GateRun) {}, "## Acceptance criteria\n\n- a user can log in\n", none},
		"no criteria":                    {func(r *executor.GateRun) { r.Node.Acceptance = nil }, "## Acceptance criteria\n\n" + none, "\n- "},
		"a plan":                         {func(r *executor.GateRun) { r.Plan = plan }, "## Acceptance criteria\n\n```\na user can log in\n```\n" + "\n" + first + "\n\nSECRET GOAL\n", none},
		"a plan that asks what it did":   {func(r *executor.GateRun) { r.Plan, r.Node.Goal = plan, "a user can log in" }, "## Plan\n", first},
		"a plan that was asked for none": {func(r *executor.GateRun) { r.Plan, r.Node.Goal = plan, "" }, "## Plan\n", first},
	} {
		r := judgeBy(t, "")
		r.Dir = ""
		c.change(&r)
		var prompt string
		got, err := gate.Review{Runners: asked(&prompt)}.Judge(t.Context(), r)
		if err != nil || got.Verdict != executor.Pass || !strings.Contains(prompt, c.has) || strings.Contains(prompt, c.lack) {
			t.Errorf("%s: got %+v, %v; it was told\n%s", name, got, err, prompt)
		}
	}
}
