package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// An agent behind the user's proxy still reaches the tools on this machine.
func TestNoProxyLeadsToThisMachine(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.example:3128")
	t.Setenv("NO_PROXY", "intra.example, 127.0.0.1")
	r := executor.AgentRun{Node: &ir.Node{}, Step: &ir.Step{}, Runner: ir.Runner{Kind: "claude", Env: []string{"HTTP_PROXY", "NO_PROXY"}}}
	for name, c := range map[string]struct {
		change func(*executor.AgentRun)
		want   []string // all that name a proxy
	}{
		"through a proxy":           {nil, []string{"HTTP_PROXY=http://proxy.example:3128", "NO_PROXY=intra.example,127.0.0.1,localhost", "no_proxy=intra.example,127.0.0.1,localhost"}},
		"none for anybody":          {func(r *executor.AgentRun) { r.Env = map[string]string{"no_proxy": "*"} }, []string{"HTTP_PROXY=http://proxy.example:3128", "NO_PROXY=*", "no_proxy=*"}},
		"a proxy that is kept back": {func(r *executor.AgentRun) { r.Runner.Env = nil }, nil},
		"a command is the user's":   {func(r *executor.AgentRun) { r.Runner.Kind = "command" }, []string{"HTTP_PROXY=http://proxy.example:3128", "NO_PROXY=intra.example, 127.0.0.1"}},
	} {
		r := r
		if c.change != nil {
			c.change(&r)
		}
		env, err := Base{}.Env(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range env {
			if n, _, _ := strings.Cut(v, "="); strings.HasSuffix(strings.ToLower(n), "_proxy") {
				got = append(got, v)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
