package run

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// OpenCodeAgents lists what OpenCode knows in the project.
func OpenCodeAgents(ctx context.Context, p *project.Policy) (found []policies.Found, err error) {
	const kind = "opencode"
	r := ir.Runner{Kind: kind, Env: policies.DefaultEnv(kind)}
	epic := &ir.Epic{Runners: map[string]ir.Runner{kind: r}, Secrets: map[string]ir.Secret{}}
	for name, s := range p.Set.Secrets {
		epic.Secrets[name] = ir.Secret{Env: s.Env.Get(name)}
	}
	for _, declared := range p.Set.Runners {
		if declared.Kind.V == kind {
			r = compiler.Runner(declared)
		}
	}
	crew := NewCrew(epic)
	defer func() { err = errors.Join(err, crew.Close()) }()
	program, ok := crew.ProgramOf(kind)
	if !ok {
		return nil, errors.New("this ralph has no runner for it")
	}
	files, err := regular.MkdirTemp("ralph-agents-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(files)) }()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	list, err := program.Natives(ctx, AboutRun("sync-agents", r, p.Project.Dir, files))
	if err != nil {
		return nil, err
	}
	for _, n := range list {
		access := "read"
		if n.Write {
			access = "write"
		}
		model := n.Model
		if n.Provider != "" && model != "" && !strings.HasPrefix(model, n.Provider+"/") {
			model = n.Provider + "/" + model
		}
		f := policies.Found{Name: n.Name, Description: n.Description, From: kind, Kind: kind, Slug: n.Name, Model: model, Access: access}
		if at, inside := p.Project.Rel(n.Path); n.Path != "" && inside { // what the project holds is read as it was reviewed
			f.Path, f.Slug = at, ""
		}
		found = append(found, f)
	}
	return found, nil
}
