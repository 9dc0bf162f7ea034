//go:build unix

package cli

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// sessionSite is a site whose agents have sessions: a developer whose first attempt
// fails, and one who judges.
func sessionSite(t *testing.T, lines []string, work string) *site {
	t.Helper()
	return newSite(t, work, executortest.Epic(lines, func(e *ir.Epic) {
		sh := e.Runners["sh"]
		sh.Run = append(sh.Run, "${run.model}")
		e.Runners["sh"] = sh
		e.Agents["dev"] = ir.Agent{Runner: "sh", Access: "write", Model: "large"}
		e.Runners["qa"] = ir.Runner{
			Kind: "command", Prompt: "stdin", Env: []string{"PATH", "HOME"}, Outcome: "optional",
			Run: []string{"sh", "-c", `cat >/dev/null; if grep -q fixed out-*.txt; then echo '{"status":"pass","message":"good"}'; else echo '{"status":"fail","message":"fix it"}'; fi`, "qa", "${run.model}"},
		}
		e.Agents["qa"] = ir.Agent{Runner: "qa", Access: "read", Model: "small"}
		e.Gates["qa"] = ir.Gate{Kind: "agent", From: "policy", Agent: "qa", Access: "read", Prompt: []string{"Try it."}, OnFailure: "retry", TimeoutMS: 60_000}
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Gates = []string{"check", "qa"}
		}
		e.Epic.Integration.Gates = []string{}
	}))
}

// program runs ralph with agents that are programs with sessions, and expects an
// exit code.
func (s *site) program(want int, args ...string) ran {
	s.t.Helper()
	return s.programThat("", want, args...)
}

// programThat is program with agents that cannot do something.
func (s *site) programThat(cannot string, want int, args ...string) ran {
	s.t.Helper()
	got := s.begin(func(r *starting) { r.cmd.Env = append(r.cmd.Env, asProgram+"="+cannot) }, args...).wait()
	if got.code != want {
		s.t.Fatalf("ralph %s: exit %d, want %d\n%s", strings.Join(args, " "), got.code, want, got.all())
	}
	return got
}

func TestSessionListsAllHandlesAndMarksTheOneThatDidTheWork(t *testing.T) { // S0-61, S0-65, S0-73, S0-112, K25, L0-03
	t.Parallel()
	s := sessionSite(t, []string{"1.1"}, "")
	if got := s.program(exit.Done, "session", "1.1"); !strings.Contains(got.out, "no agent has worked on it yet") {
		t.Errorf("before the run it says:\n%s", got.all())
	}
	s.program(exit.Done, "apply")

	var list []run.Session
	if err := json.Unmarshal([]byte(s.program(exit.Done, "session", "1.1", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range list {
		got = append(got, strings.Join([]string{l.Session, l.AgentID, l.Runner, l.Model, l.Status}, " "))
		if l.Work != (l.Session == "ses-1.1-implement-2") || l.Started == nil || l.Dir != s.tree("1.1") || l.Kind != "command" {
			t.Errorf("%+v", l)
		}
	}
	want := []string{
		"ses-1.1-qa-2 qa@ses-1.1-qa-2 qa small pass", "ses-1.1-implement-2 dev@ses-1.1-implement-2 sh large passed",
		"ses-1.1-qa-1 qa@ses-1.1-qa-1 qa small fail", "ses-1.1-implement-1 dev@ses-1.1-implement-1 sh large failed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("sessions\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	said := s.program(exit.Done, "session", "1.1").out
	for _, want := range []string{
		"* did the work. To join it:\n  cd " + words.QuoteArg(s.tree("1.1")) + " && sh --resume ses-1.1-implement-2 'it'\\''s'\n",
		"implement #2, gate qa", `ralph ask 1.1 "why …?"`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it says\n%s\nwant %q in it", said, want)
		}
	}
	if said := s.program(exit.Done, "session", "1.1", "--gate", "qa", "--attempt", "1").out; !strings.Contains(said, "To join that of implement #1, gate qa:") || !strings.Contains(said, "--resume ses-1.1-qa-1") || strings.Contains(said, "implement-2") {
		t.Errorf("of the gate's first session it says\n%s", said)
	}
	if got := s.program(exit.Usage, "session", "1.1", "--gate", "checl").err; !strings.Contains(got, "there are those of implement #2, gate qa") {
		t.Errorf("of a gate that is none it says %q", got)
	}
	if got := s.programThat("join", exit.Done, "session", "1.1").out; !strings.Contains(got, "you cannot, it is a test") {
		t.Errorf("of a session that nobody can join it says\n%s", got)
	}

	// Without its worktree a session is joined elsewhere.
	s.git("worktree", "remove", "--force", s.tree("1.1"))
	if said := s.program(exit.Done, "session", "1.1").out; !strings.Contains(said, "cd "+words.QuoteArg(filepath.Join(s.top, "project"))+" && sh") {
		t.Errorf("without a worktree it says\n%s", said)
	}
}

func TestASprintOfCommandsHasNoSession(t *testing.T) { // S0-112
	t.Parallel()
	s := sessionSite(t, []string{"1.1"}, "echo fixed > out-x.txt")
	s.apply(exit.Done)
	if got := s.ralph("session", "1.1"); got.code != exit.Done || !strings.Contains(got.out, "has no sessions") || !strings.Contains(got.out, "ralph log 1.1") {
		t.Errorf("exit %d\n%s", got.code, got.all())
	}
	if got := s.ralph("session", "1.1", "--json"); strings.TrimSpace(got.out) != "[]" {
		t.Errorf("got %q, want []", got.out)
	}
}
