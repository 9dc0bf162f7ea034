package cli

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/policies"
)

// importSources are the values of --from.
var importSources = []string{"all", "claude", "opencode"}

type syncArgs struct {
	from, planner string
	check         bool
	policies      []string
}

func newSyncAgentsCommand() *cobra.Command {
	a := &syncArgs{}
	cmd := newCommand("sync-agents", "Import agents of Claude Code and OpenCode into the policy", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return a.run(cmd) })
	f := cmd.Flags()
	f.StringVar(&a.from, "from", "all", "claude, opencode or all")
	f.StringVar(&a.planner, "planner", "", "write a planner and an explorer for ralph draft: claude, opencode or codex")
	f.BoolVar(&a.check, "check", false, "write nothing; exit 5 when something would change")
	f.StringArrayVar(&a.policies, "policy", nil, "policy file or directory instead of ralph.hcl and policies/ (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("planner", cobra.FixedCompletions(slices.Sorted(maps.Keys(project.Planners)), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(importSources, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *syncArgs) run(cmd *cobra.Command) error {
	if !slices.Contains(importSources, a.from) {
		return exit.Usagef("--from %s: write claude, opencode or all", a.from)
	}
	if _, known := project.Planners[a.planner]; a.planner != "" && !known {
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
	found, files, kept, err := project.AddPlanners(p, a.planner, found)
	if err != nil {
		return err
	}
	for _, line := range kept {
		view.Sayf(cmd.OutOrStdout(), "kept   %s\n", line)
	}
	into := project.AgentsFile(p, a.policies)
	changed, done, list := policies.Import(p.Input, into, found)
	if changed == nil {
		list.Sort()
		return cmp.Or(diagnose(cmd, "", project.Sources{Files: p.Files(), Root: p.Project.Dir}, list), error(&exit.Error{Code: exit.Input}))
	}
	view.Imported(cmd.OutOrStdout(), done, slices.Sorted(maps.Keys(files)), a.check)
	if !a.check && (a.planner == "" || cmd.Flags().Changed("from")) && slices.ContainsFunc(done, func(d policies.Imported) bool { return d.New }) {
		view.Sayf(cmd.OutOrStdout(), "Next: fill in their capabilities in %s, or no step will choose them.\n", into)
	}
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
	return project.WriteAgents(p, changed)
}

// find looks for agents, in all places that were asked for.
func (a *syncArgs) find(cmd *cobra.Command, p *project.Policy) ([]policies.Found, error) {
	var found []policies.Found
	if a.from != "opencode" {
		files, warnings, err := project.AgentFiles(p.Project.FS())
		if err != nil {
			return nil, err
		}
		if err := diagnose(cmd, "", project.Sources{Root: p.Project.Dir}, warnings); err != nil {
			return nil, err
		}
		found = append(found, files...)
	}
	if a.from != "claude" {
		natives, err := run.OpenCodeAgents(cmd.Context(), p)
		switch {
		case err == nil:
			found = append(found, natives...)
		case a.from == "opencode":
			return nil, exit.Inputf("ask OpenCode for its agents: %w", err)
		default: // it was not named, and may not be installed
			view.Sayf(cmd.ErrOrStderr(), "note: OpenCode is left out: %v\n", err)
		}
	}
	return found, nil
}
