package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// recoverArgs are the flags of recover.
type recoverArgs struct {
	out   string
	force bool
	json  bool
}

func newRecoverCommand() *cobra.Command {
	a := &recoverArgs{}
	cmd := &cobra.Command{
		Use:   "recover EPIC-ID|ISSUE",
		Short: "Go on with a run whose journal is lost, from the beads and the branches",
		Long: `Recover rebuilds what a run needs where its journal is not: in a new clone, on another
machine, after the state directory was lost. It reads the epic and what is kept of
each sprint from the beads database (bd), finds the commits on local and
remote-tracking branches, makes ralph's refs and a new journal, and writes epic.json
if there is none. ralph apply then goes on: what is done does not run again, attempts
keep their numbers, limits count on.

A result counts only if its commit is on a branch, says by its trailers whose it is,
and holds the very files that the bead says. Commits that nobody is known to have
judged are judged when their sprint comes to them. Fetch all branches first.

Recover changes no bead and no branch that is there. It refuses where a journal of the
epic knows something already; with --force that is set aside and kept.`,
		Example: `  git fetch --all && ralph recover bd-epic7x2m
  ralph recover bd-epic7x2m -o work/epic.json
  ralph recover bd-epic7x2m --json
  ralph recover shop-a3f            the run of an issue that ralph worker had taken`,
		Args: countArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runRecover(cmd, a, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&a.out, "out", "o", "epic.json", "where epic.json is written, if it is not there")
	f.BoolVar(&a.force, "force", false, "set a journal that is here aside (it is kept beside the new one)")
	f.BoolVar(&a.json, "json", false, "print JSON")
	return cmd
}

func runRecover(cmd *cobra.Command, a *recoverArgs, id string) (err error) {
	ctx := background(cmd)
	known, err := recall(ctx, ir.NodeID(id))
	if err != nil {
		return err
	}
	r := &recovery{known: known}
	if r.epic, r.raw, err = epicOf(known); err != nil {
		return err
	}
	if r.space, err = workspace.Open(ctx, ".", r.epic); err != nil {
		return refusal(err)
	}
	state := r.space.State()
	if known.Issue { // its epic is nobody's file
		r.file, r.there = filepath.Join(state, "epic.json"), true
	} else if r.file, r.there, err = recoverTarget(a.out, r.epic); err != nil {
		return err
	}
	taken, err := r.space.Clashes(func(*ir.Node) bool { return false }, true) // what is there may be the epic's
	ofOthers := slices.DeleteFunc(taken, func(c workspace.Clash) bool { return c.Epic == "" })
	if err = errors.Join(err, namesTaken(ofOthers)); err != nil {
		return err
	}
	if err := regular.MkdirOwn(state); err != nil {
		return inputErrorf("%w", err)
	}
	lock, err := acquire(ctx, state)
	if err != nil {
		return inputErrorf("%w\n  A run that is at work needs no recovery.", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := makeRoom(ctx, state, r.epic.Epic.ID, a.force); err != nil {
		return err
	}
	if err := r.find(ctx); err != nil {
		return refusal(err)
	}
	if err := r.write(ctx, state); err != nil {
		return err
	}
	if a.json {
		return writeJSON(cmd.OutOrStdout(), r.asJSON())
	}
	return r.print(cmd.OutOrStdout())
}

// recall reads an epic back from the beads database of this directory.
func recall(ctx context.Context, id ir.NodeID) (*bd.Recalled, error) {
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return nil, inputErrorf("%w", err)
	}
	known, err := c.Recall(ctx, id)
	if err != nil {
		return nil, inputErrorf("%w", err)
	}
	return known, nil
}

// epicOf is the epic that a beads database keeps. One that was too long to be kept
// whole is compiled again: the plan and the policy must still be those of then.
func epicOf(known *bd.Recalled) (*ir.Epic, []byte, error) {
	if known.Epic != nil {
		return known.Epic, known.JSON, verify(known.Epic, "what bead "+known.Bead.ID+" keeps")
	}
	if b, err := readFile("epic.json"); err == nil {
		if epic, err := ir.Decode(b); err == nil && epic.Digest == known.Digest {
			return epic, b, verify(epic, "epic.json")
		}
	}
	again := "was too long to be kept in its bead, and "
	if known.Plan == "" {
		return nil, nil, inputErrorf("the epic %s%sno bead says from which plan it was compiled", known.Bead.ID+" ", again)
	}
	p, err := openProject("epic.json")
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	plan := filepath.Join(p.dir, filepath.FromSlash(known.Plan))
	if !filepath.IsLocal(filepath.FromSlash(known.Plan)) {
		return nil, nil, inputErrorf("its beads say that the plan is %s, which lies outside of %s", known.Plan, p.dir)
	}
	a := &compileArgs{plans: []string{plan}, format: formatText}
	c, err := a.compile(strings.NewReader(""))
	if c != nil && c.project != nil {
		defer c.project.Close()
	}
	if err != nil {
		return nil, nil, inputErrorf("the epic %s %sit cannot be compiled again from %s: %w", known.Bead.ID, again, known.Plan, err)
	}
	if c.Diags.HasErrors() || len(c.Results) != 1 {
		return nil, nil, inputErrorf("the epic %s %sit cannot be compiled again from %s:\n%s", known.Bead.ID, again, known.Plan, c.sources.words(c.Diags))
	}
	raw := c.Results[0].JSON
	epic, err := ir.Decode(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("decode what %s was compiled to: %w", known.Plan, err)
	}
	if epic.Digest != known.Digest {
		return nil, nil, inputErrorf("the epic %s %s%s compiles to another one now (%.19s, not %.19s): check out the commit at which it was pushed, with its policy, and give the same flags (--var, --policy) by writing them there",
			known.Bead.ID, again, known.Plan, epic.Digest, known.Digest)
	}
	return epic, raw, nil
}

// recoverTarget is where epic.json belongs, and whether it is there. Another epic is
// never replaced; another version of this one stays, and the next apply takes it.
func recoverTarget(out string, epic *ir.Epic) (file string, there bool, err error) {
	if err := confined(out); err != nil {
		return "", false, err
	}
	b, err := regular.ReadFile(out)
	if errors.Is(err, fs.ErrNotExist) {
		return out, false, nil
	}
	if err != nil {
		return "", false, inputErrorf("%w", err)
	}
	old, err := ir.Decode(b)
	if err != nil || old.Epic.ID != epic.Epic.ID {
		return "", false, inputErrorf("%s is there and is not the epic %s, so it is not replaced: name another file with -o", out, epic.Epic.ID)
	}
	return out, true, nil
}

// makeRoom refuses where a journal knows something, or sets it aside.
func makeRoom(ctx context.Context, state string, id ir.NodeID, force bool) error {
	log, err := journal.Read(state, id)
	if errors.Is(err, journal.ErrNone) {
		return nil
	}
	var events int
	var last time.Time
	if err == nil {
		for e, read := range log.Events(ctx) {
			if err = read; err != nil {
				break
			}
			events++
			last = e.At
		}
		err = errors.Join(err, log.Close())
	}
	path := filepath.Join(state, journal.File)
	switch {
	case err == nil && events == 0:
	case err == nil && !force:
		return inputErrorf("there is a journal of this epic here (%s, the last of %s): nothing is lost, ralph apply goes on with it.\n  What it knows: ralph status. To set it aside and recover from the beads all the same: ralph recover %s --force",
			text.Count(events, "event"), last.Local().Format(time.DateTime), id)
	case err != nil && !force:
		return inputErrorf("there is a journal of this epic here, which cannot be read: %w\n  To set it aside and recover from the beads: ralph recover %s --force", err, id)
	}
	aside := path + ".lost-" + time.Now().UTC().Format("20060102T150405")
	for _, end := range []string{"", "-wal", "-shm"} { // SQLite finds its log by the name of the file
		if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return inputErrorf("%w", err)
		}
	}
	return nil
}

// write makes the refs, epic.json and the journal, in this order: recover can be
// started again after any crash, until the journal is there.
func (r *recovery) write(ctx context.Context, state string) (err error) {
	if r.refs, err = r.space.Repin(ctx, r.pins); err != nil {
		return inputErrorf("%w", err)
	}
	if err := r.look(ctx); err != nil {
		return inputErrorf("%w", err)
	}
	if r.run, err = executor.New(r.epic); err != nil {
		return err
	}
	for _, e := range r.events() {
		if err := r.run.Apply(e); err != nil {
			return fmt.Errorf("what the beads keep does not fit: %w", err)
		}
	}
	if !r.there {
		if dir := filepath.Dir(r.file); !isDir(dir) {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return inputErrorf("%w", err)
			}
		}
		if err := atomicfile.Write(r.file, r.raw, 0o644); err != nil {
			return inputErrorf("%w", err)
		}
	}
	if err := atomicfile.WriteOwn(filepath.Join(state, "epic.json"), r.raw, 0o600); err != nil {
		return inputErrorf("%w", err)
	}
	events := r.events()
	if len(events) == 0 {
		return nil
	}
	log, err := journal.Open(state, r.epic.Epic.ID)
	if err != nil {
		return inputErrorf("%w", err)
	}
	for _, err := range log.Events(ctx) { // there are none: to be read before the first Append
		if err != nil {
			return errors.Join(inputErrorf("%w", err), log.Close())
		}
	}
	if err := errors.Join(log.Append(ctx, events), log.Close()); err != nil {
		return inputErrorf("%w", err)
	}
	return nil
}

// print says what is done, what is open and why, and what to type.
func (r *recovery) print(out io.Writer) error {
	var b strings.Builder
	paint := term.For(out)
	fmt.Fprintf(&b, "%s  %s\n", paint.Paint(term.Bold, reveal.Words(r.epic.Epic.Title)), reveal.Words(string(r.epic.Epic.ID)))
	wrote := "is there and stays"
	if !r.there {
		wrote = "written"
	}
	fmt.Fprintf(&b, "%s %s", reveal.Words(filepath.ToSlash(r.file)), wrote)
	if r.base.Commit != "" {
		fmt.Fprintf(&b, "; base %.12s; %s made", r.base.Commit, text.Count(r.refs, "ref"))
	}
	b.WriteString("\n\n")
	g := &grid{paint: paint}
	g.row(term.Faint, "sprint", "status", "attempts", "commit", "title")
	for _, n := range r.nodes {
		ink := colourOf(executor.Pending)
		if n.Status == executor.Done.String() {
			ink = colourOf(executor.Done)
		} else if n.Status == executor.Blocked.String() {
			ink = colourOf(executor.Blocked)
		}
		tries := ""
		if n.Attempts > 0 {
			tries = fmt.Sprint(n.Attempts)
		}
		g.row(ink, string(n.Key), n.Status, tries, fmt.Sprintf("%.12s", n.Commit), n.Title)
	}
	g.write(&b)
	first := true
	for _, n := range r.nodes {
		for _, why := range n.Notes {
			if first {
				b.WriteString("\nNot taken over, or otherwise than it was:\n")
				first = false
			}
			fmt.Fprintf(&b, "  %s  %s\n", reveal.Words(string(n.Key)), reveal.Words(why))
		}
	}
	for _, w := range r.warnings {
		fmt.Fprintf(&b, "%s %s\n", paint.Paint(term.Warn, "warning:"), reveal.Words(w))
	}
	if r.known.Run == nil {
		b.WriteString("\nThe beads know of no run: nothing had to be recovered.\n")
	}
	if r.known.Issue {
		b.WriteString(r.issueGoesOn())
	} else {
		fmt.Fprintf(&b, "\nWhat apply would do now: ralph plan%s\nTo go on:                ralph apply%s\n", applies(r.file), applies(r.file))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// issueGoesOn says how a worker goes on with an issue. The claim is not recovered: the
// worker that has it may be alive elsewhere, which only people know.
func (r *recovery) issueGoesOn() string {
	id := quoteArg(r.known.Bead.ID)
	switch r.known.Bead.Status {
	case "closed":
		return "\nThe issue is closed: nothing is left to do.\n"
	case "open":
		return "\nTo go on: ralph worker --issue " + id + "\n"
	}
	return fmt.Sprintf("\nTo go on, when no worker elsewhere has it: bd update %s --status open && ralph worker --issue %s\n", id, id)
}
