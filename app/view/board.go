package view

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Board is what stands on the screen of `ralph monitor --watch`: epics and their sprints.
type Board struct {
	Epics   []BoardEpic
	Trouble []string // runs that cannot be read, and why
	Now     time.Time
}

// BoardEpic is an epic on a board.
type BoardEpic struct {
	ID     string // that a Spot names
	Dir    string // of its repository
	Title  string
	Says   string // how its run stands
	Tally  string
	Spent  string
	AtWork bool
	Rows   []BoardRow // what waits first, then what failed, what runs, and the rest
}

// BoardRow is a sprint on a board, or a question about the whole run.
type BoardRow struct {
	Spot
	Title  string
	Word   string // its status
	Need   Need
	Stalls bool // its agent is silent for too long
	Done   bool
	Since  time.Time
}

// Spot names a row of a board. It is comparable.
type Spot struct {
	Epic  string
	Key   ir.Key // "": the whole run
	About string // the question about the whole run
}

// Need is why a row wants to be seen. Lower ones come first.
type Need uint8

// Needs.
const (
	NeedWaits Need = iota // for a person
	NeedFailed
	NeedRuns
	NeedRest
)

// BoardPage is everything about a row.
type BoardPage struct {
	Spot
	Title    string
	Seq      int64  // of the last event that it knows
	Brief    string // what is wanted, and what to type
	Text     string // all of it
	Change   string // what an approval lets pass, in a line
	Flag     string // " --epic FILE", where commands need it
	Offers   []record.Offer
	Approval *record.ApprovalJSON
}

// BoardDiff is what a sprint changed, with the page that belongs to it.
type BoardDiff struct {
	Page BoardPage
	Text string // harmless, painted
}

// Desk is how a board is read, and how decisions are made at it.
type Desk struct {
	Look   func(context.Context) (Board, error)
	Page   func(context.Context, Spot) (BoardPage, error)
	Diff   func(context.Context, Spot) (BoardDiff, error)
	Follow func(context.Context, Spot, io.Writer) error // writes a sprint's log until that ends
	Decide func(ctx context.Context, at Spot, d executor.Decision, budget string) (said string, err error)
}

// BoardEpicOf is an epic as it stands, under a name for spots.
func BoardEpicOf(id, dir string, r *record.Record) BoardEpic {
	run := record.RunOf(r)
	e := BoardEpic{
		ID: id, Dir: dir, Title: r.Epic.Epic.Title, Says: run.Says, Tally: words.TallyOf(r.Run), Spent: words.SpentOfRun(run.View), AtWork: run.AtWork(),
	}
	for _, q := range record.QuestionsOf(r, run) {
		e.Rows = append(e.Rows, BoardRow{Spot: Spot{Epic: id, About: aboutOf(q)}, Title: q.Asks, Word: "waiting: " + q.Cause, Since: q.Since})
	}
	for _, v := range r.Run.Views() {
		row := BoardRow{Spot: Spot{Epic: id, Key: v.Key}, Title: v.Title, Word: words.Status(v), Need: needOf(v), Done: v.Status == executor.Done, Since: v.Since}
		if v.Status == executor.Running && e.AtWork {
			_, row.Stalls = record.StallOf(r, record.NodeOf(r, v))
			if row.Word += " " + v.Doing; row.Stalls {
				row.Word = "STALLS " + v.Doing
			}
		}
		e.Rows = append(e.Rows, row)
	}
	slices.SortStableFunc(e.Rows, func(a, b BoardRow) int { return cmp.Compare(a.Need, b.Need) })
	return e
}

func needOf(v machine.NodeView) Need {
	switch {
	case record.WaitsForPerson(v):
		return NeedWaits
	case v.Status == executor.Blocked:
		return NeedFailed
	case v.Status == executor.Running:
		return NeedRuns
	}
	return NeedRest
}

// SortBoard orders epics as the page does: those that wait for a person first, then those that
// failed, those at work, and the rest.
func SortBoard(epics []BoardEpic) {
	rank := func(e BoardEpic) Need {
		switch {
		case len(e.Rows) > 0 && e.Rows[0].Need <= NeedFailed:
			return e.Rows[0].Need
		case e.AtWork:
			return NeedRuns
		}
		return NeedRest
	}
	slices.SortStableFunc(epics, func(a, b BoardEpic) int { return cmp.Compare(rank(a), rank(b)) })
}

func aboutOf(q record.Question) string { return q.Cause + " " + q.Title }

// BoardPageOf is everything that a record says about a spot of it.
func BoardPageOf(r *record.Record, at Spot) (BoardPage, error) {
	if at.Key == "" {
		return runPage(r, at)
	}
	id, err := record.Find(r.Epic, string(at.Key))
	if err != nil {
		return BoardPage{}, err
	}
	v, is := r.Run.View(id)
	if !is {
		return BoardPage{}, exit.Inputf("there is nothing to show of %s", at.Key)
	}
	change := record.ChangeIn(r, v)
	p := BoardPage{Spot: at, Title: v.Title, Seq: r.Run.Seq(), Flag: r.About(), Offers: record.OffersOf(r, v), Approval: change.Approval}
	s := r.Show(record.NodeOf(r, v))
	var judged []string
	for _, g := range change.Gates {
		judged = append(judged, g.Gate+" "+g.Verdict)
	}
	if k := len(s.Attempts) - 1; k >= 0 && s.Attempts[k].Commit != "" {
		a := s.Attempts[k]
		judged = append(judged, fmt.Sprintf("%s, +%d −%d", text.Count(a.FilesChanged, "file"), a.Added, a.Removed), fmt.Sprintf("commit %.12s", a.Commit))
	}
	p.Change = strings.Join(judged, "; ")
	p.Brief = briefOf(words.WhyNot(v), s.Next)
	p.Text = pageText(r, s, p.Offers)
	return p, nil
}

// briefOf is what is wanted, and what to type.
func briefOf(asks string, next []record.NextStep) string {
	w := &sheet{}
	w.line("%s", words.First(asks))
	WriteSteps(&w.b, next)
	return w.b.String()
}

// pageText is a sprint as `ralph show` has it, what matters now first.
func pageText(r *record.Record, s record.ShowJSON, offers []record.Offer) string {
	v := s.View
	w := &sheet{}
	w.field("status", asksOrStatus(v))
	if !v.Since.IsZero() {
		w.field("since", dateTime(v.Since)+" ("+words.Ago(r.Now, v.Since)+")")
	}
	if _, active := doing(s.Now, s.NodeJSON); v.Status == executor.Running && active != "" {
		w.field("alive", "last sign of life "+active)
	}
	if v.Reason != words.Asks(v) {
		w.field("reason", v.Reason)
	}
	w.field("branch", s.Branch)
	w.field("spent", words.Spent(v.Spent))
	writeOffers(w, offers)
	for i := range slices.Backward(s.Attempts) {
		showAttempt(w, v, s.Attempts[i], v.Attempts[i])
	}
	if len(s.Feedback) > 0 && v.Status != executor.Done {
		w.head("%s", toldTo(v))
		w.text(strings.Join(s.Feedback, "\n"))
	}
	if len(s.Decisions) > 0 {
		w.head("Decisions")
		for _, d := range s.Decisions {
			w.line("  %s  %s", dateTime(d.At), words.Decision(d))
		}
	}
	w.b.WriteByte('\n')
	if s.Spec != nil {
		w.field("goal", s.Spec.Goal)
		w.field("needs", needsText(s.Spec))
	}
	showSpec(s, w)
	return w.b.String()
}

// writeOffers lists decisions by the keys that take them.
func writeOffers(w *sheet, offers []record.Offer) {
	if len(offers) == 0 {
		return
	}
	w.head("What you can decide")
	for i, o := range offers {
		w.line("  %s  %-28s  %s", keyOf(offers, i), o.Label, o.What)
	}
}

// keyOf is the key that takes an offer: that of its verb, else a number.
func keyOf(offers []record.Offer, i int) string {
	for key, verb := range decides {
		if offerOf(offers, verb) == i {
			return key
		}
	}
	if i > 8 {
		return " "
	}
	return fmt.Sprint(i + 1)
}

// runPage is the page of a question about the whole run.
func runPage(r *record.Record, at Spot) (BoardPage, error) {
	for _, q := range record.QuestionsOf(r, record.RunOf(r)) {
		if aboutOf(q) != at.About {
			continue
		}
		next := slices.Clone(q.Next)
		for _, o := range q.Offers {
			next = append(next, record.NextStep{Command: o.Command, What: o.What})
		}
		w := &sheet{}
		w.line("%s", q.Asks)
		w.field("reason", q.Reason)
		writeOffers(w, q.Offers)
		if len(next) > 0 {
			w.head("To type")
			WriteSteps(&w.b, next)
		}
		return BoardPage{Spot: at, Title: q.Title, Seq: r.Run.Seq(), Flag: r.About(), Brief: briefOf(q.Asks, next), Text: w.b.String(), Offers: q.Offers}, nil
	}
	return BoardPage{}, exit.Inputf("nothing is asked about the whole run any more")
}
