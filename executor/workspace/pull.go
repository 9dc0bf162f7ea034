package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// forge makes pull requests with the program of a forge.
type forge interface {
	find() error                                             // refuses if the program is not there
	called(n int) string                                     // what people there call pull request n
	list(ctx context.Context, branch string) ([]pull, error) // those of a branch, in whatever state
	create(ctx context.Context, p pullSaid) (executor.Pull, error)
	edit(ctx context.Context, n int, p pullSaid) error
	view(ctx context.Context, n int) (pull, error) // with what pullState needs to be acted on
}

// pull is what a forge says of a pull request.
type pull struct {
	executor.Pull
	state   pullState
	body    string
	onto    string // branch that it asks to be merged into
	head    string // commit of its branch
	fork    bool   // its branch is in another repository
	merge   string // commit by which it was merged, "" if the forge does not say it
	comment string // the last one, of a closed one
}

// pullState is what became of a pull request; other words are the forge's own.
type pullState string

const (
	pullOpen   pullState = "open"
	pullMerged pullState = "merged"
	pullClosed pullState = "closed"
)

// pullSaid is what ralph says in a pull request.
type pullSaid struct {
	branch string
	onto   string // "": the forge's default branch; of one that exists: as it is
	title  string
	body   string
}

// Pull implements executor.Workspace. The pull request is looked up by its head branch
// before creating one and after a failed creation, so that a lost answer creates no
// second one. Title and body are kept up to date only if the body says that ralph wrote
// it.
func (s *Space) Pull(ctx context.Context, e executor.Effect, p executor.PullText) (out executor.Pulled, err error) {
	defer s.hold("pull " + string(e.Node))()
	branch := s.nodes[e.Node].Git.Branch
	var had *pull
	f, err := s.forge(ctx)
	q := asking{err: err}
	q.do(func() error { return f.find() })
	q.do(func() error { return s.push(ctx, e, branch) })
	q.do(func() error { return s.pushOnto(ctx, e, p.Onto) })
	q.do(func() (err error) { had, err = pullOf(ctx, f, branch, e.Commit); return err })
	if q.err != nil {
		return out, q.err
	}
	mark := fmt.Sprintf("<!-- ralph %s/%s -->", s.epic.Epic.ID, e.Node)
	said := pullSaid{branch: branch, onto: p.Onto, title: oneLine(p.Title, 200), body: strings.TrimRight(p.Body, "\n") + "\n\n" + mark + "\n"}
	if had == nil {
		made, err := f.create(ctx, said)
		if err == nil {
			return executor.Pulled{Pull: made}, nil
		}
		had, lerr := pullOf(ctx, f, branch, e.Commit)
		switch {
		case lerr != nil:
			return out, lerr
		case had == nil:
			return out, err
		}
		return executor.Pulled{Pull: had.Pull}, nil
	}
	out.Pull = had.Pull
	if said.onto == had.onto {
		said.onto = ""
	}
	if had.state == pullOpen && strings.Contains(had.body, mark) {
		err = f.edit(ctx, had.Number, said)
	}
	return out, err
}

// pushOnto pushes the branch that a pull request asks to be merged into, if that
// is one of this epic's: another node's, or the integration branch, which begins
// at the base.
func (s *space) pushOnto(ctx context.Context, e executor.Effect, branch string) error {
	ref := "refs/heads/" + branch
	if !s.branches[ref] {
		return nil
	}
	at, err := s.git.ref(ctx, ref)
	if err == nil && at == "" {
		at, err = s.base(ctx)
	}
	if err != nil {
		return err
	}
	of := executor.Integration
	for id, n := range s.nodes {
		if n.Git.Branch == branch {
			of = string(id)
		}
	}
	return s.push(ctx, executor.Effect{Node: ir.NodeID(of), Commit: at, Seq: e.Seq}, branch)
}

// pullOf returns the pull request of a branch: the open one, else one that was
// merged or closed at this very commit, else nil.
func pullOf(ctx context.Context, f forge, branch, commit string) (*pull, error) {
	all, err := f.list(ctx, branch)
	if err != nil {
		return nil, err
	}
	var found *pull
	for p := range lists.Refs(all) {
		switch {
		case p.fork: // a branch of the same name in another fork
		case p.state == pullOpen:
			return p, nil
		case p.head == commit && found == nil:
			found = p
		}
	}
	return found, nil
}

// Poll implements executor.Workspace. If the pull request is merged, the target is
// fetched and must contain the merge; until then it is still open for ralph.
func (s *Space) Poll(ctx context.Context, e executor.Effect) (executor.PullSeen, error) {
	f, err := s.forge(ctx)
	if err != nil {
		return executor.PullSeen{}, err
	}
	p, err := f.view(ctx, e.Pull.Number)
	if err != nil {
		return executor.PullSeen{}, err
	}
	switch p.state {
	case pullOpen:
		return executor.PullSeen{State: "open"}, nil
	case pullClosed:
		return executor.PullSeen{State: "closed", Comment: text.Head(p.comment, executor.MaxNote)}, nil
	case pullMerged:
	default:
		return executor.PullSeen{}, fmt.Errorf("the state of %s is %q, which ralph does not know", f.called(e.Pull.Number), p.state)
	}
	head, err := s.fetch(ctx, p.onto)
	if err != nil {
		return executor.PullSeen{}, err
	}
	merge := head
	if p.merge != "" {
		q := s.git.asking(ctx)
		merge = q.ref(p.merge + "^{commit}")
		if merge == "" || !q.ancestor(merge, head) {
			return executor.PullSeen{State: "open"}, q.err
		}
	}
	if err := s.git.point(ctx, "merged", [2]string{s.nodeRef(e.Node, "merged"), merge}); err != nil {
		return executor.PullSeen{}, err
	}
	at, err := s.git.at(ctx, head)
	return executor.PullSeen{State: "merged", Head: at}, err
}
