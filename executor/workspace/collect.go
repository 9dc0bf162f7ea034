package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Collect implements executor.Workspace: what the attempt left becomes one
// commit of ralph's, with trailers, on the node's branch.
func (s *Space) Collect(ctx context.Context, e executor.Effect, o executor.Outcome) (executor.Collected, error) {
	defer s.hold(string(e.Node))()
	n := s.nodes[e.Node]
	step := stepOf(n, e.Step)
	if done, problems, err := s.adopt(ctx, e); err != nil || done != "" {
		if err != nil {
			return executor.Collected{}, err
		}
		return s.examine(ctx, e, n, step, done, problems)
	}
	w := s.own(n)
	if err := s.worktree(ctx, w, e.Commit); err != nil {
		return executor.Collected{}, err
	}
	if step.Access == "read" {
		return s.collectRead(ctx, e, w)
	}
	parent, problems, err := s.tip(ctx, e, w)
	if err != nil {
		return executor.Collected{}, err
	}
	if w.gone {
		// Not a change that anybody wants: the next attempt begins where this one did.
		commit, err := s.forsaken(ctx, e, w, step, o)
		if err != nil {
			return executor.Collected{}, err
		}
		return s.examine(ctx, e, n, step, commit, []string{deleted})
	}
	if err := s.mendIndex(ctx, w, e.Commit); err != nil {
		return executor.Collected{}, err
	}
	nested, err := s.unnest(ctx, w)
	if err != nil {
		return executor.Collected{}, err
	}
	for _, dir := range nested {
		problems = append(problems, dir+" was a git repository of its own, which a commit cannot hold; its files are collected, its .git was moved away")
	}
	if _, err := s.git.line(ctx, w.at, "add", "--all", "--", "."); err != nil {
		return executor.Collected{}, err
	}
	tree, err := s.git.line(ctx, w.at, "write-tree")
	if err != nil {
		return executor.Collected{}, err
	}
	if s.epic.Run.Git.Commit == "squash" {
		parent = e.Commit
	}
	commit, err := s.commit(ctx, e, n, step, o, tree, parent, problems)
	if err != nil {
		return executor.Collected{}, err
	}
	if err := s.keep(ctx, e, w, commit); err != nil {
		return executor.Collected{}, err
	}
	return s.examine(ctx, e, n, step, commit, problems)
}

const deleted = "it deleted its worktree"

// forsaken records an attempt whose worktree is gone: the tree that it started
// from.
func (s *Space) forsaken(ctx context.Context, e executor.Effect, w *worktree, step *ir.Step, o executor.Outcome) (string, error) {
	tree, err := s.git.tree(ctx, e.Commit)
	if err != nil {
		return "", err
	}
	commit, err := s.commit(ctx, e, w.node, step, o, tree, e.Commit, []string{deleted})
	if err != nil {
		return "", err
	}
	return commit, s.keep(ctx, e, w, commit)
}

func stepOf(n *ir.Node, name string) *ir.Step {
	for i := range n.Steps {
		if n.Steps[i].Name == name {
			return &n.Steps[i]
		}
	}
	return &ir.Step{Name: name, Access: "read"}
}

// adopt returns the commit of this very effect, if it was made before, and the
// problems that were seen then and can no longer be.
func (s *Space) adopt(ctx context.Context, e executor.Effect) (string, []string, error) {
	ref := s.attemptRef(e)
	out, err := s.git.line(ctx, place{}, "for-each-ref",
		"--format=%(objectname)%0a%(contents:trailers:key=Ralph-Key,key=Ralph-Problem)", ref)
	if err != nil {
		return "", nil, err
	}
	commit, trailers, _ := strings.Cut(out, "\n")
	key := ""
	var problems []string
	for line := range strings.Lines(trailers) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name {
		case "Ralph-Key":
			key = value
		case "Ralph-Problem":
			problems = append(problems, value)
		}
	}
	if key != oneLine(e.Key(s.epic.Epic.ID), 400) {
		return "", nil, nil
	}
	// The branch may not have followed when the crash came.
	n := s.nodes[e.Node]
	tip, err := s.git.ref(ctx, "refs/heads/"+n.Git.Branch)
	if err != nil || tip == commit {
		return commit, problems, err
	}
	return commit, problems, s.git.update(ctx, "adopt", move{"refs/heads/" + n.Git.Branch, tip, commit})
}

// tip returns the commit that ralph's commit stands on: the agent's own commits,
// as long as it stayed on its branch and rewrote nothing.
func (s *Space) tip(ctx context.Context, e executor.Effect, w *worktree) (string, []string, error) {
	var problems []string
	if w.cut {
		problems = append(problems, "what ties its worktree to the repository (.git, HEAD) was replaced")
	}
	on, err := s.git.line(ctx, w.at, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && exitCode(err) != 1 {
		return "", nil, err
	}
	if on != w.ref {
		problems = append(problems, fmt.Sprintf("it left its branch %s", w.node.Git.Branch))
	}
	head, err := s.git.line(ctx, w.at, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return e.Commit, append(problems, "HEAD of its worktree names no commit"), ctx.Err()
	}
	has, err := s.git.ancestor(ctx, e.Commit, head)
	if err != nil {
		return "", nil, err
	}
	if !has {
		return e.Commit, append(problems, "it rewrote history: the commit that it started from is gone from its branch"), nil
	}
	return head, problems, nil
}

// author is the environment that names who wrote a commit; the committer is the
// user.
func (s *Space) author(name string) []string {
	return append([]string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=ralph@localhost"}, s.who...)
}

// maxSubject bounds the subject line, without its suffix, in bytes.
const maxSubject = 72

func (s *Space) commit(ctx context.Context, e executor.Effect, n *ir.Node, step *ir.Step, o executor.Outcome, tree, parent string, problems []string) (string, error) {
	subject := oneLine(fmt.Sprintf("%s: %s", n.Key, n.Title), maxSubject)
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s/%s)\n\n", subject, s.epic.Epic.ID, n.ID)
	if body := strings.TrimSpace(o.Summary); body != "" {
		// Indented, so that nothing in it reads as a trailer.
		fmt.Fprintf(&b, "  %s\n\n", strings.ReplaceAll(body, "\n", "\n  "))
	}
	fmt.Fprintf(&b, "Ralph-Epic: %s\nRalph-Node: %s\nRalph-Sprint: %s\nRalph-Attempt: %s/%d\nRalph-Key: %s\nRalph-Seq: %d\n",
		s.epic.Epic.ID, n.ID, n.Key, oneLine(e.Step, 100), e.Attempt, oneLine(e.Key(s.epic.Epic.ID), 400), e.Seq)
	for _, p := range problems { // a redo of this effect finds the traces gone
		fmt.Fprintf(&b, "Ralph-Problem: %s\n", oneLine(p, 400))
	}
	out, err := s.git.run(ctx, place{}, b.String(), s.author("ralph "+oneLine(step.Agent, 100)), "commit-tree", tree, "-p", parent)
	return strings.TrimSpace(string(out)), err
}

// oneLine makes text fit for one line of a commit message.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)), " ")
	for len(text) > limit {
		cut := limit
		for cut > 0 && text[cut]&0xC0 == 0x80 {
			cut--
		}
		text = text[:cut]
	}
	return text
}

// keep pins the commit as the attempt's and moves the branch there, at once.
func (s *Space) keep(ctx context.Context, e executor.Effect, w *worktree, commit string) error {
	old, err := s.git.ref(ctx, s.attemptRef(e))
	if err != nil {
		return err
	}
	tip, err := s.git.ref(ctx, w.ref)
	if err != nil {
		return err
	}
	if err := s.git.update(ctx, "collect", move{s.attemptRef(e), old, commit}, move{w.ref, tip, commit}); err != nil {
		return err
	}
	if _, err := s.git.line(ctx, w.at, "symbolic-ref", "HEAD", w.ref); err != nil {
		return err
	}
	w.Left = commit
	return s.remember(w)
}

// collectRead is for steps that may change nothing: new files are removed and
// listed, changed ones fail the attempt, and the result is where it started.
func (s *Space) collectRead(ctx context.Context, e executor.Effect, w *worktree) (executor.Collected, error) {
	c := executor.Collected{}
	tree, err := s.git.tree(ctx, e.Commit)
	if err != nil {
		return c, err
	}
	c.Result = executor.Tree{Commit: e.Commit, Tree: tree}
	now, err := s.look(ctx, w)
	if err != nil || !now.dirty && now.head == e.Commit {
		return c, err
	}
	changed, err := s.git.line(ctx, w.at, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", e.Commit, "--")
	if err != nil {
		return c, err
	}
	if w.cut || changed != "" || now.head != e.Commit {
		c.Problems = append(c.Problems, "the step may only read, and it changed "+listed(strings.Split(changed, "\n")))
	}
	if _, err := s.save(ctx, w, now, e.Seq); err != nil {
		return c, err
	}
	return c, s.reset(ctx, w, e.Commit)
}

func listed(paths []string) string {
	if len(paths) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:shown], ", "), len(paths)-shown)
	}
	if s := strings.Join(paths, ", "); s != "" {
		return s
	}
	return "its branch"
}
