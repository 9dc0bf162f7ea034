package mcp

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// post sends bytes to a turn as they are.
func post(t *testing.T, r executor.AgentRun, body string, change func(*http.Request)) (int, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.Tools.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + r.Tools.Token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		q.Header.Set(k, v)
	}
	if change != nil {
		change(q)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestWhoIsNotLetIn(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	during(t, server(t), ask(t), func(r executor.AgentRun) {
		port := r.Tools.URL[strings.LastIndexByte(r.Tools.URL, ':'):]
		port, _, _ = strings.Cut(port, "/")
		for name, c := range map[string]struct {
			change func(*http.Request)
			want   int
		}{
			"the agent":                       {nil, 200},
			"the agent, by another name":      {func(q *http.Request) { q.Host = "localhost" + port }, 200},
			"nobody's token":                  {func(q *http.Request) { q.Header.Set("Authorization", "Bearer x") }, 401},
			"no token":                        {func(q *http.Request) { q.Header.Del("Authorization") }, 401},
			"a token without its scheme":      {func(q *http.Request) { q.Header.Set("Authorization", r.Tools.Token) }, 401},
			"another path":                    {func(q *http.Request) { q.URL.Path = "/" }, 401},
			"a name that points here":         {func(q *http.Request) { q.Host = "evil.example" + port }, 403},
			"a name that begins like ours":    {func(q *http.Request) { q.Host = "127.0.0.1.evil.example" + port }, 403},
			"another port":                    {func(q *http.Request) { q.Host = "localhost:1" }, 403},
			"a page":                          {func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") }, 403},
			"a page of no origin":             {func(q *http.Request) { q.Header.Set("Origin", "null") }, 403},
			"a page on another port":          {func(q *http.Request) { q.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
			"what is not read in this manner": {func(q *http.Request) { q.Header.Set("Content-Type", "text/plain") }, 415},
			"a stream that nobody writes to":  {func(q *http.Request) { q.Method = http.MethodGet }, 405},
		} {
			if got, said := post(t, r, ping, c.change); got != c.want {
				t.Errorf("%s: got %d %s, want %d", name, got, said, c.want)
			}
		}
	})
}

// Claude Code asks in a newer way first, and concludes from this code that it has to
// ask in the older one.
func TestUnknownMethodsAreUnknown(t *testing.T) {
	during(t, server(t), ask(t), func(r executor.AgentRun) {
		for _, method := range []string{"server/discover", "what/ever", "tools/unknown"} {
			body := `{"jsonrpc":"2.0","id":"probe","method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
			for _, version := range []string{"", "2026-07-28"} {
				got, said := post(t, r, body, func(q *http.Request) {
					if version != "" {
						q.Header.Set("Mcp-Protocol-Version", version)
						q.Header.Set("Mcp-Method", method)
					}
				})
				if got != 200 || !strings.Contains(said, `"code":-32601`) || !strings.Contains(said, `"id":"probe"`) {
					t.Errorf("%s, version %q: got %d %s", method, version, got, said)
				}
			}
		}
	})
}

func TestHugeRequestsAreRefused(t *testing.T) {
	during(t, server(t), ask(t), func(r executor.AgentRun) {
		report := func(n int) string {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report_outcome","arguments":{"result":"success","summary":"` + strings.Repeat("x", n) + `"}}}`
		}
		if got, said := post(t, r, report(maxBody), nil); got != http.StatusRequestEntityTooLarge && got != 0 { // 0: the connection was cut while it wrote
			t.Errorf("%d bytes: got %d %s", maxBody, got, said)
		}
		if got, said := post(t, r, report(maxReport), nil); got != 200 || !strings.Contains(said, "at most 1048576 are taken") || !strings.Contains(said, `"isError":true`) {
			t.Errorf("%d bytes: got %d %.300s", maxReport, got, said)
		}
		if got := file(t, r.OutcomeFile()); got != "" {
			t.Errorf("%d bytes were kept", len(got))
		}
		deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
		if got, said := post(t, r, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report_outcome","arguments":`+deep+`}}`, nil); got != 200 || !strings.Contains(said, "are nested more than") {
			t.Errorf("100 levels: got %d %.300s", got, said)
		}
		if got, said := post(t, r, report(1000), nil); got != 200 || strings.Contains(said, "isError") {
			t.Errorf("one that fits: got %d %.300s", got, said)
		}
	})
}

// More requests than are worked on at once wait for their turn, and all are answered.
func TestManyRequestsOfOneTurnAreAllAnswered(t *testing.T) {
	during(t, server(t), ask(t), func(r executor.AgentRun) {
		var wg sync.WaitGroup
		for i := range 5 * maxAtOnce {
			wg.Go(func() {
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"report_outcome","arguments":{"result":"success","summary":"%d"}}}`, i, i)
				if got, said := post(t, r, body, nil); got != 200 || !strings.Contains(said, "Recorded") {
					t.Errorf("got %d %s", got, said)
				}
			})
		}
		wg.Wait()
	})
}
