package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

func newLogCommand() *cobra.Command {
	var epic record.Flag
	var follow, asJSON, raw bool
	lines := 10
	cmd := &cobra.Command{
		Use:   "log [KEY|TRACE]",
		Short: "Tell what happened to a sprint, and where its output is",
		Long: `Log prints the events of a sprint in words, oldest first, with the last lines of what
its agents and its gates wrote (--lines), and then the files that its attempts left:
prompts, output of agents, logs of gates. Without a key it prints the events of the
whole run. The key integration is the branch that joins all results. A trace
(EPIC-ID:FIRST-LAST, from ralph runs or an exported run) prints these events.

--follow stays and shows the sprint live: what happens, and line by line what its agent
and its gates write, from one turn, gate and attempt to the next. It ends when the
sprint does, or with Ctrl-C. It only reads: the run does not notice.

--raw prints what the agents' programs streamed (stream.jsonl) instead: one JSON object
per line, {"at": when, "line": what}.`,
		Example: `  ralph log 1.2a
  ralph log 1.2a --follow
  ralph log 1.2a --lines -1          with all that its agents and gates wrote
  ralph log 1.2a --raw | jq .line
  ralph log integration
  ralph log bd-k7m2p1:12-40          the events of a run or an attempt, by its trace
  ralph log --json | jq .            one JSON object per event`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case raw && len(args) == 0:
				return exit.Usagef("--raw prints the streams of one sprint: name its key")
			case raw && asJSON:
				return exit.Usagef("--raw and --json are two things: write one of them")
			}
			file, err := epic.Path()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(background(cmd), os.Interrupt)
			defer stop()
			r, err := record.Open(ctx, file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			l := &eventLog{r: r, out: cmd.OutOrStdout(), json: asJSON, raw: raw, lines: lines, seen: map[string]int64{}}
			switch first, until, ok := traceOf(r.Epic, args); {
			case ok && (follow || raw):
				return exit.Usagef("a trace is in the past: --follow and --raw want the key of a sprint")
			case ok:
				l.last, l.until = first-1, until
			case len(args) > 0:
				if l.node, err = record.Find(r.Epic, args[0]); err != nil {
					return err
				}
			}
			switch {
			case follow:
				return l.follow(ctx)
			case raw:
				return l.rawAll()
			}
			return l.all()
		},
	}
	addEpicFlag(&epic, cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "stay and print what happens")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object per event")
	cmd.Flags().BoolVar(&raw, "raw", false, "what the agents' programs streamed, as it is")
	cmd.Flags().IntVarP(&lines, "lines", "n", lines, "last lines of what each turn and each gate wrote, -1 for all")
	return cmd
}

// eventLog prints the events of one node, or of all.
type eventLog struct {
	r     *record.Record
	out   io.Writer
	node  ir.NodeID // "" is all
	json  bool
	raw   bool             // streams alone
	last  int64            // event printed
	until int64            // event to end with; 0: none
	day   string           // that was printed last
	lines int              // how much of what was written in the past is printed of each file; below 0: all
	seen  map[string]int64 // by file: how much of it was printed
	dir   string           // files of the present attempt
	at    string           // the present attempt: "implement #2"
	who   string           // the agent that works in it

	begun map[string]bool // its turns that are known to have begun, by the base names of their files; nil: all have
}

// traceOf reads a trace: the first and the last of some events of this epic.
func traceOf(epic *ir.Epic, args []string) (first, last int64, ok bool) {
	if len(args) == 0 {
		return 0, 0, false
	}
	events, ok := strings.CutPrefix(args[0], string(epic.Epic.ID)+":")
	from, to, dash := strings.Cut(events, "-")
	first, err := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	return first, last, ok && dash && err == nil && err2 == nil && 0 < first && first <= last
}

func (l *eventLog) all() error {
	if err := l.past(); err != nil {
		return err
	}
	if err := l.backlog(); err != nil { // of what is open
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
		if e.Seq <= l.last || l.until > 0 && e.Seq > l.until {
			continue
		}
		if l.node != "" && e.Node != l.node {
			continue
		}
		l.last = e.Seq
		if b, ok := e.Body.(executor.EffectStarted); ok && !l.json && quiet(b) {
			continue
		}
		l.enter(e)
		if l.json {
			line, err := e.MarshalJSON()
			if err != nil {
				return err
			}
			b.Write(append(reveal.JSON(line), '\n'))
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
		fmt.Fprintf(&b, "%s  %s\n", e.At.Local().Format(time.TimeOnly), reveal.Words(who+words.Event(e, l.key)))
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

func (l *eventLog) key(id ir.NodeID) string { return string(l.r.Node(id).Key) }

// files lists what the attempts of the node left.
func (l *eventLog) files() error {
	v, ok := l.r.Run.View(l.node)
	if !ok || len(v.Attempts) == 0 {
		return nil
	}
	var b strings.Builder
	for _, a := range v.Attempts {
		dir := effects.Files(l.r.Space.State(), l.node, a.Step, a.Number)
		fmt.Fprintf(&b, "\n%s #%d (%s): %s\n", a.Step, a.Number, attemptWord(l.r, v, a), dir)
		for _, f := range record.AttemptFiles(dir) {
			fmt.Fprintf(&b, "  %9s  %s\n", words.Size(f.Size), f.Name)
		}
	}
	_, err := io.WriteString(l.out, reveal.Words(b.String()))
	return err
}
