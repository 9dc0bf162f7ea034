package executor

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// However many hosts were asked for, an event of a turn or a gate takes less than 4 kB.
func TestRefusalsFitIntoAnEvent(t *testing.T) {
	times := map[string]int{}
	for i := range 500 {
		times[fmt.Sprintf("%d%s.example:443", i, strings.Repeat("\"", 200))] = 1000 + i
	}
	list, others := Refusals(times)
	if len(list) != MaxRefused || list[0].Times != 1499 || !strings.HasPrefix(list[0].Host, "499") || others != 495 {
		t.Errorf("%v and %d more", list, others)
	}
	s := &Sandboxed{Name: "default", Kind: "namespaces", Refused: list, Others: others}
	long := strings.Repeat("\"", MaxNote)
	ended := AgentEnded{Tail: long, Outcome: Outcome{Result: "failed", Summary: long}, Sandbox: s}
	judged := GateJudged{Gate: "unit", Message: long, Sandbox: s}
	ended.Bound()
	judged.Bound()
	for _, b := range []Body{ended, judged} {
		if text, err := json.Marshal(Event{Body: b}); err != nil || len(text) > 4000 {
			t.Errorf("%T takes %d bytes, %v", b, len(text), err)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{4e9: "4GB", 1.5e9: "1500MB", 2 << 30: "2GiB", 300 << 20: "300MiB", 1234567: "1234567 bytes"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
