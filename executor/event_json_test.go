package executor

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

// general reads an event without the short way.
func general(b []byte) (e Event, err error) {
	var w wireEvent
	if err := new(EventDecoder).strict(b, &w); err != nil {
		return e, err
	}
	read, ok := kinds[w.Kind]
	if !ok || w.V != EventVersion {
		return e, errNotRead
	}
	var body Body
	if w.Kind == (EffectStarted{}).EventName() {
		var s EffectStarted
		err = new(EventDecoder).strict(w.Data, &s)
		body = s
	} else {
		body, err = read(new(EventDecoder), w.Data)
	}
	return Event{Seq: w.Seq, At: time.UnixMilli(w.At).UTC(), Node: w.Node, Step: w.Step, Attempt: w.Attempt, Body: body}, err
}

var errNotRead = &Refused{Why: "not read"}

func TestEventsComeBackFromJSONAsTheyWere(t *testing.T) {
	for _, e := range []Event{
		{Seq: 1, At: time.UnixMilli(0).UTC(), Body: RunEnded{Counts: map[string]int{"done": 3}}},
		{Seq: 123456789, At: time.UnixMilli(1795000000123).UTC(), Node: "bd-1", Step: "implement", Attempt: 12, Body: EffectStarted{Kind: EffectGate, Gate: "unit <&> \u2028"}},
		{Seq: 7, At: time.UnixMilli(5).UTC(), Node: "bd-ünï\"\\\n", Step: "a step", Attempt: 1, Body: Prepared{}},
		{Seq: 8, At: time.UnixMilli(-5).UTC(), Node: "bd-1", Body: NodeBlocked{Reason: "}\",\"data\":{"}},
		{Seq: 9, At: time.UnixMilli(5).UTC(), Node: "bd-1", Step: "s", Attempt: 1, Body: AgentSession{Session: "ses_1", Agent: "dev", Turn: "gate-qa", Gate: "qa", Fresh: true}},
		{Seq: 10, At: time.UnixMilli(5).UTC(), Node: "bd-1", Step: "s", Attempt: 1, Body: WorkProposed{Proposal: Proposal{Title: "more", Text: "to do"}, Agent: "dev"}},
		{Seq: 12, At: time.UnixMilli(5).UTC(), Body: RunRecovered{From: "bd bd-e", Digest: "sha256:1", Base: Tree{"c", "t"}, Head: "h", Lost: 9, By: "ann"}},
		{Seq: 13, At: time.UnixMilli(5).UTC(), Node: "bd-1", Body: NodeRecovered{Key: "1.1", Kept: Kept{
			Status: "done", Success: &KeptSuccess{Work: "w", Judge: "j", Print: "p", Result: Tree{"c", "t"}, At: time.UnixMilli(3).UTC()},
			Numbers: map[string]int{"implement": 2}, Attempts: []KeptAttempt{{Step: "implement", Number: 2, Status: AttemptPassed, At: time.UnixMilli(2).UTC()}},
		}}},
		{Seq: 11, At: time.UnixMilli(5).UTC(), Node: "bd-1", Step: "s", Attempt: 1, Body: HumanSpoke{Session: "ses_1", Said: time.UnixMilli(3).UTC(), Text: "no"}},
	} {
		b, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(b) {
			t.Errorf("%+v becomes %s, which is not JSON", e, b)
		}
		var back Event
		if err := back.UnmarshalJSON(b); err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%s\nreads %+v, %v; want %+v", b, back, err, e)
		}
	}
}

// What the encoder writes by hand is what encoding/json writes.
func TestTheShortWayWritesWhatTheGeneralOneDoes(t *testing.T) {
	same := func(s EffectStarted) bool {
		to := appender{}
		enc := json.NewEncoder(&to)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		got, want := string(s.appendJSON(nil)), strings.TrimRight(string(to.b), "\n")
		if got != want {
			t.Errorf("%+v becomes %s, want %s", s, got, want)
		}
		return got == want
	}
	for _, s := range []EffectStarted{{}, {Kind: EffectGate, Gate: "a <&> \u2028 \"\xff"}, {Kind: EffectAgent, Iteration: -2, Redo: true}} {
		same(s)
	}
	short := func(b []byte) bool {
		var want EffectStarted
		err := new(EventDecoder).strict(b, &want)
		got, ok := exactEffect(b)
		if ok && (err != nil || got != want) {
			t.Errorf("%s is read as %+v, want %+v, %v", b, got, want, err)
		}
		return ok
	}
	for text, want := range map[string]bool{
		`{"effect":"gate","gate":"x","iteration":12,"redo":true}`: true,
		`{"effect":"base"}`:                      true,
		`{}`:                                     false,
		`{"effect":"base",}`:                     false,
		`{"effect":"base","redo":false}`:         false,
		`{"effect":"base","iteration":01}`:       false,
		`{"effect":"base","iteration":-1}`:       false,
		`{"effect":"b\u0061se"}`:                 false,
		`{"effect":"base"} `:                     false,
		`{"effect":"base"}{}`:                    false,
		`{"effect":"base","gate":"x","gate":""}`: false,
		`{"effect":"base`:                        false,
	} {
		if got := short([]byte(text)); got != want {
			t.Errorf("%s is read the short way: %v, want %v", text, got, want)
		}
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func TestAnEventIsNeverHalfUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		`{"v":1,"seq":1,"at":1,"kind":"prepared","data":{},"more":{}}`:                         "",
		`{"v":1,"seq":1,"at":1,"kind":"prepared","data":{"saved":"x","new":1}}`:                "unknown field",
		`{"v":2,"seq":1,"at":1,"kind":"prepared","data":{}}`:                                   "version 2",
		`{"v":1,"seq":1,"at":1,"kind":"unheard","data":{}}`:                                    "unknown kind",
		`{"v":1,"seq":1,"at":1,"kind":"prepared","data":{}} {}`:                                "",
		`{"v":1,"seq":1,"at":1,"kind":"prepared","data":{}`:                                    "",
		`{"v":1,"seq":99999999999999999999,"at":1,"kind":"prepared","data":{}}`:                "",
		`{"v":1,"seq":1,"at":1,"kind":"prepared","node":"a","node2":"b","data":{}}`:            "",
		`{"v":1,"seq":1,"at":1,"kind":"prepared","node":"a` + "\n" + `","data":{}}`:            "",
		`{"v":1,"seq":1,"at":1,"kind":"prepared","step":"s","node":"n","unknown":1,"data":{}}`: "unknown",
	} {
		var e Event
		if err := e.UnmarshalJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nreads %+v, %v; want an error with %q", text, e, err, want)
		}
	}
}

func FuzzEventJSON(f *testing.F) {
	for _, s := range []string{
		`{"v":1,"seq":12,"at":99,"kind":"effect.started","node":"bd-1","step":"s","attempt":2,"data":{"effect":"gate","gate":"x"}}`,
		`{"v":1,"seq":12,"at":99,"kind":"prepared","data":{}}`,
		`{"v":1,"seq":2,"at":99,"kind":"run.recovered","data":{"from":"bd bd-e","digest":"d","base":{"commit":"c","tree":"t"},"lost":7,"by":"ann"}}`,
		`{"v":1,"seq":3,"at":99,"kind":"node.recovered","node":"bd-1","data":{"status":"blocked","numbers":{"s":3},"key":"1.1"}}`,
		`{"v":1,"seq":012,"at":-9,"kind":"prepared","data":{},"x":{}}`,
		`{"v":1,"seq":1,"at":1,"kind":"prepared","node":"\u0041","data":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		// The short way reads what the general one reads, or leaves it to that.
		var got Event
		err := got.UnmarshalJSON(b)
		want, werr := general(b)
		if (err == nil) != (werr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\nreads %+v, %v\nwant  %+v, %v", b, got, err, want, werr)
		}
	})
}
