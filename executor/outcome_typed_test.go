package executor

import (
	"reflect"
	"testing"
)

func TestTheOtherFormOfAnOutcomeIsRead(t *testing.T) { // L4-05, K7
	num := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		text  string
		want  Outcome
		usage Usage
	}{
		"success": {
			`{"type":"success","result":"the core is there","next_phase":"test","artifacts":[{"path":"src/a.ts","operation":"created"},{"type":"link","path":"https://x.example"}],
			"metrics":{"tokens_used":15420,"cost":0.12,"files_modified":5},"warnings":["unused variable"],"tool_calls":[]}`,
			Outcome{Result: "success", Summary: "the core is there", SuggestedNext: "test", Pointers: []string{"src/a.ts", "https://x.example"}},
			Usage{Tokens: num(15420), USDMicro: num(120_000)},
		},
		"a failure that can be tried again": {
			`{"type":"failure","error":"no compiler","error_code":"NO_CC","retryable":true,"suggested_action":"install one","context":{"a":1}}`,
			Outcome{Result: "failed", Summary: "NO_CC: no compiler\nSuggested: install one", Errors: []string{"NO_CC: no compiler"}},
			Usage{},
		},
		"a failure says nothing of it, and can be tried again": {
			`{"type":"failure","error":"no compiler"}`, Outcome{Result: "failed", Summary: "no compiler", Errors: []string{"no compiler"}}, Usage{},
		},
		"a failure that cannot be tried again is for a person": {
			`{"type":"failure","error":"which database?","retryable":false}`,
			Outcome{Result: "failed", Summary: "which database?", Errors: []string{"which database?"}, NeedsHuman: true},
			Usage{},
		},
		"cancelled by a person is for a person": {
			`{"type":"cancelled","reason":"not now","cancelled_by":"user"}`, Outcome{Result: "failed", Summary: "cancelled by user: not now", NeedsHuman: true}, Usage{},
		},
		"cancelled by a clock has failed": {
			`{"type":"cancelled","reason":"too slow","cancelled_by":"timeout"}`, Outcome{Result: "failed", Summary: "cancelled by timeout: too slow"}, Usage{},
		},
		"in the record of a run": {
			`{"id":"run-1","status":"completed","outcome":{"type":"success","result":"done so"}}`, Outcome{Result: "success", Summary: "done so"}, Usage{},
		},
		"the first form may say its type": {
			`{"type":"success","result":"success","summary":"did it","next_action":"repeat_phase"}`, Outcome{Result: "success", Summary: "did it", NextAction: "repeat_phase"}, Usage{},
		},
		"another type is not looked at": {`{"type":"outcome","result":"partial"}`, Outcome{Result: "partial"}, Usage{}},
		"two that differ":               {`{"type":"success","result":"failed"}`, Outcome{Invalid: `its "type" is "success" and its "result" is "failed": one of them is wrong`}, Usage{}},
		"a success that says nothing":   {`{"type":"success"}`, Outcome{Invalid: `its "type" is "success", and it has no "result"`}, Usage{}},
		"a failure that says nothing":   {`{"type":"failure","error_code":"X"}`, Outcome{Invalid: `its "type" is "failure", and it has no "error"`}, Usage{}},
		"a cancelled one without a why": {`{"type":"cancelled","cancelled_by":"user"}`, Outcome{Invalid: `its "type" is "cancelled", and it has no "reason"`}, Usage{}},
		"control characters are left out": {
			`{"type":"success","result":"a\u001b[2Jb"}`, Outcome{Result: "success", Summary: "a[2Jb"}, Usage{},
		},
	} {
		o, u := ParseOutcome([]byte(c.text))
		if !reflect.DeepEqual(o, c.want) || !reflect.DeepEqual(u, c.usage) {
			t.Errorf("%s: got %+v, %+v\nwant %+v, %+v", name, o, u, c.want, c.usage)
		}
	}
	if o, _ := ParseOutcome([]byte(`{"type":"failure","error":3}`)); o.Invalid == "" {
		t.Errorf("an error that is no text gives %+v", o)
	}
}
