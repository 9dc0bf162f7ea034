package policies

import (
	"errors"
	"strings"
)

// Worktree is the block `worktree {}`.
type Worktree struct {
	Setup      Value[[]string] // shell commands
	Copy       Value[[]string] // globs, relative to the project
	Env        Value[map[string]string]
	Secrets    Value[[]string] // that setup commands get
	MinFree    Value[int64]    // in bytes
	MaxCommit  Value[int64]    // in bytes
	Submodules Value[bool]
	Layout     Value[string] // worktree, clone
}

// Overlay returns a with everything that b sets put over it.
func (a Worktree) Overlay(b Worktree) Worktree {
	return Worktree{
		Setup:      b.Setup.Or(a.Setup),
		Copy:       b.Copy.Or(a.Copy),
		Env:        b.Env.Or(a.Env),
		Secrets:    b.Secrets.Or(a.Secrets),
		MinFree:    b.MinFree.Or(a.MinFree),
		MaxCommit:  b.MaxCommit.Or(a.MaxCommit),
		Submodules: b.Submodules.Or(a.Submodules),
		Layout:     b.Layout.Or(a.Layout),
	}
}

var worktreeBlock = &block{
	name: "worktree",
	doc:  "how a worktree is prepared",
	attrs: []attr{
		{name: "setup", kind: kStrings, doc: "shell commands, such as [\"npm ci\"]"},
		{name: "copy", kind: kGlobs, doc: "globs of files that git does not know, such as [\".env.test\"]"},
		{name: "env", kind: kMap, run: true, doc: "variables that setup, agents and gates get, as { NAME = \"value\" }"},
		{name: "secrets", kind: kRefs, ref: "secret", doc: "the secrets that setup commands get, such as [secret.NPM_TOKEN]"},
		{name: "min_free", kind: kSize, doc: `free space below which nothing starts, such as "10GB"`},
		{name: "max_commit", kind: kSize, doc: `how much the files that an attempt adds or changes may hold in all, such as "256MB"`},
		{name: "submodules", kind: kBool, doc: "true initialises submodules"},
		{name: "layout", kind: kEnum, enum: []string{"clone", "worktree"}, doc: "worktree or clone"},
	},
}

func (r *reader) worktree() Worktree {
	w := Worktree{
		Setup:      r.plainCommands("setup", r.strs("setup")),
		Copy:       r.globs("copy"),
		Env:        r.object("env"),
		Secrets:    r.refs("secrets"),
		MinFree:    r.size("min_free"),
		MaxCommit:  r.size("max_commit"),
		Submodules: r.boolean("submodules"),
		Layout:     r.enum("layout"),
	}
	if w.MaxCommit.Set && w.MaxCommit.V == 0 {
		r.invalid("max_commit", w.MaxCommit.Range, errors.New("it is above 0, such as \"256MB\""))
	}
	r.checkEnv("env", w.Env)
	return w
}

func (r *reader) checkEnv(name string, v Value[map[string]string]) {
	for _, k := range sortedKeys(v.V) {
		if !envName(k) {
			r.invalid(name, v.Range, errors.New(quoted(k)+" is no name of a variable"))
		}
		if strings.Contains(v.V[k], "\x00") {
			r.invalid(name, v.Range, errors.New("the value of "+quoted(k)+" holds a NUL, which no program can be given"))
		}
	}
}
