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
func needsOf(p *project.Policy, runners *configured, epic *ir.Epic) needs {
	if len(p.Input.Files) == 0 && epic == nil || p.Diags.HasErrors() {
		return nil
	}
	in := p.Set.Settings.Integration
	n := needs{"gh": in.PR.V != "" && in.PR.V != "none", "bd": p.Set.Tracker != nil}
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
	pr := epic.Epic.Integration.PR
	n["gh"] = n["gh"] || pr != "" && pr != "none"
	n["bd"] = n["bd"] || epic.Run.Tracker != nil
	for _, s := range epic.Sandboxes {
		n.sandbox(s.Kind, s.Accept, s.Limits)
	}
	return n
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
