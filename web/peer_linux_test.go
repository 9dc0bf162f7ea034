package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/ir"
)

// postIn makes this program one that posts what its standard input holds, and prints the
// answer.
const postIn = "RALPH_WEB_TEST_POST"

func init() {
	where, token, is := strings.Cut(os.Getenv(postIn), " ")
	if !is {
		return
	}
	r, err := http.NewRequest(http.MethodPost, where, os.Stdin)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(got.Body)
	fmt.Println(got.StatusCode, string(b), err)
	os.Exit(0)
}

// post lets another program decide.
func (s *site) post(where, body string, env ...string) string {
	s.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, postIn+"="+strings.TrimSuffix(s.page.Address(), "/")+base+"/epics/"+s.id+where+" "+s.page.token)...)
	cmd.Stdin = strings.NewReader(body)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v %s", err, out)
	}
	var status int
	if _, err := fmt.Sscan(string(out), &status); err != nil {
		s.t.Fatalf("%v %s", err, out)
	}
	answer := strings.TrimSuffix(strings.TrimSpace(string(out[4:])), " <nil>")
	Conforms(s.t, http.MethodPost, base+"/epics/"+s.id+where, status, "application/json", []byte(answer))
	return string(out)
}

// An agent runs as the user. It is told no token; one that has it is known by its mark.
func TestAProgramOfARunDecidesNothingThroughThePage(t *testing.T) {
	t.Parallel()
	s := newSite(t, "echo x > work.txt\n", executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Gates["ann"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann"}, OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = append(e.Nodes[0].Steps[0].Gates, "ann")
	}))
	s.start()()
	s.serve()
	body := func(id string) string { return s.approval("decision-"+id, "1.1") }
	for i, mark := range []string{runner.Mark, gate.Mark} {
		if said := s.post("/nodes/1.1/decisions", body(fmt.Sprint(i)), mark+"=x"); !strings.HasPrefix(said, "403 ") || !strings.Contains(said, "this was sent by a program that a run has started: decisions are for people") {
			t.Errorf("with %s: %s", mark, said)
		}
	}
	if said := s.post("/nodes/1.1/decisions", body("3")); !strings.HasPrefix(said, "200 ") {
		t.Errorf("a person: %s", said)
	}
	s.until("it is on record", func() bool { return len(got[Sprint](s, "/EPIC/nodes/1.1").Show.Decisions) > 0 })
	d := got[Sprint](s, "/EPIC/nodes/1.1").Show.Decisions[0]
	name := filepath.Base(os.Args[0])
	if d.By != "ann" || !strings.HasPrefix(d.From, name[:min(len(name), 15)]+" ") {
		t.Errorf("on record: %+v", d)
	}
}

// Who cannot be looked up is let through; that nobody knows who it was is on record.
func TestWhoCannotBeFoundIsUnknown(t *testing.T) {
	t.Parallel()
	s := newSite(t, "exit 1\n", chain(t))
	s.start()()
	page := s.alone()
	l := page.house.all()[0]
	for i, c := range []struct {
		from string
		to   net.Addr
	}{
		{"127.0.0.1:1", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2}}, // it has gone
		{"127.0.0.1:1", nil},
		{"somewhere", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2}},
	} {
		key := s.epic.Nodes[i+1].Key
		body := mustJSON(Decide{ID: fmt.Sprintf("gggg-%04d", i), Verb: executor.Cancel, As: "ann", Seen: locked(l, l.rec.Run.Seq)})
		w, ctx := httptest.NewRecorder(), t.Context()
		if c.to != nil {
			ctx = context.WithValue(ctx, http.LocalAddrContextKey, c.to)
		}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, base+"/epics/"+l.id+"/nodes/"+string(key)+"/decisions", bytes.NewReader(body))
		r.RemoteAddr = c.from
		r.Header.Set("Content-Type", "application/json")
		r.SetPathValue("epic", l.id)
		r.SetPathValue("key", string(key))
		page.decide(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("from %s to %v: %d %s", c.from, c.to, w.Code, w.Body)
			continue
		}
		v := locked(l, func() machine.NodeView { v, _ := l.byKey(key); return v })
		if d := v.Decisions; len(d) != 1 || d[0].By != "ann" || d[0].From != "unknown" {
			t.Errorf("from %s to %v: on record: %+v", c.from, c.to, d)
		}
	}
}

func TestAnAddressAsProcHasIt(t *testing.T) {
	a := netip.MustParseAddrPort("127.0.0.1:8080")
	four, six := asInProc(a, false), asInProc(a, true)
	if four != "0100007F:1F90" && four != "7F000001:1F90" || !strings.HasSuffix(six, four) || len(six) != 37 {
		t.Errorf("%s, %s", four, six)
	}
	if asInProc(netip.MustParseAddrPort("[::ffff:127.0.0.1]:8080"), false) != four {
		t.Error("a mapped address is another one")
	}
	if got := printable("a\x1b[1m\tb\u202e\n"); got != "a?[1m?b?" {
		t.Errorf("%q", got)
	}
}
