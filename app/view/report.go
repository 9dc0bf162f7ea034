package view

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
)

//go:embed page/report.html
var reportPage string

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
	Graph                                  Drawing
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
	record.ShowJSON
	Anchor, Word, Sign, Spent, Needs string
	Attempts                         []reportAttempt
	Feedback                         string
	Decisions                        []reportDecision
	Open                             bool
}

type reportAttempt struct {
	record.AttemptJSON
	Log                               machine.AttemptLog
	Word, Took, Cost, Feedback, Facts string
	Gates                             []reportGate
}

type reportGate struct {
	record.GateJSON
	Took string
}

type reportDecision struct{ At, What string }

type reportRun struct{ Started, Took, By, Outcome, Why string }

// Report is the page about a run, as HTML.
func Report(r *record.Record) ([]byte, error) {
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
	s := record.StatusOf(r)
	o := s.Run.View
	p := pageData{
		Title: s.Epic.Title, Plan: s.Epic.Plan, State: s.Run.Says, Tally: s.Tally, Spent: words.SpentOfRun(o),
		Made: r.Now.Local().Format(time.DateTime), Branch: r.Epic.Epic.Integration.Branch, Base: s.Run.Base,
		Begun: o.Begun, Changed: r.Changed, Changes: s.Changes, Proposals: s.Proposals, Graph: DrawGraph(r.Epic, views),
	}
	if o.Held.For != "" {
		p.Notes = append(p.Notes, fmt.Sprintf("Nothing new starts (%s): %s", o.Held.For, words.First(o.Held.Detail)), "To end that: "+endHold(s))
	}
	if o.Over != "" && o.Held.For != executor.ForBudget {
		p.Notes = append(p.Notes, "More than the budget: "+o.Over)
	}
	for _, k := range o.Parked {
		p.Notes = append(p.Notes, "R"+words.Parked(k, r.Now)[1:])
	}
	for _, n := range s.Nodes {
		v := n.View
		if v.ID == executor.Integration {
			p.Commit = v.Result.Commit
			b := s.Branch
			p.BranchArg, p.Shadowed = b.Typed(), b.Shadowed()
			for _, x := range b.LeftOut {
				p.LeftOut = append(p.LeftOut, reportOpen{string(x.Key), Anchor(x.Key), words.First(x.Why)})
			}
			for _, x := range b.Holds {
				if x.Older && !x.Like {
					p.Older = append(p.Older, reportOpen{string(x.Key), Anchor(x.Key), fmt.Sprintf("%.7s (%s)", x.Commit, words.First(x.Why))})
				}
			}
		}
		if len(n.Next) > 0 && v.Status != executor.Skipped {
			p.Waiting = append(p.Waiting, reportWait{string(v.Key), Anchor(v.Key), words.Asks(v), n.Next})
		} else if v.Status != executor.Done && (v.Status != executor.Running || v.Interrupted) && v.ID != executor.Integration && o.Begun {
			p.Open = append(p.Open, reportOpen{string(v.Key), Anchor(v.Key), whyNotOf(s, v)})
		}
		p.Nodes = append(p.Nodes, reportNodeOf(r.Show(n)))
	}
	reportTimes(r, &p, views)
	p.Runs = reportRuns(r)
	return p
}

func reportNodeOf(s record.ShowJSON) reportNode {
	v := s.View
	out := reportNode{
		ShowJSON: s, Anchor: Anchor(v.Key), Word: words.Status(v), Sign: SignsOf[v.Status], Spent: words.Spent(v.Spent),
		Open: v.Status == executor.Blocked || v.Status == executor.Waiting,
	}
	if s.Spec != nil {
		out.Needs = needsText(s.Spec)
	}
	if k := len(v.Attempts); v.Status != executor.Done && (k == 0 || v.Attempts[k-1].Status != executor.AttemptRunning) { // an open one has its own
		out.Feedback = strings.Join(s.Feedback, "\n")
	}
	for _, d := range v.Decisions {
		out.Decisions = append(out.Decisions, reportDecision{dateTime(d.At), words.Decision(d)})
	}
	for i, a := range s.Attempts {
		log := v.Attempts[i]
		x := reportAttempt{
			AttemptJSON: a, Log: log, Word: words.Attempt(v, log), Cost: words.Usage(log), Feedback: strings.Join(a.Feedback, "\n"),
			Facts: fmt.Sprintf("%s, +%d −%d", text.Count(a.FilesChanged, "file"), a.Added, a.Removed),
		}
		if c := a.Tests; c != nil {
			x.Facts += fmt.Sprintf(" · %s passed, %d failed", text.Count(c.Passed, "test"), c.Failed)
		}
		if a.Ended != nil && a.Started != nil {
			x.Took = words.Took(log)
		}
		for _, g := range a.Gates {
			x.Gates = append(x.Gates, reportGate{g, words.Millis(g.Millis)})
		}
		out.Attempts = append(out.Attempts, x)
	}
	return out
}
