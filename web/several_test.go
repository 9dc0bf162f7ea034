package web_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/web"
)

// another compiles a second plan, other.json, in the repository of a night. Its one sprint waits
// for approval when it has run.
func (n *night) another() {
	n.t.Helper()
	write(n.t, filepath.Join(n.dir, "other.md"), "# Another shop\n\n### Sprint 1.1: Shelves\n\n**Policy**: looked-at\n\n**Tasks**:\n- [ ] put up the shelves\n")
	n.ralph(0, "compile", "other.md", "-o", "other.json")
	n.git("add", "-A")
	n.git("commit", "-q", "-m", "another plan")
	n.ralph(4, "apply", "other.json")
}

// both are the epics of plan.md and of other.md, in the one repository that is served.
func (p *page) both() (plan, other web.EpicLine) {
	p.t.Helper()
	repos := get[[]web.Repository](p, "/repos")
	if len(repos) != 1 || len(repos[0].Epics) != 2 {
		p.t.Fatalf("two epics were expected: %+v", repos)
	}
	plan, other = repos[0].Epics[0], repos[0].Epics[1]
	if plan.Plan == "other.md" {
		plan, other = other, plan
	}
	return plan, other
}

// approve approves a sprint as it is shown.
func (p *page) approve(epic, key, id string) (int, string) {
	p.t.Helper()
	at := "/epics/" + epic
	resp, got := p.ask(http.MethodPost, "api/v1"+at+"/nodes/"+key+"/decisions", decision(id, "approve", get[web.Sprint](p, at+"/nodes/"+key).Seq, p.bound(at, key)))
	return resp.StatusCode, got
}

func TestTwoEpicsInOneRepository(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	n.another()
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	plan, other := p.both()
	if plan.Run.State != "not started" || plan.Total != 6 || other.Run.State != "ended" || other.Total != 1 || other.Waits != 1 {
		t.Errorf("%+v\n%+v", plan, other)
	}
	n.ralph(3, "apply")
	until(t, "the other run is shown, too", func() bool { plan, _ = p.both(); return plan.Waits == 2 })
	from := map[string]int{}
	for _, i := range get[web.Inbox](p, "/inbox").Items {
		from[i.Epic+" "+string(i.Key)]++
	}
	if len(from) != 3 || from[plan.ID+" 2.1"] != 1 || from[plan.ID+" 2.2"] != 1 || from[other.ID+" 1.1"] != 1 {
		t.Errorf("what waits: %v", from)
	}
	// 1.1 is a sprint of both
	code, said := p.approve(other.ID, "1.1", "aaaa-0001")
	var goesOn web.Decided
	if err := json.Unmarshal([]byte(said), &goesOn); err != nil || code != 200 || !strings.HasPrefix(goesOn.Command, "ralph apply ") {
		t.Fatalf("%d %s %v", code, said, err)
	}
	if code, got := p.approve(plan.ID, "2.1", "aaaa-0001"); code != 200 || !strings.Contains(got, `"command":"ralph apply"`) {
		t.Errorf("an id of the other epic: %d %s", code, got)
	}
	now, _ := p.both()
	if d := get[web.Sprint](p, "/epics/"+plan.ID+"/nodes/1.1").Show.Decisions; len(d) != 0 || now.Waits != 1 {
		t.Errorf("the other epic: %+v, %+v", d, now)
	}
	n.ralph(0, strings.Fields(goesOn.Command)[1:]...) // as the page says
	until(t, "it is done", func() bool { _, other = p.both(); return other.Counts["done"] == 1 && other.Waits == 0 })
}

// A journal of a newer ralph is not guessed at; the other epics go on.
func TestAJournalOfANewerVersion(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	n.ralph(3, "apply")
	n.another()
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	plan, other := p.both()
	journal := filepath.Join(n.dir, ".git", "ralph", string(plan.Epic), "journal.db")
	b, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	b[63] = 99 // user_version
	write(t, journal+".new", string(b))
	if err := os.Rename(journal+".new", journal); err != nil {
		t.Fatal(err)
	}
	until(t, "it is said", func() bool { e, _ := p.both(); return e.Broken != "" })
	if e, _ := p.both(); !strings.Contains(e.Broken, "it has format 99") || !strings.Contains(e.Broken, "use the newer ralph") || e.Waits != 2 || e.Seq != plan.Seq {
		t.Errorf("%+v", e)
	}
	if code, got := p.approve(plan.ID, "2.1", "bbbb-0001"); code < 400 || !strings.Contains(got, "use the newer ralph") {
		t.Errorf("%d %s", code, got)
	}
	again := serve(t, web.Options{Dirs: []string{n.dir}})
	repos := get[[]web.Repository](again, "/repos")
	if len(repos) != 1 || len(repos[0].Epics) != 1 || repos[0].Epics[0].ID != other.ID || len(repos[0].Trouble) != 1 || !strings.Contains(repos[0].Trouble[0], "use the newer ralph") {
		t.Errorf("from the start: %+v", repos)
	}
	if code, got := p.approve(other.ID, "1.1", "bbbb-0002"); code != 200 {
		t.Errorf("%d %s", code, got)
	}
	n.ralph(0, "apply", "other.json")
	for _, p := range []*page{p, again} {
		until(t, "the other one goes on", func() bool {
			return get[web.Epic](p, "/epics/"+other.ID).Counts["done"] == 1
		})
	}
	if after, err := os.ReadFile(journal); err != nil || string(after) != string(b) {
		t.Errorf("the journal was written to: %v", err)
	}
}
