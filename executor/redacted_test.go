package executor

import (
	"reflect"
	"strings"
	"testing"
)

func TestSecretsAreTakenOutOfEveryTextOfAnEvent(t *testing.T) {
	const secret = "hunter2!"
	clean := func(s string) string { return strings.ReplaceAll(s, secret, "[gone]") }
	tokens := int64(7)
	for _, body := range []Body{
		AgentEnded{
			Tail: "a " + secret, Usage: Usage{Tokens: &tokens},
			Outcome: Outcome{Summary: secret, Errors: []string{"x", secret}, Proposals: []Proposal{{Title: secret, Text: "t"}}},
		},
		GateJudged{Gate: "g", Message: secret, Counts: &TestCounts{Passed: 1}, Failed: []string{secret}},
		EffectFailed{Detail: "no: " + secret, Paths: []string{secret}},
		Collected{Changes: []FileChange{{Path: secret}}},
		HumanSpoke{Text: secret},
		Decided{Decision{Message: secret}},
		TamperSeen{Drift: Drift{What: "your checkout", Files: map[string]string{secret: ""}}},
	} {
		before := reflect.ValueOf(body).Interface()
		got := Redacted(body, clean)
		raw, err := Event{Seq: 1, Body: got}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), secret) || !strings.Contains(string(raw), "[gone]") {
			t.Errorf("%s: %s", got.EventName(), raw)
		}
		old, err := Event{Seq: 1, Body: body}.MarshalJSON()
		if err != nil || !strings.Contains(string(old), secret) || !reflect.DeepEqual(before, body) {
			t.Errorf("%s: what was given is changed: %s, %v", body.EventName(), old, err)
		}
		if same := Redacted(body, nil); !reflect.DeepEqual(same, body) {
			t.Errorf("nothing to clean, and yet %+v", same)
		}
	}
}
