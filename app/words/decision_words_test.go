package words

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// In a tracker nobody has a name of the operating system; journals of earlier releases do
// not say where a decision was made.
func TestADecisionNamesAnotherUserUnlessItWasMadeInATracker(t *testing.T) {
	for want, data := range map[string]string{
		"ann (user root): approve --force (gate people)": `"id":"7f","verb":"approve","how":"force","by":"ann","user":"root","gate":"people"`,
		"ann: approve": `"id":"7f","verb":"approve","by":"ann","user":"ann"`,
		"ann (user root) via ralph ui (firefox 12): skip": `"id":"1","verb":"skip","by":"ann","user":"root","from":"firefox 12"`,
		"ann (bd): approve (gate people): fine":           `"id":"bd:12","verb":"approve","by":"ann (bd)","user":"root","gate":"people","message":"fine","via":"bd"`,
		"ann (bd): skip":                                  `"id":"bd:12","verb":"skip","by":"ann (bd)","user":"root"`,
	} {
		var e executor.Event
		if err := e.UnmarshalJSON([]byte(`{"v":1,"seq":1,"at":1,"kind":"decided","data":{` + data + `,"at":"2026-01-02T03:04:05Z"}}`)); err != nil {
			t.Fatal(err)
		}
		if got := Decision(e.Body.(executor.Decided).Decision); got != want {
			t.Errorf("%s says %q, want %q", data, got, want)
		}
	}
}
