package run

import (
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/ralph-compiler/ralph/app/draft/judge"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/acp"
	"github.com/ralph-compiler/ralph/executor/runner/claude"
	"github.com/ralph-compiler/ralph/executor/runner/codex"
	"github.com/ralph-compiler/ralph/executor/runner/command"
	"github.com/ralph-compiler/ralph/executor/runner/opencode"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/ir"
)

// RunnerKinds are the kinds of runner that this version of ralph supports.
var RunnerKinds = slices.Sorted(maps.Keys(Runners))

// makers make the runners of agent programs, by kind. Each gets the outcome channel
// but the first, whose programs report through a file.
var Runners = map[string]func(runner.Base) executor.Runner{
	"command":  func(b runner.Base) executor.Runner { return &command.Runner{Base: b} },
	"acp":      func(b runner.Base) executor.Runner { return acp.Runner{Base: b} },
	"claude":   func(b runner.Base) executor.Runner { return claude.Runner{Base: b} },
	"codex":    func(b runner.Base) executor.Runner { return codex.Runner{Base: b} },
	"opencode": func(b runner.Base) executor.Runner { return &opencode.Runner{Base: b} },
}

// Crew are the runners of one ralph process: some of them hold servers.
type Crew struct {
	By     map[string]executor.Runner // by kind
	Redact *redact.Redactor
	short  []string // secrets that are too short to be taken out
	closes []io.Closer
}

// NewCrew makes the runners for an epic. The caller closes it.
func NewCrew(epic *ir.Epic) *Crew {
	c := &Crew{By: map[string]executor.Runner{}}
	values, left := record.Redactable(record.SecretValues(epic, os.Environ()))
	c.Redact, c.short = redact.New(values)
	c.short = slices.Sorted(slices.Values(append(c.short, left...)))
	base := runner.Base{Secrets: epic.Secrets, Redact: c.Redact.String, Filter: c.Redact.Filter}
	channel := &mcp.Server{Redact: c.Redact.String}
	for kind, newRunner := range Runners {
		r := newRunner(base)
		if closer, ok := r.(io.Closer); ok {
			c.closes = append(c.closes, closer)
		}
		if kind != "command" {
			r = mcp.Serve(channel, r)
		}
		c.By[kind] = r
	}
	c.closes = append(c.closes, channel) // last: an agent that is stopped may still report
	if AlsoRunners != nil {
		maps.Copy(c.By, AlsoRunners(epic))
	}
	return c
}

// AlsoRunners lets tests replace agent programs with their own.
var AlsoRunners func(epic *ir.Epic) map[string]executor.Runner

// Close ends all servers.
func (c *Crew) Close() error {
	return errors.Join(lists.Map(c.closes, io.Closer.Close)...)
}

// gates are the gates that ralph judges itself, by kind; human gates wait for people.
func (c *Crew) gates(epic *ir.Epic) map[string]executor.Gate {
	return map[string]executor.Gate{
		"command":  gate.Command{Filter: c.Redact.Filter},
		"agent":    gate.Agent{Runners: c.By},
		"review":   gate.Review{Runners: c.By},
		"outcome":  gate.Outcome{},
		"compiles": gate.Compiles{Check: judge.Drafted{Epic: epic}.Check},
	}
}
