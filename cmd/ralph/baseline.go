package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// baseWords says what a gate found on a base; log is the place of its output.
func baseWords(b executor.BaselineJudged, log string) string {
	gates := "gate " + strings.Join(append([]string{b.Gate}, b.Also...), ", ")
	on := fmt.Sprintf("the base %.12s", b.Base.Commit)
	if b.Of != "" {
		on = fmt.Sprintf("the base %s (%.12s)", b.Of, b.Base.Commit)
	}
	took := brief(time.Duration(b.Millis) * time.Millisecond)
	if log != "" {
		log = "; its output: " + log
	}
	switch {
	case b.Verdict == executor.Pass:
		return fmt.Sprintf("%s: green on %s (%s)", gates, on, took)
	case !b.Red():
		return fmt.Sprintf("%s: no verdict on %s: %s", gates, on, first(b.Message))
	}
	return fmt.Sprintf("%s: red on %s before any work: %s%s", gates, on, first(b.Message), log)
}

// mendBase is what to do about a base that is red. It is pinned: a commit alone does
// not reach it.
func mendBase(applies string) string {
	return "mend it, commit, then: ralph apply" + applies + " --rebase (sprints that the new base does not hold run again)"
}

// logOf is the file that an event names below the epic's state, "" if it names none.
func logOf(state, name string) string {
	if name == "" || state == "" {
		return name
	}
	return filepath.Join(state, filepath.FromSlash(name))
}

// preflightLine is what an event of a preflight says to people while it is at work.
func (v *applyView) preflightLine(body executor.Body) string {
	say := func(colour term.Colour, mark, text string) string {
		return executor.Preflight + "  " + v.paint.Paint(colour, mark) + " " + reveal.Words(text)
	}
	switch b := body.(type) {
	case executor.PreflightStarted:
		return say(term.Plain, "·", fmt.Sprintf("trying %s on the base: %s", text.Count(len(b.Gates), "gate"), listOf(b.Gates)))
	case executor.BaselineJudged:
		text := baseWords(b, logOf(v.state, b.Log))
		switch {
		case b.Verdict == executor.Pass:
			return say(term.Good, "✓", text)
		case !b.Red():
			return say(term.Warn, "!", text)
		}
		if who := v.run.LetRed(b); who != "" {
			text += "; approved by " + who
		}
		return say(term.Bad, "✗", text+"\n"+strings.Repeat(" ", len(executor.Preflight)+4)+mendBase(v.applies))
	case executor.PreflightEnded:
		if b.Detail != "" {
			return say(term.Warn, "!", "not all gates were tried on the base: "+first(b.Detail))
		}
	}
	return ""
}

// baselineJSON is what is on record of a gate on a base, in `ralph plan --json`.
type baselineJSON struct {
	Gate     string           `json:"gate"`
	Also     []string         `json:"also,omitempty"` // gates with the same command
	Base     string           `json:"base"`
	Verdict  executor.Verdict `json:"verdict,omitempty"` // "" is not tried yet
	Message  string           `json:"message,omitempty"`
	Green    bool             `json:"green,omitempty"`    // nothing starts while it is red
	Approved string           `json:"approved,omitempty"` // who let it be red
	Held     bool             `json:"held,omitempty"`     // nothing starts because of it
}

func baselines(checks []executor.BaseCheck) []baselineJSON {
	var out []baselineJSON
	for _, c := range checks {
		j := baselineJSON{Gate: c.Gate, Also: c.Also, Base: c.Base.Commit, Green: c.Green, Approved: c.Approved, Held: c.Held()}
		if c.Known != nil {
			j.Verdict, j.Message = c.Known.Verdict, c.Known.Message
		}
		out = append(out, j)
	}
	return out
}

// held reports whether nothing would start because the base is red.
func (p planJSON) held() bool {
	return slices.ContainsFunc(p.Baseline, func(b baselineJSON) bool { return b.Held })
}

// writeBaseline says what gates found on the base before any work.
func (p planJSON) writeBaseline(b *strings.Builder, paint term.Style) {
	if len(p.Baseline) == 0 {
		return
	}
	wide := 0
	for _, x := range p.Baseline {
		wide = max(wide, min(columns.Of(reveal.Words(x.Gate)), 24))
	}
	fmt.Fprintf(b, "\ngates on the base, before any work:\n")
	for _, x := range p.Baseline {
		mark, ink, text := "·", term.Faint, "not tried yet"
		switch x.Verdict {
		case executor.Pass:
			mark, ink, text = "✓", term.Good, "green"
		case executor.Fail, executor.Stop:
			mark, ink, text = "✗", term.Bad, "red: "+first(x.Message)
		case executor.ErrorJudged:
			mark, ink, text = "!", term.Warn, "no verdict: "+first(x.Message)
		}
		if x.Approved != "" {
			text += "; approved by " + x.Approved
		}
		fmt.Fprintf(b, "%s  %s\n", paint.Paint(ink, mark+" "+padTo(reveal.Words(x.Gate), wide)), reveal.Words(text))
	}
}

// preflight tries the gates on the base alone: it holds the lock like a run, pins
// nothing and starts no agent.
func (a *planArgs) preflight(ctx context.Context, cmd *cobra.Command, file string, epic *ir.Epic, raw []byte) (err error) {
	if err := process.Supported(); err != nil {
		return inputErrorf("%w", err)
	}
	if err := refuse(epic); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	r, err := openRun(ctx, file, epic, raw, &applyArgs{only: a.only, rerun: a.rerun, rebase: a.rebase, trial: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	start, err := plannedStart(ctx, epic, r.space, r.run, a.only, a.rerun, a.rebase)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if a.json {
		out = cmd.ErrOrStderr()
	}
	view := newApplyView(out, cmd.ErrOrStderr(), epic, r.run, false)
	defer view.finish()
	view.state, view.applies = r.space.State(), applies(file)
	_, err = r.tryBases(ctx, start, view.activity, view.events)
	return err
}

// tryBases makes a preflight of a run that has not begun, and reports whether there was
// anything to try. An interrupt is an error.
func (r *openedRun) tryBases(ctx context.Context, start executor.RunStarted, activity func(executor.Effect, executor.Activity), observe func([]executor.Event)) (tried bool, err error) {
	planned, err := replay(ctx, r.log, r.epic) // another machine: to plan is to use it up
	if err != nil {
		return false, inputErrorf("%w", err)
	}
	if _, err := planned.Plan(start, time.Now()); err != nil {
		return false, &exitError{exitBug, err}
	}
	checks := slices.DeleteFunc(planned.BaseChecks(), func(c executor.BaseCheck) bool { return c.Known != nil && c.Known.Verdict == executor.Pass })
	if len(checks) == 0 {
		return false, nil
	}
	put := func(ctx context.Context, body executor.Body) error {
		e := executor.Event{Seq: r.run.Seq() + 1, At: time.Now().UTC().Truncate(time.Millisecond), Body: body}
		if err := r.run.Apply(e); err != nil {
			return &exitError{exitBug, err}
		}
		if err := r.log.Append(context.WithoutCancel(ctx), []executor.Event{e}); err != nil {
			return inputErrorf("%w", err)
		}
		observe([]executor.Event{e})
		return nil
	}
	watch, cut := r.space.Watch(r.crew.redact.String), r.run.Cut()
	sighted := func(list []executor.Sighting, again bool) error {
		for _, s := range list {
			if body := r.run.Sighted(s, again); body != nil {
				if err := put(ctx, executor.Redacted(body, r.crew.redact.String)); err != nil {
					return err
				}
			}
		}
		return watch.Keep(list)
	}
	if err := sighted(watch.Start(r.run.OpenTampers(), cut, r.run.AtWork(), r.run.Pins()), cut); err != nil {
		return true, err
	}
	if err := put(ctx, local.Trying(checks)); err != nil {
		return true, err
	}
	var end executor.PreflightEnded
	gates := executor.Effect{Kind: executor.EffectGate, Step: executor.Preflight}
	seen := watch.Begin(gates)
	failed := local.Preflight(ctx, local.Config{
		Epic: r.epic, Workspace: r.space, State: r.space.State(), Gates: r.crew.gates(r.epic), Redact: r.crew.redact.String, Room: r.space.Room,
		Activity: activity, Env: trackerEnv(r.epic, false),
	}, checks, put)
	if failed != nil {
		end.Detail = text.Head(r.crew.redact.String(failed.Error()), executor.MaxNote)
	}
	if ctx.Err() != nil {
		end.Detail = "interrupted"
	}
	seen = slices.Concat(seen, watch.End(gates), watch.Finish())
	if err := errors.Join(put(ctx, end), sighted(seen, false)); err != nil {
		return true, err
	}
	if ctx.Err() != nil {
		return true, &exitError{code: exitInterrupted}
	}
	return true, nil
}

// toNewBase moves the pinned bases to where the run is to start, once nothing holds it
// there: else all stays as it is, and what is done is done.
func (r *openedRun) toNewBase(ctx context.Context, a *applyArgs, start *executor.RunStarted, view watcher, observe func([]executor.Event)) (err error) {
	if !a.blind {
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		start.Tried, err = r.tryBases(ctx, *start, view.activity, observe)
		view.finish()
		if err != nil {
			return err
		}
		if why := r.run.BaseHeld(); start.Tried && why != "" {
			noteTo(view)("nothing started, and the base stays at %.12s: %s\n  %s\n    and then: ralph apply%s --rebase; or %s", r.run.Base().Commit, first(why),
				resumeCommand(executor.ForBase, "")+r.about, applies(r.file), mendBase(applies(r.file)))
			code := exitWaiting
			if exitOf(r.run, false) == exitNotDone { // something is blocked besides
				code = exitNotDone
			}
			return &exitError{code: code}
		}
	}
	if err := r.space.Rebase(context.WithoutCancel(ctx), r.base, r.bases); err != nil {
		return refusal(err)
	}
	return nil
}
