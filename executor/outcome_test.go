package executor

import (
	"reflect"
	"strings"
	"testing"
)

// What may be in an outcome, and what it comes to: where several keys say the same, and
// where one says nothing.
func TestWhatAnOutcomeSays(t *testing.T) {
	num := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		text  string
		want  Outcome
		usage Usage
	}{
		"a list skips what says nothing":     {`{"result":"success","errors":["",null,"x"]}`, Outcome{Result: "success", Summary: "x", Errors: []string{"x"}}, Usage{}},
		"a list of both kinds":               {`{"result":"failed","errors":["a",{"message":"b"}],"summary":"s"}`, Outcome{Result: "failed", Summary: "s", Errors: []string{"a", "b"}}, Usage{}},
		"one error is a list of one":         {`{"result":"failed","error":"x"}`, Outcome{Result: "failed", Summary: "x", Errors: []string{"x"}}, Usage{}},
		"no error is none":                   {`{"result":"success","error":null}`, Outcome{Result: "success"}, Usage{}},
		"an object is named by what says so": {`{"result":"success","pointers":[{"title":" ","name":3,"path":"p"}]}`, Outcome{Result: "success", Pointers: []string{"p"}}, Usage{}},
		"a nameless object is its own name":  {`{"result":"success","pointers":[{"code":1}]}`, Outcome{Result: "success", Pointers: []string{`{"code":1}`}}, Usage{}},
		"fatal alone is failed":              {`{"fatal":true}`, Outcome{Result: "failed", Fatal: true}, Usage{}},
		"fatal and partial":                  {`{"result":"partial","fatal":true}`, Outcome{Result: "partial", Fatal: true}, Usage{}},
		"both words that agree":              {`{"result":"success","success":true}`, Outcome{Result: "success"}, Usage{}},
		"both words that fail":               {`{"result":"partial","success":false}`, Outcome{Result: "partial"}, Usage{}},
		"none of what was used is known":     {`{"result":"success","usage":{"tokens":0,"usd":0}}`, Outcome{Result: "success"}, Usage{Tokens: num(0), USDMicro: num(0)}},
		"the most that can be used":          {`{"result":"success","usage":{"tokens":1e15}}`, Outcome{Result: "success"}, Usage{Tokens: num(1e15)}},
	} {
		o, u := ParseOutcome([]byte(c.text))
		if !reflect.DeepEqual(o, c.want) || !reflect.DeepEqual(u, c.usage) {
			t.Errorf("%s: got %+v, %+v\nwant %+v, %+v", name, o, u, c.want, c.usage)
		}
	}
	for text, why := range map[string]string{
		`Here you are: {"result":"success"}`:      `it begins with "Here you are: {`,
		`[]`:                                      `it begins with "[]"`,
		``:                                        `it begins with ""`,
		`{"result":"success","result":"failed"}`:  `the key "result" is in it twice`,
		`{"result":"success","Result":"failed"}`:  `the key "result" is in it twice`,
		`{"result":1}`:                            "it is not the JSON object that is asked for: json",
		`{"result":"success","errors":["x"`:       "it is not the JSON object that is asked for: unexpected end",
		`{"result":"done"}`:                       `"result" is "done"; it must be`,
		`{"result":"success","fatal":true}`:       `"result" is "success" and "fatal" is true`,
		`{"result":"success","success":false}`:    `"result" is "success" and "success" is false`,
		`{"result":"success","next_action":"rm"}`: `"next_action" is "rm"`,
	} {
		if o, _ := ParseOutcome([]byte(text)); !strings.Contains(o.Invalid, why) || o.Result != "" {
			t.Errorf("%s: got %+v, want %q", text, o, why)
		}
	}
}

func TestControlCharactersAreTakenOut(t *testing.T) {
	if got, want := Clean("a\x00b\x1bc\td\ne\x7ff\u0080g\u009fh\u00a0i~"), "abc\td\nefgh\u00a0i~"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What an agent reported decides whether a person is asked, and whether gates begin.
func TestWhatFollowsFromAnOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		end          AgentEnded
		asks, claims bool
	}{
		"success":                              {AgentEnded{End: EndExited, Outcome: Outcome{Result: "success"}}, false, true},
		"success of a program that failed":     {AgentEnded{End: EndExited, ExitCode: 1, Outcome: Outcome{Result: "success"}}, false, true},
		"partial":                              {AgentEnded{End: EndExited, Outcome: Outcome{Result: "partial"}}, false, true},
		"failed":                               {AgentEnded{End: EndExited, Outcome: Outcome{Result: "failed"}}, false, false},
		"failed, with a promise":               {AgentEnded{End: EndExited, Outcome: Outcome{Result: "failed", Promise: "DONE"}}, false, false},
		"fatal":                                {AgentEnded{End: EndExited, Outcome: Outcome{Result: "partial", Fatal: true}}, false, false},
		"unreadable":                           {AgentEnded{End: EndExited, Outcome: Outcome{Invalid: "no JSON"}}, false, false},
		"nothing, and it ended well":           {AgentEnded{End: EndExited}, false, true},
		"nothing, and it did not":              {AgentEnded{End: EndExited, ExitCode: 1}, false, false},
		"a promise of a program that failed":   {AgentEnded{End: EndExited, ExitCode: 1, Outcome: Outcome{Promise: "DONE"}}, false, true},
		"success, and out of time":             {AgentEnded{End: EndTimeout, Outcome: Outcome{Result: "success"}}, false, false},
		"it needs a human":                     {AgentEnded{End: EndExited, Outcome: Outcome{Result: "partial", NeedsHuman: true}}, true, true},
		"its next action is one":               {AgentEnded{End: EndExited, Outcome: Outcome{Result: "partial", NextAction: "need_human"}}, true, true},
		"its next action is one, spelt so":     {AgentEnded{End: EndExited, Outcome: Outcome{Result: "partial", NextAction: "needs_human"}}, true, true},
		"its next action is to go on":          {AgentEnded{End: EndExited, Outcome: Outcome{Result: "success", NextAction: "advance_phase"}}, false, true},
		"it failed, and a person is to decide": {AgentEnded{End: EndExited, Outcome: Outcome{Result: "failed", NeedsHuman: true}}, true, false},
	} {
		if asks, claims := c.end.Outcome.Asks(), c.end.Claims(); asks != c.asks || claims != c.claims {
			t.Errorf("%s: it asks %v and claims %v, want %v and %v", name, asks, claims, c.asks, c.claims)
		}
	}
}
