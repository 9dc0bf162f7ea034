package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// claudeAgents is where Claude Code keeps the agents of a project.
const claudeAgents = ".claude/agents"

// importSources are where agents are imported from, by the words of --from.
var importSources = []string{"all", "claude", "opencode"}

type syncArgs struct {
	from     string
	planner  string
	check    bool
	policies []string
}

func newSyncAgentsCommand() *cobra.Command {
	a := &syncArgs{}
	cmd := &cobra.Command{
		Use:   "sync-agents",
		Short: "Import agents of Claude Code and OpenCode into the policy",
		Long: `Sync-agents looks for agents in .claude/agents/*.md of the project and in OpenCode (its
own, yours and those of the project), and writes them into the policy: those that have
a file in the project by path, others by slug. Of the agent block that names this file or
slug, else of the one of the agent's name, it sets path or slug, runner and model, and access if it is not written and the agent may
write; all else stays as it is, comments and layout too. An agent without a block gets one at the
end of policies/agents.hcl, with capabilities = []: no step chooses it before you fill
them in. Nothing is ever deleted, and a second run changes nothing.

An agent of .claude/agents may work with any runner: a block that gives the file to
another one is left alone.

With --planner it writes a planner and an explorer for ralph draft instead, as agent
files for that program (.claude/agents, .opencode/agent; .agents for Codex) and as
blocks with the capabilities plan and explore. What is there is kept.`,
		Example: `  ralph sync-agents
  ralph sync-agents --from claude
  ralph sync-agents --planner claude
  ralph sync-agents --check          exit 5 when something would change; write nothing
  ralph sync-agents --policy team/   into team/agents.hcl and the files beside it`,
		Args: countArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&a.from, "from", "all", "claude, opencode or all")
	f.StringVar(&a.planner, "planner", "", "write a planner and an explorer for ralph draft: claude, opencode or codex")
	f.BoolVar(&a.check, "check", false, "write nothing; exit 5 when something would change")
	f.StringArrayVar(&a.policies, "policy", nil, "policy file or directory instead of ralph.hcl and policies/ (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("planner", cobra.FixedCompletions(slices.Sorted(maps.Keys(planners)), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(importSources, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *syncArgs) run(cmd *cobra.Command) error {
	if !slices.Contains(importSources, a.from) {
		return exit.Usagef("--from %s: write claude, opencode or all", a.from)
	}
	if _, known := planners[a.planner]; a.planner != "" && !known {
		return exit.Usagef("--planner %s: write claude, opencode or codex", a.planner)
	}
	p, err := project.OpenPolicy(a.policies)
	if err != nil {
		return err
	}
	defer p.Project.Close()
	var found []policies.Found
	if a.planner == "" || cmd.Flags().Changed("from") {
		if found, err = a.find(cmd, p); err != nil {
			return err
		}
	}
	found, files, err := a.addPlanners(cmd, p, found)
	if err != nil {
		return err
	}
	into := a.into(p)
	changed, done, list := policies.Import(p.Input, into, found)
	if changed == nil {
		list.Sort()
		if err := (view.Diagnostics{Sources: project.Sources{Files: p.Files(), Root: p.Project.Dir}}).Print(cmd.OutOrStdout(), cmd.ErrOrStderr(), list); err != nil {
			return err
		}
		return &exit.Error{Code: exit.Input}
	}
	a.say(cmd, p, done, slices.Sorted(maps.Keys(files)))
	if len(changed)+len(files) == 0 {
		return nil
	}
	if a.check {
		return &exit.Error{Code: exit.Stale}
	}
	if changed == nil {
		changed = map[string][]byte{}
	}
	maps.Copy(changed, files)
	return writeAgents(p, changed)
}

// find looks for agents, in all places that were asked for.
func (a *syncArgs) find(cmd *cobra.Command, p *project.Policy) ([]policies.Found, error) {
	var found []policies.Found
	if a.from != "opencode" {
		files, warnings, err := agentFiles(p.Project.FS())
		if err != nil {
			return nil, exit.Inputf("%w", err)
		}
		if err := (view.Diagnostics{Sources: project.Sources{Root: p.Project.Dir}}).Print(cmd.OutOrStdout(), cmd.ErrOrStderr(), warnings); err != nil {
			return nil, err
		}
		found = append(found, files...)
	}
	if a.from != "claude" {
		natives, err := openCodeAgents(background(cmd), p)
		switch {
		case err == nil:
			found = append(found, natives...)
		case a.from == "opencode":
			return nil, exit.Inputf("ask OpenCode for its agents: %w", err)
		default: // it was not asked for by name, and may not be installed
			view.Sayf(cmd.ErrOrStderr(), "note: OpenCode is left out: %v\n", err)
		}
	}
	return found, nil
}

// agentFiles lists the agents of .claude/agents.
func agentFiles(project fs.FS) ([]policies.Found, diag.List, error) {
	var names []string
	err := fs.WalkDir(project, claudeAgents, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && strings.EqualFold(path.Ext(name), ".md") {
			names = append(names, name)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	var out []policies.Found
	var warnings diag.List
	for _, name := range names {
		f, list, err := policies.ReadAgentFile(project, name)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", name, err)
		}
		warnings.Add(list...)
		out = append(out, policies.Found{
			Name: f.Name, Description: f.Description, From: claudeAgents, Kind: "claude", Path: f.Path, Model: f.Model, Access: accessOf(f.Tools),
		})
	}
	return out, warnings, nil
}

// accessOf tells by its tools whether an agent of Claude Code may change files;
// one that names none has them all.
func accessOf(tools []string) string {
	if len(tools) == 0 {
		return "write"
	}
	for _, t := range tools {
		name, _, _ := strings.Cut(t, "(")
		if slices.Contains([]string{"*", "Write", "Edit", "MultiEdit", "NotebookEdit"}, name) {
			return "write"
		}
	}
	return "read"
}

// openCodeAgents lists what OpenCode knows in the project.
func openCodeAgents(ctx context.Context, p *project.Policy) (found []policies.Found, err error) {
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
	crew := run.NewCrew(epic)
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
	list, err := program.Natives(ctx, run.AboutRun("sync-agents", r, p.Project.Dir, files))
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

// into is the file that new blocks go to: agents.hcl beside the policies.
func (a *syncArgs) into(p *project.Policy) string {
	at := filepath.Join(p.Project.Dir, "policies", "agents.hcl")
	for _, named := range a.policies {
		if project.IsDir(named) {
			at = filepath.Join(named, "agents.hcl")
			break
		}
		if at = named; strings.HasSuffix(named, ".hcl") {
			break
		}
	}
	name, inside := p.Project.Rel(at)
	if !inside {
		name = filepath.Base(at)
	}
	p.Paths[name] = at
	return name
}

// writeAgents replaces the files that change, all or none.
func writeAgents(p *project.Policy, changed map[string][]byte) error {
	var batch atomicfile.Batch
	was := p.Files()
	for name, b := range changed {
		at := p.Paths[name]
		if err := p.Project.LeadsOut(at); err != nil {
			return err
		}
		now, err := regular.ReadFile(at)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return exit.Inputf("%w", err)
		}
		if f := was[name]; f != nil && !bytes.Equal(now, f.Bytes) || f == nil && err == nil {
			return exit.Inputf("%s changed meanwhile; nothing was written: run sync-agents again", name)
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return exit.Inputf("%w", err)
		}
		batch.Add(at, b, 0o644)
	}
	if err := batch.Commit(); err != nil {
		return exit.Inputf("%w", err)
	}
	return nil
}

// say prints what changes, like a diff.
func (a *syncArgs) say(cmd *cobra.Command, p *project.Policy, done []policies.Imported, files []string) {
	out := cmd.OutOrStdout()
	paint := term.For(out)
	same, added, set := 0, 0, 0
	for _, f := range files {
		fmt.Fprintln(out, paint.Paint(term.Good, "+")+" "+f)
	}
	for _, d := range done {
		head := ""
		switch {
		case d.New:
			added++
			head = paint.Paint(term.Good, "+") + " agent " + reveal.Words(d.Agent)
		case len(d.Lines) > 0:
			set++
			head = paint.Paint(term.Warn, "~") + " agent " + reveal.Words(d.Agent)
		case d.Left != "":
			head = "  agent " + reveal.Words(d.Agent)
		default:
			same++
			continue
		}
		if d.File != "" {
			head += "  " + paint.Paint(term.Faint, reveal.Words(d.File))
		}
		fmt.Fprintln(out, head)
		for _, l := range d.Lines {
			colour := term.Good
			if strings.HasPrefix(l, "-") {
				colour = term.Bad
			}
			fmt.Fprintf(out, "    %s\n", paint.Paint(colour, reveal.Words(l)))
		}
		if d.Left != "" {
			fmt.Fprintf(out, "    left: %s\n", reveal.Words(d.Left))
		}
	}
	verb := "agents found: "
	if a.check {
		verb = "agents found, nothing written: "
	}
	fmt.Fprintf(out, "%d %s%d new, %d changed, %d as they were\n", len(done), verb, added, set, same)
	if added > 0 && !a.check && (a.planner == "" || cmd.Flags().Changed("from")) {
		view.Sayf(out, "Next: fill in their capabilities in %s, or no step chooses them.\n", a.into(p))
	}
}
