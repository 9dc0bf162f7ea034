// Package workspace is the only part of ralph that touches git while an epic is
// applied: it pins bases, merges results, keeps one worktree per node, commits and
// checks agents' changes, and moves ralph's own branches.
//
// In: effects of the machine and the epic. Out: commits, under refs. It imports
// executor, ir, internal/process and internal/sandbox (setup commands, hand-over),
// internal/wall, internal/atomicfile and internal/glob;
// app opens it, executor/effects and executor/local call it.
//
// Effects use a [Space]: executor.Workspace. The rest is in its fields, by subject:
// [Bases], [Results], [Checkout], [Files], [User], [Names], [Refs], [Trees]. All share one
// space, which holds git.
//
// # What is never touched
//
// The user's checkout, index, HEAD, branches, hooks and configuration. ralph
// writes refs below refs/ralph/ and the epic's branches, each by
// compare-and-swap, and worktrees in the epic's directories. Every git
// process gets a clean environment, no hooks, no fsmonitor, no prompts,
// core.fsync=all and, for a worktree, its git directory given explicitly: a .git
// file that an agent replaced is never followed.
//
// # Refs
//
//	refs/ralph/<epic>/base                            the pinned base
//	refs/ralph/<epic>/nodes/<id>/base                 of a root that names its own
//	refs/ralph/<epic>/nodes/<id>/result               what dependents start from
//	refs/ralph/<epic>/nodes/<id>/attempts/<step>/<n>  what an attempt left (its start, before)
//	refs/ralph/<epic>/nodes/<id>/joined               its merged base, if ralph made it
//	refs/ralph/<epic>/nodes/<id>/pushed, pushing      what was pushed last, what is being pushed
//	refs/ralph/<epic>/nodes/<id>/merged               the commit by which its pull request was merged
//	refs/ralph/<epic>/target                          the target branch of the remote, fetched
//	refs/ralph/<epic>/nodes/<id>/saved/<seq>          what was in the way of a reset
//	refs/ralph/<epic>/nodes/<id>/saved/<seq>-branch   others' commits on the branch of a clone's node
//	refs/ralph/<epic>/nodes/<id>/conflict             the merge that was left in a clone
//	refs/ralph/<epic>/stash                           the user's stashes, as parents
//	refs/ralph/<epic>/sum/<seq>                       earlier integration branches, with others' commits
//
// # Conflicts
//
// Where results conflict, the worktree gets what `git merge` would leave: markers,
// unmerged index entries, MERGE_HEAD. All inputs are merged before it is handed
// over, also those after the first conflict; where several conflict, their markers
// are nested and MERGE_HEAD names each. The resolution is one commit whose parents
// are all inputs not contained in another.
//
// # Remotes
//
// Fetch and push run with the user's configuration, but without hooks; the target
// is fetched into a ref of ralph's own, branches are pushed with a lease on ralph's
// last push, and pull requests are looked up by head branch before one is created, by gh or glab.
//
// # Layouts
//
// A worktree is a linked one, or with worktree.layout = "clone" a repository of its
// own that reads the user's objects (as with git clone --shared): programs in it
// cannot reach the user's refs, configuration or objects through git. It has the
// user's branches and tags as of its creation, the committer and the settings for how
// files look, and no remote, hooks or other settings. ralph reads HEAD, branches,
// index and merge state of a clone, and nothing else: its configuration never. What
// was committed or staged there is copied into the user's repository object by
// object, each checked (git's fsck, nothing missing), and only what HEAD and the
// index name. Of a clone whose node is confined (Space.Walls) no git outside reads
// objects or configuration: a git in a sandbox of its own packs what is new, and the
// pack is checked in quarantine before it gets to the user's objects (handover.go). A
// .git that reads other objects, or holds a symbolic link, is set
// aside. If the policy's layout differs from a worktree's, its content is saved and
// the next attempt begins in a new one.
//
// # What is not here
//
// Submodules: an epic that asks for them is refused.
//
// # What a crash leaves
//
// Each effect may be cut anywhere and repeated. Whether it has happened is read
// from the refs: an attempt's commit carries its effect key as a trailer, merges
// are derived (same inputs, same commit), and a ref that already is where it
// should be is left alone. Lock files are removed only on ralph's own worktrees and
// branches; the caller holds the run lock.
package workspace
