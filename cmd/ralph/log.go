package main

import (
	"bytes"
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

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

func newLogCommand() *cobra.Command {
	var epic epicFlag
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use:   "log [KEY]",
		Short: "Tell what happened to a sprint, and where its output is",
		Long: `Log prints the events of a sprint in words, oldest first, and then the files that its
attempts left: prompts, output of agents, logs of gates. Without a key it prints the
events of the whole run. The key integration is the branch that joins all results.

--follow stays, prints what happens and what the agent and the gates write; it ends
when the sprint does, or with Ctrl-C.`,
		Example: `  ralph log 1.2a
  ralph log 1.2a --follow
  ralph log integration
  ralph log --json | jq .            one JSON object per event`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := epic.path()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(background(cmd), os.Interrupt)
			defer stop()
			r, err := openRecord(ctx, file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			l := &eventLog{r: r, out: cmd.OutOrStdout(), json: asJSON, seen: map[string]int64{}}
			if len(args) > 0 {
				if l.node, err = find(r.epic, args[0]); err != nil {
					return err
				}
			}
			if follow {
				return l.follow(ctx)
			}
			return l.all()
		},
	}
	epic.add(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "stay and print what happens")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object per event")
	return cmd
}

// eventLog prints the events of one node, or of all.
type eventLog struct {
	r    *record
	out  io.Writer
	node ir.NodeID // "" is all
	json bool
	last int64            // event printed
	day  string           // that was printed last
	seen map[string]int64 // by file: how much of it was printed
	dir  string           // files of the present attempt
}

func (l *eventLog) all() error {
	if err := l.print(l.r.events); err != nil {
		return err
	}
	if l.last == 0 && !l.json {
		fmt.Fprintln(l.out, "nothing has happened yet")
	}
	if l.node == "" || l.json {
		return nil
	}
	return l.files()
}

func (l *eventLog) print(events []executor.Event) error {
	var b bytes.Buffer
	for _, e := range events {
		if e.Seq <= l.last {
			continue
		}
		if l.node != "" && e.Node != l.node {
			continue
		}
		l.last = e.Seq
		if b, ok := e.Body.(executor.EffectStarted); ok && !l.json && quiet(b) {
			continue
		}
		if e.Step != "" {
			l.dir = local.Files(l.r.space.State(), e.Node, e.Step, e.Attempt)
		}
		if l.json {
			line, err := e.MarshalJSON()
			if err != nil {
				return err
			}
			b.Write(append(line, '\n'))
			continue
		}
		if day := e.At.Local().Format(time.DateOnly); day != l.day {
			l.day = day
			fmt.Fprintf(&b, "%s\n", day)
		}
		who := ""
		if l.node == "" && e.Node != "" {
			who = l.key(e.Node) + "  "
		}
		fmt.Fprintf(&b, "%s  %s\n", e.At.Local().Format(time.TimeOnly), term.Clean(who+eventWords(e, l.key)))
	}
	_, err := l.out.Write(b.Bytes())
	return err
}

// quiet are beginnings whose end says it all.
func quiet(b executor.EffectStarted) bool {
	switch b.Kind {
	case executor.EffectAgent, executor.EffectGate, executor.EffectRed, executor.EffectDiagnose:
		return false
	}
	return !b.Redo
}

func (l *eventLog) key(id ir.NodeID) string { return string(l.r.node(id).Key) }

// files lists what the attempts of the node left.
func (l *eventLog) files() error {
	v, ok := l.r.run.View(l.node)
	if !ok || len(v.Attempts) == 0 {
		return nil
	}
	var b strings.Builder
	for _, a := range v.Attempts {
		dir := local.Files(l.r.space.State(), l.node, a.Step, a.Number)
		fmt.Fprintf(&b, "\n%s #%d (%s): %s\n", a.Step, a.Number, a.Status, dir)
		for _, f := range attemptFiles(dir) {
			fmt.Fprintf(&b, "  %9s  %s\n", size(f.size), f.name)
		}
	}
	_, err := io.WriteString(l.out, term.Clean(b.String()))
	return err
}

type attemptFile struct {
	name string
	size int64
}

// attemptFiles lists the files of an attempt, by name.
func attemptFiles(dir string) []attemptFile {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []attemptFile
	for _, f := range list {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() {
			out = append(out, attemptFile{f.Name(), info.Size()})
		}
	}
	return out
}

func size(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// follow prints what is there, and then what comes, until the node is settled
// and no run is at work.
func (l *eventLog) follow(ctx context.Context) error {
	if err := l.print(l.r.events); err != nil {
		return err
	}
	l.skipOutput()
	state := l.r.space.State()
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	mark := journalMark(state)
	for {
		_, held, err := journal.Holder(state)
		if err != nil {
			return inputErrorf("%w", err)
		}
		if now := journalMark(state); now != mark || !held {
			mark = now
			events, err := readEvents(ctx, state, l.r.epic.Epic.ID)
			if err != nil && ctx.Err() == nil {
				return inputErrorf("%w", err)
			}
			if err := l.print(events); err != nil {
				return err
			}
			if l.ended(events) {
				return nil
			}
		}
		if err := l.output(); err != nil {
			return err
		}
		if !held {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// ended reports whether nothing more will happen to the node.
func (l *eventLog) ended(events []executor.Event) bool {
	if l.node == "" {
		return false
	}
	for _, e := range slices.Backward(events) {
		if e.Node == l.node {
			switch e.Body.(type) {
			case executor.NodeDone, executor.NodeBlocked:
				return true
			}
			return false
		}
	}
	return false
}

// journalMark changes when the journal does.
func journalMark(state string) string {
	var b strings.Builder
	for _, name := range []string{journal.File, journal.File + "-wal"} {
		if st, err := os.Stat(filepath.Join(state, name)); err == nil {
			fmt.Fprintf(&b, "%d %d ", st.Size(), st.ModTime().UnixNano())
		}
	}
	return b.String()
}

// skipOutput marks what the present attempt has written so far as seen.
func (l *eventLog) skipOutput() {
	for _, f := range attemptFiles(l.dir) {
		l.seen[filepath.Join(l.dir, f.name)] = f.size
	}
}

// output prints the new whole lines that the present attempt's programs wrote.
func (l *eventLog) output() error {
	if l.dir == "" || l.json || l.node == "" {
		return nil
	}
	for _, f := range attemptFiles(l.dir) {
		path := filepath.Join(l.dir, f.name)
		from := l.seen[path]
		if ext := filepath.Ext(f.name); ext != ".out" && ext != ".err" && ext != ".log" || f.size <= from {
			continue
		}
		text, err := readPart(path, from, 64<<10)
		if err != nil {
			continue // it may be gone by now
		}
		end := bytes.LastIndexByte(text, '\n')
		if end < 0 {
			continue
		}
		l.seen[path] = from + int64(end) + 1
		for line := range strings.Lines(string(text[:end+1])) {
			if _, err := fmt.Fprintf(l.out, "  %s | %s\n", f.name, term.Clean(strings.TrimRight(line, "\n"))); err != nil {
				return err
			}
		}
	}
	return nil
}

func readPart(path string, from, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, from, most))
}
