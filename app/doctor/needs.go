package doctor

import (
	"path/filepath"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// What a finding is about that a policy may need, beside the names of run.Tools.
const (
	anySandbox  = "sandbox"
	landlockBox = "landlock"
	groups      = "groups"
)

// needs are what a policy and an epic need of the machine. nil: the project has no policy
// that says so, and anything may be needed.
type needs map[string]bool

// needsOf are the needs of a policy, and of the epic that was made of it (nil if there is none).
// forge says with what pull requests are made under the settings of one of them.
func needsOf(p *project.Policy, forge func(ir.GitSettings) string, runners *configured, epic *ir.Epic) needs {
	if len(p.Input.Files) == 0 && epic == nil || p.Diags.HasErrors() {
		return nil
	}
	n := needs{"bd": p.Set.Tracker != nil}
	in, git := p.Set.Settings.Integration, p.Set.Settings.Git
	n.pulls(forge, ir.Integration{PR: in.PR.V, Mode: in.Mode.V}, ir.GitSettings{Forge: git.Forge.V, Remote: git.Remote.V})
	for name := range runners.agents {
		r := runners.epic.Runners[name]
		n[r.Kind] = true
		if len(r.Run) > 0 {
			n[filepath.Base(r.Run[0])] = true
		}
	}
	for _, s := range p.Set.Sandboxes {
		if !s.Builtin {
			n.sandbox(s.Kind.V, s.Accept.V, s.Limits.V)
		}
	}
	if epic == nil {
		return n
	}
	n.pulls(forge, epic.Epic.Integration, epic.Run.Git)
	n["bd"] = n["bd"] || epic.Run.Tracker != nil
	for _, s := range epic.Sandboxes {
		n.sandbox(s.Kind, s.Accept, s.Limits)
	}
	return n
}

func (n needs) pulls(forge func(ir.GitSettings) string, in ir.Integration, git ir.GitSettings) {
	if run.AsksForPulls(in) {
		n[forge(git)] = true
	}
}

func (n needs) sandbox(kind, accept string, limits map[string]string) {
	if kind == string(wall.None) {
		return
	}
	n[anySandbox] = n[anySandbox] || kind != string(wall.Landlock)
	n[landlockBox] = n[landlockBox] || kind == string(wall.Landlock) || accept == string(wall.Landlock)
	n[groups] = n[groups] || run.NeedsGroup(limits)
}

// mark says of what is missing whether the policy does without it.
func (n needs) mark(found []Finding) []Finding {
	for i := range found {
		f := &found[i]
		if n == nil || f.of == "" || f.State == "ok" || n[f.of] {
			continue
		}
		f.State, f.Unneeded, f.Detail, f.Hint = "missing", true, "not needed by this policy: "+f.Detail, ""
	}
	return found
}
