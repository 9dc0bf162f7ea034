//go:build unix

package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/project"
)

const planText = `# Links

## Phase 1: Basics

### Sprint 1.1: Keep links

**Goal**: Links are kept.

### Sprint 1.2: Look up links

**Goal**: Links are found.

**Depends on**: 1.1
`

// newPlanned makes a repository with a plan and the epic that it compiles to; nothing has run.
func newPlanned(t *testing.T) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: filepath.Join(dir, "project")}
	s.write("plans/links.md", planText)
	s.write("ralph.hcl", "")
	s.git("init", "-q", "-b", "main", ".")
	s.git("config", "user.name", "Test User")
	s.git("config", "user.email", "test@example.org")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "first")
	a := &project.Args{Plans: []string{filepath.Join(s.dir, "plans/links.md")}, Format: project.FormatText, Out: filepath.Join(s.dir, "epic.json")}
	c, err := a.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Project.Close()
	if c.Diags.HasErrors() || len(c.Results) != 1 {
		t.Fatal(c.Sources.Words(c.Diags))
	}
	s.epic = c.Results[0].Epic
	s.write("epic.json", string(c.Results[0].JSON))
	s.write("plans/links.md", string(c.Results[0].Annotated))
	return s
}

func TestThePlanAndWhereItsValuesComeFrom(t *testing.T) {
	t.Parallel()
	s := newPlanned(t)
	p := got[Plan](s, "/EPIC/plan")
	if p.Stale || p.Cannot != "" || p.File != "plans/links.md" || p.Diagnostics.Errors != 0 || p.Changes != nil {
		t.Errorf("%+v", p)
	}
	if len(p.Keys) != 2 || p.Keys[0].Key != "1.1" || p.Keys[0].Status != "ready" && p.Keys[0].Status != "pending" || !strings.Contains(p.Lines[p.Keys[1].Line-1], "Sprint 1.2") {
		t.Errorf("keys: %+v", p.Keys)
	}
	if p.Keys[1].Open != "ralph show 1.2 --open" {
		t.Errorf("%q opens 1.2", p.Keys[1].Open)
	}
	why := got[project.WhyJSON](s, "/EPIC/nodes/1.2/why")
	found := false
	for _, r := range why.Reasons {
		found = found || strings.HasPrefix(r.Field, "after") && r.Range != nil && r.Range.From.Line > p.Keys[1].Line
	}
	if why.Key != "1.2" || !found {
		t.Errorf("%+v", why)
	}
	n := got[Next](s, "/EPIC/next")
	if !n.Changes || len(n.Nodes) != 3 || n.Nodes[0].Action != "run" || n.Forecast != nil {
		t.Errorf("next: %+v", n)
	}
	if status, text, _ := s.text("/EPIC/nodes/7.7/why"); status != 404 {
		t.Errorf("%d %s", status, text)
	}

	// The plan changes: it is stale, and what would change is said.
	text := strings.Replace(strings.Join(p.Lines, "\n"), "Look up links", "Look up all links", 1) + "\n### Sprint 1.3: Count links\n\n**Goal**: Links are counted.\n"
	s.write("plans/links.md", text)
	p = got[Plan](s, "/EPIC/plan")
	if !p.Stale || p.Changes == nil || len(p.Changes.Added) != 1 || p.Changes.Added[0].Key != "1.3" || p.Text == "" || p.Command != "ralph compile plans/links.md" {
		t.Errorf("changed: %+v", p)
	}
	if len(p.Keys) != 3 || p.Keys[2].Key != "1.3" || p.Keys[2].Status != "" || p.Keys[2].Open != "" {
		t.Errorf("keys: %+v", p.Keys)
	}
	if got := got[project.WhyJSON](s, "/EPIC/nodes/1.3/why"); got.Key != "1.3" {
		t.Errorf("of a new sprint: %+v", got)
	}
	// It has an error: that is shown, where it is.
	s.write("plans/links.md", strings.Replace(text, "**Depends on**: 1.1", "**Depends on**: 9.9", 1))
	p = got[Plan](s, "/EPIC/plan")
	if p.Diagnostics.Errors == 0 || p.Diagnostics.Diagnostics[0].Range.From == nil || p.Changes != nil {
		t.Errorf("with an error: %+v", p.Diagnostics)
	}
	if err := os.Remove(filepath.Join(s.dir, "plans/links.md")); err != nil {
		t.Fatal(err)
	}
	if p = got[Plan](s, "/EPIC/plan"); !strings.Contains(p.Cannot, "there is no plan") {
		t.Errorf("it is gone: %+v", p)
	}
}

func TestAForecast(t *testing.T) {
	t.Parallel()
	s := newSite(t, `echo "$RALPH_NODE" > "$RALPH_NODE.txt"; case $RALPH_NODE in 1.1) ;; *) until [ -e "$TOP/go" ]; do sleep 0.02; done ;; esac`, chain(t))
	s.start()
	s.serve()
	l := s.page.house.find(s.id)
	s.until("1.1 is done", func() bool { return got[Statuses](s, "/EPIC/status").State["1.1"] == "done" })
	s.until("there is a forecast", func() bool { return got[Epic](s, "/EPIC").Forecast != nil })
	f := got[Epic](s, "/EPIC").Forecast
	if f.P50MS <= 0 || f.P90MS < f.P50MS || f.Slots != 10 || !strings.Contains(f.Note, "3 sprints") {
		t.Errorf("%+v", f)
	}
	if next := got[Next](s, "/EPIC/next"); next.Forecast == nil || next.AtWork == 0 {
		t.Errorf("%+v", next)
	}
	// The same is played in the same way; what was made is not made again.
	l.mu.Lock()
	rest, scenario := l.rest()
	l.mu.Unlock()
	a, b := play(t.Context(), rest, scenario), play(t.Context(), rest, scenario)
	if a == nil || *a != *b {
		t.Errorf("%+v, %+v", a, b)
	}
	if l.foretell(t.Context()) {
		t.Error("it is made again at once")
	}
	s.write("go", "")
	s.until("nothing is left", func() bool { return got[Epic](s, "/EPIC").Run.State == "ended" })
}

// The text of a plan is redacted; so is what is said about it.
func TestWhatIsSaidAboutAPlanHoldsNoSecret(t *testing.T) {
	const secret = "hunter2-of-the-shop"
	t.Setenv("SHOP_API_KEY", secret)
	s := newPlanned(t)
	text := strings.Replace(planText, "Look up links", "Look up "+secret, 1)
	s.write("plans/links.md", strings.Replace(text, "**Depends on**: 1.1", "**Depends on**: 1.1\n\n**Agent**: "+secret, 1))
	for _, path := range []string{"/EPIC/plan", "/EPIC/nodes/1.2/why"} {
		if status, body, _ := s.text(path); strings.Contains(body, secret) || status == 200 && !strings.Contains(body, "[secret SHOP_API_KEY]") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	s.write("plans/links.md", strings.Replace(text, "**Depends on**: 1.1", "**Depends on**: "+secret, 1))
	p := got[Plan](s, "/EPIC/plan")
	if b, _ := json.Marshal(p.Diagnostics); len(p.Diagnostics.Diagnostics) == 0 || strings.Contains(string(b), secret) {
		t.Errorf("diagnostics: %s", b)
	}
}

// What a plan compiles to is kept until a file changes that a compile reads, for whoever asks.
func TestAPlanIsNotCompiledAgainForNothing(t *testing.T) {
	t.Parallel()
	s := newPlanned(t)
	kept := func(path string) *planned {
		t.Helper()
		if status, text, _ := s.text("/EPIC" + path); status != 200 {
			t.Fatalf("%s: %d %s", path, status, text)
		}
		k := &s.page.compiles
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.plans[s.id]
	}
	last := kept("/plan")
	for _, path := range []string{"/plan", "/nodes/1.2/why"} {
		if kept(path) != last {
			t.Errorf("nothing has changed, and it is compiled again for %s", path)
		}
	}
	s.write("ralph.hcl", "# another one\n")
	changed := kept("/nodes/1.2/why")
	if changed == last {
		t.Error("ralph.hcl has changed, and nobody looks")
	}
	s.write("plans/links.md", planText+"More is said about this sprint.\n")
	if kept("/plan") == changed {
		t.Error("the plan has changed, and nobody looks")
	}
}
