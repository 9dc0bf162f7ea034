package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/web"
)

// What the pages behind the epic's are made of, about a night; each answer is one that the
// OpenAPI document allows.
func TestWhatIsBehindAMorning(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	at := "/epics/" + p.only().ID
	if next := get[web.Next](p, at+"/next"); !next.Changes || len(next.Nodes) != 7 || next.Nodes[0].Action != "run" {
		t.Errorf("before the first run: %+v", next)
	}
	if trust := get[web.Trust](p, at+"/trust"); trust.Checks[0].Text != "nothing has run yet" {
		t.Errorf("before the first run: %+v", trust.Checks[0])
	}
	n.ralph(3, "apply")
	until(t, "the run is shown as ended", func() bool { return p.only().Run.State == "ended" })
	if d := get[web.Diff](p, at+"/nodes/2.1/diff"); d.Approval == nil || len(d.Files) == 0 || !strings.HasPrefix(d.Patch, "diff --git ") {
		t.Errorf("what waits for approval: %+v", d)
	}
	if d := get[web.Diff](p, at+"/nodes/1.3/diff"); d.Patch != "" || len(d.Files) != 0 {
		t.Errorf("what has not begun: %+v", d)
	}
	if d := get[web.Diff](p, at+"/nodes/1.2/attempts/implement/1/diff"); d.Attempt != 1 || d.Gates[0].Verdict != "fail" {
		t.Errorf("an attempt: %+v", d)
	}
	if f := get[web.FileList](p, at+"/nodes/1.2/attempts/implement/1/files"); len(f.Files) == 0 {
		t.Errorf("its files: %+v", f)
	}
	if why := get[project.WhyJSON](p, at+"/nodes/2.1/why"); len(why.Reasons) < 10 {
		t.Errorf("why: %+v", why)
	}
	if plan := get[web.Plan](p, at+"/plan"); plan.Stale || len(plan.Keys) != 6 || plan.Keys[0].Status != "done" || plan.Keys[0].Open != "" {
		t.Errorf("plan: %+v", plan)
	}
	if next := get[web.Next](p, at+"/next"); next.Counts["wait"] == 0 && next.Counts["keep"] == 0 {
		t.Errorf("next: %+v", next)
	}
	if rows := get[[]web.TimelineRow](p, at+"/timeline"); len(rows) < 5 {
		t.Errorf("timeline: %+v", rows)
	}
	if cost := get[web.Cost](p, at+"/cost"); cost.Lost.MS == 0 || len(cost.Phases) != 2 {
		t.Errorf("cost: %+v", cost)
	}
	if trust := get[web.Trust](p, at+"/trust"); trust.Checks[0].State != "good" || trust.Seq == 0 {
		t.Errorf("trust: %+v", trust)
	}
	issues := get[[]web.Issue](p, "/issues")
	if len(issues) != 6 {
		t.Errorf("issues: %+v", issues)
	}
	runs := get[[]json.RawMessage](p, "/issues/"+string(issues[0].ID)+"/runs")
	get[map[string]any](p, "/runs/run-"+string(issues[0].ID)+"-implement-1")
	if len(runs) != 1 || !strings.Contains(string(runs[0]), `"status":"completed"`) {
		t.Errorf("runs: %s", runs)
	}
}
