package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// MonitorChanges returns the printer of a line for each sprint, and each run, whose state
// has changed.
func MonitorChanges(out io.Writer) func(record.MonitorJSON) {
	was := map[string]string{}
	return func(seen record.MonitorJSON) {
		var b strings.Builder
		now := time.Now().Format(time.TimeOnly)
		say := func(at, key, state, more string) {
			if before, known := was[at]; before == state && known {
				return
			}
			was[at] = state
			fmt.Fprintf(&b, "%s  %s: %s%s\n", now, reveal.Words(key), reveal.Words(state), reveal.Words(more))
		}
		for _, repo := range seen.Repositories {
			for _, r := range repo.Epics {
				id := string(r.Epic.ID)
				say(repo.Dir+id, repo.Dir+" "+id, r.Run.Says, "; "+r.Tally)
				for _, n := range r.Nodes {
					v := n.View
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

// Monitor prints the monitor's findings for people.
func Monitor(w io.Writer, paint term.Style, seen record.MonitorJSON) {
	for i, repo := range seen.Repositories {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, paint.Paint(term.Bold, reveal.Words(repo.Dir)))
		if len(repo.Epics)+len(repo.Trouble) == 0 {
			fmt.Fprintln(w, "  nothing has been applied here yet")
		}
		for _, text := range repo.Trouble {
			fmt.Fprintf(w, "  %s\n", paint.Paint(term.Bad, reveal.Words(text)))
		}
		for _, r := range repo.Epics {
			writeMonitored(w, paint, r)
		}
	}
}

func writeMonitored(w io.Writer, paint term.Style, r record.MonitoredJSON) {
	o := r.Run.View
	colour := [...]term.Colour{term.Info, term.Warn, term.Warn, term.Plain}[r.Rank]
	fmt.Fprintf(w, "  %s  %s  %s\n", reveal.Words(string(r.Epic.ID)), reveal.Words(r.Epic.Title), paint.Paint(colour, reveal.Words(r.Run.Says)))
	fmt.Fprintf(w, "    %s", r.Tally)
	if s := words.SpentOfRun(o); s != "" {
		fmt.Fprintf(w, "; spent %s", s)
	}
	fmt.Fprintln(w)
	if o.Held.For != "" {
		fmt.Fprintf(w, "    nothing new starts (%s): %s\n", o.Held.For, reveal.Words(words.First(o.Held.Detail)))
		WriteIndented(w, []record.NextStep{{Command: words.ResumeCommand(o.Held.For, o.More) + record.AboutEpic(r.File), What: "resume the whole run"}})
	}
	for _, p := range o.Parked {
		fmt.Fprintf(w, "    %s\n", reveal.Words(words.Parked(p, r.Now)))
	}
	for _, n := range r.Nodes {
		writeMonitoredNode(w, paint, r, n)
	}
	if r.Rank == 1 {
		WriteIndented(w, []record.NextStep{{Command: "ralph apply" + record.Applies(r.File), What: "resumes where it was interrupted"}})
	}
}

// writeMonitoredNode prints a sprint that runs, or wants something of a person.
func writeMonitoredNode(w io.Writer, paint term.Style, r record.MonitoredJSON, n record.NodeJSON) {
	key, status := paint.Paint(term.Bold, reveal.Words(string(n.Key))), n.View.Status
	if status == executor.Running && r.Run.AtWork() {
		what, colour, said := "runs", term.Info, ""
		if n.LastActivity != nil {
			said = ", last sign of life " + words.Ago(r.Now, *n.LastActivity)
		}
		if limit, stalled := r.Stall(n); stalled {
			what, colour = "STALLS", term.Bad
			said += fmt.Sprintf(" (its limit is %s)", words.Brief(limit))
		}
		fmt.Fprintf(w, "    %s  %s %s, for %s%s\n", key, paint.Paint(colour, what), reveal.Words(n.Doing), words.Brief(r.Now.Sub(n.View.Since)), said)
	}
	if n.LastHuman != nil && status != executor.Done {
		fmt.Fprintf(w, "    %s  a person wrote in its agent's session %s\n", key, words.Ago(r.Now, *n.LastHuman))
	}
	asks := reveal.Words(words.Asks(n.View))
	switch {
	case status == executor.Done, status == executor.Skipped, status == executor.Running:
	case len(n.Next) > 0:
		fmt.Fprintf(w, "    %s  %s", key, paint.Paint(ColourOf(status), asks))
		if n.Since != nil {
			fmt.Fprintf(w, ", for %s", words.Brief(r.Now.Sub(*n.Since)))
		}
		fmt.Fprintln(w)
		WriteIndented(w, n.Next)
	case status == executor.Waiting:
		fmt.Fprintf(w, "    %s  %s\n", key, asks)
	}
}
