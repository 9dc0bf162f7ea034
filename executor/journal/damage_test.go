package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// killed returns the files of a journal as they lie there when its writer is
// killed: n events, one transaction each, the last of them only in the WAL.
func killed(t *testing.T, n int) map[string][]byte {
	t.Helper()
	dir := filled(t, 1)
	l := reopened(t, dir)
	for seq := int64(2); seq <= int64(n); seq++ {
		if err := l.Append(t.Context(), events(seq, 1)); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string][]byte{}
	for _, name := range []string{File, File + "-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	return out
}

// found writes files into a directory and returns which events a new process
// reads there, up to the first error.
func found(t *testing.T, files map[string][]byte) (list []executor.Event, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(dir, "bd-epic")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	for e, err := range l.Events(context.Background()) {
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
	return list, nil
}

func TestATornOrFlippedWALGivesAPrefixOrAnError(t *testing.T) { // facts: damage, WAL tail
	const n = 8
	whole := killed(t, n)
	want := events(1, n)
	if got, err := found(t, whole); err != nil || !slices.Equal(got, want) {
		t.Fatalf("after a kill: %d events, %v; want %d", len(got), err, n)
	}
	check := func(what string, files map[string][]byte) int {
		t.Helper()
		got, err := found(t, files)
		if len(got) > n || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("%s: %d events that were never written (%v)", what, len(got), err)
		}
		return len(got)
	}
	wal := whole[File+"-wal"]
	step := max(len(wal)/60, 1)
	shorter := 0
	for at := 0; at < len(wal); at += step {
		flipped := slices.Clone(wal)
		flipped[at] ^= 0x40
		check(fmt.Sprintf("WAL with byte %d flipped", at), map[string][]byte{File: whole[File], File + "-wal": flipped})
		if check(fmt.Sprintf("WAL cut at %d", at), map[string][]byte{File: whole[File], File + "-wal": wal[:at]}) < n {
			shorter++
		}
	}
	if shorter == 0 {
		t.Error("no cut lost anything: the test proves nothing")
	}
}

func TestALostTailIsWrittenDownAndCountedOn(t *testing.T) { // execution §1, §9
	dir := filled(t, 3)
	l := reopened(t, dir)
	lost := executor.Event{Seq: 10, Body: executor.TailLost{After: 3, Found: []executor.Orphan{{Node: "bd-1", Step: "implement", Attempt: 1, Seq: 9}}}}
	if err := l.Append(t.Context(), append([]executor.Event{lost}, events(11, 2)...)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(t.Context(), dir, "bd-epic")
	if err != nil || v.Events != 6 || v.Last != 12 || !slices.Equal(v.Gaps, []Gap{{After: 3, Before: 10, Found: 1}}) {
		t.Errorf("got %+v, %v", v, err)
	}
	l = reopened(t, dir)
	for name, e := range map[string]executor.Event{
		"a gap of nothing":         {Seq: 20, Body: executor.NodeBlocked{Reason: "x"}},
		"one after another event":  {Seq: 20, Body: executor.TailLost{After: 11}},
		"one that goes back":       {Seq: 12, Body: executor.TailLost{After: 12}},
		"one that was there again": {Seq: 20, Body: executor.TailLost{After: 3}},
	} {
		if follows(l.Last(), e) {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestAGapThatNobodyWroteDownIsDamage(t *testing.T) {
	dir := filled(t, 3)
	l := reopened(t, dir)
	l.last = 6 // as if 4 to 6 had been there
	if err := l.Append(t.Context(), events(7, 1)); err != nil {
		t.Fatal(err)
	}
	var damage *Damage
	if _, err := readAll(dir); !errors.As(err, &damage) || damage.Seq != 4 {
		t.Errorf("got %v, want damage at event 4", err)
	}
}

// TestHelperWritesUntilTheDiskIsFull is no test: it is the process whose disk is
// full. It says what was acknowledged.
func TestHelperWritesUntilTheDiskIsFull(t *testing.T) {
	dir := os.Getenv("RALPH_TEST_FULL")
	if dir == "" {
		t.Skip("only as a child")
	}
	signal.Ignore(syscall.SIGXFSZ)
	l := reopened(t, dir)
	limit := syscall.Rlimit{Cur: 300 << 10, Max: 300 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	for seq := int64(2); seq < 100_000; seq += 3 {
		if err := l.Append(context.Background(), events(seq, 3)); err != nil {
			fmt.Printf("full: %v\n", err)
			if err := l.Append(context.Background(), events(seq, 3)); err == nil {
				fmt.Println("wrote after an error")
			}
			_ = l.Close()
			return
		}
		fmt.Printf("acknowledged %d\n", seq+2)
	}
}

func TestAFullDiskLosesNothingThatWasAcknowledged(t *testing.T) { // facts: disk full while appending
	dir := filled(t, 1)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperWritesUntilTheDiskIsFull$")
	cmd.Env = append(os.Environ(), "RALPH_TEST_FULL="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	last, full := int64(0), false
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		_, _ = fmt.Sscanf(lines.Text(), "acknowledged %d", &last)
		full = full || strings.HasPrefix(lines.Text(), "full: ")
		if strings.HasPrefix(lines.Text(), "wrote after") {
			t.Error("a journal that had failed took another event")
		}
	}
	if !full || last < 10 {
		t.Fatalf("the disk was not full after event %d:\n%.500s", last, out)
	}
	l := reopened(t, dir)
	if l.Last() < last || l.Last() > last+3 {
		t.Errorf("event %d was acknowledged, and the journal ends at %d", last, l.Last())
	}
	if err := l.Append(t.Context(), events(l.Last()+1, 5)); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), dir, "bd-epic"); err != nil {
		t.Error(err)
	}
}

func TestRunsAreRebuiltFromTheEvents(t *testing.T) { // S4-120, S4-121, S4-122, S4-123
	dir := t.TempDir()
	l := reopened(t, dir)
	at := time.UnixMilli(1_000_000).UTC()
	seq := int64(0)
	write := func(node string, bodies ...executor.Body) {
		t.Helper()
		for _, b := range bodies {
			seq++
			at = at.Add(time.Minute)
			if err := l.Append(t.Context(), []executor.Event{{Seq: seq, At: at, Node: nodeID(node), Body: b}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	start := executor.RunStarted{Epic: "bd-epic", Plan: "plan.md", Digest: "sha256:d", Slots: 1, By: "ann"}
	write("", start)
	write("bd-1", executor.NodeStarted{Key: "1.1"}, executor.AttemptStarted{}, executor.NodeBlocked{Reason: "the 3 attempts used up"})
	write("", executor.RunEnded{Counts: map[string]int{"blocked": 1}})
	write("", start)
	write("bd-1", executor.Decided{Decision: executor.Decision{ID: "1", Verb: executor.RetryNode}}, executor.NodeStarted{Key: "1.1"}, executor.AttemptStarted{})
	// Killed here.
	write("", start)
	write("bd-1", executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CauseQuestion, Detail: "which one?"})
	write("", executor.RunEnded{Counts: map[string]int{"waiting": 1}})
	write("", start)
	write("bd-1", executor.NodeResumed{}, executor.NodeDone{})
	write("integration", executor.NodeStarted{Key: "integration"}, executor.Published{Result: executor.Tree{Commit: "c0ffee"}})
	write("", executor.RunEnded{Counts: map[string]int{"done": 1}})
	write("", start)

	got, tally, err := reopened(t, dir).Runs(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, open := tally.Open(); !open || r.Trace != "bd-epic:19-19" || !r.Ended.IsZero() || r.Outcome != "" {
		t.Errorf("the run that has not ended: %v, %+v", open, r)
	}
	type brief struct {
		outcome, trace, why, result string
		exit, attempts              int
		events                      int64
	}
	var is []brief
	for _, r := range got {
		exit := -1
		if r.Exit != nil {
			exit = *r.Exit
		}
		is = append(is, brief{string(r.Outcome), r.Trace, r.Error, r.Result, exit, r.Attempts, r.Events})
	}
	want := []brief{
		{"blocked", "bd-epic:1-5", "1.1: the 3 attempts used up", "", 3, 1, 5},
		{"killed", "bd-epic:6-9", "it ended without a word", "", -1, 1, 4}, // nobody knows its exit code,
		{"waiting", "bd-epic:10-12", "1.1: which one?", "", 4, 0, 3},
		{"done", "bd-epic:13-18", "", "c0ffee", 0, 0, 6},
	}
	if !slices.Equal(is, want) {
		t.Errorf("got\n%+v\nwant\n%+v", is, want)
	}
	if got[0].By != "ann" || !got[0].Ended.After(got[0].Started) {
		t.Errorf("first run %+v", got[0])
	}
	if err := AppendRun(dir, got[0]); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(filepath.Join(dir, "runs.jsonl"))
	if err != nil || strings.Count(string(line), "\n") != 1 || !strings.Contains(string(line), `"trace":"bd-epic:1-5","error":"1.1: the 3 attempts used up"`) {
		t.Errorf("line %q, %v", line, err)
	}
}
