//go:build unix

package web

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

func mirrored(e *ir.Epic) { e.Run.Tracker = &ir.Tracker{Kind: "bd", PollMS: 1000} }

func TestTheBeadOfASprint(t *testing.T) {
	f := bdtest.New(t)
	t.Setenv("PATH", filepath.Dir(f.Program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}, failsOnce, mirrored))
	f.Init(s.dir)
	if code := s.start()(); code != 0 {
		t.Fatalf("apply: %d", code)
	}
	known := got[Sprint](s, "/EPIC/nodes/1.1").Bead
	if known == nil || known.ID != "bd-1-1" || known.Status != "closed" || known.Asked || len(known.Comments) < 2 || known.Title != "Sprint 1.1" {
		t.Fatalf("as the run tells it: %+v", known)
	}
	f.Do(s.dir, "ann", "comments", "add", "bd-1-1", "well done")
	f.Forget()
	bead := got[run.Bead](s, "/EPIC/nodes/1.1/bead")
	if last := bead.Comments[len(bead.Comments)-1]; !bead.Asked || bead.Status != "closed" || bead.Unsent != 0 || len(bead.Comments) < 2 || last.Author != "ann" || last.Text != "well done" {
		t.Errorf("as bd says it: %+v", bead)
	}
	calls := len(f.Calls())
	for range 3 {
		got[run.Bead](s, "/EPIC/nodes/1.1/bead")
	}
	if n := len(f.Calls()); n != calls {
		t.Errorf("bd is asked again and again: %q", f.Commands())
	}
	for _, path := range []string{"/EPIC/nodes/integration/bead", "/EPIC/nodes/9.9/bead"} {
		if status, _, _ := s.text(path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestWithoutBdWhatTheRunTellsIsShown(t *testing.T) {
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}, failsOnce, mirrored))
	s.start()()
	bead := got[run.Bead](s, "/EPIC/nodes/1.1/bead")
	if bead.Asked || !strings.Contains(bead.Cannot, "bd") || len(bead.Comments) < 2 || bead.Unsent != len(bead.Comments) {
		t.Errorf("%+v", bead)
	}
}

func TestWithoutATrackerBdIsNotAsked(t *testing.T) {
	f := bdtest.New(t)
	t.Setenv("PATH", filepath.Dir(f.Program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}))
	f.Init(s.dir)
	s.start()()
	f.Forget()
	if status, _, _ := s.text("/EPIC/nodes/1.1/bead"); status != http.StatusNotFound {
		t.Errorf("%d", status)
	}
	if got[Sprint](s, "/EPIC/nodes/1.1").Bead != nil || len(f.Calls()) > 0 {
		t.Errorf("bd was asked: %q", f.Commands())
	}
}

func TestBdTheBeadOfASprintInTheRealOne(t *testing.T) {
	program := os.Getenv("RALPH_BD")
	if program == "" {
		t.Skip("NOT TESTED: the real bd; RALPH_BD is not set: make e2e builds it and tests with it")
	}
	t.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}, failsOnce, mirrored))
	if out, err := execute("sh", "-c", "cd '"+s.dir+"' && "+strings.ReplaceAll("bd init --prefix bd --stealth --skip-hooks --skip-agents --non-interactive", "bd init", "'"+program+"' init")); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if code := s.start()(); code != 0 {
		t.Fatalf("apply: %d", code)
	}
	bead := got[run.Bead](s, "/EPIC/nodes/1.1/bead")
	if !bead.Asked || bead.Status != "closed" || bead.Unsent != 0 || len(bead.Comments) == 0 {
		t.Errorf("%+v", bead)
	}
}
