package recovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Recovery is what was found about an epic whose journal is lost.
type Recovery struct {
	Known    *bd.Recalled
	Epic     *ir.Epic
	Raw      []byte
	File     string
	There    bool // epic.json was
	Space    *workspace.Space
	Base     executor.Tree
	head     string
	others   []string // heads of accepted commits of others in it
	holds    []string // what of the record is in it
	lost     int64    // last event of the lost journal, as far as that is known
	now      time.Time
	kept     []keptNode // in the epic's order, the sum last
	trails   []workspace.Trail
	byCommit map[string]*workspace.Trail
	unjudged []workspace.Trail
	orphans  []executor.Orphan
	pins     workspace.Pins
	Refs     int
	run      *machine.Run
	written  []executor.Event // the new journal
	Nodes    []Node
	Warnings []string
}

// keptNode is what was kept of a node, without what was not found.
type keptNode struct {
	id    ir.NodeID
	key   ir.Key
	kept  executor.Kept
	notes []string
}

// Node is a row of recover's output, and of its JSON.
type Node struct {
	Key      ir.Key    `json:"key"`
	ID       ir.NodeID `json:"id"`
	Title    string    `json:"title"`
	Status   string    `json:"status"`
	Commit   string    `json:"commit,omitempty"`
	Attempts int       `json:"attempts"`
	Bead     string    `json:"bead"` // its status there; "" if there is none
	Notes    []string  `json:"notes,omitempty"`
}

type recoveredJSON struct {
	Epic     ir.NodeID `json:"epic"`
	File     string    `json:"file"`
	Written  bool      `json:"written"`
	Base     string    `json:"base,omitempty"`
	Refs     int       `json:"refs"`
	Nodes    []Node    `json:"nodes"`
	Unjudged int       `json:"unjudged"` // commits that will be judged
	Warnings []string  `json:"warnings,omitempty"`
}

func (r *Recovery) AsJSON() recoveredJSON {
	return recoveredJSON{
		Epic: r.Epic.Epic.ID, File: r.File, Written: !r.There, Base: r.Base.Commit, Refs: r.Refs, Nodes: r.Nodes,
		Unjudged: len(r.orphans), Warnings: r.Warnings,
	}
}

// Find compares what the beads keep with what the branches hold.
func (r *Recovery) Find(ctx context.Context) (err error) {
	r.now = time.Now().UTC().Truncate(time.Millisecond)
	if r.trails, err = r.Space.Refs.Trails(ctx); err != nil {
		return err
	}
	r.byCommit = lists.Pointers(r.trails, func(t *workspace.Trail) string { return t.Result.Commit })
	for _, t := range r.trails {
		r.lost = max(r.lost, t.Seq)
	}
	if r.Known.Run == nil {
		if len(r.trails) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("branches hold %s of attempts of this epic, but the beads do not say from which base it ran: they are left alone", text.Count(len(r.trails), "commit")))
			r.lost = 0
		}
		return nil
	}
	if err := r.findBase(ctx); err != nil {
		return err
	}
	for n := range lists.Refs(r.Epic.Nodes) {
		k := keptNode{id: n.ID, key: n.Key}
		if known, ok := r.Known.Nodes[n.ID]; !ok {
			k.notes = append(k.notes, "it has no bead")
		} else if known.Kept != nil {
			k.kept = *known.Kept
		}
		r.kept = append(r.kept, k)
	}
	for i := range r.kept {
		if err := r.check(ctx, &r.Epic.Nodes[i], &r.kept[i]); err != nil {
			return err
		}
	}
	if s := r.Known.Run.Sum; s != nil {
		k := keptNode{id: executor.Integration, key: executor.Integration, kept: *s}
		if r.head == "" || k.kept.Success != nil && !r.holdsAll(ctx, k.kept.Success) {
			k.kept.Success = nil // it is made anew
		}
		r.kept = append(r.kept, k)
	}
	r.sortTrails()
	return nil
}

// findBase looks for what the run began with, and for the integration branch.
func (r *Recovery) findBase(ctx context.Context) error {
	k := r.Known.Run
	r.lost = max(r.lost, k.Seq)
	look := func(t executor.Tree, what string) error {
		now, ref, there, err := r.Space.Refs.Seen(ctx, t.Commit)
		switch {
		case err != nil:
			return err
		case !there:
			return &workspace.Refusal{
				What: fmt.Sprintf("%s of the run, commit %.12s, is not in this repository", what, t.Commit),
				Hint: "git fetch --all (or git fetch --unshallow), then again",
			}
		case t.Tree != "" && now.Tree != t.Tree:
			return &workspace.Refusal{What: fmt.Sprintf("%s of the run, commit %.12s, does not hold the files that its bead says", what, t.Commit)}
		case ref == "":
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s of the run, commit %.12s, is on no branch", what, t.Commit))
		}
		return nil
	}
	if err := look(k.Base, "the base"); err != nil {
		return err
	}
	for _, b := range k.Bases {
		if err := look(b.Tree, "the base "+b.Name); err != nil {
			return err
		}
	}
	r.Base = k.Base
	r.pins = workspace.Pins{Base: k.Base.Commit, Bases: k.Bases, Results: map[ir.NodeID]string{}}
	// The branch may have gone on since the beads were told.
	if r.Epic.Epic.Integration.Branch == "" {
		return nil
	}
	tip, err := r.Space.Refs.Remote(ctx, r.Epic.Epic.Integration.Branch, k.Head)
	if err != nil {
		return err
	}
	if k.Head == "" {
		if r.Epic.Epic.Integration.Mode == "branch" {
			r.head, r.pins.Head = tip, tip
		}
		return nil
	}
	_, ref, there, err := r.Space.Refs.Seen(ctx, k.Head)
	if err != nil {
		return err
	}
	if there && ref != "" {
		r.head, r.pins.Head = k.Head, cmp.Or(tip, k.Head)
		return nil
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("the integration branch was at %.12s, which is on no branch here: it is rebuilt", k.Head))
	return nil
}

// check removes what cannot be found of what is kept of a node, and says so.
func (r *Recovery) check(ctx context.Context, n *ir.Node, k *keptNode) error {
	if k.kept.Success != nil {
		if err := r.checkSuccess(ctx, n, k); err != nil {
			return err
		}
	}
	if k.kept.Life != nil {
		life := *k.kept.Life
		want := lists.Map(life.Steps, func(d executor.StepDone) executor.Tree { return d.Result })
		if life.Tip != "" {
			want = append(want, executor.Tree{Commit: life.Tip})
		}
		for _, t := range want {
			ok, err := r.found(ctx, t)
			if err != nil {
				return err
			}
			if !ok {
				k.note("what its last attempt left (%.12s) is not here: it starts at its first step", t.Commit)
				life.Step, life.Steps, life.Tip = "", nil, ""
				break
			}
		}
		k.kept.Life = &life
	}
	k.kept.Attempts = slices.Clone(k.kept.Attempts)
	for a := range lists.Refs(k.kept.Attempts) {
		if a.Commit == "" {
			continue
		}
		ok, err := r.found(ctx, executor.Tree{Commit: a.Commit, Tree: a.Tree})
		if err != nil {
			return err
		}
		if !ok {
			a.Commit, a.Tree = "", ""
		}
	}
	if r.Known.Nodes[n.ID].Bead.Status == "closed" && k.kept.Status != executor.Done.String() && k.kept.Status != executor.Skipped.String() && k.kept.Status != executor.Cancelled.String() {
		k.note("its bead is closed, but ralph did not record it as done: ralph skip %s if it is", words.QuoteArg(string(n.Key)))
	}
	return nil
}

func (k *keptNode) note(format string, args ...any) {
	k.notes = append(k.notes, fmt.Sprintf(format, args...))
}

// checkSuccess removes the success that is kept of a node, or its steps, if what they
// came to cannot be found.
func (r *Recovery) checkSuccess(ctx context.Context, n *ir.Node, k *keptNode) error {
	s := *k.kept.Success
	commit, why, err := r.result(ctx, n, &s)
	if err != nil {
		return err
	}
	if why != "" {
		k.note("its result does not count: %s", why)
		k.kept.Success = nil
		return nil
	}
	if commit != s.Result.Commit {
		k.note("its result %.12s is not here; %.12s has its trailers and the same files", s.Result.Commit, commit)
		for i := range s.Steps {
			if s.Steps[i].Result.Commit == s.Result.Commit {
				s.Steps[i].Result.Commit = commit
			}
		}
		s.Result.Commit = commit
	}
	for _, d := range s.Steps {
		ok, err := r.found(ctx, d.Result)
		if err != nil {
			return err
		}
		if !ok {
			k.note("the result of step %s (%.12s) is not here: if gates change, the whole sprint runs again", d.Step, d.Result.Commit)
			s.Steps = nil
			break
		}
	}
	k.kept.Success = &s
	r.pins.Results[n.ID] = commit
	return nil
}

// found reports whether a branch holds a commit with these files; "" is any.
func (r *Recovery) found(ctx context.Context, t executor.Tree) (bool, error) {
	if trail := r.byCommit[t.Commit]; trail != nil {
		return t.Tree == "" || trail.Result.Tree == t.Tree, nil
	}
	now, ref, there, err := r.Space.Refs.Seen(ctx, t.Commit)
	return there && ref != "" && (t.Tree == "" || now.Tree == t.Tree), err
}

// result finds the commit of a success. It must be on a branch, hold the files that
// the bead says, and be the node's own by its trailers, what it starts from, or a
// person's. A commit with the same trailers and files, such as one that was rebased,
// stands for it. Why says what is wrong.
func (r *Recovery) result(ctx context.Context, n *ir.Node, s *executor.KeptSuccess) (commit, why string, err error) {
	now, ref, there, err := r.Space.Refs.Seen(ctx, s.Result.Commit)
	if err != nil {
		return "", "", err
	}
	if there && ref != "" {
		if now.Tree != s.Result.Tree {
			return "", fmt.Sprintf("commit %.12s does not hold the files that its bead says", s.Result.Commit), nil
		}
		of, err := r.Space.Refs.Owner(ctx, s.Result.Commit)
		if err != nil {
			return "", "", err
		}
		from := slices.ContainsFunc(s.Inputs, func(in executor.Result) bool { return in.Commit == s.Result.Commit })
		switch {
		case of == n.ID, from, s.Result.Commit == r.Base.Commit, n.Kind == ir.Manual && of == "":
			return s.Result.Commit, "", nil
		case len(s.Inputs) == 0 && r.isResult(s.Result.Commit): // they were too many to be kept
			return s.Result.Commit, "", nil
		case of == "":
			return "", fmt.Sprintf("commit %.12s has no trailers of this sprint", s.Result.Commit), nil
		}
		return "", fmt.Sprintf("commit %.12s belongs to %s, according to its trailers", s.Result.Commit, of), nil
	}
	for _, t := range slices.Backward(r.trails) {
		if t.Node == n.ID && t.Result.Tree == s.Result.Tree && (t.Work == "" || t.Work == s.Work) && len(t.Problems) == 0 {
			return t.Result.Commit, "", nil
		}
	}
	if there {
		return "", fmt.Sprintf("commit %.12s is on no branch (git branch NAME %.12s keeps it)", s.Result.Commit, s.Result.Commit), nil
	}
	return "", fmt.Sprintf("commit %.12s is not here, on no local and no remote-tracking branch", s.Result.Commit), nil
}

// isResult reports whether a commit is what some node came to, by the beads.
func (r *Recovery) isResult(commit string) bool {
	return slices.ContainsFunc(r.kept, func(k keptNode) bool { return k.kept.Success != nil && k.kept.Success.Result.Commit == commit })
}

// holdsAll reports whether everything that the sum was made of is here.
func (r *Recovery) holdsAll(ctx context.Context, s *executor.KeptSuccess) bool {
	for _, in := range append([]executor.Result{{Tree: s.Result}}, s.Inputs...) {
		if ok, err := r.found(ctx, in.Tree); err != nil || !ok {
			return false
		}
	}
	return true
}

// sortTrails tells commits of attempts that were judged, as the beads have it, from
// those that were not.
func (r *Recovery) sortTrails() {
	kept := lists.Pointers(r.kept, func(k *keptNode) ir.NodeID { return k.id })
	for _, t := range r.trails {
		k := kept[t.Node]
		if k == nil || t.Node == executor.Integration {
			continue
		}
		r.pins.Attempts = append(r.pins.Attempts, t)
		judged := t.Attempt <= k.kept.Numbers[t.Step]
		for _, a := range k.kept.Attempts {
			if a.Step == t.Step && a.Number == t.Attempt {
				judged = a.Status != executor.AttemptRunning
			}
		}
		if s := k.kept.Success; s != nil && s.Result.Commit == t.Result.Commit {
			judged = true
		}
		if !judged {
			r.unjudged = append(r.unjudged, t)
		}
	}
}
