package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// write prints what is seen, for people.
func (m *monitor) write(w io.Writer, list []repository) {
	for i, repo := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, m.paint.Paint(term.Bold, reveal.Words(repo.dir)))
		if len(repo.epics)+len(repo.trouble) == 0 {
			fmt.Fprintln(w, "  nothing was applied here yet")
		}
		for _, text := range repo.trouble {
			fmt.Fprintf(w, "  %s\n", m.paint.Paint(term.Bad, reveal.Words(text)))
		}
		for _, r := range repo.epics {
			m.epic(w, r)
		}
	}
}

func (m *monitor) epic(w io.Writer, r *record.Record) {
	o := r.Run.Overview()
	colour := term.Plain
	switch monitorRank(r) {
	case 0:
		colour = term.Info
	case 1, 2:
		colour = term.Warn
	}
	fmt.Fprintf(w, "  %s  %s  %s\n", reveal.Words(string(r.Epic.Epic.ID)), reveal.Words(r.Epic.Epic.Title), m.paint.Paint(colour, reveal.Words(r.StateOfRun())))
	fmt.Fprintf(w, "    %s", words.TallyOf(r.Run))
	if s := words.SpentOfRun(o); s != "" {
		fmt.Fprintf(w, "; spent %s", s)
	}
	fmt.Fprintln(w)
	if o.Held.For != "" {
		fmt.Fprintf(w, "    nothing new starts (%s): %s\n", o.Held.For, reveal.Words(words.First(o.Held.Detail)))
		view.WriteIndented(w, []record.NextStep{{Command: words.ResumeCommand(o.Held.For, o.More) + r.About(), What: "go on with the whole run"}})
	}
	for _, p := range o.Parked {
		fmt.Fprintf(w, "    runner %s is not asked before %s: %s\n", reveal.Words(p.Runner), words.Clock(r.Now, p.Until), reveal.Words(words.First(p.Detail)))
	}
	for _, v := range r.Run.Views() {
		m.node(w, r, v)
	}
	if !r.Held && (o.Open || r.Cut()) {
		view.WriteIndented(w, []record.NextStep{{Command: "ralph apply" + record.Applies(r.File), What: "goes on where it was interrupted"}})
	}
}

// node prints a sprint that runs, or wants something of a person.
func (m *monitor) node(w io.Writer, r *record.Record, v machine.NodeView) {
	key := m.paint.Paint(term.Bold, reveal.Words(string(v.Key)))
	if v.Status == executor.Running && r.Held {
		what := "runs"
		colour := term.Info
		sign := signOf(r, v)
		said := ""
		if !sign.IsZero() {
			said = ", last sign of life " + words.Ago(r.Now, sign)
		}
		if limit, stalled := stalled(r, v, sign); stalled {
			what, colour = "STALLS", term.Bad
			said += fmt.Sprintf(" (its limit is %s)", words.Brief(limit))
		}
		fmt.Fprintf(w, "    %s  %s %s, for %s%s\n", key, m.paint.Paint(colour, what), reveal.Words(v.Doing), words.Brief(r.Now.Sub(v.Since)), said)
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
	fmt.Fprintf(w, "    %s  %s", key, m.paint.Paint(view.ColourOf(v.Status), reveal.Words(words.Asks(v))))
	if !v.Since.IsZero() {
		fmt.Fprintf(w, ", for %s", words.Brief(r.Now.Sub(v.Since)))
	}
	fmt.Fprintln(w)
	view.WriteIndented(w, steps)
}

// signOf is when a program of a node's present attempt last wrote something; zero if
// it never did.
func signOf(r *record.Record, v machine.NodeView) time.Time {
	k := len(v.Attempts)
	if k == 0 {
		return time.Time{}
	}
	at, _ := record.LastActivity(effects.Files(r.Space.State(), v.ID, v.Attempts[k-1].Step, v.Attempts[k-1].Number))
	return at
}

// stalled reports whether an agent has been silent for longer than its step allows.
func stalled(r *record.Record, v machine.NodeView, sign time.Time) (time.Duration, bool) {
	step := r.Run.Step(v.ID, v.Step)
	if step == nil || step.Stall.AfterMS == 0 || !strings.HasSuffix(v.Doing, ": agent") {
		return 0, false
	}
	if sign.IsZero() {
		sign = v.Since
	}
	limit := time.Duration(step.Stall.AfterMS) * time.Millisecond
	return limit, r.Now.Sub(sign) > limit
}

func monitorJSONOf(list []repository) record.MonitorJSON {
	out := record.MonitorJSON{Version: record.MonitorVersion, Repositories: []record.RepositoryJSON{}}
	for _, repo := range list {
		r := record.RepositoryJSON{Dir: repo.dir, Epics: []record.MonitoredJSON{}, Trouble: repo.trouble}
		for _, rec := range repo.epics {
			e := record.MonitoredJSON{File: rec.File, StatusJSON: record.StatusOf(rec)}
			for _, v := range rec.Run.Views() {
				if _, stalled := stalled(rec, v, signOf(rec, v)); stalled && rec.Held && v.Status == executor.Running {
					e.Stalled = append(e.Stalled, string(v.Key))
				}
			}
			r.Epics = append(r.Epics, e)
		}
		out.Repositories = append(out.Repositories, r)
	}
	return out
}
