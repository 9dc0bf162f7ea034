package executortest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// ErrCrash is what a Journal returns that was told to crash.
var ErrCrash = errors.New("crash")

// Journal keeps events in memory. It fails on demand.
type Journal struct {
	Kept    []executor.Event
	CrashAt int64 // the Append that reaches this sequence number fails; 0: none does
	Lose    bool  // whether that Append writes nothing, or everything before it fails
	Batches int
	dead    bool
}

var _ executor.Journal = (*Journal)(nil)

// Append implements executor.Journal.
func (j *Journal) Append(_ context.Context, events []executor.Event) error {
	if j.dead {
		return ErrCrash
	}
	if len(events) == 0 {
		return nil
	}
	last := int64(0)
	if n := len(j.Kept); n > 0 {
		last = j.Kept[n-1].Seq
	}
	for _, e := range events {
		lost, ok := e.Body.(executor.TailLost)
		if e.Seq != last+1 && !(ok && lost.After == last && e.Seq > last) {
			j.dead = true
			return fmt.Errorf("event %d after %d", e.Seq, last)
		}
		last = e.Seq
	}
	crash := j.CrashAt > 0 && events[len(events)-1].Seq >= j.CrashAt
	if !crash || !j.Lose {
		j.Kept = append(j.Kept, events...)
		j.Batches++
	}
	if crash {
		j.dead = true
		return ErrCrash
	}
	return nil
}

// Events implements executor.Journal.
func (j *Journal) Events(context.Context) iter.Seq2[executor.Event, error] {
	return func(yield func(executor.Event, error) bool) {
		for _, e := range slices.Clone(j.Kept) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Close implements executor.Journal.
func (j *Journal) Close() error { j.dead = true; return nil }

// Workspace pretends to be git: results are names that say what they are made
// of, so that equal inputs give equal results.
type Workspace struct {
	mu        sync.Mutex     // guards the rest
	Done      map[string]int // how often each effect was done, by key
	Published map[string]int // how often each node's result moved
	Conflicts map[ir.NodeID]bool
	Problems  func(e executor.Effect) []string
	Fail      func(e executor.Effect) error // asked before each effect
	Gone      func(e executor.Effect) bool  // whether a tree that is to stay as it is was lost; nil: never
	epic      ir.NodeID
	lies      map[ir.NodeID]string // what agents left in the worktrees
	at        map[string]string
	trees     map[string]string // of collected commits
}

var _ executor.Workspace = (*Workspace)(nil)

// NewWorkspace returns an empty one.
func NewWorkspace(epic ir.NodeID) *Workspace {
	return &Workspace{Done: map[string]int{}, Published: map[string]int{}, Conflicts: map[ir.NodeID]bool{}, epic: epic, at: map[string]string{}, trees: map[string]string{}, lies: map[ir.NodeID]string{}}
}

func (w *Workspace) note(e executor.Effect) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Done[e.Key(w.epic)]++
	if w.Fail != nil {
		return w.Fail(e)
	}
	return nil
}

// Base implements executor.Workspace.
func (w *Workspace) Base(_ context.Context, e executor.Effect) (executor.BaseMade, error) {
	if err := w.note(e); err != nil {
		return executor.BaseMade{}, err
	}
	if w.Conflicts[e.Node] {
		return executor.BaseMade{}, &executor.Failure{Class: executor.FailConflict, Err: errors.New("they do not merge")}
	}
	var commits, trees []string
	for _, in := range e.Inputs {
		commits, trees = append(commits, in.Commit), append(trees, in.Tree.Tree)
	}
	return executor.BaseMade{Base: executor.Tree{Commit: name("merge", commits), Tree: name("tree", trees)}}, nil
}

func name(what string, parts []string) string {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(parts, "\x00")))
	return fmt.Sprintf("%s-%x", what, h.Sum64())
}

// Prepare implements executor.Workspace.
func (w *Workspace) Prepare(_ context.Context, e executor.Effect) (executor.Prepared, error) {
	if err := w.note(e); err != nil {
		return executor.Prepared{}, err
	}
	anew := e.AsIs && w.Gone != nil && w.Gone(e)
	w.mu.Lock()
	defer w.mu.Unlock()
	if anew || !e.AsIs && !e.Person {
		w.lies[e.Node] = ""
	}
	return executor.Prepared{Anew: anew}, nil
}

// Write is an agent that adds something to a node's worktree.
func (w *Workspace) Write(node ir.NodeID, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lies[node] += what
}

// Lies is what agents wrote to a node's worktree since it was put at a commit.
func (w *Workspace) Lies(node ir.NodeID) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lies[node]
}

// Dir implements executor.Workspace.
func (w *Workspace) Dir(id ir.NodeID) string { return "/nowhere/" + string(id) }

// Collect implements executor.Workspace.
func (w *Workspace) Collect(_ context.Context, e executor.Effect, _ executor.Outcome) (executor.Collected, error) {
	if err := w.note(e); err != nil {
		return executor.Collected{}, err
	}
	c := executor.Collected{Result: executor.Tree{
		Commit: name("commit", []string{e.Commit, string(e.Node), e.Step, fmt.Sprint(e.Attempt)}),
		Tree:   name("tree", []string{e.Base, string(e.Node)}),
	}, Files: 1}
	if w.Problems != nil {
		c.Problems = w.Problems(e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trees[c.Result.Commit] = c.Result.Tree
	return c, nil
}

// Publish implements executor.Workspace.
func (w *Workspace) Publish(_ context.Context, e executor.Effect) (executor.Published, error) {
	if err := w.note(e); err != nil {
		return executor.Published{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at[string(e.Node)] != e.Commit {
		w.Published[string(e.Node)]++
		w.at[string(e.Node)] = e.Commit
	}
	tree, collected := w.trees[e.Commit]
	if !collected { // before the last crash, or it is the merge of others
		tree = "tree-of-" + string(e.Node)
	}
	return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: tree}}, nil
}

// Open implements executor.Workspace.
func (w *Workspace) Open(_ context.Context, e executor.Effect) (string, error) {
	return w.Dir(e.Node), nil
}

// Close implements executor.Workspace.
func (w *Workspace) Close(context.Context, executor.Effect) (executor.Trace, error) {
	return executor.Trace{}, nil
}

// Land implements executor.Workspace.
func (w *Workspace) Land(_ context.Context, e executor.Effect) (executor.Landed, error) {
	return executor.Landed{Head: executor.Tree{Commit: e.Commit, Tree: "tree-of-head"}}, w.note(e)
}

// Pull implements executor.Workspace.
func (w *Workspace) Pull(_ context.Context, e executor.Effect, _ executor.PullText) (executor.Pulled, error) {
	return executor.Pulled{Pull: executor.Pull{Number: 1, URL: "https://forge.invalid/pull/1"}}, w.note(e)
}

// Poll implements executor.Workspace.
func (w *Workspace) Poll(_ context.Context, e executor.Effect) (executor.PullSeen, error) {
	return executor.PullSeen{State: "open"}, w.note(e)
}

// Diff implements executor.Workspace.
func (w *Workspace) Diff(_ context.Context, from, to string, out io.Writer) error {
	_, err := fmt.Fprintf(out, "diff %s %s\n", from, to)
	return err
}

// FileAt implements executor.Workspace: its commits have no files.
func (w *Workspace) FileAt(context.Context, string, string, int) ([]byte, bool, error) {
	return nil, false, nil
}

// Edited implements executor.Workspace.
func (w *Workspace) Edited(context.Context, ir.NodeID) (bool, error) { return false, nil }

// Runner is an agent in the process: Do says what it does.
type Runner struct {
	Do func(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error)
}

var _ executor.Runner = Runner{}

// Check implements executor.Runner.
func (Runner) Check(context.Context, executor.AgentRun) error { return nil }

// Run implements executor.Runner.
func (f Runner) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	if f.Do == nil {
		return Success(), nil
	}
	return f.Do(ctx, r)
}

// Success is what an agent reports that did its work.
func Success() executor.AgentEnded {
	return executor.AgentEnded{Outcome: executor.Outcome{Result: "success", Summary: "done"}, End: executor.EndExited}
}

// Gate is a gate in the process: Do says what it finds.
type Gate struct {
	Do func(ctx context.Context, r executor.GateRun) (executor.GateJudged, error)
}

var _ executor.Gate = Gate{}

// Judge implements executor.Gate.
func (g Gate) Judge(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
	if g.Do == nil {
		return Verdict(r.Name, executor.Pass), nil
	}
	return g.Do(ctx, r)
}

// Verdict is a verdict of a gate.
func Verdict(gate string, v executor.Verdict) executor.GateJudged {
	out := executor.GateJudged{Gate: gate, Verdict: v, Tests: "skip"}
	if v != executor.Pass {
		out.Message, out.Signature = gate+" says "+string(v), gate
	}
	return out
}
