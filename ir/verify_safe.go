package ir

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// safe checks what is handed to other programs: names of branches, which must not pass
// for options, and values of variables, which end at a NUL.
func (v *verifier) safe() {
	v.branch("epic.base", v.e.Epic.Base)
	v.branch("epic.integration.branch", v.e.Epic.Integration.Branch)
	v.branch("epic.target", v.e.Epic.Target)
	for i := range v.e.Nodes {
		at := fmt.Sprintf("nodes[%d].git", i)
		v.branch(at+".base", v.e.Nodes[i].Git.Base)
		v.branch(at+".branch", v.e.Nodes[i].Git.Branch)
	}
	v.values("run.worktree.env", v.e.Run.Worktree.Env)
	for i, n := range v.e.Run.Notify {
		v.values(fmt.Sprintf("run.notify[%d].env", i), n.Env)
	}
	for _, name := range slices.Sorted(maps.Keys(v.e.Gates)) {
		v.values(entry("gates", name)+".env", v.e.Gates[name].Env)
	}
	for _, name := range slices.Sorted(maps.Keys(v.e.Runners)) {
		v.values(entry("runners", name)+".set", v.e.Runners[name].Set)
	}
}

// branch refuses what compile refuses: git would not take it, or for an option.
func (v *verifier) branch(at, name string) {
	if why := BadBranch(name); name != "" && why != "" {
		v.fail(at, "%s is not a valid branch name: it %s. Compile the plan again, or name a branch that git accepts", quote(name), why)
	}
}

func (v *verifier) values(at string, env map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			v.fail(at, "%s is not a variable name", quote(name))
		}
		if strings.Contains(env[name], "\x00") {
			v.fail(at, "the value of %s contains a NUL, which no program can be given. Remove it", quote(name))
		}
	}
}

// sandbox demands that a name is that of a sandbox.
func (v *verifier) sandbox(at, name string) {
	if _, known := v.e.Sandboxes[name]; name != "" && name != NoSandbox && !known {
		v.fail(at+".sandbox", "%s is not a sandbox", quote(name))
	}
}
