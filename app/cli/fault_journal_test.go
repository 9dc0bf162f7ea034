//go:build unix

package cli

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// logEpic is a chain in which the second sprint needs feedback.
func logEpic() *ir.Epic {
	return executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3: 1.2"}, func(e *ir.Epic) {
		e.Epic.Integration.Gates = []string{"check"}
		g := e.Gates["check"]
		g.Run = `at=$RALPH_NODE.$RALPH_STEP-$RALPH_ATTEMPT; echo "check.$at" >> "$TOP/log/gates"; test "$RALPH_NODE" != 1.2 || grep -q fixed out-1.2.txt`
		e.Gates["check"] = g
	})
}

// damage is something that happens to a file of the journal.
type damage func(b []byte) []byte

func cut(percent int) damage { return func(b []byte) []byte { return b[:len(b)*percent/100] } }

func flip(percent int) damage {
	return func(b []byte) []byte {
		b[min(len(b)*percent/100, len(b)-1)] ^= 0x10
		return b
	}
}

// damage changes a file of the journal.
func (s *site) damage(name string, how damage) {
	s.t.Helper()
	p := s.file(".git/ralph/bd-epic/" + name)
	b, err := os.ReadFile(p)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(p, how(b), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// TestTheJournalLostItsEnd kills apply in the middle, takes the end of its journal
// away (the disk lied, a backup was restored, a byte flipped in the part that
// SQLite drops without a word) and applies again: commits that the journal does
// not know are adopted, judged anew, made once.
func TestTheJournalLostItsEnd(t *testing.T) { // B3, B8, N3, N4, execution §1, §9
	t.Parallel()
	calm := newSite(t, "", logEpic())
	calm.apply(exit.Done)
	want := calm.git("ls-tree", "-r", "ralph/x/integration", "--", "out-1.1.txt", "out-1.2.txt", "out-1.3.txt")
	var lost atomic.Int32
	cases := map[string]damage{"all of it": cut(0)}
	for _, at := range []int{15, 35, 55, 75, 90, 99} {
		cases[fmt.Sprintf("cut at %d %%", at)] = cut(at)
		cases[fmt.Sprintf("a byte flipped at %d %%", at)] = flip(at)
	}
	t.Run("all", func(t *testing.T) {
		for name, how := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := undivided(t, "", logEpic())
				s.killAt("agent.1.3.implement-1.end")
				if got := s.ralph("apply", "--events", "jsonl"); got.code != -1 {
					t.Fatalf("it was not killed: exit %d\n%s", got.code, got.err)
				}
				knew := len(s.events())
				s.damage("journal.db-wal", how)
				_ = os.Remove(s.file(".git/ralph/bd-epic/journal.db-shm")) // SQLite writes it anew
				s.said = nil                                               // the disk has lost what it said was safe
				left := s.events()
				knows, flying := len(left), map[string]bool{} // attempts whose agent is at work, as far as the journal knows
				for _, e := range left {
					at := fmt.Sprintf("%s.%s-%d", strings.ReplaceAll(strings.TrimPrefix(string(e.Node), "bd-"), "-", "."), e.Step, e.Attempt)
					switch b := e.Body.(type) {
					case executor.EffectStarted:
						if b.Kind == executor.EffectAgent {
							flying[at] = true
						}
					case executor.Collected:
						delete(flying, at)
					}
				}
				got := s.ralph("apply", "--events", "jsonl")
				if got.code != exit.Done {
					t.Fatalf("of %d events %d are left: exit %d\n%s\n%s", knew, knows, got.code, got.err, s.failures())
				}
				if out := s.git("ls-tree", "-r", "ralph/x/integration", "--", "out-1.1.txt", "out-1.2.txt", "out-1.3.txt"); out != want {
					t.Errorf("the result holds\n%s\nwant\n%s", out, want)
				}
				for _, e := range s.events() {
					if b, ok := e.Body.(executor.TailLost); ok && len(b.Found) > 0 {
						lost.Add(1)
					}
				}
				// What was collected before is not made again; an agent that may still have
				// been at work runs once more, and its commit is the old one all the same.
				for _, at := range []string{"1.1.implement-1", "1.2.implement-2"} {
					if n := s.noted("agents", at); n != 1 && (n != 2 || !flying[at]) {
						t.Errorf("of %d events %d were left, and the agent of %s ran %d times", knew, knows, at, n)
					}
				}
				if n := s.git("rev-list", "--count", "main..ralph/x/integration"); n != calm.git("rev-list", "--count", "main..ralph/x/integration") {
					t.Errorf("%s commits", n)
				}
				s.sound()
			})
		}
	})
	if lost.Load() == 0 {
		t.Error("no commit was ever adopted")
	}
}

// TestADamagedJournalIsRefused changes the journal where SQLite cannot mend it:
// nothing is started, nothing guessed, and the message names the file and, where
// it can be said, the event.
func TestADamagedJournalIsRefused(t *testing.T) { // N7, E5, execution §1
	t.Parallel()
	in := func(text, other string) damage {
		return func(b []byte) []byte {
			at := strings.LastIndex(string(b), text)
			if at < 0 {
				t.Fatalf("the journal does not hold %q", text)
			}
			return append(append(append([]byte{}, b[:at]...), other...), b[at+len(other):]...)
		}
	}
	for name, c := range map[string]struct {
		how  damage
		want string
	}{
		"a verdict that was changed": {in(`"verdict":"fail"`, `"verdict":"pass"`), "damaged at event "},
		"the first page":             {func(b []byte) []byte { copy(b, "no database here"); return b }, "journal.db"},
		"a page of events": {func(b []byte) []byte {
			size := int(binary.BigEndian.Uint16(b[16:])) // of a page, by the file's header
			from := strings.Index(string(b), `"verdict":"fail"`) / size * size
			for i := max(from, 100); i < from+size; i++ { // but for the header
				b[i] ^= 0x55
			}
			return b
		}, "journal"},
		"half of the file":        {cut(50), "journal"},
		"a journal of the future": {func(b []byte) []byte { b[63] = 99; return b }, "use the newer ralph"}, // user_version
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", logEpic())
			s.apply(exit.Done)
			if _, err := os.Stat(s.file(".git/ralph/bd-epic/journal.db-wal")); err == nil {
				t.Fatal("the journal was not closed")
			}
			s.damage("journal.db", c.how)
			before := [...]string{s.read(".git/ralph/bd-epic/journal.db"), s.git("for-each-ref"), s.read("../log/agents")}
			for _, args := range [][]string{{"apply", "--rerun", "1.1"}, {"apply"}, {"journal", "verify"}} {
				got := s.ralph(args...)
				if got.code == exit.Done || got.code == exit.Bug || got.code == exit.Waiting || !strings.Contains(got.all(), c.want) {
					t.Errorf("ralph %s: exit %d, want %q:\n%s", strings.Join(args, " "), got.code, c.want, got.all())
				}
			}
			if after := [...]string{s.read(".git/ralph/bd-epic/journal.db"), s.git("for-each-ref"), s.read("../log/agents")}; after != before {
				t.Error("N7: something was done all the same")
			}
			s.untouched()
			s.nobodyLeft()
		})
	}
}
