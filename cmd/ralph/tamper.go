package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// changeView is a change that others made, as people and programs are shown it.
type changeView struct {
	ID      string   `json:"id"`
	Grade   string   `json:"grade"` // tampered, noticed
	What    string   `json:"what"`
	Was     string   `json:"was"` // "": it was not there
	Is      string   `json:"is"`
	During  []string `json:"during"` // attempts that were in flight: "1.2a implement #1"
	State   string   `json:"state"`  // open, accepted, undone
	By      string   `json:"accepted_by,omitempty"`
	Back    string   `json:"put_back,omitempty"` // command
	Look    string   `json:"look,omitempty"`     // command that shows it
	IsBack  bool     `json:"is_back,omitempty"`  // it is as it was again, and no apply has noted that yet
	Earlier int      `json:"earlier,omitempty"`  // runs begun since it was seen
	Accept  string   `json:"accept,omitempty"`   // command
	Failing bool     `json:"fails_the_run"`
	text    string
	at      time.Time
}

// changesOf lists what others changed: what is tampered with and open first. undone
// says which are as they were again; nil is none.
func changesOf(run *executor.Run, key func(ir.NodeID) string, about string, undone func([]executor.Drift) []bool) []changeView {
	var failing, rest []changeView
	tampers := run.Tampers()
	isBack := make([]bool, len(tampers))
	if undone != nil && len(tampers) > 0 {
		var list []executor.Drift
		for _, t := range tampers {
			list = append(list, t.Drift)
		}
		isBack = undone(list)
	}
	for i, t := range tampers {
		v := changeView{
			ID: t.ID, Grade: string(t.Grade), What: t.What, Was: t.Was, Is: t.Is, During: duringWords(t.During, key),
			State: string(t.State), By: t.Accepted, text: t.Drift.String(), Earlier: t.Earlier, at: t.At,
		}
		if open := t.State == executor.TamperOpen; open && isBack[i] && t.Grade == executor.Noticed {
			v.State = string(executor.TamperIsUndone)
		} else if open {
			v.IsBack = isBack[i]
			if !v.IsBack {
				v.Back, v.Look = t.Back, t.Look
			}
			if t.Grade == executor.Tampered {
				v.Accept = "ralph approve --tamper " + t.ID + about
			}
		}
		if v.Failing = v.Accept != "" && run.Tampered(); v.Failing {
			failing = append(failing, v)
		} else {
			rest = append(rest, v)
		}
	}
	return append(failing, rest...)
}

// ofThisRun leaves out what was only noticed in earlier runs: that is said in status.
func ofThisRun(list []changeView) []changeView {
	return slices.DeleteFunc(list, func(c changeView) bool { return c.Earlier > 0 && c.Grade == string(executor.Noticed) })
}

// duringWords names attempts.
func duringWords(list []executor.During, key func(ir.NodeID) string) []string {
	out := []string{}
	for _, d := range list {
		name := key(d.Node)
		switch {
		case d.Node == "":
			name = d.Step // the gates before the first attempt
		case d.Step != "":
			name += fmt.Sprintf(" %s #%d", d.Step, d.Attempt)
		}
		out = append(out, name)
	}
	return out
}

// sayChanges writes what others changed while agents were at work, with what to
// type. What is settled is left to the log.
func sayChanges(w io.Writer, list []changeView) {
	said := 0
	for i, c := range list {
		switch {
		case c.State != string(executor.TamperOpen):
			continue
		case said == mostChanges:
			fmt.Fprintf(w, "  and %d more: ralph status --json\n", len(list)-i)
			return
		case said == 0 && c.Failing:
			fmt.Fprintln(w, "\nTampered with while agents were at work; apply exits with 3 until each is put back or accepted:")
		case said == 0 || !c.Failing && list[i-1].Failing:
			fmt.Fprintln(w, "\nChanged by others meanwhile (by you, or by an agent); the exit code does not count it:")
		}
		said++
		earlier := ""
		if c.Earlier > 0 && !c.Failing {
			earlier = " (noticed by the apply of " + c.at.Format("2006-01-02 15:04") + ")"
		}
		fmt.Fprintln(w, reveal.Words("  "+c.text+earlier))
		if len(c.During) > 0 {
			fmt.Fprintln(w, reveal.Words("    at work: "+listOf(c.During)))
		}
		if c.IsBack {
			fmt.Fprintln(w, "    it is as it was again: the next ralph apply notes that")
			continue
		}
		if c.Look != "" {
			fmt.Fprintln(w, reveal.Words("    look: "+c.Look))
		}
		switch {
		case c.Back != "" && c.Failing:
			fmt.Fprintln(w, reveal.Words("    put it back: "+c.Back))
		case c.Back != "":
			fmt.Fprintln(w, reveal.Words("    put it back, if it was not you: "+c.Back))
		}
		if c.Accept != "" {
			fmt.Fprintln(w, reveal.Words("    accept it:   "+c.Accept))
		}
	}
}

// mostChanges is how many changes are shown.
const mostChanges = 20

// tamperWords say an event about what others changed.
func tamperWords(b executor.TamperSeen, key func(ir.NodeID) string) string {
	out := string(b.Grade)
	if b.Grade == executor.Tampered {
		out += " with (" + b.ID + ")"
	}
	out += ": " + b.Drift.String()
	if len(b.During) > 0 {
		out += "; at work: " + listOf(duringWords(b.During, key))
	}
	if b.Back != "" {
		out += "; put it back: " + b.Back
	}
	return strings.ReplaceAll(out, "\n", " ")
}

// tamperedWords says, as the text of a comment, what a person has to look at before an
// issue that is done is closed.
func tamperedWords(rec *record) string {
	var b strings.Builder
	b.WriteString("it is done, and the repository was tampered with while agents were at work")
	for _, c := range rec.changes() {
		if !c.Failing {
			continue
		}
		fmt.Fprintf(&b, "\n- %s", c.text)
		if len(c.During) > 0 {
			b.WriteString("; at work: " + listOf(c.During))
		}
		if c.Back != "" {
			fmt.Fprintf(&b, "\n  - `%s`: put it back, then", c.Back)
		}
		fmt.Fprintf(&b, "\n  - `%s`: settle it", c.Accept)
	}
	return reveal.Words(b.String())
}
