package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/shell"
	"github.com/ralph-compiler/ralph/ir"
)

// CheckPrograms finds missing programs, of agents and of gates, before the first
// node starts.
func (r *Opened) CheckPrograms(ctx context.Context) error {
	if r.crew == nil { // of a plan, which only looks
		r.crew = NewCrew(r.Epic)
	}
	missing := map[string]bool{}
	agents := map[string]bool{}
	names := map[string]bool{} // of gates
	others := map[string]bool{r.Epic.Epic.Integration.ConflictAgent: true}
	for n := range lists.Refs(r.Epic.Nodes) {
		if n.Done {
			continue
		}
		for s := range lists.Refs(n.Steps) {
			for _, g := range s.Gates {
				names[g] = true
			}
			if n.Kind != ir.GateKind && n.Kind != ir.Manual && s.Agent != "" && !agents[s.Agent] {
				agents[s.Agent] = true
				r.checkAgents(ctx, n, s, s.Fallback, missing)
			}
			if s.Stall.Action == "diagnose" {
				others[s.Stall.Agent] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if name != "" && !agents[name] && len(r.Epic.Nodes) > 0 {
			agents[name] = true
			r.checkAgents(ctx, &r.Epic.Nodes[0], &ir.Step{Name: "agent", Agent: name}, nil, missing)
		}
	}
	for _, g := range r.Epic.Epic.Integration.Gates {
		names[g] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		g := r.Epic.Gates[name]
		switch g.Kind {
		case "command":
			if why := r.checkGate(name, g); why != "" {
				missing[why] = true
			}
		case "agent", "review":
			if g.Agent != "" && !agents[g.Agent] {
				agents[g.Agent] = true
				r.checkAgents(ctx, &r.Epic.Nodes[0], &ir.Step{Name: "gate", Agent: g.Agent, Model: g.Model}, g.Fallback, missing)
			}
		}
	}
	if why, err := r.checkForge(ctx); err != nil {
		return err
	} else if why != "" {
		missing[why] = true
	}
	if len(missing) == 0 {
		return nil
	}
	return exit.Unstartedf("programs are missing:\n  - %s", strings.Join(slices.Sorted(maps.Keys(missing)), "\n  - "))
}

// checkForge looks up the program that makes the pull requests that are asked for.
func (r *Opened) checkForge(ctx context.Context) (string, error) {
	if !AsksForPulls(r.Epic.Epic.Integration) {
		return "", nil
	}
	forge, err := workspace.ForgeOf(ctx, r.Space.Top(), r.Epic.Run.Git)
	if err != nil {
		return "", err
	}
	for _, t := range Tools {
		if t.Name != forge {
			continue
		}
		if _, err := exec.LookPath(forge); err != nil {
			what, _, _ := strings.Cut(t.Purpose, " (")
			return fmt.Sprintf("%s (integration): %s is not on PATH: install it (%s), then: %[2]s auth login", what, forge, t.Hint), nil
		}
	}
	return "", nil
}

// AsksForPulls reports whether pull requests are made of results.
func AsksForPulls(in ir.Integration) bool {
	return in.PR != "none" && in.PR != "" || in.Mode == "wait"
}

// checkAgents finds out whether the agent of a step, or one that takes its place,
// can run: it is replaced when its turn comes.
func (r *Opened) checkAgents(ctx context.Context, n *ir.Node, s *ir.Step, fallback []string, missing map[string]bool) {
	var found []string
	for _, name := range append([]string{s.Agent}, fallback...) {
		err := r.checkAgent(ctx, n, s, name)
		if err == nil {
			return
		}
		found = append(found, err.Error())
	}
	for _, why := range found {
		missing[why] = true
	}
}

func (r *Opened) checkAgent(ctx context.Context, n *ir.Node, s *ir.Step, name string) error {
	agent := r.Epic.Agents[name]
	if agent.Human {
		return nil
	}
	runner := r.Epic.Runners[agent.Runner]
	by := r.crew.By[runner.Kind]
	if by == nil {
		return nil // refused already
	}
	model := agent.Model
	if name == s.Agent {
		model = cmp.Or(s.Model, model)
	}
	alias := r.Epic.Models[model]
	err := by.Check(ctx, executor.AgentRun{
		Node: n, Step: s, Agent: name, Slug: agent.Slug, Model: cmp.Or(alias.ID, model), Alias: alias, Runner: runner,
		Epic: r.Epic.Epic.ID, Dir: r.Space.Top(), Env: r.Epic.Run.Worktree.Env,
	})
	if no, ok := errors.AsType[*process.NotOnPath](err); ok {
		for _, t := range Tools {
			if t.Purpose == "runner "+runner.Kind && t.Name == no.Name {
				return fmt.Errorf("%w: %s", err, t.Hint)
			}
		}
	}
	return err
}

// checkGate looks up the program with which a command gate begins, if the shell would
// look for it on PATH. What setup commands may install is not known yet.
func (r *Opened) checkGate(name string, g ir.Gate) string {
	word := shell.First(g.Run)
	if word == "" || len(r.Epic.Run.Worktree.Setup) > 0 {
		return ""
	}
	set := lists.Merged(r.Epic.Run.Worktree.Env, g.Env)
	if err := process.Secrets(set, r.Epic.SecretVars(g.Secrets)); err != nil {
		return fmt.Sprintf("gate %s: %v", name, err)
	}
	if _, err := process.Look(word, process.Environ(set), r.Space.Top()); err != nil {
		return fmt.Sprintf("gate %s: %v", name, err)
	}
	return ""
}

// checkDeadlines refuses sprints whose deadline had passed before they began. A sprint
// that reaches its deadline while running waits for a person instead.
func (r *Opened) checkDeadlines(now time.Time) error {
	var late []string
	for n := range lists.Refs(r.Epic.Nodes) {
		if end, ok := ir.Deadline(n.Limits.Deadline); !ok || n.Done || now.Before(end) {
			continue
		}
		v, _ := r.Run.View(n.ID)
		if v.Status != executor.Pending && v.Status != executor.Ready || len(v.Attempts) > 0 || len(v.Decisions) > 0 {
			continue
		}
		late = append(late, fmt.Sprintf("%s: %s", n.Key, n.Limits.Deadline))
	}
	if len(late) == 0 {
		return nil
	}
	return exit.Unstartedf("deadlines are in the past:\n  - %s\n  Write later ones into the plan and compile it again.", strings.Join(late, "\n  - "))
}

// checkApproved refuses to start a plan that a person has to approve first.
func (r *Opened) checkApproved(about string) error {
	if r.Run.Overview().PlanApproved {
		return nil
	}
	return &exit.Error{Code: exit.Waiting, Err: fmt.Errorf("the plan waits for approval (hitl.plan = \"required\").\n  Look at it: ralph plan%[3]s, ralph graph%[3]s\n  then type:  ralph approve%[1]s\n  The approval holds only for this epic.json (%.19[2]s). Nothing was started", about, r.Epic.Digest, record.Applies(r.File))}
}
