//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// killAt names a directory of points at which the ralph of these tests kills
// itself. Only the test's own binary knows it.
const killAt = "RALPH_TEST_KILL"

// killing is ralph's standard output. Events are printed when they are durable
// and before anything is done about them, so this is where to kill ralph between
// a transaction and its effects.
type killing struct {
	out         io.Writer
	kill, noted string
}

func newKilling(out io.Writer) io.Writer {
	if os.Getenv(killAt) == "" {
		return out
	}
	return &killing{out, os.Getenv(killAt), os.Getenv("RALPH_TEST_POINTS")}
}

func (k *killing) Write(b []byte) (int, error) {
	n, err := k.out.Write(b)
	var e executor.Event
	if json.Unmarshal(b, &e) != nil {
		return n, err
	}
	name := pointOf(e)
	if f, ferr := os.OpenFile(k.noted, os.O_APPEND|os.O_WRONLY, 0o644); ferr == nil {
		_, _ = f.WriteString(name + "\n") // a point that is not noted is not killed at
		_ = f.Close()
	}
	if os.Remove(filepath.Join(k.kill, name)) == nil {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return n, err
}

// pointOf names an event as a point: told. or began. first, by whether a worker
// or ralph itself brought it about.
func pointOf(e executor.Event) string {
	what := e.Kind()
	switch b := e.Body.(type) {
	case executor.EffectStarted:
		what += "." + string(b.Kind) + b.Gate + strconv.Itoa(b.Iteration)
	case executor.GateJudged:
		what += "." + b.Gate
	}
	first := "decided"
	switch e.Body.(type) {
	case executor.BaseMade, executor.Prepared, executor.AgentEnded, executor.Collected, executor.GateJudged,
		executor.Published, executor.Landed, executor.Pulled, executor.PullSeen, executor.EffectFailed, executor.Decided:
		first = "told"
	}
	return fmt.Sprintf("%s.%s.%s.%s-%d", first, what, e.Node, e.Step, e.Attempt)
}

// gitScript stands before git: each call of ralph's own that changes something is
// a point, killed at before git begins (git then works on without a ralph) and
// after it is done (and ralph does not learn of it).
const gitScript = `#!/bin/sh
real=REAL TOP=SITE
read -r ralph < "$TOP/pid"
if [ "$PPID" != "$ralph" ]; then exec "$real" "$@"; fi
. "$TOP/bin/point.sh"
at=repo skip= sub=
for a do
	if [ -n "$skip" ]; then skip=; continue; fi
	case $a in
	-c) skip=1;;
	--git-dir=*/worktrees/*) at=${a##*/};;
	--*) ;;
	*) sub=$a; break;;
	esac
done
case $sub in
add|branch|checkout|clean|commit|commit-tree|fetch|merge|push|read-tree|reset|rm|update-index|update-ref|worktree|write-tree|symbolic-ref|checkout-index) ;;
*) exec "$real" "$@";;
esac
n=1
while read -r line; do
	if [ "$line" = "git.$at.$sub.$n.begin" ]; then n=$((n + 1)); fi
done < "$TOP/log/points"
point "git.$at.$sub.$n.begin"
"$real" "$@"
code=$?
point "git.$at.$sub.$n.end"
exit $code
`

// standInGit puts gitScript before git.
func (s *site) standInGit() {
	s.t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("../bin/git", strings.NewReplacer("REAL", git, "SITE", s.top).Replace(gitScript))
}

// crashWork does what can go wrong in a merge: 1.2a and 1.2b change the same
// line, and 1.2b only does its work when it is told what is missing.
const crashWork = `
echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
point "agent.$at.middle"
if [ -s "$RALPH_FEEDBACK" ]; then echo mended >> "out-$RALPH_NODE.txt"; fi
if [ "$RALPH_NODE" = 1.2a ]; then git add -A; git -c core.hooksPath=/dev/null commit -q -m "my own commit"; fi
`

// crashEpic has parallel sprints, a merge, and a gate that fails at first.
func crashEpic() *ir.Epic {
	return executortest.Epic([]string{"1.1", "1.2a: 1.1", "1.2b: 1.1", "1.3: 1.2a 1.2b"}, func(e *ir.Epic) {
		e.Epic.Integration.Gates = []string{"check"}
		g := e.Gates["check"]
		g.Run = `. "$TOP/bin/point.sh"; at=$RALPH_NODE.$RALPH_STEP-$RALPH_ATTEMPT; echo "check.$at" >> "$TOP/log/gates"; point "gate.check.$at.begin"
r=0; test "$RALPH_NODE" != 1.2b || grep -q mended out-1.2b.txt || r=1; point "gate.check.$at.end"; exit $r`
		e.Gates["check"] = g
	})
}

// crashSite is a repository in which the epic of the crash test runs.
func crashSite(t testing.TB) *site {
	s := newSite(t, crashWork, crashEpic())
	s.standInGit()
	return s
}

// toTheEnd applies until the run has come to its end, however often ralph is
// killed on the way, and does what people have to do.
func (s *site) toTheEnd() {
	s.t.Helper()
	for range 1000 {
		switch got := s.ralph("apply", "--events", "jsonl"); got.code {
		case exitDone:
			return
		case -1:
			s.kills++
		default:
			s.t.Fatalf("after %d kills apply ended with exit code %d\n%s\n%s", s.kills, got.code, got.err, s.failures())
		}
	}
	s.t.Fatalf("it came to no end after %d kills\n%s", s.kills, s.failures())
}

// endState is what a run leaves: every ref with its tree, the commits that it
// adds and how often it moved; where each node stands and what its attempts came
// to. What was saved of interrupted attempts comes on top and is left out.
func (s *site) endState() string {
	s.t.Helper()
	var b strings.Builder
	epic := regexp.MustCompile(`(?m)^.*\tepic\.json$`) // it names this directory
	for ref := range strings.Lines(s.git("for-each-ref", "--format=%(refname)")) {
		ref = strings.TrimSpace(ref)
		if strings.Contains(ref, "/saved/") || strings.Contains(ref, "/integration/attempts/") {
			continue // the sum begins again after a kill: the same commit, one attempt later
		}
		name := regexp.MustCompile(`/sum/\d+`).ReplaceAllString(ref, "/sum/N")
		files := epic.ReplaceAllString(s.git("ls-tree", "-r", ref), "")
		fmt.Fprintf(&b, "%s %x %s commits, %s merges", name, sha256.Sum256([]byte(files)), s.git("rev-list", "--count", "main.."+ref), s.git("rev-list", "--merges", "--count", "main.."+ref))
		if strings.HasPrefix(ref, "refs/heads/") {
			moves := 0 // by ralph's effects; a worktree that is put back after a kill moves its branch too
			for why := range strings.Lines(s.git("reflog", "show", "--format=%gs", ref)) {
				if strings.HasPrefix(why, "ralph: ") && strings.TrimSpace(why) != "ralph: start" {
					moves++
				}
			}
			fmt.Fprintf(&b, ", moved %d times", moves)
		}
		b.WriteByte('\n')
	}
	counts := map[string]int{}
	var events []string
	for _, e := range s.events() {
		a, ended := e.Body.(executor.AttemptEnded)
		switch {
		case ended && e.Node != executor.Integration && a.Status != executor.AttemptError && a.Status != executor.AttemptCancelled:
			events = append(events, fmt.Sprintf("%s %s/%d %s", e.Node, e.Step, e.Attempt, a.Status))
		case e.Kind() == "node.done" && e.Node != executor.Integration:
			events = append(events, fmt.Sprintf("%s done with %s", e.Node, "a result"))
		}
		counts[e.Kind()]++
	}
	slices.Sort(events)
	fmt.Fprintln(&b, strings.Join(events, "\n"))
	fmt.Fprintln(&b, strings.Count(s.git("worktree", "list", "--porcelain"), "worktree "), "worktrees")
	return b.String()
}

// oftenEnough checks that agents and gates ran at most once more for each kill
// that they were in flight at: each run has a record of its own, and a second
// record of one effect comes only after a run of ralph that ended without a word.
func (s *site) oftenEnough() {
	s.t.Helper()
	keys := map[ir.NodeID]ir.Key{executor.Integration: executor.Integration}
	for _, n := range s.epic.Nodes {
		keys[n.ID] = n.Key
	}
	type effect struct{ name, log string }
	began, runOf := map[effect]int{}, map[effect]int{}
	run := 0
	for _, e := range s.events() {
		switch b := e.Body.(type) {
		case executor.RunStarted:
			run++
		case executor.EffectStarted:
			at := fmt.Sprintf("%s.%s-%d", keys[e.Node], e.Step, e.Attempt)
			var x effect
			switch {
			case b.Kind == executor.EffectAgent:
				x = effect{at, "agents"}
			case b.Kind == executor.EffectGate && s.epic.Gates[b.Gate].Kind == "command":
				x = effect{b.Gate + "." + at, "gates"}
			default:
				continue
			}
			if began[x]++; began[x] > 1 && runOf[x] == run && b.Iteration <= 1 {
				s.t.Errorf("%s began twice in one run of ralph", x.name)
			}
			runOf[x] = run
		}
	}
	for x, n := range began {
		if got := s.noted(x.log, x.name); got > n {
			s.t.Errorf("%s ran %d times, and is on record %d times", x.name, got, n)
		}
	}
}

// points chooses, from what an undisturbed run noted, where to kill: at the first
// event of each transaction, and at everything that the scripts call a point.
func (s *site) points() []string {
	s.t.Helper()
	var list []string
	last := ""
	for name := range strings.Lines(s.read("../log/points")) {
		name = strings.TrimSpace(name)
		kind, _, _ := strings.Cut(name, ".")
		// A transaction begins with what workers reported.
		if kind == "decided" && (last == "told" || last == "decided") && len(list) > 0 {
			last = kind
			continue
		}
		last = kind
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// killed runs the epic, kills ralph at each of the points and checks what is left.
func killed(t *testing.T, want string, points []string) {
	s := crashSite(t)
	s.killAt(points...)
	s.toTheEnd()
	if s.kills == 0 {
		t.Errorf("it was never killed")
	}
	left, err := os.ReadDir(filepath.Join(s.top, "kill"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, p := range left {
		t.Logf("it did not come to %s", p.Name())
	}
	if got := s.endState(); got != want {
		t.Errorf("N8: after %d kills it left\n%s\nwithout them\n%s\nwhat did not pass:\n%s", s.kills, got, want, s.failures())
	}
	s.oftenEnough()
	s.sound()
	if out := s.git("fsck", "--strict", "--connectivity-only"); strings.Contains(out, "missing") || strings.Contains(out, "broken") {
		t.Errorf("git fsck: %s", out)
	}
	before := s.read("../log/agents")
	s.apply(exitDone)
	if got := s.read("../log/agents"); got != before {
		t.Errorf("an agent ran again after the end:\n%s", got)
	}
}

// TestApplyIsKilledEverywhere kills the real process, in a real repository, after
// every transaction of its journal and around every effect, resumes it, and
// compares what is left with a run that nobody disturbed. A run is killed several
// times; with RALPH_KILLS=all each point is killed at, else a seeded sample.
func TestApplyIsKilledEverywhere(t *testing.T) { // L0-12, execution §9: N1–N6, N8–N10
	if testing.Short() {
		t.Skip("real git and real agents for some seconds")
	}
	calm := crashSite(t)
	calm.toTheEnd()
	calm.oftenEnough()
	calm.sound()
	want := calm.endState()
	points := calm.points()
	if len(points) < 50 || t.Failed() {
		t.Fatalf("only %d points: %v", len(points), points)
	}
	rng := rand.New(rand.NewPCG(7, 0))
	rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	const together = 12 // kills of one run
	if os.Getenv("RALPH_KILLS") != "all" {
		points = points[:min(len(points), 3*together)]
	}
	t.Logf("%d points", len(points))
	for i := 0; i < len(points); i += together {
		some := points[i:min(i+together, len(points))]
		t.Run(fmt.Sprint("points ", i, " to ", i+len(some)-1), func(t *testing.T) {
			t.Parallel()
			killed(t, want, some)
		})
	}
}
