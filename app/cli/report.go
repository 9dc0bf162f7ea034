package cli

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

//go:embed page/report.html
var reportPage string

func newReportCommand() *cobra.Command {
	var epic record.Flag
	var file string
	cmd := &cobra.Command{
		Use:   "report [epic.json]",
		Short: "Write a page about a run: graph, attempts, gates, times, cost",
		Long: `Report writes one HTML file that needs nothing else: the graph drawn and coloured by
status, what waits for people and what to type, each attempt with its gates, evidence
and feedback, a table of times, what it cost. It is made from the journal, at any time,
also while a run is at work. It is written beside the journal, in the repository's git
directory, where git does not see it; -o names another file.`,
		Example: `  ralph report
  ralph report -o night.html
  ralph report -o - | less`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := epic.Path(args...)
			if err != nil {
				return err
			}
			r, err := record.Open(background(cmd), name, cmd.InOrStdin())
			if err != nil {
				return err
			}
			page, err := page(r)
			if err != nil {
				return err
			}
			if file == "-" {
				_, err := cmd.OutOrStdout().Write(page)
				return err
			}
			if file == "" {
				own := filepath.Join(r.Space.State(), "report.html")
				if err := errors.Join(regular.MkdirOwn(r.Space.State()), atomicfile.WriteOwn(own, page, 0o644)); err != nil {
					return exit.Inputf("%w", err)
				}
				file = fromHere(own)
			} else if err := atomicfile.Write(file, page, 0o644); err != nil {
				return exit.Inputf("%w", err)
			}
			view.Sayf(cmd.OutOrStdout(), "wrote %s\n", file)
			return nil
		},
	}
	addEpicFlag(&epic, cmd)
	cmd.Flags().StringVarP(&file, "output", "o", "", "the file to write; - is standard output (default: beside the journal)")
	return cmd
}

// fromHere names a file as somebody would type it here.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// pageData is what the page shows.
type pageData struct {
	Title, Plan, State, Tally, Spent, Made string
	Branch, BranchArg, Commit, Base        string
	Shadowed                               string // what else git takes the branch's name for
	Begun                                  bool
	Changed                                bool
	Notes                                  []string
	Changes                                []words.Change
	Waiting                                []reportWait
	Open                                   []reportOpen
	LeftOut                                []reportOpen
	Older                                  []reportOpen // results in the branch that their sprints do not come to now
	Graph                                  view.Drawing
	Times                                  []reportTime
	Span                                   string
	Nodes                                  []reportNode
	Proposals                              []machine.Proposed
	Runs                                   []reportRun
}

type reportWait struct {
	Key, Anchor, What string
	Steps             []record.NextStep
}

type reportOpen struct{ Key, Anchor, Why string }

type reportTime struct {
	Key, Anchor, Status, Started, Took, Agents, Gates, Attempts, Tokens, Cost string
	Bars                                                                      []bar
}

// bar is an attempt in the table of times, in thousandths of the run's span.
type bar struct {
	X, W          int
	Status, Title string
}

type reportNode struct {
	View                          machine.NodeView
	Anchor, Status, Sign, Spent   string
	Node                          *ir.Node
	Needs, Worktree, Branch, Goal string
	Attempts                      []reportAttempt
	Feedback                      string
	Decisions                     []reportDecision
	Refs                          []string
	MovedOut                      []record.MovedJSON
	Open                          bool
}

type reportAttempt struct {
	machine.AttemptLog
	Name, Word, Took, Cost, Files, Feedback, Who, Facts string
	Gates                                               []reportGate
}

type reportGate struct {
	executor.GateJudged
	Took  string
	Doubt string // why its pass is worth a look
}

type reportDecision struct{ At, What string }

type reportRun struct{ Started, Took, By, Outcome, Why string }

func page(r *record.Record) ([]byte, error) {
	t, err := template.New("report").Parse(reportPage)
	if err != nil {
		return nil, &exit.Error{Code: exit.Bug, Err: err}
	}
	var b bytes.Buffer
	if err := t.Execute(&b, pageDataOf(r)); err != nil {
		return nil, &exit.Error{Code: exit.Bug, Err: err}
	}
	return []byte(reveal.Words(b.String())), nil
}

func pageDataOf(r *record.Record) pageData {
	views := r.Run.Views()
	o := r.Run.Overview()
	p := pageData{
		Title: r.Epic.Epic.Title, Plan: r.Epic.Epic.Plan, State: r.StateOfRun(), Tally: words.TallyOf(r.Run), Spent: words.SpentOfRun(o),
		Made: r.Now.Local().Format(time.DateTime), Branch: r.Epic.Epic.Integration.Branch, Base: r.Run.Base().Commit,
		Begun: o.Begun, Changed: r.Changed, Changes: r.Changes(), Proposals: o.Proposals, Graph: view.DrawGraph(r.Epic, views),
	}
	if o.Held.For != "" {
		p.Notes = append(p.Notes, fmt.Sprintf("Nothing new starts (%s): %s", o.Held.For, words.First(o.Held.Detail)), "To end that: "+endHold(r, o))
	}
	if o.Over != "" && o.Held.For != executor.ForBudget {
		p.Notes = append(p.Notes, "More than the budget: "+o.Over)
	}
	for _, k := range o.Parked {
		p.Notes = append(p.Notes, fmt.Sprintf("Runner %s is not asked before %s: %s", k.Runner, words.Clock(r.Now, k.Until), words.First(k.Detail)))
	}
	for _, v := range views {
		if v.ID == executor.Integration {
			p.Commit = v.Result.Commit
			b := r.Branch()
			p.BranchArg, p.Shadowed = b.Typed(), b.Shadowed()
			for _, x := range b.LeftOut {
				p.LeftOut = append(p.LeftOut, reportOpen{string(x.Key), view.Anchor(x.Key), words.First(x.Why)})
			}
			for _, x := range b.Holds {
				if x.Older && !x.Like {
					p.Older = append(p.Older, reportOpen{string(x.Key), view.Anchor(x.Key), fmt.Sprintf("%.7s (%s)", x.Commit, words.First(x.Why))})
				}
			}
		}
		if steps := r.NextSteps(v); len(steps) > 0 && v.Status != executor.Skipped {
			p.Waiting = append(p.Waiting, reportWait{string(v.Key), view.Anchor(v.Key), words.Asks(v), steps})
		} else if v.Status != executor.Done && (v.Status != executor.Running || v.Interrupted) && v.ID != executor.Integration && o.Begun {
			p.Open = append(p.Open, reportOpen{string(v.Key), view.Anchor(v.Key), whyNotOf(r, v)})
		}
		p.Nodes = append(p.Nodes, reportNodeOf(r, v))
	}
	reportTimes(r, &p, views)
	p.Runs = reportRuns(r)
	return p
}

func reportNodeOf(r *record.Record, v machine.NodeView) reportNode {
	n := r.Node(v.ID)
	out := reportNode{
		View: v, Node: n, Anchor: view.Anchor(v.Key), Status: words.Status(v), Sign: view.SignsOf[v.Status], Spent: words.Spent(v.Spent),
		Needs: needsText(n), Branch: n.Git.Branch, Goal: n.Goal, Refs: refsOf(r, v), MovedOut: r.MovedOut(v.ID),
		Open: v.Status == executor.Blocked || v.Status == executor.Waiting,
	}
	if len(v.Attempts) > 0 {
		out.Worktree = r.Space.Dir(v.ID)
	}
	if k := len(v.Attempts); v.Status != executor.Done && (k == 0 || v.Attempts[k-1].Status != executor.AttemptRunning) { // an open one has its own
		out.Feedback = strings.Join(r.Run.Feedback(v.ID), "\n")
	}
	for _, d := range v.Decisions {
		out.Decisions = append(out.Decisions, reportDecision{d.At.Local().Format(time.DateTime), words.Decision(d)})
	}
	for _, a := range v.Attempts {
		x := reportAttempt{
			AttemptLog: a, Name: fmt.Sprintf("%s #%d", a.Step, a.Number), Word: attemptWord(r, v, a), Cost: words.Usage(a), Who: workedOn(r, v, a),
			Files: effects.Files(r.Space.State(), v.ID, a.Step, a.Number), Feedback: strings.Join(a.Feedback, "\n"),
			Facts: fmt.Sprintf("%s, +%d −%d", text.Count(a.Collected.Files, "file"), a.Collected.Added, a.Collected.Removed),
		}
		if c := words.TestCounts(a); c != nil {
			x.Facts += fmt.Sprintf(" · %s passed, %d failed", text.Count(c.Passed, "test"), c.Failed)
		}
		if !a.Ended.IsZero() && !a.Started.IsZero() {
			x.Took = words.Took(a)
		}
		for _, g := range a.Gates {
			x.Gates = append(x.Gates, reportGate{g, words.Millis(g.Millis), r.Run.Doubt(g)})
		}
		out.Attempts = append(out.Attempts, x)
	}
	return out
}

// reportTimes fills the table of times, with each attempt as a bar.
func reportTimes(r *record.Record, p *pageData, views []machine.NodeView) {
	var from, to time.Time
	for _, v := range views {
		for _, a := range v.Attempts {
			if !a.Started.IsZero() && (from.IsZero() || a.Started.Before(from)) {
				from = a.Started
			}
			if end := endOf(r, a); end.After(to) {
				to = end
			}
		}
	}
	if from.IsZero() {
		return
	}
	span := max(to.Sub(from), time.Millisecond)
	p.Span = words.Brief(span)
	for _, v := range views {
		if len(v.Attempts) == 0 {
			continue
		}
		t := reportTime{
			Key: string(v.Key), Anchor: view.Anchor(v.Key), Status: v.Status.String(), Attempts: fmt.Sprint(v.Tries()),
		}
		if words.SpentShort(v.Spent) != "" { // an agent was asked
			t.Tokens = words.Figure(v.Spent.Tokens, v.Spent.TokensKnown, words.Counted(v.Spent.Tokens), "unknown")
			t.Cost = words.Figure(v.Spent.USDMicro, v.Spent.USDKnown, words.Dollars(v.Spent.USDMicro), "unknown")
		}
		var agents, gates int64
		work := v.Worked
		if v.Status == executor.Running && r.Held {
			work += max(r.Now.Sub(r.Events[len(r.Events)-1].At), 0)
		}
		for i, a := range v.Attempts {
			agents += a.Millis
			for _, g := range a.Gates {
				gates += g.Millis
			}
			if a.Started.IsZero() {
				continue
			}
			if i == 0 || t.Started == "" {
				t.Started = a.Started.Local().Format(time.DateTime)
			}
			x := int(1000 * a.Started.Sub(from) / span)
			t.Bars = append(t.Bars, bar{
				X: x, W: max(int(1000*endOf(r, a).Sub(a.Started)/span), 3), Status: a.Status.String(),
				Title: fmt.Sprintf("%s #%d: %s", a.Step, a.Number, attemptWord(r, v, a)),
			})
		}
		t.Took, t.Agents, t.Gates = words.Brief(work), words.Millis(agents), words.Millis(gates)
		p.Times = append(p.Times, t)
	}
}

func endOf(r *record.Record, a machine.AttemptLog) time.Time {
	if !a.Ended.IsZero() {
		return a.Ended
	}
	if a.Status == executor.AttemptRunning && r.Held {
		return r.Now
	}
	return a.Started
}

// reportRuns lists the runs from their events.
func reportRuns(r *record.Record) []reportRun {
	var out []reportRun
	var open *reportRun
	var began time.Time
	for _, e := range r.Events {
		switch b := e.Body.(type) {
		case executor.RunStarted:
			out = append(out, reportRun{Started: e.At.Local().Format(time.DateTime), By: b.By, Outcome: "not ended by itself"})
			open, began = &out[len(out)-1], e.At
		case executor.RunEnded:
			if open == nil {
				continue
			}
			open.Took, open.Outcome = words.Brief(e.At.Sub(began)), words.Tally(b.Counts, b.GoesOn, true)
			if b.Interrupted {
				open.Outcome = "interrupted; " + open.Outcome
			}
			open = nil
		}
	}
	if open != nil && r.Held {
		open.Outcome = "at work"
	}
	return out
}
