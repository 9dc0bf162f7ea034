//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/ir"
)

// recordWork writes a file and says everything that an agent may say.
const recordWork = `cat > /dev/null
echo "by $RALPH_NODE, attempt $RALPH_ATTEMPT" >> new.txt
echo two > agent.sh
echo the transcript
printf '{"result":"success","summary":"wrote new.txt","next_action":"advance_phase","pointers":["docs/new.md"],' > "$RALPH_OUTCOME"
printf '"created_issues":[{"title":"more to do","description":"later"}],"usage":{"tokens":%d,"usd":0.25}}' $((100 * RALPH_ATTEMPT)) >> "$RALPH_OUTCOME"
`

// recordQA fails the first attempt.
const recordQA = `cat > /dev/null
if grep -q "attempt 2" new.txt; then
	echo '{"status":"pass","message":"good now","details":{"seen":2}}'
else
	echo '{"status":"fail","message":"attempt 2 is missing","details":{"seen":1}}'
fi
`

func recordEpic() *ir.Epic {
	return executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		run := func(script string) ir.Runner {
			return ir.Runner{Kind: "command", Run: []string{"sh", "-c", script}, Prompt: "stdin", Env: []string{"PATH", "HOME"}, Outcome: "optional"}
		}
		work := run(recordWork)
		work.Run = append(work.Run, "agent", "${run.model}") // else it would use none
		e.Runners["sh"], e.Runners["qa"] = work, run(recordQA)
		e.Agents["dev"] = ir.Agent{Runner: "sh", Access: "write", Model: "large"}
		e.Agents["qa"] = ir.Agent{Runner: "qa", Access: "read"}
		e.Gates["qa"] = ir.Gate{Kind: "agent", From: "policy", Agent: "qa", Access: "read", Prompt: []string{"Try it."}, OnFailure: "retry", TimeoutMS: 60_000}
		g := e.Gates["check"]
		g.Run = `echo '{"Action":"pass","Package":"p","Test":"TestA"}'; test -e new.txt`
		e.Gates["check"] = g
		e.Nodes[0].Steps[0].Gates = []string{"check", "qa"}
		e.Nodes[0].Acceptance = []string{"new.txt says attempt 2"}
		e.Epic.Integration.Gates = []string{}
	})
}

// The facts of S0's executions, S1's beads and S4's runs, each of which is one
// attempt here: where a codec for one of these forms reads them.
//
// S0-59, S0-62, S0-64, S0-66, S0-67, S0-68, S0-69, S0-71 (an attempt of the agent)
// S0-63, S0-74, S0-76, S0-77, S0-78, S0-79, S0-80 (a verdict of a QA agent)
// S1-01..08, S1-10, S1-11, S1-12, S1-13 (a bead), S1-20..24 (its files)
// S1-34, S1-35, S1-37, S1-39, S1-46..50, S1-52, S1-53 (a task and where it stands)
// S1-55..61 (what it came to); S2-14, S2-39 (the history can be asked for)
// S4-31..37, S4-39, S4-40, S4-53, S4-56, S4-57 (a run record)
func TestEveryFactAboutAnAttemptIsOnRecord(t *testing.T) {
	t.Parallel()
	r := newApplyRepo(t, recordEpic())
	r.run(exit.Done)

	var node record.ShowJSON
	if err := json.Unmarshal([]byte(r.ralph(exit.Done, "show", "1.1", "--json")), &node); err != nil {
		t.Fatal(err)
	}
	if node.Status != "done" || node.ID != "bd-1-1" || node.Spec == nil || !slices.Equal(node.Spec.Acceptance, []string{"new.txt says attempt 2"}) || node.Spec.Steps[0].Limits.Iterations != 2 {
		t.Errorf("the task: %+v", node)
	}
	if len(node.Attempts) != 2 || node.Spent.TokensAtLeast != 300 {
		t.Fatalf("%d attempts, %+v spent; want 2, and 300 tokens", len(node.Attempts), node.Spent)
	}
	for i, a := range node.Attempts {
		if a.Number != i+1 || a.Step != "implement" || a.Agent != "dev" || a.Model != "large" || a.Iterations != 1 || a.Person != "" {
			t.Errorf("attempt %d: %+v", i+1, a)
		}
		if a.Started == nil || a.Ended == nil || a.Ended.Before(*a.Started) || a.Started.Location() != time.UTC {
			t.Errorf("attempt %d went from %v to %v", i+1, a.Started, a.Ended)
		}
		if a.Tokens == nil || *a.Tokens != int64(100*(i+1)) || a.USDMicro == nil || *a.USDMicro != 250_000 {
			t.Errorf("attempt %d cost %v tokens, %v", i+1, a.Tokens, a.USDMicro)
		}
		if a.Outcome == nil || a.Outcome.Result != "success" || a.Outcome.Summary != "wrote new.txt" || a.Outcome.NextAction != "advance_phase" ||
			!slices.Equal(a.Outcome.Pointers, []string{"docs/new.md"}) || len(a.Outcome.Proposals) != 1 || a.Outcome.Proposals[0].Title != "more to do" {
			t.Errorf("attempt %d said %+v", i+1, a.Outcome)
		}
		if got := r.git("log", "-1", "--format=%(trailers:key=Ralph-Attempt,valueonly)", a.Commit); got != "implement/"+string(rune('1'+i)) {
			t.Errorf("commit %s of attempt %d says it is of %q", a.Commit, i+1, got)
		}
		want := []executor.FileChange{{Path: "agent.sh", Type: "modified", Added: 1, Removed: strings.Count(agentScript, "\n")}, {Path: "new.txt", Type: "created", Added: 1}}
		if i == 1 { // its own alone
			want = []executor.FileChange{{Path: "new.txt", Type: "modified", Added: 1}}
		}
		if !slices.Equal(a.Changes, want) || a.FilesChanged != len(want) || a.Added != len(want) {
			t.Errorf("attempt %d changed %+v (%d files, +%d), want %+v", i+1, a.Changes, a.FilesChanged, a.Added, want)
		}
		if a.Tests == nil || a.Tests.Passed != 1 {
			t.Errorf("attempt %d ran tests %+v", i+1, a.Tests)
		}
		for file, want := range map[string]string{"agent-1.prompt.md": "Do 1.1.", "agent-1.out": "the transcript", "changes.json": "new.txt", "agent-1.outcome.json": `"created_issues"`} {
			if b, err := os.ReadFile(filepath.Join(a.Files, file)); err != nil || !strings.Contains(string(b), want) {
				t.Errorf("attempt %d: %s holds %q, %v; want %q", i+1, file, b, err, want)
			}
		}
	}
	first, second := node.Attempts[0], node.Attempts[1]
	if first.Status != "failed" || second.Status != "passed" || first.Reason == "" || len(first.Feedback) > 0 {
		t.Errorf("the attempts are %s (%s) and %s", first.Status, first.Reason, second.Status)
	}
	told := strings.Join(second.Feedback, "\n")
	if b, err := os.ReadFile(filepath.Join(second.Files, "agent-1.feedback.md")); err != nil || strings.TrimSpace(string(b)) != strings.TrimSpace(told) || !strings.Contains(told, "attempt 2 is missing") {
		t.Errorf("the agent was told %q, %v; on record is %q", b, err, told)
	}
	for i, want := range []struct{ verdict, message string }{{"fail", "attempt 2 is missing"}, {"pass", "good now"}} {
		var qa *record.GateJSON
		for k := range node.Attempts[i].Gates {
			if g := &node.Attempts[i].Gates[k]; g.Gate == "qa" {
				qa = g
			}
		}
		if qa == nil || qa.Verdict != want.verdict || qa.Message != want.message || qa.Agent != "qa" || qa.Details == "" {
			t.Fatalf("attempt %d was judged %+v, want %+v", i+1, qa, want)
		}
		b, err := os.ReadFile(filepath.Join(node.Attempts[i].Files, "gate-qa.json"))
		if err != nil || !strings.Contains(string(b), `"seen"`) {
			t.Errorf("its details: %s, %v", b, err)
		}
	}

	var began, judged int // a QA execution begins and ends on record
	for _, line := range strings.Split(strings.TrimSpace(r.ralph(exit.Done, "log", "1.1", "--json")), "\n") {
		var e executor.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		switch b := e.Body.(type) {
		case executor.EffectStarted:
			if b.Gate == "qa" && !e.At.IsZero() && e.Attempt > 0 {
				began++
			}
		case executor.GateJudged:
			if b.Gate == "qa" && !e.At.IsZero() {
				judged++
			}
		}
	}
	if began != 2 || judged != 2 {
		t.Errorf("gate qa began %d times and was judged %d times on record, want 2 and 2", began, judged)
	}
	r.says("log 1.1", "attempt 2 is missing", "wrote new.txt")

	b, err := os.ReadFile(filepath.Join(r.dir, ".git/ralph/bd-epic/runs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var run journal.RunRecord
	if err := json.Unmarshal(b, &run); err != nil || run.Epic != "bd-epic" || run.Outcome != "done" || run.Attempts != 3 || run.Started.IsZero() || run.Ended.Before(run.Started) || run.Trace == "" {
		t.Errorf("runs.jsonl: %+v, %v", run, err)
	}
}
