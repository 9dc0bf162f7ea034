package workspace

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// confine makes a space believe that all nodes are confined: what runs in a sandbox runs
// without one, with INSIDE in its environment.
func confine(s *Space) {
	s.Walls = func(ir.NodeID, Purpose) *wall.Spec { return &wall.Spec{Name: "default", Kind: wall.Namespaces} }
	s.enclose = func(spec *wall.Spec) process.Wall { return noWall{spec} }
}

type noWall struct{ spec *wall.Spec }

func (noWall) Start(cmd *exec.Cmd, _ bool) (process.Inside, error) {
	cmd.Env = append(cmd.Env, "INSIDE=1")
	return noInside{}, cmd.Start()
}

type noInside struct{}

func (noInside) Ended() (int, syscall.Signal, bool) { return 0, 0, false }
func (noInside) Close() error                       { return nil }

// confined reports whether the test runs with what is in force for confined nodes.
func (r *repo) confined() bool { return strings.Contains(r.t.Name()+"/", "/confined/") }

// overWalls runs a test of clones with and without a sandbox in force.
func overWalls(t *testing.T, test func(*testing.T)) {
	for _, name := range []string{"open", "confined"} {
		t.Run(name, test)
	}
}
