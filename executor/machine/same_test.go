package machine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// says is all that a run says to a driver and its workers at a time, as bytes.
func says(t *testing.T, r *Run, now time.Time) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	write := func(v any) {
		t.Helper()
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	write(r.Todo(now))
	write(r.InFlight())
	for _, n := range r.nodes {
		if n.status == executor.Running {
			write([]any{n.id, string(r.Node(n.id).Prompt()), r.Node(n.id).Context(), r.Node(n.id).Feedback(), r.Node(n.id).Left(), r.Node(n.id).Comments()})
		}
	}
	write([]any{r.Views(), r.Overview()})
	return b.Bytes()
}

// walk plays a random run with crashes and people; each is told before every step.
func walk(t *testing.T, seed uint64, nodes int, each func(s *sim)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	s := &sim{t: t, rng: rng, epic: longIDs(seed, randomEpic(rng, nodes)), now: time.UnixMilli(0).UTC(), moves: true, old: seed%2 == 1}
	run, err := New(s.epic)
	if err != nil {
		t.Fatal(err)
	}
	s.run = run
	s.start()
	for range 400 {
		each(s)
		todo := s.run.Todo(s.now)
		switch {
		case rng.IntN(30) == 0 && s.speak():
		case rng.IntN(12) == 0 && len(s.flying) > 0:
			s.tell()
		case todo.Done && !s.speak():
			return
		case todo.Done:
		case rng.IntN(60) == 0:
			s.crash()
			s.start()
		case len(todo.Stop) > 0 && len(s.flying) > 0, len(todo.Record) == 0 && len(todo.Start) == 0 && len(s.flying) > 0, len(s.flying) > 0 && rng.IntN(3) == 0:
			i := rng.IntN(len(s.flying))
			e := s.flying[i]
			s.flying = slices.Delete(s.flying, i, i+1)
			s.put(e.Says(s.report(e)))
		case len(todo.Record) > 0:
			s.put(todo.Record[0])
		case len(todo.Start) > 0:
			s.begin(todo.Start[rng.IntN(len(todo.Start))])
		default:
			s.now = todo.Wake
		}
	}
}

// TestARunReadBackSaysTheSame: another engine goes on in another process, in mid-run,
// from nothing but the events, and puts no RunStarted: effects are in flight.
func TestARunReadBackSaysTheSame(t *testing.T) { // execution §1, §9
	places, flying, parts := 0, 0, 0
	for seed := range seeds(t, 120) {
		read, _ := New(longIDs(seed, randomEpic(rand.New(rand.NewPCG(seed, 11)), 10)))
		done := 0
		catchUp := func(s *sim, r *Run, from int) {
			t.Helper()
			for _, e := range s.events[from:] {
				b, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				var back executor.Event
				if err := json.Unmarshal(b, &back); err != nil {
					t.Fatal(err)
				}
				if _, part := e.Body.(executor.InputsListed); part {
					parts++
				}
				if err := r.Apply(back); err != nil {
					t.Fatalf("seed %d: read back: %v", seed, err)
				}
			}
		}
		walk(t, seed, 10, func(s *sim) {
			if s.rng.IntN(6) != 0 {
				return
			}
			places++
			if len(s.run.InFlight()) > 0 {
				flying++
			}
			for _, e := range s.run.InFlight() {
				if b, ok := s.events[slices.IndexFunc(s.events, func(x executor.Event) bool { return x.Seq == e.Seq })].Body.(executor.EffectStarted); !ok || b.Kind != e.Kind || b.Gate != e.Gate {
					t.Fatalf("seed %d: in flight is %s %s, which event %d did not begin", seed, e.Kind, e.Gate, e.Seq)
				}
			}
			if !s.old {
				var mine, its []int64 // what the driver has, by the events that began it
				for _, e := range s.flying {
					mine = append(mine, e.Seq)
				}
				for _, e := range s.run.InFlight() {
					its = append(its, e.Seq)
				}
				if slices.Sort(mine); !slices.Equal(mine, slices.Sorted(slices.Values(its))) {
					t.Fatalf("seed %d: the driver has events %v in flight, the machine says %v", seed, mine, its)
				}
			}
			want := says(t, s.run, s.now)
			catchUp(s, read, done) // one that lives on, and is asked now and then
			done = len(s.events)
			fresh, _ := New(s.epic)
			catchUp(s, fresh, 0) // one that is made here
			for what, r := range map[string]*Run{"read event by event": read, "made anew": fresh} {
				if got := says(t, r, s.now); !bytes.Equal(got, want) {
					t.Fatalf("seed %d, event %d: the run, %s, says\n%s\nand the one that was there\n%s", seed, s.run.Seq(), what, got, want)
				}
			}
		})
	}
	if places < 500 || flying < 200 || parts < 50 {
		t.Errorf("only %d places were looked at, %d of them with effects in flight, and %d parts of lists", places, flying, parts)
	}
}

// TestProcessesAgree: three processes, each with its own order of maps, say the same.
func TestProcessesAgree(t *testing.T) {
	const child = "RALPH_TEST_SAYS"
	if os.Getenv(child) != "" {
		h := sha256.New()
		for seed := range uint64(30) {
			walk(t, seed, 14, func(s *sim) {
				for _, e := range s.events[max(len(s.events)-1, 0):] {
					fmt.Fprintf(h, "%s\n", must(json.Marshal(e)))
				}
				h.Write(says(t, s.run, s.now))
			})
		}
		_, _ = io.WriteString(os.Stdout, "says "+hex.EncodeToString(h.Sum(nil))+"\n")
		return
	}
	said := map[string]string{}
	for _, procs := range []string{"1", "2", "8"} {
		c := exec.Command(os.Args[0], "-test.run=^TestProcessesAgree$", "-test.count=1")
		c.Env = append(os.Environ(), child+"=1", "GOMAXPROCS="+procs)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		word := ""
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "says ") {
				word = line
			}
		}
		if len(word) != len("says \n")+2*sha256.Size {
			t.Fatalf("a process said nothing:\n%s", out)
		}
		said[word] += " " + procs
	}
	if len(said) != 1 {
		t.Errorf("processes do not agree: %v", said)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
