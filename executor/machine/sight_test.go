package machine_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// sent is what a decision comes to that is bound now and read when meanwhile is over.
func (s *stage) sent(id ir.NodeID, d executor.Decision, meanwhile func()) error {
	s.t.Helper()
	if d.By == "" {
		d.By = "bob"
	}
	d, _ = s.run.Decisions().Bind(id, d)
	b, err := json.Marshal(d)
	if err != nil {
		s.t.Fatal(err)
	}
	var read executor.Decision
	if err := json.Unmarshal(b, &read); err != nil {
		s.t.Fatal(err)
	}
	meanwhile()
	bound, err := s.run.Decisions().Consider(id, read, s.now)
	if err == nil && (bound.Seen != (executor.Sight{}) || bound.About != "") {
		s.t.Errorf("what the sender saw is put on record: %+v", bound)
	}
	return err
}

func TestALetterIsBoundToWhatItsSenderSaw(t *testing.T) { // K26, execution §5
	verb := func(v executor.Verb) executor.Decision { return executor.Decision{Verb: v} }
	budget := executor.Decision{Verb: executor.Resume, Budget: ir.Budget{Tokens: 5}}
	again := func(s *stage) { s.end(); s.begin(); s.until(nil) }
	resumed := func(s *stage) { s.ok("1.2", verb(executor.Resume)) }
	anew := func(s *stage) { // the journal was lost: its numbers are given again
		s.events, s.now = nil, s.now.Add(time.Hour)
		s.fresh()
		s.begin()
		s.until(nil)
	}
	text := func(s *stage) {
		epic := executortest.Epic([]string{"1.1", "1.2: 1.1"}, asksAna)
		epic.Nodes[1].Digest.Work = "sha256:another"
		s.epic = epic
		s.fresh()
		for _, e := range s.events {
			if err := s.run.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	const waits, next = ir.NodeID("bd-1-1"), ir.NodeID("bd-1-2")
	for name, c := range map[string]struct {
		id          ir.NodeID
		d           executor.Decision
		before, now func(*stage)
		want        string // "" taken; "=" is so already
	}{
		"cancel":                                   {id: "", d: verb(executor.Cancel)},
		"cancel of the run before":                 {id: "", d: verb(executor.Cancel), now: again, want: "another one began"},
		"cancel of a run of another journal":       {id: "", d: verb(executor.Cancel), now: anew, want: "another one began"},
		"cancel of a run that ended":               {id: "", d: verb(executor.Cancel), now: (*stage).end, want: "=ended meanwhile"},
		"cancel, which somebody did":               {id: "", d: verb(executor.Cancel), now: func(s *stage) { s.ok("", verb(executor.Cancel)) }, want: "=cancelled by ann already"},
		"cancel of nothing":                        {id: "", d: verb(executor.Cancel), before: (*stage).end, want: "no run is active"},
		"cancel, and then a run begins":            {id: "", d: verb(executor.Cancel), before: (*stage).end, now: func(s *stage) { s.begin() }, want: "another one began"},
		"pause":                                    {id: "", d: verb(executor.Pause)},
		"pause while none is at work":              {id: "", d: verb(executor.Pause), before: (*stage).end},
		"pause of the run before":                  {id: "", d: verb(executor.Pause), now: again, want: "another one began"},
		"pause of a run that ended":                {id: "", d: verb(executor.Pause), now: (*stage).end, want: "=ended meanwhile"},
		"pause, which somebody did":                {id: "", d: verb(executor.Pause), now: func(s *stage) { s.ok("", verb(executor.Pause)) }, want: "=held already"},
		"resume":                                   {id: "", d: verb(executor.Resume), before: func(s *stage) { s.ok("", verb(executor.Pause)) }},
		"resume of the run before":                 {id: "", d: verb(executor.Resume), before: func(s *stage) { s.ok("", verb(executor.Pause)) }, now: again, want: "another one began"},
		"resume of another pause":                  {id: "", d: verb(executor.Resume), before: func(s *stage) { s.ok("", verb(executor.Pause)) }, now: (*stage).pausedAnew, want: "and now it is paused by ann"},
		"resume, which somebody did":               {id: "", d: verb(executor.Resume), before: func(s *stage) { s.ok("", verb(executor.Pause)) }, now: func(s *stage) { s.ok("", verb(executor.Resume)) }, want: "=resumed already"},
		"a budget for the run before":              {id: "", d: budget, now: again, want: "another one began"},
		"a budget, and then somebody paused":       {id: "", d: budget, now: func(s *stage) { s.ok("", verb(executor.Pause)) }, want: "and now it is paused by ann"},
		"skip of what waits":                       {id: waits, d: verb(executor.Skip)},
		"skip, and it passed":                      {id: waits, d: verb(executor.Skip), now: (*stage).approved, want: "1.1 is done"},
		"skip, and it waits again":                 {id: waits, d: verb(executor.Skip), now: (*stage).rejected, want: "implement #2"},
		"skip, which somebody did":                 {id: waits, d: verb(executor.Skip), now: func(s *stage) { s.ok("1.1", verb(executor.Skip)) }, want: "=skipped already"},
		"skip after a crash":                       {id: waits, d: verb(executor.Skip), now: func(s *stage) { s.begin(); s.until(nil) }},
		"skip of the run before":                   {id: waits, d: verb(executor.Skip), now: again, want: "another one began"},
		"cancel of what waits":                     {id: waits, d: verb(executor.Cancel)},
		"cancel, and it waits again":               {id: waits, d: verb(executor.Cancel), now: (*stage).rejected, want: "implement #2"},
		"cancel, and it passed":                    {id: waits, d: verb(executor.Cancel), now: (*stage).approved, want: "1.1 is done"},
		"cancel of what is to come, and it begins": {id: next, d: verb(executor.Cancel), now: (*stage).nextRuns},
		"cancel of what is to come, paused":        {id: next, d: verb(executor.Cancel), now: func(s *stage) { s.ok("1.2", verb(executor.Pause)) }},
		"cancel of another text":                   {id: next, d: verb(executor.Cancel), now: text, want: "its text"},
		"skip of another text":                     {id: next, d: verb(executor.Skip), now: text, want: "its text"},
		"pause of another text":                    {id: next, d: verb(executor.Pause), now: text, want: "its text"},
		"pause of what is to come, and it begins":  {id: next, d: verb(executor.Pause), now: (*stage).nextRuns},
		"pause of what is done meanwhile":          {id: next, d: verb(executor.Pause), now: func(s *stage) { s.approved(); s.until(nil) }, want: "=is done meanwhile"},
		"pause of the run before, of a sprint":     {id: next, d: verb(executor.Pause), now: again, want: "another one began"},
		"resume of a sprint":                       {id: next, d: verb(executor.Resume), before: (*stage).nextPaused},
		"resume of another pause of a sprint":      {id: next, d: verb(executor.Resume), before: (*stage).nextPaused, now: func(s *stage) { resumed(s); s.nextPaused() }, want: "and now it is paused by ann"},
		"resume of a sprint, which somebody did":   {id: next, d: verb(executor.Resume), before: (*stage).nextPaused, now: resumed, want: "=resumed already"},
		"resume of a sprint, of the run before":    {id: next, d: verb(executor.Resume), before: (*stage).nextPaused, now: again, want: "another one began"},
		"approve after a crash":                    {id: waits, d: verb(executor.Approve), now: func(s *stage) { s.replay(); s.begin(); s.until(nil) }},
		"approve, and it waits again":              {id: waits, d: verb(executor.Approve), now: (*stage).rejected, want: "implement #2"},
		"gates-only, and it waits again":           {id: waits, d: executor.Decision{Verb: executor.RetryNode, How: executor.GatesOnly}, now: (*stage).rejected, want: "implement #2"},
		"approve, and it passed":                   {id: waits, d: verb(executor.Approve), now: (*stage).approved, want: "1.1 is done"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1", "1.2: 1.1"}, asksAna)
			s.begin()
			s.until(nil)
			if c.before != nil {
				c.before(s)
			}
			err := s.sent(c.id, c.d, func() {
				if c.now != nil {
					c.now(s)
				}
			})
			want, already := strings.CutPrefix(c.want, "=")
			no, refused := errors.AsType[*executor.Refused](err)
			if (err != nil) != (c.want != "") || refused && (no.Already != already || !strings.Contains(no.Error(), want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestALetterOfAnEarlierRelease: it says of what it is about what that release knew.
func TestALetterOfAnEarlierRelease(t *testing.T) { // execution §5
	letter := func(text string) executor.Decision {
		var d executor.Decision
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, c := range map[string]struct {
		node ir.NodeID
		text string
		now  func(*stage)
		want string
	}{
		"an approval":           {"bd-1-1", `{"id":"o","verb":"approve","by":"ann","about":"waiting for a person (approval), gate ana, implement #1 after 1 turns, the text WORK"}`, nil, ""},
		"of another attempt":    {"bd-1-1", `{"id":"o","verb":"approve","by":"ann","about":"waiting for a person (approval), gate ana, implement #1 after 1 turns, the text WORK"}`, (*stage).rejected, "implement #2"},
		"a skip":                {"bd-1-1", `{"id":"o","verb":"skip","by":"ann","about":"the text WORK"}`, (*stage).rejected, ""},
		"a skip of other words": {"bd-1-1", `{"id":"o","verb":"skip","by":"ann","about":"the text sha256:other"}`, nil, "its text"},
		"a cancel":              {"", `{"id":"o","verb":"cancel","by":"ann"}`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{"1.1", "1.2: 1.1"}, asksAna)
			s.begin()
			s.until(nil)
			if c.now != nil {
				c.now(s)
			}
			work := s.epic.Nodes[0].Digest.Work
			d := letter(strings.ReplaceAll(c.text, "WORK", work[:min(len(work), 12)]))
			_, err := s.run.Decisions().Consider(c.node, d, s.now)
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func asksAna(e *ir.Epic) {
	e.Gates["ana"] = ir.Gate{Kind: "human", From: "policy", OnTimeout: "fail", OnFailure: "retry"}
	e.Nodes[0].Steps[0].Gates = []string{"ana"}
}

func (s *stage) rejected() {
	s.ok("1.1", executor.Decision{Verb: executor.Reject, Message: "once more"})
	s.until(nil)
	s.is("1.1", executor.Waiting, executor.CauseApproval, "")
}

func (s *stage) approved() {
	s.ok("1.1", executor.Decision{Verb: executor.Approve})
	s.until(func(e executor.Effect) bool { return e.Node == "bd-1-2" })
	s.is("1.1", executor.Done, "", "")
}

func (s *stage) nextRuns() {
	s.approved()
	s.is("1.2", executor.Running, "", "")
}

func (s *stage) nextPaused() {
	s.now = s.now.Add(1e6)
	s.ok("1.2", executor.Decision{Verb: executor.Pause})
}

func (s *stage) pausedAnew() {
	s.ok("", executor.Decision{Verb: executor.Resume})
	s.now = s.now.Add(1e6)
	s.ok("", executor.Decision{Verb: executor.Pause})
}

// What a page showed is older than what has happened to the sprint since: the state may
// look the same, and the decision was not about it.
func TestADecisionNamesTheLastEventThatWasShown(t *testing.T) {
	s := newStage(t, []string{"1.1", "1.2: 1.1"}, asksAna)
	s.begin()
	s.until(nil)
	const waits = ir.NodeID("bd-1-1")
	v, _ := s.run.View(waits)
	if v.Changed == 0 || v.Changed > s.run.Seq() {
		t.Fatalf("1.1 changed last at event %d of %d", v.Changed, s.run.Seq())
	}
	decide := func(verb executor.Verb, seen int64, want string) {
		t.Helper()
		err := s.sent(waits, executor.Decision{Verb: verb, By: "ana", Message: "why", Seen: executor.Sight{Seq: seen}}, func() {})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s, having seen event %d: %v; want %q", verb, seen, err, want)
		}
	}
	decide(executor.Approve, s.run.Seq(), "")
	decide(executor.Approve, v.Changed, "")
	decide(executor.Approve, 0, "") // a command says no number
	decide(executor.Approve, v.Changed-1, "came after it")
	decide(executor.Reject, v.Changed-1, "came after it")
	decide(executor.Skip, v.Changed-1, "came after it")
	s.ok("1.2", executor.Decision{Verb: executor.Pause})
	decide(executor.Approve, v.Changed, "") // something else happened
}
