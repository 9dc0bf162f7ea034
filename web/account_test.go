//go:build unix

package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// redFirst adds a gate that has to fail before the work.
func redFirst(e *ir.Epic) {
	failsOnce(e)
	e.Gates["red"] = ir.Gate{Kind: "command", Run: "test -e work.txt", From: "policy", OnFailure: "retry", RedFirst: true, TimeoutMS: 60_000}
	for i := range e.Nodes {
		e.Nodes[i].Steps[0].Gates = append(e.Nodes[i].Steps[0].Gates, "red")
	}
}

func TestWhenWhatWentOn(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1", "1.2: 1.1"}, redFirst))
	s.start()()
	rows := got[[]TimelineRow](s, "/EPIC/timeline")
	statuses := ""
	for _, r := range rows {
		statuses += string(r.Key) + " " + r.Status + "; "
		if r.Key == "1.2" { // its gate did not fail before the work: a person is asked
			if last := r.Parts[len(r.Parts)-1]; r.End != nil || last.Kind != "wait" || last.End != nil {
				t.Errorf("%+v", r)
			}
			continue
		}
		if r.End == nil || r.End.Before(r.Start) || r.Run != 1 {
			t.Errorf("%+v", r)
			continue
		}
		for _, p := range r.Parts {
			if p.End == nil || p.Start.Before(r.Start) || p.End.After(*r.End) {
				t.Errorf("%s: %+v", r.Key, p)
			}
		}
	}
	if !strings.HasPrefix(statuses, "1.1 failed; 1.1 passed; 1.2 running; ") {
		t.Errorf("rows: %s", statuses)
	}
	kinds := ""
	for _, p := range rows[0].Parts {
		kinds += p.Kind + " " + p.Gate + "; "
	}
	for _, want := range []string{"setup ; ", "gate:pass red; ", "agent ; ", "gate:fail check; "} {
		if !strings.Contains(kinds, want) {
			t.Errorf("no %q in %s", want, kinds)
		}
	}
	for query, says := range map[string]string{"from=noon": `from is a time such as 2030-01-02T15:04:05Z, not \"noon\"`, "to=12:00": "to is a time"} {
		if status, text, _ := s.text("/EPIC/timeline?" + query); status != http.StatusBadRequest || !strings.Contains(text, says) {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	later := got[[]TimelineRow](s, "/EPIC/timeline?from="+rows[1].Start.UTC().Add(time.Millisecond).Format(time.RFC3339Nano))
	if len(later) != len(rows)-1 {
		t.Errorf("%d of %d rows are later", len(later), len(rows))
	}
}

func TestWhatWasSpentOnWhat(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}, failsOnce))
	s.start()()
	c := got[Cost](s, "/EPIC/cost")
	if c.All.USDKnown || c.All.MS <= 0 || !strings.Contains(c.All.Text, "unknown") {
		t.Errorf("all: %+v", c.All)
	}
	if c.Lost.MS <= 0 || c.Lost.MS >= c.All.MS || len(c.Outcomes) != 2 || len(c.Agents) != 1 || c.Agents[0].Name != "dev" || len(c.Sprints) != 1 || c.Sprints[0].Title == "" {
		t.Errorf("%+v", c)
	}
}

func TestWhySomethingIsTrusted(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}, redFirst, func(e *ir.Epic) {
		e.Gates["ann"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann"}, OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = append(e.Nodes[0].Steps[0].Gates, "ann")
	}))
	s.start()()
	by := func() map[string]TrustCheck {
		out := map[string]TrustCheck{}
		for _, c := range got[Trust](s, "/EPIC/trust").Checks {
			out[c.Name] = c
		}
		return out
	}
	c := by()
	if c["journal"].State != "good" || !strings.Contains(c["journal"].Text, "events") {
		t.Errorf("journal: %+v", c["journal"])
	}
	if len(c["red-first"].Proofs) == 0 || c["red-first"].Proofs[0].File != "red-red.log" || c["red-first"].Proofs[0].Seq == 0 {
		t.Errorf("red first: %+v", c["red-first"])
	}
	if c["sandbox"].State != "look" || len(c["sandbox"].Proofs) != 2 || !strings.HasSuffix(c["sandbox"].Proofs[1].Text, ": check, red") || c["claims"].State != "good" {
		t.Errorf("%+v", c)
	}
	if status, text, _ := s.text("/EPIC/nodes/1.1/attempts/implement/1/files/red-red.log"); status != http.StatusOK {
		t.Errorf("its proof: %d %s", status, text)
	}
	body := s.approval("decision-1", "1.1")
	r := s.ask(http.MethodPost, "/EPIC/nodes/1.1/decisions", strings.NewReader(body), "Content-Type", "application/json")
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Fatalf("approve: %d", r.StatusCode)
	}
	s.until("the claim is shown", func() bool { return by()["claims"].State == "look" })
	if c = by(); !strings.Contains(c["claims"].Proofs[0].Text, "ann (user ") || len(c["page"].Proofs) != 1 || c["claims"].Proofs[0].Seq == 0 {
		t.Errorf("claims: %+v, page: %+v", c["claims"], c["page"])
	}
}

func TestAGateThatItsAgentCanEditIsNamed(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Gates["unit"] = ir.Gate{Kind: "command", From: "policy", Run: "make test"}
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Gates = append(e.Nodes[i].Steps[0].Gates, "unit")
		}
	}))
	if err := os.WriteFile(filepath.Join(s.dir, "Makefile"), []byte("test:\n\ttrue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range got[Trust](s, "/EPIC/trust").Checks {
		if c.Name != "editable" {
			continue
		}
		if c.State != "look" || len(c.Proofs) != 1 || c.Proofs[0].Key != "1.1" || !strings.Contains(c.Proofs[0].Text, "gate unit runs through Makefile, which the agent of 1.1 and 1.2 can change") {
			t.Errorf("%+v", c)
		}
		return
	}
	t.Error("there is no such check")
}

func TestADamagedJournalIsNotTrusted(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}))
	s.start()()
	s.serve()
	at := filepath.Join(s.dir, ".git/ralph", string(s.epic.Epic.ID), "journal.db")
	b, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte("agent speaks"), []byte("agent lies!!"))
	if err := os.WriteFile(at, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := got[Trust](s, "/EPIC/trust").Checks[0]; c.State != "bad" || c.Text == "" {
		t.Errorf("%+v", c)
	}
}

// The names of the seed, S4-125, S4-126, S4-127.
func TestWhatAgentShepherdAsks(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1", "1.2: 1.1"}, failsOnce))
	s.start()()
	issues := got[[]Issue](s, "/issues")
	if len(issues) != 2 || issues[0].Status != "closed" || issues[0].Runs != 2 || issues[1].Dependencies[0] != (IssueEdge{issues[0].ID, "blocks"}) || issues[0].Ralph.Epic == "" {
		t.Errorf("%+v", issues)
	}
	type line struct {
		ID      string `json:"id"`
		Issue   string `json:"issue_id"`
		Status  string
		Phase   string
		Join    []Joining
		Outcome *struct{ Result string }
	}
	runs := got[[]line](s, "/issues/"+string(issues[0].ID)+"/runs")
	if len(runs) != 2 || runs[0].Status != "failed" || runs[1].Status != "completed" || runs[1].Phase != "implement" || runs[0].Join == nil || runs[0].Outcome == nil {
		t.Errorf("%+v", runs)
	}
	one := got[line](s, "/runs/"+runs[1].ID)
	a, _ := json.Marshal(one)
	b, _ := json.Marshal(runs[1])
	if string(a) != string(b) {
		t.Errorf("%s\n%s", a, b)
	}
	for _, path := range []string{"/issues/none/runs", "/runs/none", "/runs/run-bd-1-1-implement-9"} {
		if status, text, _ := s.text(path); status != http.StatusNotFound || !strings.Contains(text, "unknown") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

func TestWhatBelongsToNoVerdictIsCounted(t *testing.T) {
	told := CostSum{Tokens: 10, USDMicro: 3, TokensKnown: true, USDKnown: true}
	if _, _, is := others(machine.Spent{Tokens: 10, USDMicro: 3, TokensKnown: true, USDKnown: true}, told); is {
		t.Error("there is nothing else")
	}
	u, untold, is := others(machine.Spent{Tokens: 12, USDMicro: 3, TokensKnown: true}, told) // a turn did not say its price
	if !is || untold != 1 || u.USDMicro != nil || u.Tokens == nil || *u.Tokens != 2 {
		t.Errorf("%+v %d %v", u, untold, is)
	}
	told.USDKnown = false
	if _, untold, is := others(machine.Spent{Tokens: 10, USDMicro: 3, TokensKnown: true}, told); is || untold != 0 {
		t.Error("that it is unknown is said already")
	}
}
