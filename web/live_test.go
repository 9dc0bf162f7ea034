//go:build unix

package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
)

// alone serves a site that nothing follows: only requests look at its journal.
func (s *site) alone() *Server {
	s.t.Helper()
	h, err := newHouse(s.t.Context(), []string{s.dir})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		for _, l := range h.all() {
			_ = l.rec.Close()
		}
	})
	return &Server{house: h, kept: map[string]made{}}
}

func TestKeptAnswersAreBounded(t *testing.T) {
	page := newSite(t, "", chain(t)).alone()
	l := page.house.all()[0]
	kept := func() int { return len(l.made) }
	ask := func(query string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, base+"/epics/"+l.id+query, nil)
		for _, route := range routes() {
			if route.path == strings.Replace("/epics/{epic}"+strings.SplitN(query, "?", 2)[0], l.id, "{epic}", 1) {
				r.SetPathValue("epic", l.id)
				route.serve(page, w, r)
				break
			}
		}
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	for i := range 10 {
		ask(fmt.Sprintf("?x=%d", i))
	}
	if kept() != 1 {
		t.Errorf("a parameter that means nothing: %d answers are kept, not 1", kept())
	}
	for i := range 2 * mostMade {
		ask(fmt.Sprintf("/log?key=%d", i))
	}
	if kept() > mostMade {
		t.Errorf("%d answers are kept", kept())
	}
}

// What a request finds in the journal is told to all, also to those that wait for it.
func TestWhatARefusedDecisionFindsIsTold(t *testing.T) {
	s := newSite(t, "exit 1\n", chain(t))
	if code := s.start()(); code != 3 {
		t.Fatalf("apply ended with %d", code)
	}
	page := s.alone()
	l := page.house.all()[0]
	before, moved := page.house.change()
	key := string(l.rec.Epic.Nodes[0].Key)
	if _, err := run.DecideIn(t.Context(), s.dir, l.rec.Named(), "epic.json", key, executor.Decision{ID: "ffff-0001", Verb: executor.RetryNode, User: "root"}); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, base+"/epics/"+l.id+"/nodes/"+key+"/decisions", strings.NewReader(`{"id": "ffff-0002", "verb": "approve", "seen": 1}`))
	r.Header.Set("Content-Type", "application/json")
	r.SetPathValue("epic", l.id)
	r.SetPathValue("key", key)
	page.decide(w, r)
	if w.Code != http.StatusConflict {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	select {
	case <-moved:
	default:
		after, _ := page.house.change()
		t.Errorf("nobody was told: change %d, then %d", before, after)
	}
}
