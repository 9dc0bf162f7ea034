//go:build unix

package cli

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// realSite is realTeam with the sprints of some of its agents alone, changed.
func realSite(t *testing.T, base string, kinds []string, change func(e *ir.Epic)) *site {
	t.Helper()
	s := realTeam(t, base)
	var nodes []ir.Node
	for _, n := range s.epic.Nodes {
		for _, kind := range kinds {
			if n.Steps[0].Agent == kind {
				nodes = append(nodes, n)
			}
		}
	}
	s.epic.Nodes = nodes
	change(s.epic)
	for i := range s.epic.Nodes {
		s.epic.Nodes[i].Limits.StepLimits = s.epic.Nodes[i].Steps[0].Limits
	}
	s.seal(s.epic)
	s.git("commit", "-q", "-a", "-m", "changed")
	return s
}

// says is what a person types in the session of a sprint, with a client of their
// own at the server to which `ralph session` sends them.
func (s *site) says(key, text string) {
	s.t.Helper()
	var list []run.Session
	if err := json.Unmarshal([]byte(s.ralph("session", key, "--json").out), &list); err != nil || len(list) != 1 {
		s.t.Fatalf("sessions of %s: %+v, %v", key, list, err)
	}
	join := list[0].Joined
	if len(join) == 0 || filepath.Base(join[0]) != "attach" || join[len(join)-1] != list[0].Session {
		s.t.Fatalf("while its agent works, a person joins it with %q", join)
	}
	var at struct{ URL, Password string }
	b, err := os.ReadFile(filepath.Join(filepath.Dir(join[0]), "server.json"))
	if err != nil || json.Unmarshal(b, &at) != nil {
		s.t.Fatalf("its server: %s, %v", b, err)
	}
	body, _ := json.Marshal(map[string]any{"parts": []any{map[string]string{"type": "text", "text": text}}})
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
		at.URL+"/session/"+list[0].Session+"/prompt_async?"+url.Values{"directory": {s.tree(key)}}.Encode(), strings.NewReader(string(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	req.SetBasicAuth("opencode", at.Password)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		s.t.Fatalf("a person's message: %s", res.Status)
	}
}

// A person writes in the session of a real OpenCode that ralph apply has at work:
// what comes of it in each mode. It never costs an attempt.
// S4-64, S4-68, S4-69, S4-70, S4-106, execution §6
func TestRealPeopleTakeOverASessionOfOpenCode(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real OpenCode")
	}
	done := []modeltest.Step{
		{Do: []modeltest.Action{modeltest.Bash(`echo "$RALPH_ATTEMPT" >> finished.txt`)}},
		{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "finished"})}},
		{Text: "Done."},
	}
	for how, c := range map[string]struct {
		attempts, sessions int // that were made
		finished           string
	}{
		"pause":    {1, 1, "1"},
		"review":   {2, 2, "2"},
		"cooldown": {1, 1, "1"},
	} {
		t.Run(how, func(t *testing.T) {
			model := modeltest.Start(t)
			base := model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
				{Match: "A person took over meanwhile", Steps: done},
				{Match: "A person wrote in the session of attempt 1", Steps: done},
				{Match: "use argon2", Steps: []modeltest.Step{{Text: "As you like."}}},
				{Steps: []modeltest.Step{{Text: "I begin.", Do: []modeltest.Action{modeltest.Bash("echo begun > begun.txt; while ! test -e go.txt; do sleep 0.1; done")}}, {Text: "Went on."}}},
			}})
			s := realSite(t, base, []string{"opencode"}, func(e *ir.Epic) {
				e.Run.HITL.OnHumanMessage, e.Run.HITL.IdleCooldownMS = how, 1000
				e.Nodes[0].Steps[0].Limits.Attempts, e.Nodes[0].Steps[0].Limits.Iterations = 1, 1
			})
			apply := s.start("apply")
			begun := filepath.Join(s.tree("1.2"), "begun.txt")
			over := make(chan ran, 1)
			go func() { over <- apply.wait() }()
			s.until("its first tool", func() bool {
				select {
				case got := <-over:
					t.Fatalf("apply: exit %d\n%s", got.code, got.all())
				default:
				}
				_, err := os.Stat(begun)
				return err == nil
			})
			s.says("1.2", "use argon2")
			if how == "pause" {
				if got := <-over; got.code != exit.Waiting || !strings.Contains(got.out, "ralph resume 1.2") {
					t.Fatalf("apply: exit %d\n%s", got.code, got.all())
				}
				if v := s.nodeStatus("1.2"); v.Cause != string(executor.CauseTakeover) || v.LastHuman == nil || !strings.Contains(v.Reason, "use argon2") {
					t.Errorf("it waits so: %+v", v)
				}
				s.program(exit.Done, "resume", "1.2")
				apply = s.start("apply")
				go func() { over <- apply.wait() }()
			} else if err := os.WriteFile(filepath.Join(s.tree("1.2"), "go.txt"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := <-over; got.code != exit.Done {
				t.Fatalf("apply: exit %d\n%s", got.code, got.all())
			}
			if got := s.git("show", "ralph/x/1-2:finished.txt"); got != c.finished {
				t.Errorf("it was finished in attempt %q, want %q", got, c.finished)
			}
			attempts, sessions, spoken := 0, map[string]bool{}, 0
			for _, e := range s.events() {
				switch b := e.Body.(type) {
				case executor.AttemptStarted:
					if e.Node == "bd-1-2" {
						attempts++
					}
				case executor.AgentSession:
					sessions[b.Session] = true
				case executor.HumanSpoke:
					if spoken++; b.Text != "use argon2" || !sessions[b.Session] {
						t.Errorf("on record: %+v", b)
					}
				}
			}
			if attempts != c.attempts || len(sessions) != c.sessions || spoken != 1 {
				t.Errorf("%d attempts in %d sessions, and a person spoke %d times; want %d, %d, 1", attempts, len(sessions), spoken, c.attempts, c.sessions)
			}
			if missed := model.Missed(base); len(missed) > 0 {
				t.Errorf("the model was asked what it has no answer to: %q", missed)
			}
			if left := s.processes(); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
}

// With session = "resume" the next attempt goes on in the session of the one before,
// through the whole of apply, with every real agent. K25, S4-79, S4-102, S0-71, execution §6
func TestRealAttemptsGoOnInOneSession(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real agents")
	}
	model := modeltest.Start(t)
	turn := func(say, do string) []modeltest.Step {
		return []modeltest.Step{
			{Text: say, Do: []modeltest.Action{modeltest.Bash(do)}},
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": say})}},
			{Text: "Done."},
		}
	}
	base := model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
		{Match: "Feedback: what to fix", Steps: turn("I fix it.", "echo fixed > fixed.txt")},
		{Steps: turn("I begin.", "echo made > made.txt")},
	}})
	kinds := []string{"claude", "opencode", "codex", "acp"}
	s := realSite(t, base, kinds, func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run = `test -e fixed.txt || { echo "no fixed.txt of you" >&2; exit 1; }`
		e.Gates["check"] = g
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Session = "resume"
		}
	})
	s.apply(exit.Done, "--parallel", "2")
	sessions := map[ir.NodeID]map[int]executor.AgentSession{}
	for _, e := range s.events() {
		if b, ok := e.Body.(executor.AgentSession); ok {
			if sessions[e.Node] == nil {
				sessions[e.Node] = map[int]executor.AgentSession{}
			}
			sessions[e.Node][e.Attempt] = b
		}
	}
	for i, kind := range kinds {
		at := sessions[s.epic.Nodes[i].ID]
		if len(at) != 2 || !at[1].Fresh || at[2].Fresh || at[1].Session != at[2].Session {
			t.Errorf("%s worked in %+v", kind, at)
		}
	}
	remember := 0
	for _, r := range model.Requests(base) {
		if strings.Contains(r.Human(), "Feedback: what to fix") && r.Rounds == 0 && !r.Side() {
			if !strings.Contains(r.Human(), "no fixed.txt of you") {
				t.Errorf("it is not told what the gate said: %s", r.Human())
			}
			if strings.Contains(strings.Join(r.Said, "\n"), "I begin.") {
				remember++
			}
		}
	}
	if remember != len(kinds) {
		t.Errorf("%d of %d remember their first attempt", remember, len(kinds))
	}
}

// An agent of another kind is sent to look at one that stalled, and reads what it
// said; its word is what the next attempt is told. S4-62, S4-65, S4-67, S0-113, execution §4, §6
func TestRealDiagnosisReadsTheSessionThatStalled(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real agents")
	}
	model := modeltest.Start(t)
	base := model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
		{Match: "An agent's diagnosis of the stall", Steps: []modeltest.Step{
			{Do: []modeltest.Action{modeltest.Bash("echo made > made.txt")}},
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "made it"})}},
			{Text: "Done."},
		}},
		{Match: "showed no sign of life", Steps: []modeltest.Step{
			{Do: []modeltest.Action{modeltest.Read("../../../../project/.git/ralph/bd-epic/attempts/bd-1-1/implement-1/agent-1.out")}},
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"action": "retry", "note": "its model fell silent"})}},
			{Text: "Looked."},
		}},
		{Steps: []modeltest.Step{
			{Text: "I look at the lock file.", Do: []modeltest.Action{modeltest.Bash("echo looked")}},
			{Fault: &modeltest.Fault{Kind: modeltest.Hang}},
		}},
	}})
	s := realSite(t, base, []string{"claude"}, func(e *ir.Epic) {
		step := &e.Nodes[0].Steps[0]
		step.Stall = ir.Stall{AfterMS: 20_000, Action: "diagnose", Agent: "opencode"}
		step.Limits.Attempts = 1 // what the diagnosis begins anew costs none
	})
	s.apply(exit.Done)
	saw, told := "", ""
	for _, r := range model.Requests(base) {
		switch {
		case strings.Contains(r.Human(), "showed no sign of life"):
			saw = strings.Join(r.Results, "\n")
		case strings.Contains(r.Human(), "An agent's diagnosis of the stall"):
			told = r.Human()
		}
	}
	if !strings.Contains(saw, "I look at the lock file.") {
		t.Errorf("who looked at it saw\n%s", saw)
	}
	if !strings.Contains(told, "its model fell silent") {
		t.Errorf("the next attempt is told\n%s", told)
	}
	if list := s.ralph("session", "1.1").out; !strings.Contains(list, "diagnose-") {
		t.Errorf("the session of who looked is not listed:\n%s", list)
	}
}
