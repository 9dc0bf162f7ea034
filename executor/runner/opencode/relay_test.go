package opencode

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatAPersonDoesThroughARelay(t *testing.T) {
	const message = `{"parts":[{"type":"text","text":"use argon2"}]}`
	for name, c := range map[string]struct{ call, body, want string }{
		"a message":                    {"POST /session/ses_1/message?directory=/w", message, "use argon2"},
		"a message that is not waited": {"POST /session/ses_1/prompt_async", message, "use argon2"},
		"one of several parts":         {"POST /session/ses_1/message", `{"parts":[{"type":"file"},{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\n\nb"},
		"a file alone":                 {"POST /session/ses_1/message", `{"parts":[{"type":"file"}]}`, "(a message without text)"},
		"a long one":                   {"POST /session/ses_1/message", `{"parts":[{"type":"text","text":"` + strings.Repeat("x", maxWords) + `"}]}`, "(a message of which the text is not known)"},
		"the program's own note":       {"POST /session/ses_1/prompt_async", `{"noReply":true,"parts":[{"type":"text","text":"moved","synthetic":true}]}`, ""},
		"a command":                    {"POST /session/ses_1/command", `{"command":"review","arguments":"all of it"}`, "/review all of it"},
		"a command of the shell":       {"POST /session/ses_1/shell", `{"command":"ls"}`, ranCommand},
		"a stop":                       {"POST /session/ses_1/abort", "", stopped},
		"one by the second API":        {"POST /api/session/ses_1/interrupt", "", stopped},
		"in another session":           {"POST /session/ses_2/message", message, ""},
		"a look":                       {"GET /session/ses_1/message", "", ""},
		"a change of the title":        {"PATCH /session/ses_1", `{"title":"x"}`, ""},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		q := httptest.NewRequest(method, path, strings.NewReader(c.body))
		got, ok := (&relay{session: "ses_1"}).words(q)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %.100q, %v; want %q", name, got, ok, c.want)
		}
		if b, err := io.ReadAll(q.Body); err != nil || string(b) != c.body {
			t.Errorf("%s: its body is %.100q, %v", name, b, err)
		}
	}
}

func TestAPersonsProgramWritesNoEndOfMessages(t *testing.T) {
	r := &relay{session: "ses_1", password: "secret", wrote: make(chan wrote, 1), count: maxWrote}
	q := httptest.NewRequest(http.MethodPost, "/session/ses_1/abort", nil)
	q.SetBasicAuth(userName, "secret")
	w := httptest.NewRecorder()
	r.ServeHTTP(w, q)
	if w.Code != http.StatusTooManyRequests || len(r.wrote) > 0 {
		t.Errorf("it is answered %d, and %d are taken", w.Code, len(r.wrote))
	}
}

// lent is a relay to a server.
func lent(t *testing.T, url string) (*relay, *server) {
	t.Helper()
	s := &server{dir: t.TempDir(), url: url, client: &http.Client{Transport: &http.Transport{}}}
	if err := os.MkdirAll(filepath.Dir(s.people()), 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := s.lend(t.Context(), "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

// A server may close a connection on which it has answered just when the next request comes:
// what a person says is not lost so. Where it cannot be told, the person's program learns why.
func TestWhatAPersonSaysMeetsNoClosedConnection(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		c, in, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		_, _ = in.ReadByte() // of the next request, which it does not answer
	}))
	r, _ := lent(t, srv.URL)
	defer r.close()
	says := func() *httptest.ResponseRecorder {
		q := httptest.NewRequest(http.MethodPost, "/session/ses_1/message", strings.NewReader(`{"parts":[{"type":"text","text":"hello"}]}`))
		q.SetBasicAuth(userName, r.password)
		w := httptest.NewRecorder()
		go func() { <-r.wrote }()
		r.ServeHTTP(w, q)
		return w
	}
	for range 3 {
		if w := says(); w.Code != http.StatusOK {
			t.Errorf("it is answered %d %s", w.Code, w.Body)
		}
	}
	srv.Close()
	if w := says(); w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), "refused") {
		t.Errorf("a server that is gone: %d %s", w.Code, w.Body)
	}
}

// What a person writes may be what ends the turn.
func TestWhatEndsATurnIsAnswered(t *testing.T) {
	over := make(chan chan struct{}, 1) // closed when the relay closes
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		<-<-over
		w.WriteHeader(http.StatusNoContent)
	}))
	defer srv.Close()
	r, s := lent(t, srv.URL)
	over <- r.ending
	var at announced
	b, err := os.ReadFile(s.people())
	if err = errors.Join(err, json.Unmarshal(b, &at)); err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at.URL+"/session/ses_1/prompt_async", strings.NewReader(`{"parts":[{"type":"text","text":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	q.SetBasicAuth(userName, r.password)
	go func() {
		<-r.wrote
		r.close()
	}()
	res, err := http.DefaultClient.Do(q)
	if err != nil || res.StatusCode != http.StatusNoContent {
		t.Fatalf("%+v, %v", res, err)
	}
	_ = res.Body.Close()
}
