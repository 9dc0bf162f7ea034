package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// sessionFlags choose among the sessions of a sprint.
type sessionFlags struct {
	gate, step string
	attempt    int
}

func (f *sessionFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.gate, "gate", "", "of the agent of this gate")
	cmd.Flags().StringVar(&f.step, "step", "", "of this step")
	cmd.Flags().IntVar(&f.attempt, "attempt", 0, "of the attempt with this number")
}

func newSessionCommand() *cobra.Command {
	var epic record.Flag
	var which sessionFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "session KEY",
		Short: "List the sessions that agents worked in on a sprint, and how to join one",
		Long: `Session lists the sessions of the agents that worked on a sprint or judged it, newest
first, with the handle under which the agent's own program knows each. The one that
did the work, of which the result is, is marked with *, or the one that does it now;
below stands the command with which you join it in your terminal. --gate and --attempt
choose others.

While its agent is at work in a session, a message of yours is a takeover: hitl
{ on_human_message } says what comes of it. To ask something without taking part:
ralph ask.`,
		Example: `  ralph session 1.2a
  ralph session 1.2a --gate blind-review
  ralph session 1.2a --attempt 1
  ralph session 1.2a --json`,
		Args: countArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := epic.Path()
			if err != nil {
				return err
			}
			r, err := record.Open(background(cmd), file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			v, err := viewOf(r, args[0])
			if err != nil {
				return err
			}
			crew := run.NewCrew(r.Epic)
			list, err := which.of(sessionsOf(r, v, crew), v)
			if err = errors.Join(err, crew.Close()); err != nil {
				return err
			}
			if asJSON {
				return view.WriteJSON(cmd.OutOrStdout(), list)
			}
			return saySessions(r, cmd.OutOrStdout(), v, list, which.best(list))
		},
	}
	addEpicFlag(&epic, cmd)
	which.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// viewOf is where the node stands that people call key.
func viewOf(r *record.Record, key string) (machine.NodeView, error) {
	id, err := record.Find(r.Epic, key)
	if err != nil {
		return machine.NodeView{}, err
	}
	v, ok := r.Run.View(id)
	if !ok {
		return v, exit.Inputf("results are not joined in this epic: there is no %s", key)
	}
	return v, nil
}

// sessionJSON is a session in `ralph session --json`. Fields are added, never renamed.
type sessionJSON struct {
	Session string     `json:"session"`  // the program's own handle
	AgentID string     `json:"agent_id"` // agent and handle: who can be asked again
	Agent   string     `json:"agent"`
	Step    string     `json:"step"`
	Attempt int        `json:"attempt"`
	Gate    string     `json:"gate,omitempty"` // that its agent judged
	Turn    string     `json:"turn,omitempty"` // base name of the files of its first turn
	Runner  string     `json:"runner"`
	Kind    string     `json:"kind"` // of the runner
	Model   string     `json:"model,omitempty"`
	Status  string     `json:"status"` // of the attempt, or the gate's verdict
	Started *time.Time `json:"started,omitempty"`
	Work    bool       `json:"did_the_work"`
	Joined  []string   `json:"join,omitempty"` // the command to join it
	Dir     string     `json:"directory"`      // to join it in
	Cannot  string     `json:"cannot_join,omitempty"`

	commit string // that its attempt left
}

// sessionsOf lists all sessions of a node, newest first, and how to join them, as the
// programs of a crew say.
func sessionsOf(r *record.Record, v machine.NodeView, crew *run.Crew) []sessionJSON {
	out := []sessionJSON{}
	work := record.WorkIndex(v, writes(r, v))
	if k := len(v.Attempts) - 1; r.Held && k >= 0 && v.Attempts[k].Status == executor.AttemptRunning && v.Attempts[k].Session != "" {
		work = k // what is done anew has the worktree now
	}
	for i := range slices.Backward(v.Attempts) {
		a := &v.Attempts[i]
		for _, s := range slices.Backward(a.Sessions) {
			if slices.ContainsFunc(out, func(o sessionJSON) bool {
				return o.Session == s.Session && o.Gate == s.Gate && o.Step == a.Step && o.Attempt == a.Number
			}) {
				continue // an earlier turn in the same session
			}
			e := sessionJSON{
				Session: s.Session, AgentID: s.Agent + "@" + s.Session, Agent: s.Agent, Step: a.Step, Attempt: a.Number, Gate: s.Gate, Turn: s.Turn,
				Runner: r.Epic.Agents[s.Agent].Runner, Status: a.Status.String(), Started: record.TimeJSON(s.At),
				Work: i == work && s.Gate == "" && s.Session == a.Session, commit: a.Commit,
			}
			e.Kind = r.Epic.Runners[e.Runner].Kind
			if s.Gate == "" && s.Session == a.Session {
				e.Model = a.Model
			}
			if s.Gate != "" {
				e.Status = "no verdict"
				for _, g := range append(slices.Clone(a.Red), a.Gates...) {
					if g.Gate == s.Gate && (g.Session == s.Session || g.Session == "") {
						e.Status, e.Model = string(g.Verdict), g.Model
					}
				}
				if e.Status == "no verdict" && a.Status == executor.AttemptRunning {
					e.Status = "running"
				}
			}
			joinSession(r, v, &e, crew)
			out = append(out, e)
		}
	}
	return out
}

// writes tells which steps of a node may write; the steps that ralph makes up do.
func writes(r *record.Record, v machine.NodeView) func(step string) bool {
	n := r.Node(v.ID)
	return func(step string) bool {
		for i := range n.Steps {
			if n.Steps[i].Name == step {
				return n.Steps[i].Access == "write"
			}
		}
		return true
	}
}

// joinSession says how a person joins a session: in the sprint's worktree, else in the
// user's checkout.
func joinSession(r *record.Record, v machine.NodeView, e *sessionJSON, crew *run.Crew) {
	e.Dir = r.Space.Dir(v.ID)
	if !project.IsDir(e.Dir) {
		e.Dir = r.Space.Top()
	}
	program, ok := crew.ProgramOf(e.Kind)
	if !ok {
		e.Cannot = fmt.Sprintf("its runner %q is of kind %q, whose sessions this ralph does not know", e.Runner, e.Kind)
		return
	}
	about := run.AboutRun(e.Agent, r.Epic.Runners[e.Runner], e.Dir, "")
	about.Node, about.Slug, about.Model, about.Keep = r.Node(v.ID), r.Epic.Agents[e.Agent].Slug, e.Model, r.Keep()
	if e.Joined = program.Join(about, e.Session); len(e.Joined) == 0 {
		e.Cannot = cmp.Or(program.Describe().Cannot[executor.CanJoin], "its program has no way in for people")
	}
}

// of chooses sessions; a gate, step or attempt that there is none of is a mistake.
func (f *sessionFlags) of(list []sessionJSON, v machine.NodeView) ([]sessionJSON, error) {
	if f.attempt < 0 {
		return nil, exit.Usagef("--attempt %d: write a number from 1", f.attempt)
	}
	out := slices.DeleteFunc(slices.Clone(list), func(s sessionJSON) bool {
		return f.gate != "" && s.Gate != f.gate || f.step != "" && s.Step != f.step || f.attempt > 0 && s.Attempt != f.attempt
	})
	if len(out) > 0 || len(list) == 0 || f.gate == "" && f.step == "" && f.attempt == 0 {
		return out, nil
	}
	var known []string
	for _, s := range list {
		if at := s.where(); !slices.Contains(known, at) {
			known = append(known, at)
		}
	}
	return nil, exit.Usagef("no session of %s fits; there are those of %s", v.Key, words.ListOf(known))
}

// best is the one of several sessions that is meant: the one that did the work,
// else, without --gate, the newest of an agent that worked, else the newest.
func (f *sessionFlags) best(list []sessionJSON) int {
	if i := slices.IndexFunc(list, func(s sessionJSON) bool { return s.Work }); i >= 0 {
		return i
	}
	return max(slices.IndexFunc(list, func(s sessionJSON) bool { return f.gate != "" || s.Gate == "" }), 0)
}

// where says in which attempt a session was, and for which gate.
func (s sessionJSON) where() string {
	at := fmt.Sprintf("%s #%d", s.Step, s.Attempt)
	switch {
	case s.Gate != "":
		at += ", gate " + s.Gate
	case s.Turn != "" && !strings.HasPrefix(s.Turn, "agent-"):
		at += ", " + s.Turn // such as a diagnosis
	}
	return at
}

func saySessions(r *record.Record, out io.Writer, v machine.NodeView, list []sessionJSON, chosen int) error {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s  %s\n", reveal.Words(string(v.Key)), reveal.Words(v.Title))
	if len(list) == 0 {
		fmt.Fprintf(w, "%s\n", reveal.Words(noSession(r, v)))
		_, err := io.WriteString(out, w.String())
		return err
	}
	t := &view.Grid{Paint: term.For(out)}
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
		t.Row(ink, mark, s.where(), s.Agent, s.Runner, s.Model, s.Status, when, s.Session)
	}
	w.WriteString("\n")
	t.Write(w)
	s := list[chosen]
	what := "To join that of " + reveal.Words(s.where())
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
	if s.Dir != r.Space.Dir(v.ID) {
		fmt.Fprintf(w, "  (its worktree is gone: this is your own checkout)\n")
	}
	if r.Held && v.Status == executor.Running && s.Status == executor.AttemptRunning.String() {
		fmt.Fprintf(w, "  Its agent is at work in it: what you write there is a takeover (on_human_message = %q).\n", r.Epic.HITLOf(r.Node(v.ID)).OnHumanMessage)
	}
	fmt.Fprintf(w, "To ask it something, without taking part: ralph ask %s \"why …?\"%s\n", reveal.Words(words.QuoteArg(string(v.Key))), r.About())
	_, err := io.WriteString(out, w.String())
	return err
}

// joinCommand is what a person types to join a session.
func joinCommand(s sessionJSON) string {
	text := make([]string, 0, len(s.Joined))
	for _, a := range s.Joined {
		text = append(text, words.QuoteArg(a))
	}
	return "cd " + words.QuoteArg(s.Dir) + " && " + strings.Join(text, " ")
}

// noSession is the error that says why there is no session.
func noSession(r *record.Record, v machine.NodeView) string {
	if len(v.Attempts) == 0 {
		return "no agent has worked on it yet, so there is no session (" + whyNot(v) + ")"
	}
	kinds := map[string]bool{}
	for _, a := range v.Attempts {
		kinds[r.Epic.Runners[r.Epic.Agents[a.Agent].Runner].Kind] = true
	}
	if kinds["command"] {
		return fmt.Sprintf("its agent is run as a command, which has no sessions; what it printed: ralph log %s%s", words.QuoteArg(string(v.Key)), r.About())
	}
	return fmt.Sprintf("no session of its agents is on record; what they printed: ralph log %s%s", words.QuoteArg(string(v.Key)), r.About())
}
