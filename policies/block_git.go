package policies

// Git is the block `git {}`. Branch and Worktree are templates with the places
// {epic}, {key}, {slug}, {phase}, {id}, {base}, {branch} and {repo}.
type Git struct {
	Base     Value[string]
	Target   Value[string]
	Branch   Value[string]
	Worktree Value[string]
	Cleanup  Value[string] // never, on_success
	Commit   Value[string] // each, squash
	Remote   Value[string]
}

// Overlay returns a with everything that b sets put over it.
func (a Git) Overlay(b Git) Git {
	return Git{
		Base:     b.Base.Or(a.Base),
		Target:   b.Target.Or(a.Target),
		Branch:   b.Branch.Or(a.Branch),
		Worktree: b.Worktree.Or(a.Worktree),
		Cleanup:  b.Cleanup.Or(a.Cleanup),
		Commit:   b.Commit.Or(a.Commit),
		Remote:   b.Remote.Or(a.Remote),
	}
}
