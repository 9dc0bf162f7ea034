package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// maxProblem bounds a problem in the message of a commit, in bytes: what was moved out
// of a worktree is reported with up to five names, and where it is.
const maxProblem = 1500

// author is the environment that names who wrote a commit; the committer is the
// user.
func (s *space) author(name string) []string {
	return append([]string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=ralph@localhost"}, s.who...)
}

// maxSubject bounds the subject line, without its suffix, in bytes.
const maxSubject = 72

func (s *space) commit(ctx context.Context, e executor.Effect, n *ir.Node, step *ir.Step, o executor.Outcome, tree string, parents, problems []string) (string, error) {
	subject := oneLine(fmt.Sprintf("%s: %s", n.Key, n.Title), maxSubject)
	if e.Merge {
		names := lists.Map(e.Inputs, func(in executor.Result) string { return s.name(in.Node) })
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
	return s.git.commitTree(ctx, b.String(), who, tree, parents...)
}

// oneLine makes a text fit for one line of a commit message.
func oneLine(s string, limit int) string { return text.Head(text.OneLine(executor.Plain(s)), limit) }

// keep pins the commit as the attempt's and moves the branch there, at once.
func (s *space) keep(ctx context.Context, e executor.Effect, w *worktree, commit string) error {
	targets := [][2]string{{s.attemptRef(e), commit}}
	if w.ref != "" {
		targets = append(targets, [2]string{w.ref, commit})
	}
	q := s.git.asking(ctx)
	q.point("collect", targets...)
	q.do(func() error { return s.attach(ctx, w, commit) })
	if w.ref == "" {
		q.line(w.at, "update-ref", "--no-deref", "HEAD", commit)
	}
	q.do(func() error { return s.endMerge(w) })
	if w.Clone && w.ref != "" {
		q.do(func() error { return s.point(w, commit) })
	}
	q.do(func() error {
		w.Index, w.Left = indexMark(w), commit
		return errors.Join(s.remember(w), s.swept(w), s.told(w))
	})
	return q.err
}

func listed(paths []string) string {
	if s := text.Some(paths, shown); s != "" {
		return s
	}
	return "its branch"
}
