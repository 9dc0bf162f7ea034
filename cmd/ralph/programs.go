package main

import (
	"path/filepath"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// programOf returns the runner of a kind as a program with sessions; false if it
// is none, or if there is no such kind.
func (c *crew) programOf(kind string) (executor.Program, bool) {
	p, ok := c.by[kind].(executor.Program)
	return p, ok
}

// aboutRun asks a runner something that is about no sprint. dir is where its
// program runs, files a directory for what it writes.
func aboutRun(name string, r ir.Runner, dir, files string) executor.AgentRun {
	return executor.AgentRun{
		Node: &ir.Node{ID: ir.NodeID(name), Key: ir.Key(name)}, Step: &ir.Step{Name: name}, Agent: name,
		Runner: r, Epic: ir.NodeID(name), Dir: dir, Files: files, Name: name,
	}
}

// keep is where runners keep what outlives a turn: see executor.AgentRun.
func (r *record) keep() string { return filepath.Join(r.space.State(), "runners") }
