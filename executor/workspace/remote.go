package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// target is the branch that pull requests ask to be merged into.
func (s *space) target() string { return cmp.Or(s.epic.Epic.Target, s.epic.Epic.Base) }

func (s *space) remote() string { return cmp.Or(s.epic.Run.Git.Remote, "origin") }

// users is git with the user's whole configuration, but for hooks, for what speaks
// to a remote. It never touches a worktree.
func (s *space) users() *git {
	g := *s.git
	g.user = true
	g.conf = []string{"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsync=all", "-c", "core.hooksPath=/dev/null"}
	g.env = append(userEnv(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return &g
}

// fetch brings a branch of the remote into a ref of ralph's own and returns its
// commit. The user's remote branches and FETCH_HEAD stay as they are.
func (s *space) fetch(ctx context.Context, branch string) (string, error) {
	if branch == "" {
		return "", config("no target branch is known: name one (git { target = … }, or **Integration Branch** in the plan)")
	}
	defer s.hold("fetch")()
	ref := s.prefix() + "target"
	s.git.unlock(ref) // a git that was killed left it: the ref is ralph's own, and so is the run lock
	_, err := s.users().line(ctx, place{}, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--refmap=", "--", s.remote(), "+refs/heads/"+branch+":"+ref)
	if err != nil {
		return "", s.remoteTrouble(fmt.Sprintf("fetch %s from %s", branch, s.remote()), err)
	}
	return s.git.ref(ctx, ref)
}

// push brings a commit to a branch of the remote. Commits that others put there
// are never overwritten: ralph remembers in refs what it pushed last, and what it
// was about to push when it was interrupted.
func (s *space) push(ctx context.Context, e executor.Effect, branch string) error {
	defer s.hold("push " + branch)()
	mark, begun := s.nodeRef(e.Node, "pushed"), s.nodeRef(e.Node, "pushing")
	q := s.git.asking(ctx)
	last, before := q.ref(mark), q.ref(begun)
	q.update("push", move{begun, before, e.Commit})
	large := false
	q.do(func() (err error) { large, err = s.usesLFS(ctx, e.Commit); return err })
	if q.err != nil {
		return q.err
	}
	if large { // a hook would do it, and none is run
		if _, err := s.users().line(ctx, place{}, "lfs", "push", s.remote(), e.Commit); err != nil {
			return s.remoteTrouble("upload the large files of "+branch, err)
		}
	}
	to := "refs/heads/" + branch
	push := func(lease string) error {
		_, err := s.users().line(ctx, place{}, "push", "--quiet", "--no-follow-tags", "--recurse-submodules=no",
			"--force-with-lease="+to+":"+lease, "--", s.remote(), e.Commit+":"+to)
		return err
	}
	rejected := func(err error) bool { return err != nil && says(err.Error(), "stale info", "[rejected]") }
	err := push(last)
	if rejected(err) && before != "" && before != last {
		err = push(before)
	}
	switch {
	case rejected(err):
		return config("%s of %s holds commits that are not ralph's: move them to another branch, or delete it there (git push --delete %s %s)", branch, s.remote(), shellword.Quote(s.remote()), shellword.Quote(to))
	case err != nil:
		return s.remoteTrouble(fmt.Sprintf("push %s to %s", branch, s.remote()), err)
	}
	return s.git.update(ctx, "push", move{mark, last, e.Commit})
}

// usesLFS reports whether files of a commit are kept by Git LFS.
func (s *space) usesLFS(ctx context.Context, commit string) (bool, error) {
	if !s.lfs {
		return false, nil
	}
	_, err := s.git.line(ctx, place{}, "grep", "--quiet", "-F", "-e", "filter=lfs", commit, "--", ":(glob)**/.gitattributes")
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// remoteTrouble tells what a person must mend from what may work next time.
func (s *space) remoteTrouble(what string, err error) error {
	if says(strings.ToLower(err.Error()), "does not appear to be a git repository", "no such remote", "couldn't find remote ref", "permission denied",
		"authentication failed", "could not read username", "repository not found", "protected branch", "403", "401") {
		return config("%s: %v; try it by hand, then retry", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Fetch gets the trees' missing objects from a partial clone's promisor remotes, with the
// user's git and settings, before any worktree is made: in the other calls of a run git
// fetches nothing. Without such a remote it does nothing.
func (s Bases) Fetch(ctx context.Context, trees ...executor.Tree) error {
	if len(s.promisors) == 0 {
		return nil
	}
	for _, t := range trees {
		var before []string
		for { // what a fetched tree lacks is seen once it is there
			missing, err := s.missing(ctx, t)
			if err != nil {
				return err
			}
			if len(missing) == 0 {
				break
			}
			if slices.Equal(missing, before) {
				return s.unfetched(t, len(missing), "it is not there")
			}
			if err := s.fetchObjects(ctx, missing); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return s.unfetched(t, len(missing), err.Error())
			}
			before = missing
		}
	}
	return nil
}

// missing lists the objects of a tree that are not here.
func (s *space) missing(ctx context.Context, t executor.Tree) ([]string, error) {
	out, err := s.git.line(ctx, place{}, "rev-list", "--objects", "--missing=print", t.Tree)
	if err != nil {
		return nil, err
	}
	var missing []string
	for line := range strings.Lines(out) {
		if oid, ok := strings.CutPrefix(strings.TrimSpace(line), "?"); ok {
			missing = append(missing, oid)
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// fetchObjects asks one remote after another, until one has them.
func (s *space) fetchObjects(ctx context.Context, oids []string) (err error) {
	defer s.hold("fetch")()
	for _, remote := range s.promisors {
		_, err = s.users().run(ctx, place{}, strings.Join(oids, "\n")+"\n", nil, "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags",
			"--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no", "--refmap=", "--filter=blob:none", "--stdin", "--", remote)
		if err == nil {
			return nil
		}
	}
	return err
}

func (s *space) unfetched(t executor.Tree, n int, why string) error {
	return &Refusal{
		fmt.Sprintf("this is a partial clone, which lacks %d of the files that the base %.12s has, and they could not be fetched from %s: %s",
			n, t.Commit, strings.Join(s.promisors, ", "), why),
		fmt.Sprintf("git rev-list --objects --missing=print '%.12s^{tree}' | sed -n 's/^?//p' | git fetch --no-tags --no-write-fetch-head --stdin %s (what ralph tried), or git fetch --refetch --no-filter %[2]s",
			t.Commit, shellword.Quote(s.promisors[0])),
	}
}
