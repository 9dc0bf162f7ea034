package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// MonitorChanges returns what prints a line for each sprint, and each run, that has come to
// stand elsewhere.
func MonitorChanges(out io.Writer) func([]record.Repository) {
	was := map[string]string{}
	return func(list []record.Repository) {
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
			for _, r := range repo.Epics {
				id := string(r.Epic.Epic.ID)
				say(repo.Dir+id, repo.Dir+" "+id, stateOf(record.StatusOf(r)), "; "+words.TallyOf(r.Run))
				for _, v := range r.Run.Views() {
					state := strings.TrimSpace(words.Status(v) + " " + v.Attempt)
					if _, known := was[repo.Dir+id+string(v.ID)]; !known && (state == "pending" || state == "ready") {
						continue
					}
					more := ""
					if v.Reason != "" {
						more = ": " + words.First(v.Reason)
					}
					say(repo.Dir+id+string(v.ID), id+" "+string(v.Key), state, more)
				}
			}
			for _, text := range repo.Trouble {
				say(repo.Dir+text, repo.Dir, text, "")
			}
		}
		_, _ = io.WriteString(out, b.String())
	}
}

// Monitor prints what is seen, for people.
func Monitor(w io.Writer, paint term.Style, list []record.Repository) {
	for i, repo := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, paint.Paint(term.Bold, reveal.Words(repo.Dir)))
		if len(repo.Epics)+len(repo.Trouble) == 0 {
			fmt.Fprintln(w, "  nothing was applied here yet")
		}
		for _, text := range repo.Trouble {
			fmt.Fprintf(w, "  %s\n", paint.Paint(term.Bad, reveal.Words(text)))
		}
		for _, r := range repo.Epics {
			writeMonitored(w, paint, r)
		}
	}
}

func writeMonitored(w io.Writer, paint term.Style, r *record.Record) {
	o := r.Run.Overview()
	colour := term.Plain
	switch record.Rank(r) {
	case 0:
		colour = term.Info
	case 1, 2:
		colour = term.Warn
	}
	fmt.Fprintf(w, "  %s  %s  %s\n", reveal.Words(string(r.Epic.Epic.ID)), reveal.Words(r.Epic.Epic.Title), paint.Paint(colour, reveal.Words(stateOf(record.StatusOf(r)))))
	fmt.Fprintf(w, "    %s", words.TallyOf(r.Run))
	if s := words.SpentOfRun(o); s != "" {
		fmt.Fprintf(w, "; spent %s", s)
	}
	fmt.Fprintln(w)
	if o.Held.For != "" {
		fmt.Fprintf(w, "    nothing new starts (%s): %s\n", o.Held.For, reveal.Words(words.First(o.Held.Detail)))
		WriteIndented(w, []record.NextStep{{Command: words.ResumeCommand(o.Held.For, o.More) + r.About(), What: "go on with the whole run"}})
	}
	for _, p := range o.Parked {
		fmt.Fprintf(w, "    runner %s is not asked before %s: %s\n", reveal.Words(p.Runner), words.Clock(r.Now, p.Until), reveal.Words(words.First(p.Detail)))
	}
	for _, v := range r.Run.Views() {
		writeMonitoredNode(w, paint, r, v)
	}
	if !r.Held && (o.Open || r.Cut()) {
		WriteIndented(w, []record.NextStep{{Command: "ralph apply" + record.Applies(r.File), What: "goes on where it was interrupted"}})
	}
}

// writeMonitoredNode prints a sprint that runs, or wants something of a person.
func writeMonitoredNode(w io.Writer, paint term.Style, r *record.Record, v machine.NodeView) {
	key := paint.Paint(term.Bold, reveal.Words(string(v.Key)))
	if v.Status == executor.Running && r.Held {
		what := "runs"
		colour := term.Info
		sign := record.LastSign(r, v)
		said := ""
		if !sign.IsZero() {
			said = ", last sign of life " + words.Ago(r.Now, sign)
		}
		if limit, stalled := record.Stalled(r, v, sign); stalled {
			what, colour = "STALLS", term.Bad
			said += fmt.Sprintf(" (its limit is %s)", words.Brief(limit))
		}
		fmt.Fprintf(w, "    %s  %s %s, for %s%s\n", key, paint.Paint(colour, what), reveal.Words(v.Doing), words.Brief(r.Now.Sub(v.Since)), said)
	}
	if !v.Human.IsZero() && v.Status != executor.Done {
		fmt.Fprintf(w, "    %s  a person wrote in its agent's session %s\n", key, words.Ago(r.Now, v.Human))
	}
	if v.Status == executor.Done || v.Status == executor.Skipped || v.Status == executor.Running {
		return
	}
	steps := r.NextSteps(v)
	if len(steps) == 0 {
		if v.Status == executor.Waiting {
			fmt.Fprintf(w, "    %s  %s\n", key, reveal.Words(words.Asks(v)))
		}
		return
	}
	fmt.Fprintf(w, "    %s  %s", key, paint.Paint(ColourOf(v.Status), reveal.Words(words.Asks(v))))
	if !v.Since.IsZero() {
		fmt.Fprintf(w, ", for %s", words.Brief(r.Now.Sub(v.Since)))
	}
	fmt.Fprintln(w)
	WriteIndented(w, steps)
}
