package runnertest

import (
	"os"
	"strings"
	"testing"
)

// end: what all cases left together, when the runner is closed.
func end() []Case {
	return []Case{
		{
			Name: "no process is left in the end", last: true,
			play: func(t *testing.T, s *stage) {
				eventually(t, "no process with the user's home directory lives", func() (bool, string) {
					left := living("HOME="+s.home, "")
					return len(left) == 0, strings.Join(left, "\n")
				})
			},
		},
		{
			Name: "no temporary files are left in the end", last: true,
			play: func(t *testing.T, s *stage) {
				tmp, err := os.ReadDir(os.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range tmp {
					if !strings.HasPrefix(e.Name(), "Test") { // of t.TempDir
						t.Errorf("%s is left in the directory of temporary files", e.Name())
					}
				}
			},
		},
		{
			Name: "the user's other MCP servers are off", Needs: needs(needAlone), last: true,
			play: func(t *testing.T, s *stage) {
				if s.agent.Home == nil {
					t.Fatal("the test of the runner prepares no home directory with an MCP server of the user's")
				}
				if s.has(s.people) {
					t.Error("it was started")
				}
				for _, r := range s.model.Turns(s.base) {
					for _, name := range r.ToolNames() {
						if strings.Contains(name, "people") {
							t.Fatalf("the model is offered its %s", name)
						}
					}
				}
			},
		},
	}
}
