package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/web"
)

// step is a decision over HTTP, what is answered, and what is so then.
type step struct {
	key, id, body string // of the sprint, "" for the run; of the decision; its verb and the rest
	want          int
	says          string
	state         string // of the sprint, or what holds the run; "-" if nothing does
}

// walk posts decisions about what was shown, one after another. An answer names the command to
// type only where no apply is at work, and not after what ends or holds something.
func (p *page) walk(at string, seen int64, held bool, steps []step) {
	p.t.Helper()
	for _, c := range steps {
		path := at + "/decisions"
		if c.key != "" {
			path = at + "/nodes/" + c.key + "/decisions"
		}
		body := fmt.Sprintf(`{"id": %q, "as": "ada", "seen": %d, %s}`, c.id, seen, c.body)
		resp, got := p.ask(http.MethodPost, "api/v1"+path, body)
		if resp.StatusCode != c.want || !strings.Contains(got, c.says) {
			p.t.Errorf("%s %s: %d %s; want %d with %q", path, body, resp.StatusCode, got, c.want, c.says)
		}
		goesOn := !held && !strings.Contains(c.body, "pause") && !strings.Contains(c.body, "cancel")
		if resp.StatusCode == 200 && strings.Contains(got, `"command":"ralph apply"`) != goesOn {
			p.t.Errorf("%s %s: %s", path, body, got)
		}
		if c.state != "" {
			until(p.t, fmt.Sprintf("%s %s: %s", path, body, c.state), func() bool { return p.state(at, c.key) == c.state })
		}
	}
}

// state is that of a sprint, or why the run is held.
func (p *page) state(at, key string) string {
	if key != "" {
		return get[web.Statuses](p, at+"/status").State[ir.Key(key)]
	}
	if run := get[web.Epic](p, at).Run; run.Held != "" {
		return run.Held
	}
	return "-"
}

// onRecord checks what the page has decided, oldest first, as the journal has it.
func (p *page) onRecord(at string, want ...string) {
	p.t.Helper()
	var all []string
	for _, e := range get[web.Log](p, at+"/log").Entries {
		who, what, _ := strings.Cut(e.Text, "): ")
		if e.Kind == "decided" && strings.HasPrefix(who, "ada ") && strings.Contains(who, "via ralph ui") {
			all = append(all, strings.TrimSpace(string(e.Key)+" "+what))
		}
	}
	slices.Reverse(all)
	if !slices.Equal(all, want) {
		p.t.Errorf("on record: %q, not %q", all, want)
	}
}

func TestDecisionsWithoutAnApply(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	n.policy("budget { wall = \"2h\" }\n")
	n.ralph(3, "apply")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	at := "/epics/" + p.only().ID
	seen := get[web.Sprint](p, at+"/nodes/1.3").Seq
	p.walk(at, seen, false, []step{
		{"", "aaaa-0001", `"verb": "cancel"`, 422, "no run is active", "-"},
		{"", "aaaa-0002", `"verb": "resume"`, 422, "the run is not paused", "-"},
		{"", "aaaa-0003", `"verb": "pause", "budget": "usd=+1"`, 422, "pause cannot add to a budget", "-"},
		{"", "aaaa-0004", `"verb": "pause", "message": "tea"`, 200, "the run: paused", "human"},
		{"", "aaaa-0004", `"verb": "pause", "message": "tea"`, 200, "already on record", "human"},
		{"", "aaaa-0004", `"verb": "resume"`, 409, "another decision is on record", "human"},
		{"1.3", "aaaa-0004", `"verb": "pause", "message": "tea"`, 422, "another decision is on record", ""},
		{"", "aaaa-0005", `"verb": "pause"`, 200, "the run is held already", "human"},
		{"", "aaaa-0018", `"verb": "resume"`, 409, "has been paused by", "human"},
	})
	p.walk(at, p.only().Seq, false, []step{
		{"", "aaaa-0006", `"verb": "resume"`, 200, "the run: resumed", "-"},
		{"", "aaaa-0006", `"verb": "resume"`, 200, "already on record", "-"},
		{"", "aaaa-0007", `"verb": "resume", "budget": "usd=20"`, 400, "usd=+20", "-"},
		{"", "aaaa-0008", `"verb": "resume", "budget": "usd=+20,wall=+1h"`, 200, "the run: resumed", "-"},
		{"", "aaaa-0008", `"verb": "resume", "budget": "usd=+20,wall=+1h"`, 200, "already on record", "-"},
		{"", "aaaa-0008", `"verb": "resume", "budget": "usd=+40"`, 422, "another decision is on record", "-"},
		{"1.3", "aaaa-0010", `"verb": "pause"`, 200, "1.3: paused", "pending"},
		{"1.3", "aaaa-0010", `"verb": "pause"`, 200, "already on record", ""},
		{"1.3", "aaaa-0011", `"verb": "resume"`, 409, "stale", "pending"},
	})
	if show := get[web.Sprint](p, at+"/nodes/1.3").Show; show.Reason != "paused by ada" {
		t.Errorf("1.3: %+v", show)
	}
	p.walk(at, p.only().Seq, false, []step{
		{"1.3", "aaaa-0017", `"verb": "resume", "budget": "tokens=+1M"`, 200, "1.3: resumed", "pending"},
	})
	p.walk(at, seen, false, []step{
		{"2.2", "aaaa-0012", `"verb": "cancel"`, 200, "2.2: cancelled", "cancelled"},
		{"2.2", "aaaa-0012", `"verb": "cancel"`, 200, "already on record", ""},
		{"2.2", "aaaa-0013", `"verb": "cancel"`, 200, "is cancelled already", ""},
		{"2.2", "aaaa-0014", `"verb": "pause"`, 409, "stale", "cancelled"},
		{"2.1", "aaaa-0015", `"verb": "resume"`, 422, "not paused", "waiting human"},
		{"1.1", "aaaa-0016", `"verb": "cancel"`, 422, "nothing to cancel", "done"},
	})
	p.onRecord(at, "pause: tea", "resume", "resume with $20.00, 1h00m more", "1.3 pause", "1.3 resume with 1.0M tokens more", "2.2 cancel")
	if run, show := get[web.Epic](p, at).Run, get[web.Sprint](p, at+"/nodes/1.3").Show; run.Budget.WallMS != 3*3_600_000 || show.Reason != "needs 1.2 (blocked)" {
		t.Errorf("the run: %+v\n1.3: %+v", run, show)
	}
}

func TestDecisionsWhileApplyIsAtWork(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	n.policy("budget { wall = \"2h\" }\n")
	n.ralph(3, "apply")
	n.ralph(0, "approve", "2.1", "--as", "ada")
	n.ralph(0, "approve", "2.2", "--as", "ada")
	write(t, n.hold, "")
	apply := n.command(filepath.Join(n.bin, "ralph"), "apply")
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	at := "/epics/" + p.only().ID
	until(t, "2.3 runs", func() bool { return p.state(at, "2.3") == "running" })
	seen := p.only().Seq
	if offers := get[web.Epic](p, at).Offers; !slices.ContainsFunc(offers, func(o record.Offer) bool {
		return o.Verb == executor.Resume && o.Label == "add to the budget" && o.Budget == "wall=+1h"
	}) {
		t.Errorf("a run with a budget offers more: %+v", offers)
	}
	p.walk(at, seen, true, []step{
		{"", "bbbb-0001", `"verb": "resume"`, 422, "the run is not paused", "-"},
		{"", "bbbb-0002", `"verb": "pause"`, 200, "acts on it", "human"},
		{"", "bbbb-0002", `"verb": "pause"`, 200, "already on record", "human"},
		{"", "bbbb-0002", `"verb": "cancel"`, 409, "another decision is on record", "human"},
		{"", "bbbb-0012", `"verb": "resume", "budget": "usd=+20"`, 409, "has been paused by", "human"},
	})
	p.walk(at, p.only().Seq, true, []step{
		{"", "bbbb-0003", `"verb": "resume", "budget": "usd=+20"`, 200, "acts on it", "-"},
		{"", "bbbb-0003", `"verb": "resume", "budget": "usd=+20"`, 200, "already on record", "-"},
		{"2.3", "bbbb-0004", `"verb": "pause"`, 200, "acts on it", "running"},
		{"2.3", "bbbb-0005", `"verb": "resume"`, 409, "stale", "running"},
	})
	p.walk(at, p.only().Seq, true, []step{
		{"2.3", "bbbb-0006", `"verb": "resume"`, 200, "acts on it", "running"},
	})
	p.walk(at, seen, true, []step{
		{"1.2", "bbbb-0009", `"verb": "cancel"`, 200, "acts on it", "cancelled"},
		{"1.2", "bbbb-0009", `"verb": "cancel"`, 200, "already on record", ""},
		{"1.2", "bbbb-0010", `"verb": "retry"`, 409, "stale", "cancelled"},
		{"", "bbbb-0011", `"verb": "cancel"`, 200, "acts on it", ""},
		{"", "bbbb-0011", `"verb": "cancel"`, 200, "already on record", ""},
	})
	until(t, "it ends", func() bool { return get[web.Epic](p, at).Run.Draining != "" })
	remove(t, n.hold)
	var ended *exec.ExitError
	if err := apply.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 3 {
		t.Errorf("apply: %v", err)
	}
	until(t, "the run has ended", func() bool { return p.only().Run.State == "ended" })
	p.walk(at, seen, false, []step{
		{"", "bbbb-0011", `"verb": "cancel"`, 200, "already on record", ""},
		{"", "bbbb-0012", `"verb": "cancel"`, 200, "cancelled by ada already", ""},
	})
	p.onRecord(at, "pause", "resume with $20.00 more", "2.3 pause", "2.3 resume", "1.2 cancel", "cancel")
	if run := get[web.Epic](p, at).Run; run.Draining != "cancelled by ada" {
		t.Errorf("the run: %+v", run)
	}
}
