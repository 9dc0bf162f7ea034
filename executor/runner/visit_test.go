package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

func TestAVisitHasWhatTheRunnerHasAndNothingOfATurn(t *testing.T) {
	t.Setenv("GIVEN_KEY", "secret-1")
	t.Setenv("LC_TIME", "C")
	t.Setenv("NOT_NAMED", "no")
	b := Base{Secrets: map[string]ir.Secret{"given": {Env: "GIVEN_KEY"}, "missing": {Env: "MISSING_KEY"}}}
	r := executor.AgentRun{
		Node: &ir.Node{Key: "1.1"}, Step: &ir.Step{}, Files: "/files",
		Runner: ir.Runner{Kind: "claude", Run: []string{"claude"}, Secrets: []string{"given", "missing"}, Set: map[string]string{"OWN": "yes"}},
		Wall:   &wall.Spec{Egress: &wall.Egress{Hosts: []string{Model, "example.com"}}},
	}
	env, w, err := b.Visit(r, "LC_*")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GIVEN_KEY=secret-1", "LC_TIME=C", "OWN=yes", "RALPH_NODE=1.1"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
	if all := strings.Join(env, "\n"); strings.Contains(all, "/files") || strings.Contains(all, "MISSING_KEY") || strings.Contains(all, "NOT_NAMED") {
		t.Errorf("%q", env)
	}
	if got := w.Egress.Hosts; !slices.Equal(got, []string{"example.com", "api.anthropic.com"}) || len(w.Mounts) != 0 {
		t.Errorf("hosts %q, mounts %v", got, w.Mounts)
	}
	if !slices.Contains(r.Runner.Secrets, "missing") {
		t.Error("the epic's runner was changed")
	}
}
