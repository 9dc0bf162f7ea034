package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

func Sessions(r *record.Record, out io.Writer, v machine.NodeView, list []run.Session, chosen int) error {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s  %s\n", reveal.Words(string(v.Key)), reveal.Words(v.Title))
	if len(list) == 0 {
		fmt.Fprintf(w, "%s\n", reveal.Words(run.NoSession(r, v)))
		return write(out, w.String())
	}
	t := &Grid{Paint: term.For(out)}
	t.Row(term.Faint, "", "attempt", "agent", "runner", "model", "status", "when", "session")
	for _, s := range list {
		mark, ink := "", term.Plain
		if s.Work {
			mark, ink = "*", term.Good
		}
		when := ""
		if s.Started != nil {
			when = words.Clock(r.Now, *s.Started)
		}
		t.Row(ink, mark, s.Where(), s.Agent, s.Runner, s.Model, s.Status, when, s.Session)
	}
	w.WriteString("\n")
	t.Write(w)
	s := list[chosen]
	what := "To join that of " + reveal.Words(s.Where())
	if s.Work {
		what = "* did the work. To join it"
		if s.Status == executor.AttemptRunning.String() {
			what = "* does the work. To join it"
		}
	}
	if s.Cannot != "" {
		fmt.Fprintf(w, "\n%s: %s\n", what, reveal.Words("you cannot, "+s.Cannot))
	} else {
		fmt.Fprintf(w, "\n%s:\n  %s\n", what, reveal.Words(joinCommand(s)))
	}
	if s.Dir != r.Space.Dir(v.ID) && !s.Inside {
		fmt.Fprintf(w, "  (its worktree is gone: this is your own checkout)\n")
	}
	switch atWork := r.Held && v.Status == executor.Running && s.Status == executor.AttemptRunning.String(); {
	case atWork && s.Inside && !s.Watched:
		fmt.Fprintf(w, "  Its agent is at work in it: enter is refused until it has ended.\n")
	case atWork:
		fmt.Fprintf(w, "  Its agent is at work in it: what you write there is a takeover (on_human_message = %q).\n", r.Epic.HITLOf(r.Node(v.ID)).OnHumanMessage)
	}
	fmt.Fprintf(w, "To ask it something, without taking part: ralph ask %s \"why …?\"%s\n", reveal.Words(words.QuoteArg(string(v.Key))), r.About())
	return write(out, w.String())
}

// joinCommand is what a person types to join a session.
func joinCommand(s run.Session) string {
	join := strings.Join(lists.Map(s.Joined, words.QuoteArg), " ")
	if s.Inside {
		return join
	}
	return "cd " + words.QuoteArg(s.Dir) + " && " + join
}
