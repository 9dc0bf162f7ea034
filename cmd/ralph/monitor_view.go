package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/local"
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

func (m *monitor) epic(w io.Writer, r *record) {
	o := r.run.Overview()
	colour := term.Plain
	switch monitorRank(r) {
	case 0:
		colour = term.Info
	case 1, 2:
		colour = term.Warn
	}
	fmt.Fprintf(w, "  %s  %s  %s\n", reveal.Words(string(r.epic.Epic.ID)), reveal.Words(r.epic.Epic.Title), m.paint.Paint(colour, reveal.Words(r.stateOfRun())))
	fmt.Fprintf(w, "    %s", tallyOf(r.run))
	if s := spentOfRun(o); s != "" {
		fmt.Fprintf(w, "; spent %s", s)
	}
	fmt.Fprintln(w)
	if o.Held.For != "" {
		fmt.Fprintf(w, "    nothing new starts (%s): %s\n", o.Held.For, reveal.Words(first(o.Held.Detail)))
		writeIndented(w, []nextStep{{resumeCommand(o.Held.For, o.More) + r.about(), "go on with the whole run"}})
	}
	for _, p := range o.Parked {
		fmt.Fprintf(w, "    runner %s is not asked before %s: %s\n", reveal.Words(p.Runner), clock(r.now, p.Until), reveal.Words(first(p.Detail)))
	}
	for _, v := range r.run.Views() {
		m.node(w, r, v)
	}
	if !r.held && (o.Open || r.cut()) {
		writeIndented(w, []nextStep{{"ralph apply" + applies(r.file), "goes on where it was interrupted"}})
	}
}

// node prints a sprint that runs, or wants something of a person.
func (m *monitor) node(w io.Writer, r *record, v executor.NodeView) {
	key := m.paint.Paint(term.Bold, reveal.Words(string(v.Key)))
	if v.Status == executor.Running && r.held {
		what := "runs"
		colour := term.Info
		sign := r.sign(v)
		said := ""
		if !sign.IsZero() {
			said = ", last sign of life " + ago(r.now, sign)
		}
		if limit, stalled := r.stalled(v, sign); stalled {
			what, colour = "STALLS", term.Bad
			said += fmt.Sprintf(" (its limit is %s)", brief(limit))
		}
		fmt.Fprintf(w, "    %s  %s %s, for %s%s\n", key, m.paint.Paint(colour, what), reveal.Words(v.Doing), brief(r.now.Sub(v.Since)), said)
	}
	if !v.Human.IsZero() && v.Status != executor.Done {
		fmt.Fprintf(w, "    %s  a person wrote in its agent's session %s\n", key, ago(r.now, v.Human))
	}
	if v.Status == executor.Done || v.Status == executor.Skipped || v.Status == executor.Running {
		return
	}
	steps := r.nextSteps(v)
	if len(steps) == 0 {
		if v.Status == executor.Waiting {
			fmt.Fprintf(w, "    %s  %s\n", key, reveal.Words(asks(v)))
		}
		return
	}
	fmt.Fprintf(w, "    %s  %s", key, m.paint.Paint(colourOf(v.Status), reveal.Words(asks(v))))
	if !v.Since.IsZero() {
		fmt.Fprintf(w, ", for %s", brief(r.now.Sub(v.Since)))
	}
	fmt.Fprintln(w)
	writeIndented(w, steps)
}

func writeIndented(w io.Writer, steps []nextStep) {
	var b strings.Builder
	writeSteps(&b, steps)
	for line := range strings.Lines(b.String()) {
		fmt.Fprintf(w, "      %s", line)
	}
}

// sign is when a program of a node's present attempt last wrote something; zero if
// it never did.
func (r *record) sign(v executor.NodeView) time.Time {
	k := len(v.Attempts)
	if k == 0 {
		return time.Time{}
	}
	at, _ := lastActivity(local.Files(r.space.State(), v.ID, v.Attempts[k-1].Step, v.Attempts[k-1].Number))
	return at
}

// stalled reports whether an agent has been silent for longer than its step allows.
func (r *record) stalled(v executor.NodeView, sign time.Time) (time.Duration, bool) {
	step := r.run.Step(v.ID, v.Step)
	if step == nil || step.Stall.AfterMS == 0 || !strings.HasSuffix(v.Doing, ": agent") {
		return 0, false
	}
	if sign.IsZero() {
		sign = v.Since
	}
	limit := time.Duration(step.Stall.AfterMS) * time.Millisecond
	return limit, r.now.Sub(sign) > limit
}

// The form of `ralph monitor --json`: for each epic that of `ralph status --json`,
// and what only a look from outside tells.
type (
	monitorJSON struct {
		Repositories []repositoryJSON `json:"repositories"`
	}
	repositoryJSON struct {
		Dir     string      `json:"dir"`
		Epics   []epicsJSON `json:"epics"`
		Trouble []string    `json:"trouble,omitempty"` // runs that cannot be read
	}
	epicsJSON struct {
		File string `json:"file"` // of the epic, for --epic
		statusJSON
		Stalled []string `json:"stalled,omitempty"` // keys of sprints whose agent is silent for too long
	}
)

func monitorJSONOf(list []repository) monitorJSON {
	out := monitorJSON{Repositories: []repositoryJSON{}}
	for _, repo := range list {
		r := repositoryJSON{Dir: repo.dir, Epics: []epicsJSON{}, Trouble: repo.trouble}
		for _, rec := range repo.epics {
			e := epicsJSON{File: rec.file, statusJSON: statusOf(rec)}
			for _, v := range rec.run.Views() {
				if _, stalled := rec.stalled(v, rec.sign(v)); stalled && rec.held && v.Status == executor.Running {
					e.Stalled = append(e.Stalled, string(v.Key))
				}
			}
			r.Epics = append(r.Epics, e)
		}
		out.Repositories = append(out.Repositories, r)
	}
	return out
}
