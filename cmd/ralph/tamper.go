package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/term"
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
	Accept  string   `json:"accept,omitempty"`   // command
	Failing bool     `json:"fails_the_run"`
	text    string
}

// changesOf lists what others changed: what is tampered with and open first.
func changesOf(run *executor.Run, key func(ir.NodeID) string, about string) []changeView {
	var failing, rest []changeView
	for _, t := range run.Tampers() {
		v := changeView{
			ID: t.ID, Grade: string(t.Grade), What: t.What, Was: t.Was, Is: t.Is, During: duringWords(t.During, key),
			State: string(t.State), By: t.Accepted, text: t.Drift.String(),
		}
		if t.State == executor.TamperOpen {
			v.Back = t.Back
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
		fmt.Fprintln(w, term.Clean("  "+c.text))
		if len(c.During) > 0 {
			fmt.Fprintln(w, term.Clean("    at work: "+listOf(c.During)))
		}
		if c.Back != "" {
			fmt.Fprintln(w, term.Clean("    put it back: "+c.Back))
		}
		if c.Accept != "" {
			fmt.Fprintln(w, term.Clean("    accept it:   "+c.Accept))
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
	return term.Clean(b.String())
}
