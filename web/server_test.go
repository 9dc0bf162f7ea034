package web_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/web"
)

// S4-11
func TestTheMorning(t *testing.T) {
	n := newNight(t)
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	e := p.only()
	if e.Run.State != "not started" || e.Total != 6 {
		t.Errorf("before the first run: %+v", e)
	}
	if epic := get[web.Epic](p, "/epics/"+e.ID); epic.Stuck != "" || epic.Command != "ralph apply" {
		t.Errorf("before the first run nothing waits: %q, %q", epic.Stuck, epic.Command)
	}
	n.ralph(3, "apply")
	until(t, "the run is shown as ended", func() bool { e = p.only(); return e.Run.State == "ended" && e.Waits == 2 })
	if e.Failed != 1 || e.Counts["done"] != 1 {
		t.Errorf("in the morning: %+v", e)
	}
	in := get[web.Inbox](p, "/inbox")
	slices.SortFunc(in.Items, func(a, b web.InboxItem) int { return cmp.Compare(a.Key, b.Key) })
	if len(in.Items) != 2 || in.Items[0].Key != "2.1" || in.Items[0].Gate != "sign-off" || in.Items[0].Holds != 1 || in.Items[0].Added == 0 {
		t.Errorf("inbox: %+v", in.Items)
	}
	if len(in.Failures) != 1 || !strings.Contains(in.Failures[0].Reason, "TestRefund") || in.Failures[0].Holds != 1 || in.Failures[0].Tries != 2 {
		t.Errorf("failures: %+v", in.Failures)
	}
	epic := get[web.Epic](p, "/epics/"+e.ID)
	if epic.Command != "" || len(epic.Sprints) != 7 || e.Ended == nil {
		t.Errorf("nothing can begin before somebody decides: %+v", epic)
	}
	if epic.Stuck != "waiting for you: nothing moves until 2.1 or 2.2 is approved, or 1.2 is tried again or skipped" || epic.Forecast != nil {
		t.Errorf("nothing moves: %q, %+v", epic.Stuck, epic.Forecast)
	}
	if i := in.Items[0]; !slices.Equal(i.Behind, []ir.Key{"2.3"}) || len(i.Begin) != 0 || !slices.Equal(in.Failures[0].Behind, []ir.Key{"1.3"}) {
		t.Errorf("2.3 needs 2.2, too: %+v, and behind 1.2: %v", i, in.Failures[0].Behind)
	}
	if g := get[web.Graph](p, "/epics/"+e.ID+"/graph"); len(g.Nodes) != 6 || len(g.Phases) != 2 || g.Phases[0].Title != "Phase 1: Foundation" {
		t.Errorf("graph: %+v", g)
	}
	if s := get[web.Statuses](p, "/epics/"+e.ID+"/status"); s.State["2.1"] != "waiting human" || s.State["1.2"] != "blocked" {
		t.Errorf("statuses: %+v", s)
	}
	if r := get[web.RunGraph](p, "/epics/"+e.ID+"/runs"); len(r.Runs) < 5 || len(r.Edges) < 4 {
		t.Errorf("runs: %+v", r)
	}
	for _, r := range get[web.RunGraph](p, "/epics/"+e.ID+"/runs").Runs { // what is open, and what a person waits for, is no work
		if took := r.WorkMS; r.Ended == nil && took != 0 || r.Ended != nil && (took <= 0 || took > r.Ended.Sub(*r.Started).Milliseconds()+1) {
			t.Errorf("the work of %s: %d ms", r.ID, took)
		}
	}
	for _, key := range []ir.Key{"1.1", "1.2", "1.3", "2.1", "integration"} {
		s := get[web.Sprint](p, "/epics/"+e.ID+"/nodes/"+string(key))
		if s.Show.Key != key {
			t.Errorf("sprint: %+v", s)
		}
	}
	log := get[web.Log](p, "/epics/"+e.ID+"/log?limit=3")
	older := get[web.Log](p, fmt.Sprintf("/epics/%s/log?limit=3&before=%d", e.ID, log.Before))
	if len(log.Entries) != 3 || len(older.Entries) != 3 || older.Entries[0].Seq >= log.Entries[2].Seq {
		t.Errorf("log: %+v, then %+v", log, older)
	}
	get[web.Session](p, "/session")
	ended := *e.Ended
	n.ralph(0, "approve", "2.1", "--as", "ada")
	until(t, "apply would go on", func() bool { return get[web.Epic](p, "/epics/"+e.ID).Command == "ralph apply" })
	if now := p.only().Ended; now == nil || !now.Equal(ended) {
		t.Errorf("the run ended at %s, not at %v: a decision came later", ended, now)
	}
}

// bound is what an approval of a sprint is about, as the page shows it.
func (p *page) bound(at, key string) string {
	p.t.Helper()
	a := get[web.Diff](p, at+"/nodes/"+key+"/diff").Approval
	if a == nil {
		p.t.Fatalf("%s has nothing to approve", key)
	}
	return fmt.Sprintf(`, "gate": %q, "digest": %q, "result": %q, "base": %q`, a.Gate, a.Digest, a.Result, a.Base)
}

func decision(id, verb string, seen int64, more string) string {
	return fmt.Sprintf(`{"id": %q, "verb": %q, "as": "ada", "seen": %d%s}`, id, verb, seen, more)
}

func TestADecision(t *testing.T) {
	n := newNight(t)
	n.ralph(3, "apply")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	at := "/epics/" + p.only().ID
	seen := get[web.Sprint](p, at+"/nodes/2.1").Seq
	post := func(key, body string, want int, says string) {
		t.Helper()
		resp, got := p.ask(http.MethodPost, "api/v1"+at+"/nodes/"+key+"/decisions", body)
		if resp.StatusCode != want || !strings.Contains(got, says) {
			t.Errorf("%s: %d %s; want %d with %q", body, resp.StatusCode, got, want, says)
		}
	}
	bound := p.bound(at, "2.1")
	post("2.1", decision("aaaa-0001", "approve", seen, ""), 400, "the gate, the result and the base")
	post("2.1", decision("aaaa-0001", "approve", 0, bound), 400, "seen")
	post("2.1", decision("aaaa-0001", "approve", seen+1000, bound), 409, "it is another one")
	post("2.1", decision("aaaa-0001", "approve", seen, strings.Replace(bound, `"result": "`, `"result": "0`, 1)), 422, "")
	post("2.1", decision("aaaa-0001", "approve", seen, bound), 200, `"command":"ralph apply"`)
	post("2.1", decision("aaaa-0001", "approve", seen, bound), 200, "approved") // the same again: it counts once
	e := get[web.Epic](p, at)
	for _, line := range e.Sprints {
		if want := line.Key == "2.2"; line.Human != want {
			t.Errorf("%s (%s) waits for a person: %v", line.Key, line.Word, line.Human)
		}
	}
	if e.Counts["goes on"] != 1 || e.Counts["waiting"] != 1 {
		t.Errorf("2.1 goes on, and 2.2 waits: %v", e.Counts)
	}
	post("2.1", decision("aaaa-0001", "reject", seen, `, "message": "no"`), 409, "another decision is on record")
	post("2.2", decision("aaaa-0001", "approve", seen, p.bound(at, "2.2")), 422, "another decision is on record")
	post("2.2", decision("aaaa-0002", "reject", seen, ""), 422, "")
	post("2.2", decision("aaaa-0003", "reject", seen, `, "message": "shorter"`), 200, "rejected")
	post("2.2", decision("aaaa-0004", "approve", seen, ""), 409, "stale")
	post("2.2", decision("aaaa-0005", "approve", seen, `, "message": "`+strings.Repeat("x", 5000)+`"`), 413, "bytes")
	post("2.2", decision("aaaa-0005", "approve", seen, `, "message": "`+strings.Repeat("x", 100000)+`"`), 413, "")
	post("2.2", `{"verb": "approve"}`, 400, "id")
	post("2.2", `{`, 400, "cannot be read")
	post("9.9", decision("aaaa-0006", "approve", seen, ""), 422, "no sprint 9.9")
	if out := n.ralph(0, "show", "2.1"); !strings.Contains(out, "approved") && !strings.Contains(out, "approve") {
		t.Errorf("ralph show does not say it:\n%s", out)
	}
}

// What was shown is approved, and not what epic.json has become.
func TestThePlanThatWasShownIsApproved(t *testing.T) {
	n := newNight(t)
	policy, err := os.ReadFile(filepath.Join(n.dir, "ralph.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(n.dir, "ralph.hcl"), string(policy)+"hitl {\n  plan = \"required\"\n  approvers = [\"ada\"]\n}\n")
	n.ralph(0, "compile", "plan.md")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	at := "/epics/" + p.only().ID
	shown := get[web.Epic](p, at).Digest
	plan, err := os.ReadFile(filepath.Join(n.dir, "plan.md"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(n.dir, "plan.md"), strings.Replace(string(plan), "list the orders", "sell the shop", 1))
	n.ralph(0, "compile", "plan.md")
	approve := func(id, digest string) (int, string) {
		resp, got := p.ask(http.MethodPost, "api/v1"+at+"/decisions", decision(id, "approve", 0, fmt.Sprintf(`, "digest": %q`, digest)))
		return resp.StatusCode, got
	}
	if code, got := approve("eeee-0001", shown); code != 422 || !strings.Contains(got, "different epic.json") {
		t.Errorf("%d %s", code, got)
	}
	until(t, "the other plan is shown", func() bool { return get[web.Epic](p, at).Digest != shown })
	if code, got := approve("eeee-0002", get[web.Epic](p, at).Digest); code != 200 {
		t.Errorf("%d %s", code, got)
	}
}

func TestADecisionWhileApplyIsAtWork(t *testing.T) {
	n := newNight(t)
	n.ralph(3, "apply")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	at := "/epics/" + p.only().ID
	seen := get[web.Sprint](p, at+"/nodes/1.2").Seq
	for i, key := range []string{"2.1", "2.2"} {
		resp, got := p.ask(http.MethodPost, "api/v1"+at+"/nodes/"+key+"/decisions", decision(fmt.Sprintf("bbbb-%04d", i), "approve", seen, p.bound(at, key)))
		if resp.StatusCode != 200 {
			t.Fatalf("%d %s", resp.StatusCode, got)
		}
	}
	write(t, n.hold, "")
	apply := n.command(filepath.Join(n.bin, "ralph"), "apply")
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "2.3 runs", func() bool { return get[web.Statuses](p, at+"/status").State["2.3"] == "running" })
	resp, got := p.ask(http.MethodPost, "api/v1"+at+"/nodes/1.2/decisions", decision("cccc-0001", "skip", seen, ""))
	if resp.StatusCode != 200 || !strings.Contains(got, "acts on it") || strings.Contains(got, "command") {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
	for range 2 { // what was refused is refused again
		resp, got := p.ask(http.MethodPost, "api/v1"+at+"/nodes/1.1/decisions", decision("cccc-0002", "skip", seen, ""))
		if resp.StatusCode != 422 || !strings.Contains(got, "nothing to skip") {
			t.Errorf("%d %s", resp.StatusCode, got)
		}
	}
	until(t, "1.2 is skipped", func() bool { return get[web.Statuses](p, at+"/status").State["1.2"] == "skipped" })
	remove(t, n.hold)
	if err := apply.Wait(); err != nil {
		var ended *exec.ExitError
		t.Errorf("apply: %v %v", err, ended)
	}
	until(t, "the run has ended", func() bool { return p.only().Run.State == "ended" })
}

// what another page, another user or a curious program may try
func TestWhoIsLetIn(t *testing.T) {
	n := newNight(t)
	n.ralph(3, "apply")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	at := "/api/v1/epics/" + p.only().ID
	post := at + "/nodes/2.1/decisions"
	body := decision("dddd-0001", "approve", 0, "")
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	port := p.url[strings.LastIndex(p.url, ":")+1 : len(p.url)-1]
	for _, c := range []struct {
		what, method, path, body string
		change                   func(*http.Request)
		want                     int
	}{
		{"a name that resolves to 127.0.0.1", "GET", "/", "", host("evil.example:" + port), 421},
		{"another port", "GET", "/", "", host("127.0.0.1:1"), 421},
		{"no port", "GET", "/", "", host("127.0.0.1"), 421},
		{"localhost", "GET", "/", "", host("localhost:" + port), 200},
		{"the shell needs no token", "GET", "/", "", set("Authorization", ""), 200},
		{"data does", "GET", at, "", set("Authorization", ""), 401},
		{"and the right one", "GET", at, "", set("Authorization", "Bearer "+strings.Repeat("0", 32)), 401},
		{"a post without it", "POST", post, body, set("Authorization", ""), 401},
		{"another site", "POST", post, body, set("Sec-Fetch-Site", "cross-site"), 403},
		{"another port of this host", "POST", post, body, set("Sec-Fetch-Site", "same-site"), 403},
		{"an origin that is not ours", "POST", post, body, set("Origin", "http://127.0.0.1:1"), 403},
		{"a form", "POST", post, body, set("Content-Type", "text/plain"), 415},
		{"an unknown field", "POST", post, `{"id": "dddd-0002", "verb": "approve", "sudo": true}`, nil, 400},
		{"a method that there is not", "PUT", post, body, nil, 404},
		{"a path that there is not", "GET", "/api/v1/nothing", "", nil, 404},
		{"another epic", "GET", "/api/v1/epics/00000000.bd-x", "", nil, 404},
		{"a way out of the assets", "GET", "/..%2f..%2fetc%2fpasswd", "", nil, 404},
	} {
		change := c.change
		if change == nil {
			change = func(*http.Request) {}
		}
		resp, got := p.ask(c.method, c.path, c.body, change)
		if resp.StatusCode != c.want {
			t.Errorf("%s: %d, not %d: %.300s", c.what, resp.StatusCode, c.want, got)
		}
		guarded(t, c.what, resp.Header)
	}
	if s := get[web.Statuses](p, strings.TrimPrefix(at, "/api/v1")+"/status"); s.State["2.1"] != "waiting human" {
		t.Errorf("something was decided: %v", s.State)
	}
	read := serve(t, web.Options{Dirs: []string{n.dir}, ReadOnly: true})
	if resp, got := read.ask("POST", post, body); resp.StatusCode != 404 && resp.StatusCode != 405 {
		t.Errorf("--read-only: %d %s", resp.StatusCode, got)
	}
}

func TestTheLinkThatABrowserIsGivenCountsOnce(t *testing.T) {
	n := newNight(t)
	s, err := web.Listen(t.Context(), web.Options{Dirs: []string{n.dir}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	p := &page{t: t, url: s.Address()}
	link := s.OpenLink()
	if strings.Contains(link, strings.TrimPrefix(s.Link(), s.Address()+"#t=")) {
		t.Errorf("%s holds the token", link)
	}
	body := fmt.Sprintf(`{"code": %q}`, strings.TrimPrefix(link, s.Address()+"#o="))
	for _, c := range []struct {
		body string
		want int
	}{{`{"code": ""}`, 401}, {`{"code": "0"}`, 401}, {`{`, 400}, {body, 200}, {body, 401}} {
		if resp, got := p.ask("POST", "api/v1/open", c.body); resp.StatusCode != c.want || c.want == 200 && !strings.Contains(s.Link(), got[10:42]) {
			t.Errorf("%s: %d %s; want %d", c.body, resp.StatusCode, got, c.want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAnEpicIsNotAskedTwice(t *testing.T) {
	n := newNight(t)
	n.ralph(3, "apply")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	path := "api/v1/epics/" + p.only().ID
	resp, _ := p.ask("GET", path, "")
	tag := resp.Header.Get("ETag")
	resp, body := p.ask("GET", path, "", func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
	if tag == "" || resp.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("ETag %q: %d %q", tag, resp.StatusCode, body)
	}
	n.ralph(0, "approve", "2.1", "--as", "ada")
	until(t, "it is another one", func() bool {
		resp, _ := p.ask("GET", path, "", func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
		return resp.StatusCode == http.StatusOK
	})
}

// events reads a stream, and sends its lines.
func (p *page) events(path, last string) <-chan string {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+"api/v1"+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", p.auth)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	out := make(chan string, 10000)
	go func() {
		defer close(out)
		defer resp.Body.Close()
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			out <- s.Text()
		}
	}()
	return out
}

// saw waits for a line.
func saw(t *testing.T, lines <-chan string, part string) string {
	t.Helper()
	end := time.After(20 * time.Second)
	for {
		select {
		case l, open := <-lines:
			if strings.Contains(l, part) {
				return l
			}
			if !open {
				t.Fatalf("the stream ended before %q", part)
			}
		case <-end:
			t.Fatalf("the stream does not say %q", part)
		}
	}
}

func TestEventsAsTheyHappen(t *testing.T) {
	n := newNight(t)
	n.ralph(3, "apply")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	e := p.only()
	all, one := p.events("/events", ""), p.events("/epics/"+e.ID+"/events", "")
	saw(t, all, ": ralph")
	saw(t, one, ": ralph")
	n.ralph(0, "approve", "2.1", "--as", "ada")
	// a command took the lock, wrote and went: the whole record is new
	saw(t, all, "event: ")
	saw(t, one, "event: ")
	write(t, n.hold, "")
	remove(t, n.hold)
	n.ralph(3, "apply")
	saw(t, all, "run.ended")
	id := saw(t, one, "run.ended")
	if !strings.HasPrefix(id, "data: ") {
		t.Errorf("%s", id)
	}
	// who comes back gets what it missed, or is told to load everything
	last := p.only().Seq
	again := p.events("/epics/"+e.ID+"/events", fmt.Sprint(last-3))
	saw(t, again, fmt.Sprintf("id: %d", last))
	late := p.events("/epics/"+e.ID+"/events", "1")
	saw(t, late, "event: reset")
}

// Programs without the token can connect, too.
func TestAClientThatSendsNoBodyIsCutOff(t *testing.T) {
	n := newNight(t)
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	host := strings.Trim(strings.TrimPrefix(p.url, "http:"), "/")
	var all []net.Conn
	for _, line := range []string{"POST /api/v1/open", "GET /"} {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", line, host); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Error(err)
		}
	}
}
