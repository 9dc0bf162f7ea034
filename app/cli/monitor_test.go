//go:build unix

package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
)

// nodeStatus is what status --json says of a sprint.
func (s *site) nodeStatus(key string) record.NodeJSON {
	s.t.Helper()
	var got record.StatusJSON
	if err := json.Unmarshal([]byte(s.program(exit.Done, "status", "--json").out), &got); err != nil {
		s.t.Fatal(err)
	}
	for _, n := range got.Nodes {
		if string(n.Key) == key {
			return n
		}
	}
	s.t.Fatalf("status says nothing of %s", key)
	return record.NodeJSON{}
}

func TestStatusSaysWhenAnAgentLastGaveASign(t *testing.T) { // S4-61, S4-63
	t.Parallel()
	s := sessionSite(t, []string{"1.1"}, followedWork)
	begun := time.Now().Add(-time.Second)
	apply := s.start("apply")
	s.exists("../log/reached-1")
	if n := s.nodeStatus("1.1"); n.Status != "running" || n.LastActivity == nil || n.LastActivity.Before(begun) || n.LastHuman != nil {
		t.Errorf("status --json: %s, last activity %v, last human %v", n.Status, n.LastActivity, n.LastHuman)
	}
	if got := s.ralph("status").out; !regexp.MustCompile(`(?m)^1\.1 +running +implement #1: agent +[0-9a-z.]+ ago`).MatchString(got) || strings.Contains(got, "a person wrote") {
		t.Errorf("status:\n%s", got)
	}
	if got := s.ralph("show", "1.1").out; !strings.Contains(got, "alive:    last sign of life ") {
		t.Errorf("show:\n%s", got)
	}
	s.open("go-1", "half-1", "go-2", "half-2")
	if got := apply.wait(); got.code != exit.Done {
		t.Errorf("apply: exit %d\n%s", got.code, got.all())
	}
}

func TestATakeoverSaysWhatToType(t *testing.T) { // S4-64, S4-68, execution §6
	t.Parallel()
	s := sessionSite(t, []string{"1.1"}, `cat > /dev/null
if [ ! -e "$TOP/log/taken" ]; then echo > "$TOP/log/taken"; echo "use bcrypt" > "${RALPH_OUTCOME%/*}/spoken"; exit 0; fi
echo fixed > out-1.1.txt`)
	got := s.program(exit.Waiting, "apply")
	for _, want := range []string{"ralph resume 1.1 ", "ralph approve 1.1 ", `ralph retry 1.1 -m "what to do"`, "ralph session 1.1 "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("apply ends with\n%s\nwant %q in it", got.all(), want)
		}
	}
	if n := s.nodeStatus("1.1"); n.Cause != "takeover" || n.LastHuman == nil || len(n.Next) != 4 || n.Next[0].Command != "ralph resume 1.1" {
		t.Errorf("status --json: %+v", n)
	}
	if got := s.ralph("status").out; !regexp.MustCompile(`(?m)^sprint .*last sign +a person wrote`).MatchString(got) || !strings.Contains(got, "use bcrypt") {
		t.Errorf("status:\n%s", got)
	}
	if got := s.ralph("show", "1.1").out; !regexp.MustCompile(`person: +wrote in its agent's session .* ago: use bcrypt`).MatchString(got) {
		t.Errorf("show:\n%s", got)
	}
	s.program(exit.Done, "resume", "1.1")
	s.program(exit.Done, "apply")
}
