package web

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/ir"
)

const (
	mostPatch   = 2 << 20  // bytes of a diff in an answer
	mostPatches = 32 << 20 // bytes of all diffs that are kept
)

// sprintDiff is what a sprint changed.
func (s *Server) sprintDiff(ctx context.Context, l *live, r *http.Request) (Diff, error) {
	var command string
	d, err := s.diff(ctx, l, func() (record.Change, error) {
		v, is := l.byKey(ir.Key(r.PathValue("key")))
		if !is {
			return record.Change{}, unknown("there is no sprint %s in this epic", r.PathValue("key"))
		}
		command = words.ShowCommand(v.Key, "--diff", l.rec.About())
		return record.ChangeIn(l.rec.Record, v), nil
	}, r.URL.Query().Get("path"))
	if d.Truncated {
		d.Command = command
	}
	return d, err
}

// attemptDiff is what an attempt changed, or how it differs from another one of its step.
func (s *Server) attemptDiff(ctx context.Context, l *live, r *http.Request) (Diff, error) {
	d, err := s.diff(ctx, l, func() (record.Change, error) {
		v, a, err := l.attempt(r)
		if err != nil {
			return record.Change{}, err
		}
		c := record.AttemptChangeIn(l.rec.Record, v, a)
		return c, against(&c, v, a, r.URL.Query().Get("against"))
	}, r.URL.Query().Get("path"))
	if d.Truncated { // ralph show has only that of the sprint
		d.Command = fmt.Sprintf("git diff %.12s %.12s", cmp.Or(d.From.Commit, d.From.Tree), cmp.Or(d.To.Commit, d.To.Tree))
	}
	return d, err
}

// against makes a change of an attempt one against what is named.
func against(c *record.Change, v machine.NodeView, a machine.AttemptLog, what string) error {
	switch what {
	case "":
		return nil
	case "start":
		c.Since(a)
		return nil
	}
	number, err := strconv.Atoi(what)
	if err != nil || number < 1 || number == a.Number {
		return invalid("against is start, or the number of another attempt of the step, not %q", what)
	}
	i := v.AttemptIndex(a.Step, number)
	if i < 0 {
		return unknown("%s has no attempt %s #%d", v.Key, a.Step, number)
	}
	if err := c.Against(v.Attempts[i]); err != nil {
		return unknown("%v: there is nothing to compare", err)
	}
	return nil
}

// diff answers with a change that of, which runs under the epic's mutex, finds; git does not.
// With path it is that of one file.
func (s *Server) diff(ctx context.Context, l *live, of func() (record.Change, error), path string) (out Diff, err error) {
	l.mu.Lock()
	change, err := of()
	hide, digest, space := l.agents().Redact, l.rec.Epic.Digest, l.rec.Space
	l.mu.Unlock()
	if err != nil {
		return out, err
	}
	defer space.Trees.Release() // the epic may have another one by then
	leave, err := s.git(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	if err := change.Ends(ctx); err != nil {
		return out, err
	}
	at := l.id + " " + digest + " " + change.From.ID() + " " + change.To.ID() + " " + path
	p, known := s.patches.get(at)
	if !known {
		if p, err = patchOf(ctx, &change, hide, path); err != nil {
			return out, gone(&change, err)
		}
		if change.To.ID() != "" {
			s.patches.put(at, p)
		}
	}
	out = Diff{ChangeJSON: change.ChangeJSON, Patch: p.text, Truncated: p.cut}
	out.Files = orEmpty(p.files)
	out.Gates = orEmpty(out.Gates)
	return out, nil
}

// gone says which end of a change is not there any more, if that is what went wrong.
func gone(c *record.Change, err error) error {
	lost, is := errors.AsType[*workspace.Gone](err)
	if !is {
		return err
	}
	end := c.To
	if lost.ID == c.From.ID() {
		end = c.From
	}
	return &refusal{http.StatusGone, Fault{
		Error: fmt.Sprintf("the commit %.12s is not in the repository any more: there is nothing to compare", cmp.Or(end.Commit, end.Tree)),
		Hint:  "no ref has kept it, and git has cleared it away; the verdicts on it are in the journal", Reason: "unknown",
	}}
}

// git takes one of the places for git.
func (s *Server) git(ctx context.Context) (leave func(), err error) { return enter(ctx, s.diffs) }

// patch is a diff as text, without secrets.
type patch struct {
	files []executor.FileChange
	text  string
	cut   bool // it is longer
}

func patchOf(ctx context.Context, c *record.Change, hide *redact.Redactor, path string) (p patch, err error) {
	two, err := c.Compare(ctx, hide.String)
	if err != nil || two == nil {
		return p, err
	}
	defer func() { err = errors.Join(err, two.Close()) }()
	p.files = c.Files
	var only []executor.FileChange
	if path != "" {
		files, err := two.Files(ctx)
		if err != nil {
			return p, err
		}
		k := slices.IndexFunc(p.files, func(f executor.FileChange) bool { return f.Path == path })
		if k < 0 {
			return p, unknown("%s is not in this change", path)
		}
		p.files, only = p.files[k:k+1], files[k:k+1]
	}
	p.text, p.cut, err = textOf(ctx, two, hide, only)
	return p, err
}

// textOf is a comparison as a unified diff: its first lines, if it is long.
func textOf(ctx context.Context, two *workspace.Comparison, hide *redact.Redactor, only []executor.FileChange) (text string, cut bool, err error) {
	out := &bounded{most: mostPatch}
	filter := hide.Filter(out)
	err = two.Diff(ctx, filter, only...)
	if !out.full {
		err = errors.Join(err, filter.Close())
	}
	if !out.full {
		return string(out.b), false, err
	}
	if ctx.Err() != nil {
		return "", false, ctx.Err()
	}
	b := out.b[:bytes.LastIndexByte(out.b, '\n')+1]
	if len(b) == 0 {
		b = out.b[:wholeRunes(out.b)]
	}
	return string(b), true, nil
}

// bounded keeps what is written to it, up to most bytes. More is an error, which ends the
// program that writes.
type bounded struct {
	b    []byte
	most int
	full bool
}

var errFull = errors.New("it is long enough")

func (w *bounded) Write(b []byte) (int, error) {
	n := min(len(b), w.most-len(w.b))
	w.b = append(w.b, b[:n]...)
	if n < len(b) {
		w.full = true
		return n, errFull
	}
	return n, nil
}

// patches are the diffs that were asked for last, by what they compare.
type patches struct {
	mu    sync.Mutex
	bytes int
	order list.List // of *keptPatch, that of the last question first
	by    map[string]*list.Element
}

type keptPatch struct {
	at   string
	size int
	patch
}

func (k *patches) get(at string) (patch, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.by[at]
	if e == nil {
		return patch{}, false
	}
	k.order.MoveToFront(e)
	kept, _ := e.Value.(*keptPatch)
	return kept.patch, true
}

func (k *patches) put(at string, p patch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by == nil {
		k.by = map[string]*list.Element{}
	}
	if k.by[at] != nil {
		return // somebody else has asked, too
	}
	kept := &keptPatch{at: at, size: len(at) + len(p.text), patch: p}
	for _, f := range p.files {
		kept.size += len(f.Path) + len(f.From) + 64
	}
	k.bytes += kept.size
	k.by[at] = k.order.PushFront(kept)
	for k.bytes > mostPatches {
		last := k.order.Back()
		old, _ := k.order.Remove(last).(*keptPatch)
		delete(k.by, old.at)
		k.bytes -= old.size
	}
}
