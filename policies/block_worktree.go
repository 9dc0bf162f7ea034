package policies

import (
	"errors"
	"strings"
)

// Worktree is the block `worktree {}`.
type Worktree struct {
	Setup      Value[[]string]          `hcl:"setup" doc:"shell commands, such as [\"npm ci\"]"`                                     // shell commands
	Copy       Value[[]string]          `hcl:"copy" is:"globs" doc:"globs of files that git does not know, such as [\".env.test\"]"` // globs, relative to the project
	Env        Value[map[string]string] `hcl:"env" with:"run" doc:"variables that setup, agents and gates get, as { NAME = \"value\" }"`
	Secrets    Value[[]string]          `hcl:"secrets" ref:"secret" doc:"the secrets that setup commands get, such as [secret.NPM_TOKEN]"`                       // that setup commands get
	MinFree    Value[int64]             `hcl:"min_free" is:"size" doc:"free space below which nothing starts, such as \"10GB\""`                                 // in bytes
	MaxCommit  Value[int64]             `hcl:"max_commit" is:"size" doc:"how much the files that an attempt adds or changes may hold in all, such as \"256MB\""` // in bytes
	Submodules Value[bool]              `hcl:"submodules" doc:"true initialises submodules"`
	Layout     Value[string]            `hcl:"layout" enum:"clone worktree" doc:"worktree or clone"`
	Sandbox    Value[string]            `hcl:"sandbox" ref:"sandbox" doc:"what setup commands can reach, such as sandbox.strict"`
	Network    Value[[]string]          `hcl:"network" doc:"the hosts that setup commands may reach, such as [\"packages.example.com\"]"`
}

var worktreeBlock = &block{of: (*Worktree)(nil), name: "worktree", doc: "how a worktree is prepared"}

func (w *Worktree) check(r *reader) {
	r.plainCommands("setup", w.Setup)
	if w.MaxCommit.Set && w.MaxCommit.V == 0 {
		r.invalid("max_commit", w.MaxCommit.Range, errors.New("it is above 0, such as \"256MB\""))
	}
	r.checkEnv("env", w.Env)
	r.checkHosts(w.Network)
}

func (r *reader) checkEnv(name string, v Value[map[string]string]) {
	for _, k := range sortedKeys(v.V) {
		if !envName(k) {
			r.invalid(name, v.Range, errors.New(quoted(k)+"is not the name of a variable"))
		}
		if strings.Contains(v.V[k], "\x00") {
			r.invalid(name, v.Range, errors.New("the value of "+quoted(k)+" contains a NUL, which no program can be given"))
		}
	}
}
