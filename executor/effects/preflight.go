package effects

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Preflight tries each gate on its base, one after another, all gates of a base in one
// worktree, which is set up once and restored after each. It reports each verdict; an
// error says why not all were tried. A gate that must be green and was not tried has no
// verdict, which is reported, too: nothing starts then.
func Preflight(ctx context.Context, t *Tools, checks []executor.BaselineJudged, tell func(context.Context, executor.Body) error) error {
	left := checks
	told := func(ctx context.Context, b executor.Body) error {
		left = left[1:]
		return tell(ctx, b)
	}
	for len(left) > 0 {
		n := 1
		for n < len(left) && left[n].Base == left[0].Base {
			n++
		}
		err := onBase(ctx, t, left[:n], told)
		var bug *executor.Bug
		if err == nil {
			continue
		}
		if ctx.Err() != nil || errors.As(err, &bug) {
			return err
		}
		for _, check := range left {
			if !check.Green {
				continue
			}
			b := check
			b.Verdict, b.Message = executor.ErrorJudged, text.Head("it was not tried: "+err.Error(), executor.MaxNote)
			if err := tell(ctx, executor.Redacted(b, t.Redact)); err != nil {
				return err
			}
		}
		return err
	}
	return nil
}

// onBase tries gates on one base.
func onBase(ctx context.Context, t *Tools, checks []executor.BaselineJudged, tell func(context.Context, executor.Body) error) (err error) {
	if t.Room != nil {
		if err := t.Room(); err != nil {
			return err
		}
	}
	e := executor.Effect{Kind: executor.EffectGate, Node: executor.Integration, Step: executor.Preflight, Gate: "base", OfGate: executor.OfGate{Apart: true}, Commit: checks[0].Base.Commit}
	shut := func(stay bool) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		e := e
		e.Stay = stay
		_, err := t.Workspace.Close(ctx, e)
		return err
	}
	dir, err := t.Workspace.Open(ctx, e)
	defer func() { err = errors.Join(err, shut(false)) }()
	if err != nil {
		return err
	}
	for i, check := range checks {
		if i > 0 {
			if err := shut(true); err != nil {
				return err
			}
		}
		judged, err := tryGate(ctx, t, check, dir)
		if err != nil {
			return err
		}
		if err := tell(ctx, judged); err != nil {
			return err
		}
	}
	return nil
}

// tryGate lets one gate judge a base, as it would judge a sprint's work.
func tryGate(ctx context.Context, t *Tools, check executor.BaselineJudged, dir string) (executor.BaselineJudged, error) {
	out := check
	g := t.Epic.Gates[check.Gate]
	judge := t.Gates[g.Kind]
	if judge == nil {
		return out, &executor.Bug{What: fmt.Sprintf("gate %q of kind %q cannot be judged", check.Gate, g.Kind)}
	}
	files := filepath.Join("baseline", short(check.Base.Tree)+"-"+short(strings.TrimPrefix(check.Digest, "sha256:")))
	abs := filepath.Join(t.State, files)
	if err := t.plainFiles(abs); err != nil {
		return out, err
	}
	e := executor.Effect{Kind: executor.EffectGate, Step: executor.Preflight, Gate: check.Gate, Commit: check.Base.Commit}
	run := executor.GateRun{
		Node: &ir.Node{ID: executor.Preflight, Key: executor.Preflight}, Step: &ir.Step{Name: executor.Preflight}, Name: check.Gate, Gate: g, Digest: check.Digest,
		Effect: e, Epic: t.Epic.Epic.ID, Dir: dir, Files: abs, Env: t.env(), Secrets: t.Epic.SecretVars(g.Secrets), Redact: t.Redact, Activity: t.activity(&e),
	}
	if run.Activity != nil { // it begins
		run.Activity(executor.Activity{})
	}
	judged, err := t.judge(ctx, judge, run)
	if err != nil {
		return out, err
	}
	if err := t.plainFiles(abs); err != nil {
		return out, err
	}
	out.Verdict, out.Message, out.Millis, out.Counts, out.Sandbox = judged.Verdict, judged.Message, judged.Millis, judged.Counts, judged.Sandbox
	entries, _ := os.ReadDir(abs) // what cannot be read is not named
	for _, f := range entries {
		if ext := filepath.Ext(f.Name()); ext == ".log" || ext == ".out" {
			out.Log = filepath.ToSlash(filepath.Join(files, f.Name()))
		}
	}
	out.Bound()
	redacted, _ := executor.Redacted(out, t.Redact).(executor.BaselineJudged) // it is of the type of out
	return redacted, nil
}

// short is the beginning of an object's name or a digest.
func short(name string) string { return name[:min(len(name), 12)] }
