package runnertest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/modeltest"
)

var verdictSchema = json.RawMessage(`{"type":"object","required":["status"],"properties":{"status":{"type":"string","enum":["pass","fail"]},"feedback":{"type":"string"}}}`)

// outcomes: what an agent did, and what it says about it.
func outcomes() []Case {
	return []Case{
		{
			Name:  "a file is written, and nothing else is left in the worktree",
			turns: [][]modeltest.Step{well(do(modeltest.Write("made.txt", "made by the agent\n")), do(modeltest.Bash("cat made.txt > copy.txt")))},
			play: func(t *testing.T, s *stage) {
				p := s.success(t, turn{})
				for _, f := range []string{"made.txt", "copy.txt"} {
					if got := s.file(t, f); got != "made by the agent\n" {
						t.Errorf("%s holds %q", f, got)
					}
				}
				s.holds(t, "copy.txt", "made.txt")
				if p.ended.Agent != "builder" || p.ended.Model == "" || p.ended.ExitCode != 0 {
					t.Errorf("got %+v", p.ended)
				}
			},
		},
		{
			Name:  "an outcome is reported",
			turns: [][]modeltest.Step{{do(modeltest.Report(obj{"result": "partial", "summary": "Half of it.", "next_action": "repeat_phase"})), say("More is to do.")}},
			play: func(t *testing.T, s *stage) {
				o := s.must(t, turn{}).ended.Outcome
				if o.Result != "partial" || o.Summary != "Half of it." || o.NextAction != "repeat_phase" {
					t.Errorf("got %+v", o)
				}
			},
		},
		{
			Name: "a wrong outcome is refused in the same turn, and the last right one counts", Needs: needs(executor.CanTools),
			turns: [][]modeltest.Step{append(steps{
				do(modeltest.Report(obj{"result": "maybe", "summary": "x"})), do(modeltest.Report(obj{"result": "failed", "summary": "x"})),
			}, well()...)},
			play: func(t *testing.T, s *stage) {
				s.success(t, turn{})
				r := s.last(t, 1)
				if r.Rounds != 3 || len(r.Results) < 3 || !strings.Contains(r.Results[0], "result") || strings.Contains(r.Results[1], "did not take") {
					t.Errorf("after %d rounds the tools had answered %q", r.Rounds, r.Results)
				}
			},
		},
		{
			Name:  "a turn without an outcome is invalid",
			turns: [][]modeltest.Step{{say("I think that it is good now.")}},
			play: func(t *testing.T, s *stage) {
				config := s.config
				config.Outcome = "required"
				if o := s.must(t, turn{config: &config}).ended.Outcome; o.Invalid == "" || o.Result != "" {
					t.Errorf("got %+v", o)
				}
			},
		},
		{
			Name: "a reminder in the same session is answered", Needs: needs(executor.CanResume),
			turns: [][]modeltest.Step{{say("I think that it is good now.")}, well()},
			play: func(t *testing.T, s *stage) {
				first := s.must(t, turn{})
				second := s.success(t, turn{of: 2, session: first.ended.Session})
				if second.ended.Session != first.ended.Session {
					t.Errorf("the reminder was given in session %q, want %q", second.ended.Session, first.ended.Session)
				}
			},
		},
		{
			Name: "an outcome in the last message counts", Needs: needs(needMessage),
			turns: [][]modeltest.Step{{say("All is well.\n\n```json\n{\"result\": \"success\", \"summary\": \"In words.\"}\n```\n")}},
			play: func(t *testing.T, s *stage) {
				if o := s.success(t, turn{}).ended.Outcome; o.Summary != "In words." {
					t.Errorf("got %+v", o)
				}
			},
		},
		{
			Name: "a gate's agent reports a verdict", Needs: needs(executor.CanTools),
			turns: [][]modeltest.Step{{do(modeltest.Report(obj{"status": "maybe"})), do(modeltest.Report(obj{"status": "pass", "feedback": "good"})), say("The verdict is: it passes.")}},
			play: func(t *testing.T, s *stage) {
				p := s.must(t, turn{raw: true, schema: verdictSchema})
				var v struct{ Status, Feedback string }
				if err := json.Unmarshal(p.reported, &v); err != nil || v.Status != "pass" || v.Feedback != "good" {
					t.Errorf("reported %s, %v", p.reported, err)
				}
				if !strings.Contains(p.answer, "The verdict is: it passes.") {
					t.Errorf("answered %q", p.answer)
				}
				if r := s.last(t, 1); r.Rounds != 2 || !strings.Contains(r.Results[0], "status") {
					t.Errorf("the wrong verdict was answered %q", r.Results)
				}
			},
		},
		{
			Name:  "a question is answered with the last message",
			turns: [][]modeltest.Step{{do(modeltest.Bash("cat README.md")), say(`{"status": "pass"}`)}},
			play: func(t *testing.T, s *stage) {
				if p := s.must(t, turn{raw: true, schema: verdictSchema}); !strings.Contains(p.answer, `{"status": "pass"}`) {
					t.Errorf("answered %q", p.answer)
				}
			},
		},
		{
			Name: "the agent may ask for its context, and proposes work", Needs: needs(executor.CanTools),
			turns: [][]modeltest.Step{well(do(modeltest.Call("get_context", obj{})), do(modeltest.Call("propose_work", obj{"title": "Write the manual", "text": "Nobody did."})))},
			play: func(t *testing.T, s *stage) {
				p := s.success(t, turn{})
				if r := s.last(t, 1); len(r.Results) == 0 || !strings.Contains(r.Results[0], "context of the node") {
					t.Errorf("get_context answered %q", r.Results)
				}
				p.mu.Lock()
				defer p.mu.Unlock()
				for _, b := range *p.records {
					if w, ok := b.(executor.WorkProposed); ok && w.Title == "Write the manual" && w.Agent == "builder" {
						return
					}
				}
				t.Errorf("on record is %+v", *p.records)
			},
		},
		{
			Name: "what the agent says and does is kept, with times", Needs: needs(needStream),
			turns: [][]modeltest.Step{well(modeltest.Step{Text: "I think aloud.", Do: []modeltest.Action{modeltest.Bash("echo printed by a tool")}})},
			play: func(t *testing.T, s *stage) {
				p := s.success(t, turn{})
				out, err := os.ReadFile(runner.File(p.run, runner.OutExt))
				if err != nil || !strings.Contains(string(out), "I think aloud.") || !strings.Contains(string(out), "All done.") {
					t.Errorf("people read %q, %v", out, err)
				}
				stream, err := os.ReadFile(runner.File(p.run, runner.StreamExt))
				if err != nil || len(stream) == 0 {
					t.Fatalf("the stream is %d bytes, %v", len(stream), err)
				}
				for line := range strings.Lines(string(stream)) {
					var l struct {
						At   time.Time
						Line json.RawMessage
					}
					if err := json.Unmarshal([]byte(line), &l); err != nil || l.At.IsZero() || len(l.Line) == 0 {
						t.Fatalf("%v in the stream's line %s", err, line)
					}
				}
			},
		},
		{
			Name: "secrets are removed from stored output",
			turns: [][]modeltest.Step{well(modeltest.Step{Text: "I saw " + hidden, Do: []modeltest.Action{modeltest.Bash("cat hidden.txt; cat hidden.txt >&2")}},
				do(modeltest.Bash("fill() { head -c $1 /dev/zero | tr '\\0' x; }; fill 390; cat hidden.txt; fill 1577; cat hidden.txt; fill 1990")))}, // where a long output is cut
			play: func(t *testing.T, s *stage) {
				s.put(t, "hidden.txt", hidden+"\n")
				p := s.success(t, turn{})
				if r := s.last(t, 1); len(r.Results) == 0 || !strings.Contains(r.Results[0], hidden) {
					t.Fatalf("the tool answered %q", r.Results)
				}
				files, err := filepath.Glob(filepath.Join(p.run.Files, "*"))
				if err != nil || len(files) == 0 {
					t.Fatalf("files %q, %v", files, err)
				}
				for _, f := range files {
					b, err := os.ReadFile(f)
					if err != nil || strings.Contains(string(b), hidden) {
						t.Errorf("the secret is in %s (%v)", filepath.Base(f), err)
					}
					if out := string(b); strings.Contains(out, hidden[:len(hidden)-5]) || strings.Contains(out, hidden[4:]) {
						t.Errorf("a part of the secret is in %s: %.300s", filepath.Base(f), out[max(0, strings.Index(out, hidden[4:12])-100):])
					}
					if strings.Contains(pieces(b), hidden) {
						t.Errorf("the secret is in %s, in pieces", filepath.Base(f))
					}
				}
				if strings.Contains(p.ended.Tail, hidden) {
					t.Errorf("the secret is in the tail")
				}
			},
		},
	}
}

// pieces is what the texts of a stream come to together.
func pieces(stream []byte) string {
	var out strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if s, ok := v[k].(string); ok && (k == "text" || k == "delta") {
					out.WriteString(s)
				}
				walk(v[k])
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	for line := range strings.Lines(string(stream)) {
		var v any
		_ = json.Unmarshal([]byte(line), &v) // what is no JSON has no texts
		walk(v)
	}
	return out.String()
}
