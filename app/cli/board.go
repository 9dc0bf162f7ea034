package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/term"
)

// desk reads the epics of repositories, and decides about them.
type desk struct {
	paint term.Style
	repos []record.Repository

	mu      sync.Mutex // guards what follows
	open    map[string]*onDesk
	trouble map[string]string // by the file that cannot be read
}

// onDesk is an epic that is followed.
type onDesk struct {
	dir  string // of its repository
	rec  *record.Followed
	made view.BoardEpic
}

// newDesk finds the repositories of directories.
func newDesk(ctx context.Context, dirs []string, paint term.Style) (*desk, error) {
	d := &desk{paint: paint, open: map[string]*onDesk{}, trouble: map[string]string{}}
	for _, dir := range dirs {
		r, err := record.RepositoryOf(ctx, dir)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(d.repos, func(other record.Repository) bool { return other.Git == r.Git }) { // else two worktrees of one
			d.repos = append(d.repos, r)
		}
	}
	return d, nil
}

// close ends the reading.
func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.open {
		_ = e.rec.Close() // nothing was written
	}
}

// look brings everything up to date.
func (d *desk) look(ctx context.Context) (view.Board, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := view.Board{Now: time.Now()}
	d.trouble = map[string]string{}
	for i := range d.repos {
		repo := &d.repos[i]
		if err := repo.List(); err != nil {
			return out, err
		}
		for _, file := range repo.Files {
			e, err := d.follow(ctx, repo, file)
			if err != nil {
				d.trouble[file] = fmt.Sprintf("%s cannot be read: %v", file, err)
			}
			if e != nil {
				out.Epics = append(out.Epics, e.made)
			}
		}
	}
	view.SortBoard(out.Epics)
	out.Trouble = slices.Sorted(maps.Values(d.trouble))
	return out, ctx.Err()
}

// follow brings an epic up to date, or opens it. After an error it is as it was.
func (d *desk) follow(ctx context.Context, repo *record.Repository, file string) (*onDesk, error) {
	id := repo.Git + "\n" + file
	e := d.open[id]
	if e == nil {
		rec, err := record.Follow(ctx, repo.Dir, file)
		if err != nil {
			return nil, err
		}
		e = &onDesk{repo.Dir, rec, view.BoardEpicOf(id, repo.Dir, rec.Record)}
		d.open[id] = e
		return e, nil
	}
	fresh, err := e.rec.Look(ctx)
	if err != nil {
		return e, err
	}
	if fresh.Any() || e.made.AtWork { // who is at work may be silent
		e.made = view.BoardEpicOf(id, e.dir, e.rec.Record)
	}
	return e, nil
}

// epic is the one that a spot names.
func (d *desk) epic(at view.Spot) (*onDesk, error) {
	if e := d.open[at.Epic]; e != nil {
		return e, nil
	}
	return nil, exit.Inputf("this epic is gone")
}

// page is everything about a row.
func (d *desk) page(_ context.Context, at view.Spot) (view.BoardPage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, err := d.epic(at)
	if err != nil {
		return view.BoardPage{}, err
	}
	return view.BoardPageOf(e.rec.Record, at)
}

// mostOfDiff bounds a diff on the screen, in bytes.
const mostOfDiff = 4 << 20

// diff is what a sprint changed.
func (d *desk) diff(ctx context.Context, at view.Spot) (out view.BoardDiff, err error) {
	if out.Page, err = d.page(ctx, at); err != nil {
		return out, err
	}
	d.mu.Lock()
	e := d.open[at.Epic]
	r := *e.rec.Record
	v, err := viewOf(&r, string(at.Key))
	change := record.ChangeIn(&r, v)
	d.mu.Unlock()
	if err != nil {
		return out, err
	}
	hide, _ := redact.New(record.SecretValues(r.Epic, os.Environ()))
	if err := change.Ends(ctx); err != nil {
		return out, err
	}
	two, err := change.Compare(ctx, hide.String)
	if err != nil {
		return out, err
	}
	var b bytes.Buffer
	b.WriteString(view.ChangeHead(change.ChangeJSON, v))
	if two != nil {
		defer func() { err = errors.Join(err, two.Close()) }()
		to := &record.Bounded{Most: mostOfDiff}
		if err := view.Diff(ctx, two, hide, d.paint, to, nil); err != nil && !to.Full {
			return out, err
		}
		b.Write(to.Bytes())
		if to.Full {
			fmt.Fprintf(&b, "\n… (it is longer: %s)\n", words.ShowCommand(at.Key, "--diff", r.About()))
		}
	}
	out.Text = b.String()
	return out, nil
}

// tail writes a sprint's log until that ends.
func (d *desk) tail(ctx context.Context, at view.Spot, out io.Writer) error {
	d.mu.Lock()
	e, err := d.epic(at)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	r, err := record.OpenIn(ctx, e.dir, e.rec.Named(), nil)
	if err != nil {
		return err
	}
	l := &view.Log{R: r, Out: out, Lines: 200, Seen: map[string]int64{}}
	if l.Node, err = record.Find(r.Epic, string(at.Key)); err != nil {
		return err
	}
	return l.Follow(ctx)
}

// decide takes a decision by the door of the commands.
func (d *desk) decide(ctx context.Context, at view.Spot, what executor.Decision, budget string) (string, error) {
	if err := tooLong(what.Message); err != nil {
		return "", err
	}
	d.mu.Lock()
	e, err := d.epic(at)
	var name string
	if err == nil {
		name = e.rec.File
	}
	d.mu.Unlock()
	if err != nil {
		return "", err
	}
	if budget != "" {
		if what.Budget, err = run.ParseBudget(budget); err != nil {
			return "", err
		}
	}
	what.ID, what.User, what.At = run.NewID(), project.UserName(), executor.Millis(time.Now())
	said, err := run.DecideIn(ctx, e.dir, e.rec.Named(), name, string(at.Key), what)
	if err != nil {
		return "", err
	}
	return said.Printed(), nil
}
