package run

import (
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// ProgramOf returns the runner of a kind as a program with sessions; false if it
// is none, or if there is no such kind.
func (c *Crew) ProgramOf(kind string) (executor.Program, bool) {
	p, ok := c.By[kind].(executor.Program)
	return p, ok
}

// AboutRun asks a runner something that is about no sprint. dir is where its
// program runs, files a directory for what it writes.
func AboutRun(name string, r ir.Runner, dir, files string) executor.AgentRun {
	return executor.AgentRun{
		Node: &ir.Node{ID: ir.NodeID(name), Key: ir.Key(name)}, Step: &ir.Step{Name: name}, Agent: name,
		Runner: r, Epic: ir.NodeID(name), Dir: dir, Files: files, Name: name,
	}
}
