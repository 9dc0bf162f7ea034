package executor

import (
	"encoding/json"
	"reflect"
	"testing"
)

// What an earlier release said in words alone is data once it is read.
func TestEventsOfEarlierReleases(t *testing.T) {
	refused := []Refusal{{"github.com:443", 4}, {"a.example:80", 1}}
	for kind, c := range map[string]struct {
		data string
		want Body
	}{
		"agent.ended": {
			`{"end":"exited","sandbox":{"name":"default","kind":"bwrap","refused":["4 × github.com:443","1 × a.example:80","and 2 more"]}}`,
			AgentEnded{End: EndExited, Sandbox: &Sandboxed{Name: "default", Kind: "bwrap", Refused: refused, Others: 2}},
		},
		"gate.judged": {
			`{"gate":"unit","verdict":"pass","sandbox":{"name":"default","kind":"bwrap","refused":[{"host":"github.com:443","times":4},{"host":"a.example:80","times":1}]}}`,
			GateJudged{Gate: "unit", Verdict: Pass, Sandbox: &Sandboxed{Name: "default", Kind: "bwrap", Refused: refused}},
		},
		"decided": {
			`{"id":"bd:7","verb":"pause","message":"ashep:excluded in bd","by":"ann (bd)","user":"ann (bd)","at":"2026-03-01T10:00:00Z"}`,
			nil,
		},
	} {
		var e Event
		if err := json.Unmarshal([]byte(`{"v":1,"seq":3,"at":1772359200000,"kind":"`+kind+`","data":`+c.data+`}`), &e); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if d, ok := e.Body.(Decided); ok && (d.Via != ViaBd || d.Act != "ashep:excluded") {
			t.Errorf("it was made via %q by %q", d.Via, d.Act)
		}
		if c.want != nil && !reflect.DeepEqual(e.Body, c.want) {
			t.Errorf("%s: got %+v, want %+v", kind, e.Body, c.want)
		}
	}
}
