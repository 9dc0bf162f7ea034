package gate

import (
	"fmt"
	"strings"
	"testing"
)

// As many findings as fit are told, each of them whole.
func TestAsManyFindingsAsFitAreTold(t *testing.T) {
	const head, path = "It is wrong: 4 errors (bad).", "/f/gate-compiles.txt"
	var found []PlanFinding
	texts, wants := "", []string{}
	for n := 1; n <= 4; n++ {
		text := fmt.Sprintf("bad[%d]: %s", n, strings.Repeat("x", 100+n))
		found = append(found, PlanFinding{Code: "bad", Text: text + "\n"})
		texts += "\n\n" + text
		wants = append(wants, fmt.Sprintf("%s\nThe first %d are here, all of them in %s%s", head, n, path, texts))
	}
	wants[3] = head + texts // all
	for room := 100; room < 2*len(wants[3]); room++ {
		want := ""
		for _, w := range wants {
			if len(w) <= room {
				want = w
			}
		}
		got := planMessage("It is wrong", path, found, nil, room)
		if want == "" && strings.HasPrefix(got, head+"\nOf the first the beginning is here, all of them in "+path) && len(got) <= room {
			continue
		}
		if got != want {
			t.Fatalf("in %d bytes: got %d,\n%s\nwant\n%s", room, len(got), got, want)
		}
	}
}
