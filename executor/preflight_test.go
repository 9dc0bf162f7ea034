package executor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// However many gates there are, an event of a preflight takes less than 4 kB, and all are counted.
func TestAPreflightOfManyGatesIsSmall(t *testing.T) {
	var gates []string
	for i := range 1000 {
		gates = append(gates, fmt.Sprintf("1.%d/tests", i))
	}
	started := Trying("setup", gates)
	if all := started.All(); len(all) != len(gates) || all[0] != gates[0] || all[999] != "…" {
		t.Errorf("%d gates, from %s to %s", len(all), all[0], all[len(all)-1])
	}
	if few := Trying("setup", gates[:9]); few.More > 0 || len(few.All()) != 9 {
		t.Errorf("of few gates %d are not named", few.More)
	}
	judged := BaselineJudged{Gate: "g", Also: Also(gates), Digest: strings.Repeat("d", 71), Setup: strings.Repeat("s", 71), Base: Tree{strings.Repeat("c", 40), strings.Repeat("t", 40)}, Message: strings.Repeat("<\"\n", MaxNote/3), Of: strings.Repeat("o", 100), Log: strings.Repeat("l", 300), Counts: &TestCounts{Passed: 1e6, Failed: 1e6, Skipped: 1e6}, Sandbox: &Sandboxed{Name: "default", Kind: "namespaces", Refused: slices.Repeat([]Refusal{{strings.Repeat("h", maxHost), 1499}}, MaxRefused), Others: 999}}
	if judged.Bound(); len(judged.Message) < 100 {
		t.Errorf("of the message %d bytes are left", len(judged.Message))
	}
	if n := len(judged.Also); judged.Also[n-1] != fmt.Sprintf("%d more", len(gates)-n+1) {
		t.Errorf("of %d gates, %d are named, and %s", len(gates), n-1, judged.Also[n-1])
	}
	for _, b := range []Body{started, judged} {
		if b, err := json.Marshal(Event{Seq: 1, Body: b}); err != nil || len(b) > 4000 {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
}
