package modeltest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// shot is a request of one protocol, as an agent would send it.
type shot struct {
	protocol Protocol
	path     string
	// body makes a request: tools offered, and what was said so far. A history begins
	// with a person; "tool" stands for a call of a tool and its answer.
	body func(tools []string, history ...string) map[string]any
}

var shots = []shot{
	{Chat, "/v1/chat/completions", func(tools []string, history ...string) map[string]any {
		messages := []any{map[string]any{"role": "system", "content": "Working directory: /w/one\nBe good."}}
		for _, h := range history {
			if h == "tool" {
				messages = append(messages,
					map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": "c"}}},
					map[string]any{"role": "tool", "content": "answered"})
				continue
			}
			messages = append(messages, map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": h}}})
		}
		var ts []any
		for _, t := range tools {
			ts = append(ts, map[string]any{"type": "function", "function": map[string]any{"name": t}})
		}
		return map[string]any{"model": "m1", "messages": messages, "tools": ts}
	}},
	{Responses, "/v1/responses", func(tools []string, history ...string) map[string]any {
		var input []any
		for _, h := range history {
			if h == "tool" {
				input = append(input, map[string]any{"type": "function_call", "call_id": "c"}, map[string]any{"type": "function_call_output", "call_id": "c", "output": "answered"})
				continue
			}
			input = append(input, map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": h}}})
		}
		var ts []any
		for _, t := range tools {
			if ns, name, ok := strings.Cut(t, "|"); ok {
				ts = append(ts, map[string]any{"type": "namespace", "name": ns, "tools": []any{map[string]any{"type": "function", "name": name}}})
				continue
			}
			ts = append(ts, map[string]any{"type": "function", "name": t})
		}
		return map[string]any{"model": "m1", "instructions": "Be good.\n<cwd>/w/one</cwd>", "input": input, "tools": ts}
	}},
	{Messages, "/v1/messages", func(tools []string, history ...string) map[string]any {
		var messages []any
		for _, h := range history {
			if h == "tool" {
				messages = append(messages,
					map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "c"}}},
					map[string]any{"role": "user", "content": []any{
						map[string]any{"type": "tool_result", "tool_use_id": "c", "content": []any{map[string]any{"type": "text", "text": "answered"}}},
						map[string]any{"type": "text", "text": "<system-reminder>go on</system-reminder>"},
					}})
				continue
			}
			messages = append(messages, map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "text", "text": "<system-reminder>today</system-reminder>"}, map[string]any{"type": "text", "text": h},
			}})
		}
		var ts []any
		for _, t := range tools {
			ts = append(ts, map[string]any{"name": t})
		}
		return map[string]any{"model": "m1", "system": []any{map[string]any{"type": "text", "text": "Primary working directory: /w/one\nBe good."}}, "messages": messages, "tools": ts}
	}},
}

// post sends a request and returns what came back; an error of the connection is
// returned as status 0.
func post(t *testing.T, base string, s shot, stream bool, body map[string]any) (status int, answer string, h http.Header) {
	t.Helper()
	body["stream"] = stream
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(base+s.path, "application/json", bytes.NewReader(b))
	if err != nil {
		return 0, err.Error(), nil
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, string(out), resp.Header
	}
	return resp.StatusCode, string(out), resp.Header
}

var tools = map[Protocol][]string{
	Chat:      {"bash", "write", "ralph_1_report_outcome"},
	Responses: {"exec_command", "mcp__ralph_1|report_outcome"},
	Messages:  {"Bash", "Write", "mcp__ralph_1__report_outcome"},
}

var hello = Scenario{Rules: []Rule{{Match: "say hello", Steps: []Step{
	{Text: "I write.", Do: []Action{Write("hello.txt", "hello\n"), Bash("true")}, Usage: Usage{Input: 7, Output: 3, CacheRead: 2}},
	{Do: []Action{Report(map[string]any{"result": "success"})}},
	{Text: "All done."},
}}}}

func TestTheSameScenarioInEachProtocol(t *testing.T) {
	server := Start(t)
	want := map[Protocol][]string{
		Chat:      {`"name":"write"`, `"filePath\":\"/w/one/hello.txt\"`, `"name":"bash"`, `"prompt_tokens":9`, `"completion_tokens":3`},
		Responses: {`"name":"exec_command"`, `printf %s 'hello`, `"input_tokens":9`, `"output_tokens":3`},
		Messages:  {`"name":"Write"`, `/w/one/hello.txt`, `"name":"Bash"`, `"input_tokens":7`, `"output_tokens":3`, `"cache_read_input_tokens":2`},
	}
	report := map[Protocol][]string{
		Chat:      {`"name":"ralph_1_report_outcome"`, "success"},
		Responses: {`"name":"report_outcome"`, `"namespace":"mcp__ralph_1"`, "success"},
		Messages:  {`"name":"mcp__ralph_1__report_outcome"`, "success"},
	}
	for _, s := range shots {
		for _, stream := range []bool{false, true} {
			base := server.Load(t, hello)
			look := func(what string, parts []string, history ...string) {
				t.Helper()
				status, got, _ := post(t, base, s, stream, s.body(tools[s.protocol], history...))
				if status != http.StatusOK {
					t.Fatalf("%s: status %d: %s", s.protocol, status, got)
				}
				for _, p := range parts {
					if !strings.Contains(got, p) {
						t.Errorf("%s, stream %v, %s: no %s in\n%s", s.protocol, stream, what, p, got)
					}
				}
			}
			look("first", want[s.protocol], "Please say hello.")
			look("the same again", want[s.protocol], "Please say hello.")
			look("second", report[s.protocol], "Please say hello.", "tool")
			look("last", []string{"done."}, "Please say hello.", "tool", "tool")
			look("another turn", want[s.protocol], "Please say hello.", "tool", "tool", "Do say hello again.")
			all := server.Turns(base)
			if len(all) != 5 {
				t.Fatalf("%d requests", len(all))
			}
			last := all[4]
			if want := []string{"Please say hello.", "Do say hello again."}; !slices.Equal(last.Humans, want) || last.Rounds != 0 {
				t.Errorf("%s: people said %q, %d rounds", s.protocol, last.Humans, last.Rounds)
			}
			if !slices.Equal(last.Results, []string{"answered", "answered"}) || !strings.Contains(last.System, "Be good.") || last.Model != "m1" {
				t.Errorf("%s: read %+v", s.protocol, last)
			}
			if all[2].Played != "rule 0, step 1" || len(all[2].Calls) != 1 || !all[2].Offers("report_outcome") {
				t.Errorf("%s: played %q with %v", s.protocol, all[2].Played, all[2].Calls)
			}
		}
	}
}

func TestATextBehindTheResultOfAToolIsNew(t *testing.T) {
	server := Start(t)
	base := server.Load(t, Scenario{Rules: []Rule{{Match: "second", Steps: []Step{{Text: "Two."}}}, {Match: "first", Steps: []Step{{Text: "One."}}}}})
	s := shots[2]
	_, got, _ := post(t, base, s, false, map[string]any{"tools": []any{map[string]any{"name": "Bash"}}, "messages": []any{
		map[string]any{"role": "user", "content": "the first"},
		map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "c"}}},
		map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": "c", "content": "cut"},
			map[string]any{"type": "text", "text": "[Request interrupted by user for tool use]"},
			map[string]any{"type": "text", "text": "the second"},
		}},
	}})
	if !strings.Contains(got, "Two.") {
		t.Errorf("got %s", got)
	}
}

func TestWhatAgentsPutAroundAPersonsWordsIsNotThePersons(t *testing.T) {
	var r Request
	for _, text := range []string{
		"<environment_context>\n<cwd>/w</cwd>\n<files><root>/w</root></files>\n</environment_context>",
		"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nAlways <b>shout</b>.\n</INSTRUCTIONS>",
		"<system-reminder>a</system-reminder>Do it.<system-reminder>b</system-reminder>",
		"[Request interrupted by user for tool use]",
	} {
		r.heard(text)
	}
	if !slices.Equal(r.Humans, []string{"Do it."}) {
		t.Errorf("got %q", r.Humans)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  Fault
		status int // 0: the connection breaks
		has    string
	}{
		{"a status", Fault{Status: 429, Headers: map[string]string{"Retry-After": "7"}}, 429, "scripted failure 429"},
		{"a body", Fault{Status: 500, Body: "oops"}, 500, "oops"},
		{"dropped", Fault{Kind: Drop}, 0, ""},
		{"cut", Fault{Kind: Truncate}, 0, "I was about"},
		{"malformed", Fault{Kind: Malformed}, 200, "not json"},
	} {
		for _, s := range shots {
			t.Run(c.name+" in "+string(s.protocol), func(t *testing.T) {
				server := Start(t)
				c.fault.Times = 2
				base := server.Load(t, Scenario{Rules: []Rule{{Steps: []Step{{Text: "Fine.", Fault: &c.fault}}}}})
				for range 2 {
					status, got, h := post(t, base, s, true, s.body(tools[s.protocol], "hi"))
					if status != c.status || !strings.Contains(got, c.has) {
						t.Errorf("got %d %q", status, got)
					}
					if c.fault.Headers != nil && h.Get("Retry-After") != "7" {
						t.Errorf("headers %v", h)
					}
				}
				if status, got, _ := post(t, base, s, true, s.body(tools[s.protocol], "hi")); status != 200 || !strings.Contains(got, "ne.") {
					t.Errorf("afterwards %d %q", status, got)
				}
				if all := server.Requests(base); !strings.HasSuffix(all[0].Played, c.fault.String()) || all[2].Played != "rule 0, step 0" {
					t.Errorf("played %q, %q", all[0].Played, all[2].Played)
				}
			})
		}
	}
}

func TestAHangEndsWithTheServer(t *testing.T) {
	for _, kind := range []FaultKind{Hang, HangSilent} {
		server := New()
		base, err := server.Serve("hang", Scenario{Rules: []Rule{{Steps: []Step{{Fault: &Fault{Kind: kind}}}}}})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan int)
		go func() {
			status, _, _ := post(t, base, shots[0], true, shots[0].body([]string{"bash"}, "hi"))
			ended <- status
		}()
		server.Await(t, base, "the request", func(all []Request) bool { return len(all) == 1 })
		select {
		case status := <-ended:
			t.Errorf("%s: ended by itself with %d", kind, status)
		default:
		}
		server.Close()
		if status := <-ended; status != 0 {
			t.Errorf("%s: ended with %d", kind, status)
		}
	}
}

func TestSideRequestsHaveAFixedAnswer(t *testing.T) {
	server := Start(t)
	base := server.Load(t, hello)
	for _, s := range shots {
		if _, got, _ := post(t, base, s, false, s.body(nil, "A title for: say hello")); !strings.Contains(got, "Scripted") {
			t.Errorf("%s: %s", s.protocol, got)
		}
	}
	if n := len(server.Turns(base)); n != 0 {
		t.Errorf("%d turns", n)
	}
	for _, path := range []string{"/v1/models", "/v1/messages/count_tokens", "/api/hello"} {
		resp, err := http.Get(base + path)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %v", path, resp, err)
		}
		_ = resp.Body.Close()
	}
	if resp, err := http.Get(server.http.URL + "/s/none/v1/models"); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("got %v, %v", resp, err)
	}
}

func TestAMissingStepIsTold(t *testing.T) {
	server := Start(t)
	base, err := server.Serve("x", Scenario{Rules: []Rule{{Match: "hello", Steps: []Step{{Text: "Hello."}}}}})
	if err != nil {
		t.Fatal(err)
	}
	post(t, base, shots[0], false, shots[0].body([]string{"bash"}, "bye"))
	post(t, base, shots[0], false, shots[0].body([]string{"bash"}, "hello", "tool"))
	if got := server.Missed(base); len(got) != 2 || !strings.Contains(got[0], "bye") || !strings.Contains(got[1], "after 1 rounds") {
		t.Errorf("got %q", got)
	}
}

func TestAnAgentWithoutAToolIsAskedForItAllTheSame(t *testing.T) {
	r := Request{Tools: []Tool{{Name: "a_report_outcome"}, {Name: "b_report_outcome"}}}
	for _, c := range []struct {
		action Action
		want   string
	}{
		{Report(fields{}), "b_report_outcome"},
		{Call("a_report_outcome", fields{}), "a_report_outcome"},
		{Call("nowhere", fields{}), "nowhere"},
		{Bash("true"), "bash"},
		{Ask("why?"), "question"},
		{Write("x", "y"), "bash"},
		{Read("x"), "bash"},
	} {
		if got := r.call(c.action, "id"); got.Name != c.want {
			t.Errorf("%+v calls %s, want %s", c.action, got.Name, c.want)
		}
	}
}

func TestScenariosAreReadStrictly(t *testing.T) {
	good := `{"rules":[{"match":"x","steps":[{"text":"t","do":[{"write":{"path":"a","content":"b"}},{"bash":{"cmd":"c"}},{"read":{"path":"a"}},{"report":{"result":"success"}},{"ask":{"question":"q"}},{"call":{"name":"n","args":{}}}],
		"delay_ms":1,"usage":{"input":1,"output":2},"fault":{"status":429,"headers":{"retry-after":"1"},"times":1}}]}],"side":"s","bare":true}`
	sc, err := Decode([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(sc)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := json.Marshal(again); string(b) != string(c) {
		t.Errorf("%s is read as %s", b, c)
	}
	for bad, want := range map[string]string{
		`{"rulez":[]}`:                                                              "rulez",
		`{} {}`:                                                                     "behind",
		`{"rules":[{"match":"x","steps":[]}]}`:                                      "no steps",
		`{"rules":[{"steps":[{}]}]}`:                                                "neither",
		`{"rules":[{"steps":[{"do":[{}]}]}]}`:                                       "must have one",
		`{"rules":[{"steps":[{"do":[{"report":"x"}]}]}]}`:                           "must be an object",
		`{"rules":[{"steps":[{"fault":{"kind":"smell"}}]}]}`:                        "smell",
		`{"rules":[{"steps":[{"fault":{"status":200}}]}]}`:                          "400 to 599",
		`{"rules":[{"steps":[{"fault":{"status":500,"times":1}}]}]}`:                "neither",
		`{"rules":[{"steps":[{"text":"x","do":[{"bash":{"cmd":"x","at":"y"}}]}]}]}`: "at",
	} {
		if _, err := Decode([]byte(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", bad, err, want)
		}
	}
}
