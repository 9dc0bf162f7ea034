package run

import (
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// ProgramOf returns the runner of a kind as a program with sessions; false if the runner
// is not one, or if the kind is unknown.
func (c *Crew) ProgramOf(kind string) (executor.Program, bool) {
	p, ok := c.By[kind].(executor.Program)
	return p, ok
}

// AboutRun is a request to a runner that concerns no sprint. dir is the working directory
// of its program, files a directory for its output.
func AboutRun(name string, r ir.Runner, dir, files string) executor.AgentRun {
	return executor.AgentRun{
		Node: &ir.Node{ID: ir.NodeID(name), Key: ir.Key(name)}, Step: &ir.Step{Name: name}, Agent: name,
		Runner: r, Epic: ir.NodeID(name), Dir: dir, Files: files, Name: name,
	}
}
