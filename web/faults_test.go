package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/web"
)

// stateDir is where a night's run has its journal.
func (n *night) stateDir() string {
	n.t.Helper()
	found, err := filepath.Glob(filepath.Join(n.dir, ".git", "ralph", "bd-*", "journal.db"))
	if err != nil || len(found) != 1 {
		n.t.Fatalf("journals: %v %v", found, err)
	}
	return filepath.Dir(found[0])
}

// What is wrong with a journal is said, and what was known stays.
func TestAJournalThatCannotBeReadAnyMore(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, journal string)
		says string
	}{
		"moved away": {func(t *testing.T, journal string) {
			if err := os.Rename(journal, journal+".away"); err != nil {
				t.Fatal(err)
			}
		}, "journal is gone"},
		"overwritten": {func(t *testing.T, journal string) {
			write(t, journal+".new", strings.Repeat("no database ", 1000))
			if err := os.Rename(journal+".new", journal); err != nil {
				t.Fatal(err)
			}
		}, "not a database"},
		"written over in place": {func(t *testing.T, journal string) {
			b, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			for i := range b {
				b[i] = ^b[i]
			}
			write(t, journal, string(b))
		}, "not a database"},
		"truncated": {func(t *testing.T, journal string) {
			b, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			write(t, journal+".new", string(b[:len(b)/2]))
			if err := os.Rename(journal+".new", journal); err != nil {
				t.Fatal(err)
			}
		}, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNight(t)
			n.ralph(3, "apply")
			p := serve(t, web.Options{Dirs: []string{n.dir}})
			before := p.only()
			c.harm(t, filepath.Join(n.stateDir(), "journal.db"))
			until(t, "it is said", func() bool { return p.only().Broken != "" })
			after := p.only()
			if !strings.Contains(after.Broken, c.says) {
				t.Errorf("%q does not say %q", after.Broken, c.says)
			}
			if after.Seq != before.Seq || after.Waits != 2 {
				t.Errorf("what was known is lost: %+v", after)
			}
		})
	}
}

func TestAnEpicThatIsCompiledAgainWhileItIsOpen(t *testing.T) {
	n := newNight(t)
	n.ralph(3, "apply")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	if e := p.only(); e.Changed {
		t.Fatalf("it has not changed: %+v", e)
	}
	plan, err := os.ReadFile(filepath.Join(n.dir, "plan.md"))
	if err != nil {
		t.Fatal(err)
	}
	waits := func() (other []ir.Key) { // for somebody, and is another one now
		for _, i := range get[web.Inbox](p, "/inbox").Items {
			if i.Other {
				other = append(other, i.Key)
			}
		}
		return other
	}
	if got := waits(); got != nil {
		t.Errorf("nothing has changed, and %v are said to be other ones", got)
	}
	changed := strings.Replace(string(plan), "with a password", "with a passkey", 1)
	write(t, filepath.Join(n.dir, "plan.md"), changed+"\n### Sprint 2.4: Invoices\n\n**Tasks**:\n- [ ] one for each order\n")
	n.ralph(0, "compile", "plan.md")
	until(t, "it is said", func() bool { return p.only().Changed })
	if e := p.only(); e.Total != 6 || e.Waits != 2 {
		t.Errorf("the run is about the epic before: %+v", e)
	}
	if got := waits(); len(got) != 1 || got[0] != "2.1" || !get[web.Sprint](p, "/epics/"+p.only().ID+"/nodes/2.1").Other {
		t.Errorf("%v are said to be other ones", got)
	}
}

func TestTwoRepositoriesWithOneEpic(t *testing.T) {
	n := newNight(t)
	n.ralph(3, "apply")
	clone := *n
	clone.dir = filepath.Join(filepath.Dir(n.dir), "clone")
	n.git("clone", "-q", n.dir, clone.dir)
	p := serve(t, web.Options{Dirs: []string{n.dir, clone.dir, filepath.Join(n.dir, ".git", "..")}})
	repos := get[[]web.Repository](p, "/repos")
	if len(repos) != 2 || len(repos[0].Epics) != 1 || len(repos[1].Epics) != 1 {
		t.Fatalf("%+v", repos)
	}
	a, b := repos[0].Epics[0], repos[1].Epics[0]
	if a.Epic != b.Epic || a.ID == b.ID || a.Run.State != "ended" || b.Run.State != "not started" {
		t.Errorf("%+v\n%+v", a, b)
	}
	seen := get[web.Sprint](p, "/epics/"+a.ID+"/nodes/2.1").Seq
	if resp, got := p.ask("POST", "api/v1/epics/"+a.ID+"/nodes/2.1/decisions", decision("eeee-0001", "approve", seen, p.bound("/epics/"+a.ID, "2.1"))); resp.StatusCode != 200 {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
	if s := get[web.Statuses](p, "/epics/"+b.ID+"/status"); s.Seq != 0 {
		t.Errorf("the other repository heard of it: %+v", s)
	}
}

func TestItIsNotForAgents(t *testing.T) {
	n := newNight(t)
	ralph := n.command(filepath.Join(n.bin, "ralph"), "ui", "--no-open")
	ralph.Env = append(ralph.Env, "RALPH_OUTCOME="+n.dir)
	out, err := ralph.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "for people") {
		t.Errorf("%v %s", err, out)
	}
}
