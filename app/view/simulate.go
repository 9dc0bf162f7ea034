package view

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/simulate"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Simulated shows the events of a simulation with the time since its start.
type Simulated struct {
	*Run
	shadow *machine.Run // source of the lines; it survives simulated crashes
	start  time.Time
	quiet  bool
}

// NewSimulated returns the view of a simulation that begins at start.
func NewSimulated(out io.Writer, epic *ir.Epic, start time.Time, jsonl, quiet bool) (*Simulated, error) {
	run, err := machine.New(epic)
	if err != nil {
		return nil, err
	}
	return &Simulated{NewRun(out, io.Discard, epic, run, jsonl), run, start, quiet}, nil
}

func (v *Simulated) Events(list []executor.Event) {
	for _, e := range list {
		switch {
		case v.Jsonl:
			if b, err := json.Marshal(e); err == nil {
				_, _ = v.Out.Write(append(reveal.JSON(b), '\n'))
			}
		case !v.quiet:
			if err := v.shadow.Apply(e); err != nil {
				continue // the simulation reports it
			}
			if line := v.Line(e); line != "" {
				fmt.Fprintf(v.Out, "%7s  %s\n", words.Brief(e.At.Sub(v.start)), line)
			}
		}
	}
}

// SimulationAccount prints the outcome of a simulation.
func SimulationAccount(w io.Writer, res simulate.Result) {
	fmt.Fprintf(w, "\n%s in %s of virtual time", words.TallyOf(res.Run), words.Brief(res.Ended.Sub(res.Began)))
	if res.Starts > 1 {
		fmt.Fprintf(w, ", %s", text.Count(res.Starts, "start"))
	}
	fmt.Fprintf(w, ", %d events\n", res.Events)
	if s := words.Spent(res.Run.Overview().Spent); s != "" {
		fmt.Fprintf(w, "spent: %s\n", s)
	}
	switch {
	case res.Open != "" && res.Starts == 0:
		fmt.Fprintf(w, "It did not start: %s.\n", res.Open)
	case res.Open != "":
		fmt.Fprintf(w, "It did not finish: %s.\n", res.Open)
	}
	for i, r := range res.Refused {
		if i == 20 {
			fmt.Fprintf(w, "and %d more decisions did not apply\n", len(res.Refused)-i)
			break
		}
		fmt.Fprintf(w, "did not apply: %s\n", reveal.Words(r))
	}
	shown := 0
	for _, n := range res.Run.Views() {
		if n.Status == executor.Done || n.ID == executor.Integration && n.Status == executor.Pending {
			continue
		}
		if shown == 0 {
			fmt.Fprintln(w, "\nNot done:")
		}
		if shown++; shown > 60 {
			continue
		}
		fmt.Fprintf(w, "  %s  %s\n", reveal.Words(string(n.Key)), reveal.Words(words.WhyNot(n)))
	}
	if shown > 60 {
		fmt.Fprintf(w, "  and %d more\n", shown-60)
	}
}
