package workspace

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Collect implements executor.Workspace: what the attempt left becomes one
// commit of ralph's, with trailers, on the node's branch.
func (s *Space) Collect(ctx context.Context, e executor.Effect, o executor.Outcome) (executor.Collected, error) {
	defer s.hold(string(e.Node))()
	n := s.nodes[e.Node]
	if e.Merge && e.Commit == "" {
		e.Commit = e.Inputs[0].Commit
	}
	if n.Kind == ir.Manual && !e.Merge {
		return s.collectManual(ctx, e, n)
	}
	step := stepOf(n, e.Step)
	if e.Person || e.Merge || e.Node == executor.Integration && s.merger(n) != "" { // of the sum: the conflict agent mends what gates found
		step = &ir.Step{Name: e.Step, Agent: s.merger(n), Access: "write", AllowEmpty: true}
	}
	commit, problems, err := s.adopt(ctx, e)
	if err != nil {
		return executor.Collected{}, err
	}
	var special []string
	w := s.own(n)
	if commit != "" {
		if err := s.told(w); err != nil { // by the commit
			return executor.Collected{}, err
		}
	} else {
		if err := s.worktree(ctx, w, e.Commit); err != nil {
			return executor.Collected{}, err
		}
		if e.Person {
			special = specialProblems(w.special)
		}
		if step.Access == "read" {
			c, err := s.collectRead(ctx, e, w)
			if err != nil {
				return c, err
			}
			out, err := s.tellMoved(w)
			if err != nil {
				return c, err
			}
			c.Listed = append(c.Listed, out...)
			_, named, err := s.movedRefs(ctx, e.Node)
			if w.Clone {
				c.Listed = append(c.Listed, named...)
			} else {
				c.Problems = append(c.Problems, named...)
			}
			return c, err
		}
		if e.Person && !e.Merge {
			if err := s.bringOwn(ctx, w, e); err != nil {
				return executor.Collected{}, err
			}
		}
		if commit, problems, err = s.collect(ctx, e, w, step, o); err != nil {
			return executor.Collected{}, err
		}
	}
	moved, named, err := s.movedRefs(ctx, e.Node)
	if err != nil {
		return executor.Collected{}, err
	}
	if e.Person || w.Clone { // from a clone git leads nowhere: it was the user, or a fetch
		special = append(special, named...)
	} else {
		problems = append(problems, named...)
	}
	var c executor.Collected
	if e.Merge {
		c, err = s.examineMerge(ctx, e, commit, problems)
	} else {
		c, err = s.examine(ctx, e, n, step, commit, problems)
		if err == nil && e.Person {
			err = s.lacking(ctx, &c, e)
		}
	}
	c.Listed = bounded(append(c.Listed, append(special, moved...)...), roomListed)
	return c, err
}

// collect commits what is in the worktree and returns the commit and what can be
// seen only there.
func (s *Space) collect(ctx context.Context, e executor.Effect, w *worktree, step *ir.Step, o executor.Outcome) (string, []string, error) {
	if w.gone {
		// Not a change that anybody wants: the next attempt begins where this one did.
		moved, err := s.untold(w)
		if err != nil {
			return "", nil, err
		}
		problems := append([]string{deleted}, moved...)
		commit, err := s.forsaken(ctx, e, w, step, o, problems...)
		return commit, problems, err
	}
	parent, problems, err := s.tip(ctx, e, w)
	if err != nil {
		return "", nil, err
	}
	same := w.Index != "" && w.Index == indexMark(w) // then nothing was staged, and it can be read
	if !same {
		if err := s.mendIndex(ctx, w, e.Commit); err != nil {
			return "", nil, err
		}
	}
	if e.Person && !e.Merge {
		now, err := s.look(ctx, w)
		if err != nil {
			return "", nil, err
		}
		if left, err := s.halfMerged(ctx, w, now); err != nil {
			return "", nil, err
		} else if left != "" {
			problems = append(problems, left)
		}
	}
	if e.Merge {
		now, err := s.look(ctx, w)
		if err != nil {
			return "", nil, err
		}
		stuck, err := s.stuck(ctx, w, now)
		if err != nil {
			return "", nil, err
		}
		problems = append(problems, stuck...)
	}
	if !e.Person {
		problems = append(problems, specialProblems(w.special)...)
	}
	if err := s.unnest(ctx, w, same); err != nil {
		return "", nil, err
	}
	if err := s.stage(ctx, w, w.at); err != nil {
		return "", nil, err
	}
	moved, err := s.untold(w)
	if err != nil {
		return "", nil, err
	}
	problems = append(problems, moved...)
	tree, err := s.git.line(ctx, w.at, "write-tree")
	if err != nil {
		return "", nil, err
	}
	if taken, err := s.ofTheStash(ctx, e, w, tree); err != nil {
		return "", nil, err
	} else if taken != "" {
		return s.refuse(ctx, e, w, step, o, append(problems, taken))
	}
	own := []string{parent}
	if e.Person { // of an agent's merge the parents are others
		own = append(own, s.mergeHeads(w)...)
	}
	secrets, err := s.known(ctx, e, own, tree)
	if err != nil {
		return "", nil, err
	}
	switch {
	case len(secrets) > 0 && e.Person:
		return "", nil, config("%s; nothing was committed", strings.Join(secrets, "; "))
	case len(secrets) > 0:
		return s.refuse(ctx, e, w, step, executor.Outcome{}, append(secrets, problems...)) // its words may hold the secret
	}
	parents := []string{parent}
	switch {
	case e.Merge:
		if parents, err = s.reduced(ctx, e.Inputs); err != nil {
			return "", nil, err
		}
	case e.Person:
		parents = own
	case s.epic.Run.Git.Commit == "squash":
		parents = []string{e.Commit}
	}
	commit, err := s.commit(ctx, e, w.node, step, o, tree, parents, problems)
	if err != nil {
		return "", nil, err
	}
	return commit, problems, s.keep(ctx, e, w, commit)
}

// merger is the agent who resolves conflicts of a node: its first that may
// write, else the one that the epic names.
func (s *Space) merger(n *ir.Node) string {
	for i := range n.Steps {
		if n.Steps[i].Access == "write" && n.Steps[i].Agent != "" {
			return n.Steps[i].Agent
		}
	}
	return s.epic.Epic.Integration.ConflictAgent
}

const deleted = "it deleted its worktree"

// forsaken records an attempt of which nothing is taken: the tree that it started
// from.
func (s *Space) forsaken(ctx context.Context, e executor.Effect, w *worktree, step *ir.Step, o executor.Outcome, problems ...string) (string, error) {
	tree, err := s.git.tree(ctx, e.Commit)
	if err != nil {
		return "", err
	}
	commit, err := s.commit(ctx, e, w.node, step, o, tree, []string{e.Commit}, problems)
	if err != nil {
		return "", err
	}
	return commit, s.keep(ctx, e, w, commit)
}

// refuse takes nothing of what an attempt left: it is saved, and the next one begins
// where this one did.
func (s *Space) refuse(ctx context.Context, e executor.Effect, w *worktree, step *ir.Step, o executor.Outcome, problems []string) (string, []string, error) {
	now, err := s.look(ctx, w)
	if err != nil {
		return "", nil, err
	}
	if _, err := s.save(ctx, w, now, e.Seq); err != nil {
		return "", nil, err
	}
	commit, err := s.forsaken(ctx, e, w, step, o, problems...)
	if err != nil {
		return "", nil, err
	}
	return commit, problems, s.reset(ctx, w, commit)
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
	commit, err := s.git.ref(ctx, s.attemptRef(e))
	if err != nil || commit == "" || commit == e.Commit {
		return "", nil, err
	}
	// Anybody can write such a ref, and a commit with this key. It is ralph's if ralph
	// may have been here before: it was cut short, or had left the worktree there.
	if w := s.own(s.nodes[e.Node]); !e.Redo {
		if _, err := s.find(w); err != nil || w.Left != commit {
			return "", nil, err
		}
	}
	h, err := s.git.commitHeader(ctx, commit)
	if err != nil {
		return "", nil, err
	}
	key := ""
	var problems []string
	for line := range strings.Lines(h.message) { // ralph indents what agents say
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
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
	branch := s.own(s.nodes[e.Node]).ref
	if branch == "" {
		return commit, problems, nil
	}
	tip, err := s.git.ref(ctx, branch)
	if err != nil || tip == commit {
		return commit, problems, err
	}
	return commit, problems, s.git.update(ctx, "adopt", move{branch, tip, commit})
}

// tip returns the commit that ralph's commit stands on: the agent's own commits,
// as long as it stayed on its branch and rewrote nothing.
func (s *Space) tip(ctx context.Context, e executor.Effect, w *worktree) (string, []string, error) {
	var problems []string
	if w.cut {
		problems = append(problems, "what ties its worktree to the repository (.git, HEAD) was replaced")
	}
	if w.refused != "" {
		problems = append(problems, w.refused)
	}
	on, head, err := s.headOf(w)
	if err != nil {
		return "", nil, err
	}
	if on != w.ref {
		problems = append(problems, fmt.Sprintf("it left its branch %s", w.node.Git.Branch))
	}
	if on != "" && strings.HasPrefix(on, "refs/") {
		if head, err = s.git.ref(ctx, on); err != nil {
			return "", nil, err
		}
		if w.Clone {
			if _, head, err = s.cloneHead(w); err != nil {
				return "", nil, err
			}
		}
	}
	if head != "" { // before anything of it is read
		if wrong, err := s.overweight(ctx, e, w, head); err != nil {
			return "", nil, err
		} else if wrong != "" {
			return e.Commit, append(problems, "its own commits cannot be taken: "+wrong), nil
		}
		if _, err := s.git.commitHeader(ctx, head); err != nil {
			head = ""
		}
	}
	if head == "" {
		return e.Commit, append(problems, "HEAD of its worktree names no commit"), ctx.Err()
	}
	has := false
	for _, c := range append([]string{head}, s.mergeHeads(w)...) {
		if has, err = s.git.ancestor(ctx, e.Commit, c); err != nil || has {
			break
		}
	}
	switch {
	case err != nil:
		return "", nil, err
	case !has && e.Person && !e.Merge: // it stays theirs, and Collect says so
		return head, problems, nil
	case !has:
		return e.Commit, append(problems, "it rewrote history: the commit that it started from is gone from its branch"), nil
	}
	wrong, err := s.unsound(ctx, w, head, e.Commit)
	if err != nil {
		return "", nil, err
	}
	if wrong != "" {
		problems = append(problems, wrong+": leave such objects alone, and commit with git commit; its files are taken without its commits")
		if !e.Person || e.Merge {
			head = e.Commit
		}
		return head, problems, nil
	}
	forged, err := s.forged(ctx, e, head)
	return head, append(problems, forged...), err
}

// forged finds commits of the agent's own that carry a number of the journal that
// was not given yet: they would pass for commits that the journal has lost. One
// that was taken from another sprint carries a smaller number.
func (s *Space) forged(ctx context.Context, e executor.Effect, head string) ([]string, error) {
	if head == e.Commit || e.Seq == 0 {
		return nil, nil
	}
	out, err := s.git.line(ctx, place{}, "log", "--no-show-signature", "--format=%h %(trailers:key=Ralph-Seq,valueonly,separator=%x20)", head, "^"+e.Commit)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		commit, given, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, g := range strings.Fields(given) {
			if n, err := strconv.ParseInt(g, 10, 64); err != nil || n > e.Seq {
				return []string{fmt.Sprintf("its commit %s says that ralph made it (Ralph-Seq: %s): leave such lines out of messages", commit, oneLine(g, 40))}, nil
			}
		}
	}
	return nil, nil
}

// maxProblem bounds a problem in the message of a commit, in bytes: what was moved out
// of a worktree is told with up to five names, and where it is.
const maxProblem = 1500

// author is the environment that names who wrote a commit; the committer is the
// user.
func (s *Space) author(name string) []string {
	return append([]string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=ralph@localhost"}, s.who...)
}

// maxSubject bounds the subject line, without its suffix, in bytes.
const maxSubject = 72

func (s *Space) commit(ctx context.Context, e executor.Effect, n *ir.Node, step *ir.Step, o executor.Outcome, tree string, parents, problems []string) (string, error) {
	subject := oneLine(fmt.Sprintf("%s: %s", n.Key, n.Title), maxSubject)
	if e.Merge {
		var names []string
		for _, in := range e.Inputs {
			names = append(names, s.name(in.Node))
		}
		subject = oneLine(fmt.Sprintf("%s: merge %s", n.Key, strings.Join(names, ", ")), maxSubject)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s/%s)\n\n", subject, s.epic.Epic.ID, n.ID)
	if body := strings.TrimSpace(s.redacted(o.Summary)); body != "" {
		// Indented, so that nothing in it reads as a trailer.
		fmt.Fprintf(&b, "  %s\n\n", strings.ReplaceAll(body, "\n", "\n  "))
	}
	fmt.Fprintf(&b, "Ralph-Epic: %s\nRalph-Node: %s\nRalph-Sprint: %s\nRalph-Attempt: %s/%d\nRalph-Key: %s\nRalph-Seq: %d\n",
		s.epic.Epic.ID, n.ID, n.Key, oneLine(e.Step, 100), e.Attempt, oneLine(e.Key(s.epic.Epic.ID), 400), e.Seq)
	if e.Start != "" {
		fmt.Fprintf(&b, "Ralph-Start: %s\n", e.Start)
	}
	if n.Digest.Work != "" {
		fmt.Fprintf(&b, "Ralph-Work: %s\n", n.Digest.Work)
	}
	for _, p := range problems { // a redo of this effect finds the traces gone
		fmt.Fprintf(&b, "Ralph-Problem: %s\n", oneLine(s.redacted(p), maxProblem))
	}
	who := s.author("ralph " + oneLine(step.Agent, 100))
	if e.Person {
		who = s.person
	}
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := s.git.run(ctx, place{}, b.String(), who, args...)
	return strings.TrimSpace(string(out)), err
}

// oneLine makes a text fit for one line of a commit message.
func oneLine(s string, limit int) string {
	return text.Head(text.OneLine(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)), limit)
}

// keep pins the commit as the attempt's and moves the branch there, at once.
func (s *Space) keep(ctx context.Context, e executor.Effect, w *worktree, commit string) error {
	old, err := s.git.ref(ctx, s.attemptRef(e))
	if err != nil {
		return err
	}
	moves := []move{{s.attemptRef(e), old, commit}}
	if w.ref != "" {
		tip, err := s.git.ref(ctx, w.ref)
		if err != nil {
			return err
		}
		moves = append(moves, move{w.ref, tip, commit})
	}
	if err := s.git.update(ctx, "collect", moves...); err != nil {
		return err
	}
	if err := s.attach(ctx, w, commit); err != nil {
		return err
	}
	if w.ref == "" {
		if _, err := s.git.line(ctx, w.at, "update-ref", "--no-deref", "HEAD", commit); err != nil {
			return err
		}
	}
	if err := s.endMerge(w); err != nil {
		return err
	}
	if w.Clone && w.ref != "" {
		if err := s.point(w, commit); err != nil {
			return err
		}
	}
	w.Index = indexMark(w)
	w.Left = commit
	return errors.Join(s.remember(w), s.swept(w), s.told(w))
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
	c.Problems = specialProblems(w.special)
	now, err := s.look(ctx, w)
	if err != nil {
		return c, err
	}
	if !now.dirty && now.head == e.Commit && !w.gone {
		return c, s.swept(w)
	}
	if w.gone {
		c.Problems = append(c.Problems, deleted)
	} else if w.cut || now.broken || len(now.changed)+len(now.unmerged) > 0 || now.head != e.Commit {
		c.Problems = append(c.Problems, "the step may only read, and it changed "+listed(append(now.changed, now.unmerged...)))
	}
	if len(now.fresh) > 0 {
		c.Listed = append(c.Listed, "new files of a step that only reads, taken away: "+listed(now.fresh))
	}
	if _, err := s.save(ctx, w, now, e.Seq); err != nil {
		return c, err
	}
	if err := s.give(ctx, w, e.Commit, e.Seq); err != nil {
		return c, err
	}
	return c, errors.Join(s.reset(ctx, w, e.Commit), s.swept(w))
}

func listed(paths []string) string {
	if s := text.Some(paths, shown); s != "" {
		return s
	}
	return "its branch"
}
