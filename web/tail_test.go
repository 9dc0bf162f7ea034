//go:build unix

package web

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// said is an event of a stream.
type said struct{ id, event, data string }

// stream follows a stream; next returns its next event, which comes within seconds.
func (s *site) stream(path string, header ...string) (next func() said) {
	s.t.Helper()
	r := s.ask(http.MethodGet, path, nil, append(header, "Accept", "text/event-stream")...)
	s.t.Cleanup(func() { r.Body.Close() })
	if r.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d", path, r.StatusCode)
	}
	events := make(chan said, 1000)
	go func() {
		defer close(events)
		var e said
		in := bufio.NewScanner(r.Body)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			name, value, _ := strings.Cut(in.Text(), ": ")
			switch {
			case in.Text() == "" && e.event != "":
				events <- e
				e = said{}
			case name == "id":
				e.id = value
			case name == "event":
				e.event = value
			case name == "data":
				e.data = value
			}
		}
	}()
	return func() said {
		s.t.Helper()
		select {
		case e := <-events:
			return e
		case <-time.After(20 * time.Second):
			s.t.Fatal("nothing is said")
			return said{}
		}
	}
}

func lineOf(t *testing.T, e said) string {
	t.Helper()
	var line TailLine
	if err := json.Unmarshal([]byte(e.data), &line); err != nil || e.event != "line" {
		t.Fatalf("not a line: %+v %v", e, err)
	}
	return line.Text
}

const slowWork = `echo one
until [ -e "$TOP/go-$RALPH_ATTEMPT" ]; do sleep 0.02; done
printf 'two\nthr'
until [ -e "$TOP/on-$RALPH_ATTEMPT" ]; do sleep 0.02; done
printf 'ee'
echo "$RALPH_ATTEMPT" > work.txt
[ "$RALPH_ATTEMPT" = 1 ] || echo second >> work.txt
`

// What ralph log KEY --follow prints: the agent, then the gate, then the next attempt.
func TestWhatIsWrittenIsFollowed(t *testing.T) {
	t.Parallel()
	s := newSite(t, slowWork, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		failsOnce(e)
		g := e.Gates["check"]
		g.Run = "echo the gate speaks; grep -q second work.txt"
		e.Gates["check"] = g
	}))
	wait := s.start()
	s.until("the agent speaks", func() bool {
		b, _ := os.ReadFile(filepath.Join(s.attemptDir("bd-1-1", "implement-1"), "agent-1.out"))
		return len(b) > 0
	})
	s.serve()
	s.until("its file is named", func() bool {
		tail := got[Sprint](s, "/EPIC/nodes/1.1").Tail
		return tail != nil && *tail == TailOf{"implement", 1, "agent-1.out"}
	})
	next := s.stream("/EPIC/nodes/1.1/tail")
	if e := next(); e.event != "file" || e.data != `{"step":"implement","attempt":1,"file":"agent-1.out"}` {
		t.Fatalf("at first: %+v", e)
	}
	if e := next(); lineOf(t, e) != "one\n" || e.id != "4" {
		t.Fatalf("%+v", e)
	}
	s.write("go-1", "")
	if e := next(); lineOf(t, e) != "two\n" || e.id != "8" {
		t.Fatalf("a line that is not whole is not sent: %+v", e)
	}
	s.write("on-1", "")
	if e := next(); lineOf(t, e) != "three" || e.id != "13" {
		t.Fatalf("%+v", e)
	}
	if e := next(); e.event != "file" || e.data != `{"step":"implement","attempt":1,"file":"gate-check.log"}` {
		t.Fatalf("after it: %+v", e)
	}
	if e := next(); lineOf(t, e) != "the gate speaks\n" {
		t.Fatalf("%+v", e)
	}
	if e := next(); e.event != "end" || e.data != `{"next":{"step":"implement","attempt":2,"file":""}}` {
		t.Fatalf("at the end: %+v", e)
	}
	second := s.stream("/EPIC/nodes/1.1/tail?step=implement&attempt=2")
	s.write("go-2", "")
	s.write("on-2", "")
	var all strings.Builder
	e := second()
	for ; e.event != "end"; e = second() {
		if e.event == "line" {
			all.WriteString(lineOf(t, e))
		}
	}
	if all.String() != "one\ntwo\nthreethe gate speaks\n" || e.data != `{"next":null}` {
		t.Errorf("%q, %+v", all.String(), e)
	}
	if code := wait(); code != 0 {
		t.Errorf("apply: %d", code)
	}
	// The past, from an offset.
	next = s.stream("/EPIC/nodes/1.1/tail?step=implement&attempt=1&file=agent-1.out", "Last-Event-ID", "8")
	if e := next(); e.event != "file" || e.id != "8" {
		t.Errorf("%+v", e)
	}
	if e := next(); lineOf(t, e) != "three" || e.id != "13" {
		t.Errorf("%+v", e)
	}
	if e := next(); e.event != "end" {
		t.Errorf("%+v", e)
	}
	for _, path := range []string{"/EPIC/nodes/9.9/tail", "/EPIC/nodes/1.1/tail?step=implement&attempt=9", "/EPIC/nodes/1.1/tail?file=../x"} {
		if status, _, _ := s.text(path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestAFileThatIsFollowedIsReplacedOrCut(t *testing.T) {
	t.Parallel()
	s := newSite(t, slowWork, executortest.Epic([]string{"1.1"}))
	s.start()
	s.write("go-1", "")
	at := filepath.Join(s.attemptDir("bd-1-1", "implement-1"), "other.log")
	s.until("the attempt has begun", func() bool { _, err := os.Stat(filepath.Dir(at)); return err == nil })
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(at+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+".new", at); err != nil {
			t.Fatal(err)
		}
	}
	s.serve()
	next := s.stream("/EPIC/nodes/1.1/tail?file=other.log")
	if e := next(); e.event != "file" {
		t.Fatalf("%+v", e)
	}
	put("a\nb\n") // it was not there
	if e := next(); lineOf(t, e) != "a\nb\n" {
		t.Fatalf("%+v", e)
	}
	put("something else\n")
	if e := next(); e.event != "file" {
		t.Fatalf("another file, and nothing is said: %+v", e)
	}
	if e := next(); lineOf(t, e) != "something else\n" {
		t.Fatalf("%+v", e)
	}
	if err := os.WriteFile(at, []byte("cut\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := next(); e.event != "file" {
		t.Fatalf("it is shorter, and nothing is said: %+v", e)
	}
	if e := next(); lineOf(t, e) != "cut\n" {
		t.Fatalf("%+v", e)
	}
	// Of a long one the end; what has no line breaks in parts, of whole characters.
	long := strings.Repeat("äöü0\n", 100_000) + strings.Repeat("ß", 50_000) + "\n"
	put(long)
	next = s.stream("/EPIC/nodes/1.1/tail?file=other.log")
	next()
	var all strings.Builder
	for !strings.HasSuffix(all.String(), "ß\n") {
		part := lineOf(t, next())
		if len(part) > tailPart {
			t.Fatalf("%d bytes at once", len(part))
		}
		all.WriteString(part)
	}
	if n := all.Len(); n > tailFirst || n < tailFirst-10 || !strings.HasSuffix(long, all.String()) {
		t.Errorf("%d bytes, begins with %q", n, all.String()[:20])
	}
	// A link is no file of the attempt.
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(s.dir, "README.md"), at); err != nil {
		t.Fatal(err)
	}
	next = s.stream("/EPIC/nodes/1.1/tail?file=other.log")
	s.write("on-1", "")
	next()
	if e := next(); e.event != "end" {
		t.Errorf("through a link: %+v", e)
	}
}

// Nobody waits for it: it is cut off when it reads nothing.
func TestAClientThatDoesNotReadHoldsUpNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t, slowWork, executortest.Epic([]string{"1.1"}))
	s.start()
	dir := s.attemptDir("bd-1-1", "implement-1")
	s.until("the attempt has begun", func() bool { _, err := os.Stat(dir); return err == nil })
	if err := os.WriteFile(filepath.Join(dir, "huge.log"), []byte(strings.Repeat("0123456789012345678901234567890123456789\n", 1_000_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.serve()
	c, err := net.Dial("tcp4", strings.TrimSuffix(strings.TrimPrefix(s.page.Address(), "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET " + base + "/epics/" + s.id + "/nodes/1.1/tail?file=huge.log&from=0 HTTP/1.1\r\nHost: 127.0.0.1:" + s.page.port + "\r\nAuthorization: Bearer " + s.page.token + "\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	next := s.stream("/EPIC/nodes/1.1/tail?file=huge.log&from=40999959")
	next()
	if e := next(); lineOf(t, e) != "0123456789012345678901234567890123456789\n" {
		t.Errorf("%+v", e)
	}
	if line := got[Sprint](s, "/EPIC/nodes/1.1"); line.Show.Key != "1.1" {
		t.Errorf("%+v", line.Show.Key)
	}
	s.write("go-1", "")
	s.write("on-1", "")
}

func TestTheTurnsOfAnAttempt(t *testing.T) {
	if got := turnOfFile("gate-blind-review/gate-blind-review-again.out"); got != "gate-blind-review" {
		t.Errorf("%q", got)
	}
	if got := turnOfFile("agent-1.out"); got != "agent-1" {
		t.Errorf("%q", got)
	}
}
