package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

func newMonitorCommand() *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use:   "monitor [DIR...]",
		Short: "Show the runs of repositories: what runs, what stalls, what waits for whom",
		Long: `Monitor shows every epic that was ever applied in the repositories named (this one, if
none is): whether a run is at work, its sprints by status, what runs and when it last
gave a sign of life, what has stalled, where a person wrote in an agent's session, and
what waits for whom, with the commands to type, in that repository.

It reads; it takes no lock, decides nothing, stops nothing. It may be called while
runs are at work.`,
		Example: `  ralph monitor
  ralph monitor ~/src/api ~/src/web --watch
  ralph monitor --json | jq '.repositories[].epics[] | select(.run.state == "at work")'`,
		Args: countArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && watch {
				return exit.Usagef("--json prints once; leave out --watch")
			}
			if len(args) == 0 {
				args = []string{"."}
			}
			m := &monitor{dirs: args, paint: term.For(cmd.OutOrStdout()), seen: map[string]*seenEpic{}}
			return m.show(background(cmd), cmd.OutOrStdout(), asJSON, watch)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&watch, "watch", false, "look again and again, until Ctrl-C: a terminal is drawn anew, elsewhere each change is a line")
	return cmd
}

// monitorTick is how often --watch looks.
const monitorTick = time.Second

// monitor looks at the runs of repositories.
type monitor struct {
	dirs  []string
	paint term.Style
	seen  map[string]*seenEpic // by directory of the run
}

// seenEpic is a run as it was last read: a journal that has not moved is not read
// again.
type seenEpic struct {
	mark string
	rec  *record.Record
}

// repository is one of those that are looked at.
type repository struct {
	dir     string
	epics   []*record.Record
	trouble []string // runs that cannot be read
}

func (m *monitor) show(ctx context.Context, out io.Writer, asJSON, watch bool) error {
	list, err := m.look(ctx)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return view.WriteJSON(out, monitorJSONOf(list))
	case !watch:
		var b strings.Builder
		m.write(&b, list)
		_, err := io.WriteString(out, b.String())
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	return m.watch(ctx, out, list)
}

// watch draws a terminal anew, or prints a line for each change.
func (m *monitor) watch(ctx context.Context, out io.Writer, list []repository) error {
	draw := m.changes(out)
	if term.IsTerminal(out) && os.Getenv("TERM") != "dumb" {
		block := term.NewBlock(out)
		draw = func(list []repository) {
			var b bytes.Buffer
			m.write(&b, list)
			block.Draw(nil, strings.Split(strings.TrimRight(b.String(), "\n"), "\n"))
		}
	}
	tick := time.NewTicker(monitorTick)
	defer tick.Stop()
	for {
		draw(list)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var err error
		if list, err = m.look(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// changes returns what prints a line for each sprint, and each run, that has come to
// stand elsewhere.
func (m *monitor) changes(out io.Writer) func([]repository) {
	was := map[string]string{}
	return func(list []repository) {
		var b strings.Builder
		now := time.Now().Format(time.TimeOnly)
		say := func(at, key, state, more string) {
			if before, known := was[at]; before == state && known {
				return
			}
			was[at] = state
			fmt.Fprintf(&b, "%s  %s: %s%s\n", now, reveal.Words(key), reveal.Words(state), reveal.Words(more))
		}
		for _, repo := range list {
			for _, r := range repo.epics {
				id := string(r.Epic.Epic.ID)
				say(repo.dir+id, repo.dir+" "+id, r.StateOfRun(), "; "+words.TallyOf(r.Run))
				for _, v := range r.Run.Views() {
					attempt, _, _ := strings.Cut(v.Doing, ":")
					state := strings.TrimSpace(words.Status(v) + " " + attempt)
					if _, known := was[repo.dir+id+string(v.ID)]; !known && (state == "pending" || state == "ready") {
						continue
					}
					more := ""
					if v.Reason != "" {
						more = ": " + words.First(v.Reason)
					}
					say(repo.dir+id+string(v.ID), id+" "+string(v.Key), state, more)
				}
			}
			for _, text := range repo.trouble {
				say(repo.dir+text, repo.dir, text, "")
			}
		}
		_, _ = io.WriteString(out, b.String())
	}
}

// look reads what is on record in each repository.
func (m *monitor) look(ctx context.Context) ([]repository, error) {
	var out []repository
	known := map[string]bool{}
	for _, dir := range m.dirs {
		at, err := workspace.StateDir(ctx, dir, "x")
		if err != nil {
			return nil, record.Refusal(err)
		}
		runs := filepath.Dir(at)
		if known[runs] {
			continue // two worktrees of one repository
		}
		known[runs] = true
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, exit.Inputf("%w", err)
		}
		repo := repository{dir: cmp.Or(project.GitRoot(abs), abs)}
		files, err := filepath.Glob(filepath.Join(escapeGlob(runs), "*", "epic.json"))
		if err != nil {
			return nil, exit.Inputf("%w", err)
		}
		slices.Sort(files)
		for _, file := range files {
			r, err := m.read(ctx, repo.dir, file)
			if err != nil {
				repo.trouble = append(repo.trouble, fmt.Sprintf("%s cannot be read: %v", file, err))
				continue
			}
			repo.epics = append(repo.epics, r)
		}
		slices.SortStableFunc(repo.epics, func(a, b *record.Record) int { return monitorRank(a) - monitorRank(b) })
		out = append(out, repo)
	}
	return out, nil
}

// read returns a run, from its journal only if that has moved.
func (m *monitor) read(ctx context.Context, dir, file string) (*record.Record, error) {
	state := filepath.Dir(file)
	mark := record.JournalMark(state)
	s := m.seen[state]
	if s == nil || s.mark != mark {
		rec, err := record.OpenIn(ctx, dir, file, nil)
		if err != nil {
			return nil, err
		}
		if own := filepath.Join(dir, "epic.json"); sameEpic(own, rec.Epic.Epic.ID) {
			rec.File = "epic.json" // what commands take in that directory without being told
		} else if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			rec.File = rel
		}
		rec.File = cmp.Or(record.IssueOf(state, rec.Epic), rec.File)
		s = &seenEpic{mark, rec}
		m.seen[state] = s
	}
	var err error
	s.rec.Now = time.Now()
	s.rec.Holder, s.rec.Held, err = journal.Holder(state)
	return s.rec, err
}

// sameEpic reports whether a file is the epic.json of an epic.
func sameEpic(file string, id ir.NodeID) bool {
	b, err := regular.ReadFile(file)
	if err != nil {
		return false
	}
	e, err := ir.Decode(b)
	return err == nil && e.Epic.ID == id
}

// monitorRank puts first what is at work, then what waits or failed, then the rest.
func monitorRank(r *record.Record) int {
	switch {
	case r.Held:
		return 0
	case r.Run.Overview().Open, r.Cut():
		return 1
	case record.ExitCode(r.Run, false) != exit.Done:
		return 2
	}
	return 3
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
