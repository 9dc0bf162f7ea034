//go:build unix

package web

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// allocated is how many bytes do takes from the heap, in all.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// 200,000 lines of a log, and a diff of 40,000: what is sent is bounded, and so is what it takes.
func TestALongLogAndALongDiff(t *testing.T) {
	s := newSite(t, `i=0
while [ $i -lt 400 ]; do
	i=$((i + 1))
	echo "package line $i of a file that an agent has made, which is long enough to be cut off"
done > part
i=0
while [ $i -lt 100 ]; do i=$((i + 1)); cat part; done > work.txt
rm part
`, executortest.Epic([]string{"1.1"}))
	if code := s.start()(); code != 0 {
		t.Fatalf("apply: %d", code)
	}
	s.serve()
	line := strings.Repeat("0123456789", 10) + "\n"
	log := filepath.Join(s.attemptDir("bd-1-1", "implement-1"), "long.log")
	if err := os.WriteFile(log, []byte(strings.Repeat(line, 200_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	size := 200_000 * len(line)
	var text string
	var head http.Header
	took := allocated(func() { _, text, head = s.text("/EPIC/nodes/1.1/attempts/implement/1/files/long.log") })
	if len(text) != mostOfFile || head.Get("X-Truncated") != strconv.Itoa(size) || took > 64<<20 {
		t.Errorf("%d bytes, X-Truncated %q, %d allocated", len(text), head.Get("X-Truncated"), took)
	}
	status, text, _ := s.text("/EPIC/nodes/1.1/attempts/implement/1/files/long.log", "Range", "bytes=-202")
	if status != http.StatusPartialContent || text != line+line {
		t.Errorf("its end: %d %q", status, text)
	}
	sent := 0
	took = allocated(func() {
		next := s.stream("/EPIC/nodes/1.1/tail?step=implement&attempt=1&file=long.log")
		for e := next(); e.event != "end"; e = next() {
			if e.event == "line" {
				sent += len(lineOf(t, e))
			}
		}
	})
	if sent > tailFirst || sent < tailFirst-len(line) || took > 64<<20 {
		t.Errorf("the tail: %d bytes, %d allocated", sent, took)
	}
	var d Diff
	took = allocated(func() { d = got[Diff](s, "/EPIC/nodes/1.1/diff") })
	if !d.Truncated || len(d.Patch) > mostPatch || len(d.Patch) < mostPatch/2 || !strings.HasSuffix(d.Patch, "\n") || len(d.Files) != 1 || d.Files[0].Added != 40_000 || took > 200<<20 {
		t.Errorf("the diff: %d bytes, truncated %v, %+v, %d allocated", len(d.Patch), d.Truncated, d.Files, took)
	}
}

// backwards are events of a machine whose clock was set back, again and again.
func backwards(events []executor.Event) []executor.Event {
	out := make([]executor.Event, len(events))
	for i, e := range events {
		e.At = e.At.Add(time.Hour - time.Duration(i)*7*time.Minute)
		if i%5 == 0 {
			e.At = e.At.Add(24 * time.Hour)
		}
		out[i] = e
	}
	return out
}

// The clock was set back: nothing takes less than no time, and nothing is yet to come.
func TestTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1", "1.2: 1.1"}, redFirst))
	s.start()()
	page := s.alone()
	l := page.house.all()[0]
	l.rec.Events = backwards(l.rec.Events)
	var err error
	if l.rec.Run, err = record.Replayed(l.rec.Epic, l.rec.Events); err != nil {
		t.Fatal(err)
	}
	soon := time.Now().Add(time.Minute)
	rows := l.timeline()
	if len(rows) < 3 {
		t.Fatalf("%+v", rows)
	}
	for _, r := range rows {
		if r.Start.After(soon) || r.End != nil && (r.End.Before(r.Start) || r.End.After(soon)) {
			t.Errorf("%s #%d: %s to %v", r.Key, r.Attempt, r.Start, r.End)
		}
		for _, p := range r.Parts {
			if p.Start.Before(r.Start) || p.Start.After(soon) || p.End != nil && (p.End.Before(p.Start) || p.End.After(soon)) || p.End != nil && r.End != nil && p.End.After(*r.End) {
				t.Errorf("%s #%d, %s: %s to %v", r.Key, r.Attempt, p.Kind, p.Start, p.End)
			}
		}
	}
	e := l.epic()
	for _, line := range e.Sprints {
		if line.Since != nil && line.Since.After(soon) || line.WorkMS < 0 {
			t.Errorf("%+v", line)
		}
	}
	for _, i := range append(e.Inbox, l.inbox()...) {
		if i.Since != nil && i.Since.After(soon) {
			t.Errorf("%+v", i)
		}
	}
	if e.Ended != nil && e.Ended.After(soon) {
		t.Errorf("it ended at %s", e.Ended)
	}
	cost, err := l.cost()
	if b, _ := json.Marshal(cost); err != nil || strings.Contains(string(b), `"ms":-`) {
		t.Errorf("%s %v", b, err)
	}
	for _, key := range []ir.Key{"1.1", "1.2"} {
		sprint, err := l.sprint(key)
		if b, _ := json.Marshal(sprint); err != nil || strings.Contains(string(b), `ms":-`) {
			t.Errorf("%s %v", b, err)
		}
		if s := sprint; s.Show.Since == nil || s.Show.Since.After(soon) {
			t.Errorf("%s since %v", key, s.Show.Since)
		}
	}
	runs, err := l.runs()
	graph, _ := runs.(RunGraph)
	if err != nil || len(graph.Runs) < 3 {
		t.Errorf("%+v %v", graph, err)
	}
	for _, r := range graph.Runs {
		if r.Started != nil && r.Ended != nil && r.Ended.Before(*r.Started) {
			t.Errorf("%s: %s to %s", r.ID, r.Started, r.Ended)
		}
	}
}
