package policies

// Worktree is the block `worktree {}`.
type Worktree struct {
	Setup      Value[[]string] // shell commands
	Copy       Value[[]string] // globs, relative to the project
	Env        Value[map[string]string]
	MinFree    Value[int64] // in bytes
	Submodules Value[bool]
	Layout     Value[string] // worktree, clone
}

// Overlay returns a with everything that b sets put over it.
func (a Worktree) Overlay(b Worktree) Worktree {
	return Worktree{
		Setup:      b.Setup.Or(a.Setup),
		Copy:       b.Copy.Or(a.Copy),
		Env:        b.Env.Or(a.Env),
		MinFree:    b.MinFree.Or(a.MinFree),
		Submodules: b.Submodules.Or(a.Submodules),
		Layout:     b.Layout.Or(a.Layout),
	}
}
