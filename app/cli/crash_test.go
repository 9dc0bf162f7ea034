//go:build unix

package cli

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
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/temptest"
	"github.com/ralph-compiler/ralph/internal/wall"
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
	case executor.BaselineJudged:
		what += "." + b.Gate
	}
	first := "decided"
	switch e.Body.(type) {
	case executor.BaseMade, executor.Prepared, executor.AgentEnded, executor.Collected, executor.GateJudged,
		executor.Published, executor.Landed, executor.Pulled, executor.PullSeen, executor.EffectFailed, executor.Decided,
		executor.BaselineJudged, executor.PreflightEnded:
		first = "told"
	}
	return fmt.Sprintf("%s.%s.%s.%s-%d", first, what, e.Node, e.Step, e.Attempt)
}

// gitScript stands before git: each call of ralph's own that changes something is
// a point, killed at before git begins (git then works on without a ralph), after
// it is done (and ralph does not learn of it), and while it is at work, together
// with git itself, which leaves its locks and half of what it was to do.
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
	--git-dir=*-worktrees/*/.git) at=${a%/.git} at=${at##*/};; # a shared clone
	--*) ;;
	*) sub=$a; break;;
	esac
done
case $sub in
add|branch|checkout|clean|commit|commit-tree|fetch|merge|push|read-tree|reset|rm|update-index|update-ref|worktree|write-tree|symbolic-ref|checkout-index|pack-objects|unpack-objects|index-pack) ;;
*) exec "$real" "$@";;
esac
n=1
while read -r line; do
	if [ "$line" = "git.$at.$sub.$n.begin" ]; then n=$((n + 1)); fi
done < "$TOP/log/points"
point "git.$at.$sub.$n.begin"
echo "git.$at.$sub.$n.broken" >> "$TOP/log/points"
if [ -d "$TOP/kill/git.$at.$sub.$n.broken" ] && rmdir "$TOP/kill/git.$at.$sub.$n.broken" 2>/dev/null; then
	"$real" "$@" <&0 &
	sleep 0.00$((${#TOP} * n % 5 + 1))
	kill -9 $! "$ralph"
	exit 1
fi
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
// line, and the work of 1.2b and 1.4 is whole only when they are told what is
// missing. A conflict is resolved with the lines of both.
const crashWork = `
point "agent.$at.middle"
if [ "$RALPH_STEP" = merge ]; then
	sed -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' -e '/^||||||| /,/^=======$/d' README.md > merged
	mv merged README.md
	point "agent.$at.end"
	exit 0
fi
echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
if [ -s "$RALPH_FEEDBACK" ]; then echo fixed >> "out-$RALPH_NODE.txt"; fi
case $RALPH_NODE in 1.2?) { echo one; echo "two of $RALPH_NODE"; echo three; } > README.md;; esac
if [ "$RALPH_NODE" = 1.2a ]; then git add -A; git -c core.hooksPath=/dev/null commit -q -m "my own commit"; fi
`

// crashQA judges what crashWork leaves of 1.4: it is an agent of its own.
const crashQA = `. "$TOP/bin/point.sh"
at=$RALPH_NODE.$RALPH_STEP-$RALPH_ATTEMPT
echo "qa.$at" >> "$TOP/log/gates"
point "gate.qa.$at.begin"
status=fail
if grep -q fixed "out-$RALPH_NODE.txt"; then status=pass; fi
printf '{"status": "%s", "message": "fixed: %s"}\n' $status $status
point "gate.qa.$at.end"`

// crashCheck notes that it judges.
const crashCheck = `. "$TOP/bin/point.sh"; at=$RALPH_NODE.$RALPH_STEP-$RALPH_ATTEMPT; echo "check.$at" >> "$TOP/log/gates"; point "gate.check.$at.begin"`

// crashEpic has parallel sprints, a conflict, gates that fail at first, one that
// an agent judges beside the others, a person, and a pull request.
func crashEpic() *ir.Epic {
	return executortest.Epic([]string{"1.1", "1.2a: 1.1", "1.2b: 1.1", "1.3: 1.2a 1.2b", "1.4: 1.1"}, func(e *ir.Epic) {
		e.Epic.Integration.Gates, e.Epic.Integration.PR = []string{"check"}, "plan"
		e.Epic.Target, e.Run.Git.Remote = "main", "origin"
		g := e.Gates["check"]
		g.Run = crashCheck + `; test "$RALPH_NODE" != 1.2b || grep -q fixed out-1.2b.txt; r=$?; point "gate.check.$at.end"; exit $r`
		e.Gates["check"] = g
		e.Runners["qa"] = ir.Runner{Kind: "command", Run: []string{"sh", "-c", crashQA}, Prompt: "stdin", Env: []string{"PATH", "HOME"}, Outcome: "optional"}
		e.Agents["qa"] = ir.Agent{Runner: "qa", Access: "read"}
		e.Gates["qa"] = ir.Gate{Kind: "agent", From: "policy", Agent: "qa", Access: "read", Prompt: []string{"Try it."}, OnFailure: "retry", TimeoutMS: 60_000}
		e.Gates["ana"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ana"}, OnTimeout: "fail", OnFailure: "retry"}
		for i := range e.Nodes {
			if e.Nodes[i].Key == "1.4" {
				e.Nodes[i].Steps[0].Gates = []string{"check", "qa", "ana"}
			}
		}
	})
}

// story is a run that is killed.
type story struct {
	name    string
	epic    func() *ir.Epic
	work    string              // of the agent
	waiting func(*site)         // what people do when only they are awaited
	end     func(*site) string  // what is compared
	must    []string            // points that the undisturbed run has to come to
	site    func(*site)         // what it needs besides; may be nil
	only    func(p string) bool // the points at which it is killed; nil is all of them

	confined wall.Kind // of the sandboxes in which agents, gates and setup run; "" for none
}

// stories are a whole run in mode dag, and what is different in the other modes.
var stories = []story{
	{
		name: "dag", epic: crashEpic, work: crashWork, end: (*site).endState,
		waiting: func(s *site) {
			if ana := s.ralph("approve", "1.4", "--as", "ana"); ana.code != exit.Done {
				s.t.Fatalf("ana cannot approve: exit %d\n%s\n%s", ana.code, ana.all(), s.failures())
			}
		},
		must: []string{
			"decided.run.started..-0", "agent.1.2b.implement-2.middle", "agent.1.3.merge-1.begin", "told.collected.bd-1-3.merge-1",
			"gate.qa.1.4.implement-1.end", "gate.qa.1.4.implement-2.begin", "git.repo.update-ref.1.begin",
			"git.1-2b.reset.1.end", "gh.create.begin", "gh.create.end", "told.pulled.integration.-0",
		},
	},
	{
		name: "clones", work: `git config user.name Agent` + crashWork, end: (*site).endState,
		epic: func() *ir.Epic {
			e := crashEpic()
			e.Run.Worktree.Layout = "clone"
			return e
		},
		waiting: func(s *site) {
			if ana := s.ralph("approve", "1.4", "--as", "ana"); ana.code != exit.Done {
				s.t.Fatalf("ana cannot approve: exit %d\n%s\n%s", ana.code, ana.all(), s.failures())
			}
		},
		must: []string{"git.1-2b.reset.1.end", "git.repo.unpack-objects.1.begin", "told.collected.bd-1-3.merge-1"},
		only: func(p string) bool { return strings.HasPrefix(p, "git.") || strings.HasPrefix(p, "agent.") },
	},
	walled(wall.Namespaces),
	walled(wall.Landlock),
	{
		name: "preflight", work: siteWork, end: (*site).endState,
		epic: func() *ir.Epic {
			return executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
				g := e.Gates["check"]
				g.Run = `. "$TOP/bin/point.sh"; point gate.check.begin; echo made > made.txt; point gate.check.end`
				e.Gates["check"] = g
				g.Run, g.Baseline = `. "$TOP/bin/point.sh"; point gate.green.begin; test ! -e made.txt`, "green"
				e.Gates["green"] = g
				for i := range e.Nodes {
					e.Nodes[i].Steps[0].Gates = []string{"check", "green"}
				}
				e.Run.Worktree.Setup = []string{`. "$TOP/bin/point.sh"; point setup.begin; echo here > here.log`}
			})
		},
		must: []string{"setup.begin", "gate.check.begin", "gate.check.end", "gate.green.begin", "told.baseline.judged.check..-0", "told.baseline.judged.green..-0", "git.repo.worktree.1.end", "git.integration.gate-base.clean.1.end"},
		only: func(p string) bool {
			return strings.HasPrefix(p, "gate.") || strings.Contains(p, "baseline") || strings.Contains(p, "preflight") || strings.Contains(p, "gate-base") || p == "setup.begin" || strings.HasPrefix(p, "git.repo.worktree.1.")
		},
	},
	{
		name: "branch", work: branchWork, end: (*site).landed,
		epic: func() *ir.Epic {
			return executortest.Epic([]string{"1.1", "1.2a: 1.1", "1.2b: 1.1", "1.3: 1.2a 1.2b"}, func(e *ir.Epic) {
				e.Epic.Integration.Mode, e.Epic.Integration.PR = "branch", "plan"
				e.Epic.Target, e.Run.Git.Remote = "main", "origin"
				g := e.Gates["check"]
				g.Run = crashCheck
				e.Gates["check"] = g
			})
		},
		must: []string{"told.landed.bd-1-1.land-1", "told.landed.bd-1-3.land-1", "gh.create.end", "told.pulled.integration.-0"},
		only: func(p string) bool {
			return strings.Contains(p, "land") || strings.HasPrefix(p, "gh.") || strings.Contains(p, "pulled") || strings.Contains(p, "merge") || strings.HasPrefix(p, "git.repo.update-ref")
		},
	},
	{
		name: "tracker", work: trackerWork, epic: trackerEpic, end: (*site).beads, site: (*site).tracker,
		must: []string{"bd.import.begin", "bd.comments.bd-1-2.1.end", "bd.close.bd-1-1.1.begin", "bd.update.bd-1-2.1.end", "bd.set-state.bd-epic.1.end"},
		only: func(p string) bool { return strings.HasPrefix(p, "bd.") },
	},
	{
		name: "wait", work: branchWork, end: (*site).landed, waiting: (*site).mergePulls,
		epic: func() *ir.Epic {
			return executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
				e.Epic.Integration.Mode, e.Epic.Integration.PR = "wait", "node"
				e.Epic.Target, e.Run.Git.Remote = "main", "origin"
			})
		},
		must: []string{"gh.create.begin", "gh.view.end", "told.pull.seen.bd-1-1.-0"},
		only: func(p string) bool {
			return strings.HasPrefix(p, "gh.") || strings.Contains(p, "pull") || strings.HasPrefix(p, "git.repo.")
		},
	},
}

// branchWork changes one line in every sprint, so that what lands second is in
// conflict; the resolution is the same in whichever order they land.
const branchWork = `
if [ "$RALPH_STEP" = merge ]; then
	sed -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' README.md | LC_ALL=C sort -u > merged
	mv merged README.md
else
	echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
	echo "$RALPH_NODE" >> README.md
fi
`

// landed is what the modes branch and wait leave, in whichever order nodes landed:
// what the target holds, how many commits of ralph's are in it, how many pull
// requests there are, and which nodes are done.
func (s *site) landed() string {
	s.t.Helper()
	target := s.epic.Epic.Integration.Branch
	if s.epic.Epic.Integration.Mode == "wait" {
		target = "origin/main"
		s.git("fetch", "-q", "origin")
		s.moved = append(s.moved, "refs/remotes/origin/main")
	}
	var b strings.Builder
	fmt.Fprintln(&b, regexp.MustCompile(`(?m)^.*\tepic\.json$`).ReplaceAllString(s.git("ls-tree", "-r", target), ""))
	fmt.Fprintln(&b, s.git("rev-list", "--count", "main.."+target), "commits", s.git("rev-list", "--merges", "--count", "main.."+target), "merges")
	keys := strings.Fields(s.git("log", "--format=%(trailers:key=Ralph-Key,valueonly,separator=)", "main.."+target))
	fmt.Fprintln(&b, len(keys), "collected")
	pulls, err := filepath.Glob(s.file("../forge/pulls/[0-9]*"))
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintln(&b, len(pulls), "pull requests")
	for _, e := range s.events() {
		if e.Kind() == "node.done" {
			fmt.Fprintln(&b, "done")
		}
	}
	return b.String()
}

// mergePulls merges all open pull requests, as a person does at the forge.
func (s *site) mergePulls() {
	s.t.Helper()
	remote := filepath.Join(s.top, "origin.git")
	pulls, err := filepath.Glob(s.file("../forge/pulls/[0-9]*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range pulls {
		in := func(name string) string {
			b, err := os.ReadFile(filepath.Join(p, name))
			if err != nil {
				s.t.Fatal(err)
			}
			return strings.TrimSpace(string(b))
		}
		if in("state") != "OPEN" {
			continue
		}
		git := func(args ...string) string {
			return s.git(append([]string{"-c", "user.name=A Person", "-c", "user.email=person@example.org", "--git-dir", remote}, args...)...)
		}
		main, head := git("rev-parse", "main"), git("rev-parse", in("head"))
		merge := git("commit-tree", "-p", main, "-p", head, "-m", "Merge", git("merge-tree", "--write-tree", main, head))
		git("update-ref", "refs/heads/main", merge, main)
		s.write(filepath.Join(p, "merge"), `{"oid":"`+merge+`"}`)
		s.write(filepath.Join(p, "state"), "MERGED\n")
	}
}

// crashSite is a repository in which a story plays.
func crashSite(t testing.TB, of story) *site {
	s := undivided(t, of.work, of.epic())
	s.standInGit()
	s.forge()
	if of.site != nil {
		of.site(s)
	}
	s.before = s.manifest()
	return s
}

// walled is a run in sandboxes of a kind.
func walled(kind wall.Kind) story {
	return story{
		name: "sandboxes, " + string(kind), work: crashWork, end: (*site).endState, epic: crashEpic, confined: kind,
		site: func(s *site) { s.confine(kind) },
		waiting: func(s *site) {
			if ana := s.ralph("approve", "1.4", "--as", "ana"); ana.code != exit.Done {
				s.t.Fatalf("ana cannot approve: exit %d\n%s\n%s", ana.code, ana.all(), s.failures())
			}
		},
		must: []string{"agent.1.2b.implement-2.middle", "agent.1.3.merge-1.begin", "gate.qa.1.4.implement-1.end", "git.repo.index-pack.1.begin", "told.collected.bd-1-3.merge-1"},
		only: func(p string) bool {
			return strings.HasPrefix(p, "agent.") || strings.HasPrefix(p, "gate.") || strings.Contains(p, "-pack.") || strings.Contains(p, "collected")
		},
	}
}

// inSandboxes puts agents and gates into sandboxes of a kind that may write to these directories.
func (s *site) inSandboxes(kind wall.Kind, write ...string) {
	s.t.Helper()
	s.epic.Run.Worktree.Layout = "clone"
	s.epic.Sandboxes = map[string]ir.Sandbox{"default": {Kind: string(kind), Read: []string{s.top + "/bin"}, Write: write}}
	for name, g := range s.epic.Gates {
		if g.Kind != "human" {
			g.Sandbox = "default"
		}
		s.epic.Gates[name] = g
	}
	s.seal(s.epic)
	s.git("commit", "-q", "-am", "sandboxes")
	s.before = s.manifest()
}

// confine does that, and notes points and asks for ralph's death from inside.
func (s *site) confine(kind wall.Kind) {
	s.t.Helper()
	s.inSandboxes(kind, s.top+"/log", s.top+"/kill")
	s.write("../kill/.keep", "")
	fifo := filepath.Join(s.top, "log/kill")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		s.t.Fatal(err)
	}
	asked, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = asked.Close() })
	go func() {
		for b := make([]byte, 1); ; {
			if _, err := asked.Read(b); err != nil {
				return
			}
			if pid, err := strconv.Atoi(strings.TrimSpace(s.read("../pid"))); err == nil && slices.Contains(s.processes(), pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}()
}

// forge gives the repository a bare remote and a stand-in for gh.
func (s *site) forge() {
	s.t.Helper()
	gh, err := os.ReadFile("../../executor/workspace/testdata/gh.sh")
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("../bin/gh-of-the-forge", string(gh))
	s.write("../bin/gh", strings.Replace(`#!/bin/sh
TOP=SITE FORGE=SITE/forge REMOTE=SITE/origin.git
export FORGE REMOTE
. "$TOP/bin/point.sh"
point "gh.$2.begin"
"$TOP/bin/gh-of-the-forge" "$@"
code=$?
point "gh.$2.end"
exit $code
`, "SITE", s.top, -1))
	s.write("../forge/pulls/.keep", "")
	remote := filepath.Join(s.top, "origin.git")
	s.git("init", "-q", "--bare", "-b", "main", remote)
	s.git("remote", "add", "origin", remote)
	s.git("push", "-q", "origin", "main")
}

// toTheEnd applies until the run has come to its end, however often ralph is
// killed on the way, and does what people have to do.
func (s *site) toTheEnd(of story) {
	s.t.Helper()
	waits := 0
	for range 1000 {
		switch got := s.ralph("apply", "--events", "jsonl"); got.code {
		case exit.Done:
			return
		case -1:
			s.kills++
		case exit.Waiting:
			if waits++; of.waiting == nil || waits > 10 {
				s.t.Fatalf("it waits for a person\n%s\n%s", got.err, s.failures())
			}
			of.waiting(s)
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
		if strings.HasSuffix(ref, "/conflict") {
			continue // its markers name commits
		}
		name := regexp.MustCompile(`/sum/\d+`).ReplaceAllString(ref, "/sum/N")
		files := epic.ReplaceAllString(s.git("ls-tree", "-r", ref), "")
		fmt.Fprintf(&b, "%s %x %s commits, %s merges", name, sha256.Sum256([]byte(files)), s.git("rev-list", "--count", "main.."+ref), s.git("rev-list", "--merges", "--count", "main.."+ref))
		if strings.HasPrefix(ref, "refs/heads/") {
			moves := 0 // by ralph's effects; a worktree that is put back after a kill moves its branch too
			for why := range strings.Lines(s.git("reflog", "show", "--format=%gs", ref)) {
				if strings.HasPrefix(why, "ralph: ") && strings.TrimSpace(why) != "ralph: start" && strings.TrimSpace(why) != "ralph: reset" {
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
	pulls, err := filepath.Glob(s.file("../forge/pulls/[0-9]*"))
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintln(&b, len(pulls), "pull requests")
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
			case b.Kind == executor.EffectGate && s.epic.Gates[b.Gate].Kind != "human":
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
// It returns the points that the run did not come to.
func killed(t *testing.T, of story, want string, points []string) (missed []string) {
	t.Helper()
	s := crashSite(t, of)
	s.killAt(points...)
	s.toTheEnd(of)
	left, err := os.ReadDir(filepath.Join(s.top, "kill"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, p := range left {
		if p.Name() == ".keep" {
			continue
		}
		missed = append(missed, p.Name())
	}
	if reached := len(points) - len(missed); s.kills > reached || s.kills < (reached+1)/2 { // two may come to theirs at once
		t.Errorf("it was killed %d times at %d points", s.kills, reached)
	}
	if got := of.end(s); got != want {
		t.Errorf("N8: after %d kills it left\n%s\nwithout them\n%s\nwhat did not pass:\n%s", s.kills, got, want, s.failures())
	}
	s.oftenEnough()
	s.sound()
	if out := s.git("fsck", "--strict", "--connectivity-only"); strings.Contains(out, "missing") || strings.Contains(out, "broken") {
		t.Errorf("git fsck: %s", out)
	}
	before := s.read("../log/agents")
	s.apply(exit.Done)
	if got := s.read("../log/agents"); got != before {
		t.Errorf("an agent ran again after the end:\n%s", got)
	}
	return missed
}

// TestApplyIsKilledEverywhere kills the real process, in a real repository, after
// every transaction of its journal and around every effect, resumes it, and
// compares what is left with a run that nobody disturbed. A run is killed several
// times, at a seeded sample of the points; with RALPH_KILLS=all at each one outside of
// sandboxes, with RALPH_KILLS=sandboxes at each one in them, with RALPH_PART at a sixteenth
// of both (see [temptest.Turn]). Where git itself is
// killed at work, what it leaves differs from time to time: those points are for a hunt
// (RALPH_KILLS=git, make hunt), and what one finds becomes a test of its own in
// executor/workspace.
func TestApplyIsKilledEverywhere(t *testing.T) { // L0-12, execution §9: N1–N6, N8–N10, S2-15, S2-37, S2-45
	t.Parallel()
	if testing.Short() {
		t.Skip("real git and real agents for some seconds")
	}
	for _, of := range stories {
		t.Run(of.name, func(t *testing.T) { of.play(t) })
	}
}

func (of story) play(t *testing.T) {
	t.Parallel()
	kills := os.Getenv("RALPH_KILLS")
	switch confined := of.confined != ""; {
	case kills == "sandboxes" && confined:
		kills = "all"
	case kills == "all" && confined:
		kills = ""
	case kills == "sandboxes" || kills == "git" && confined:
		t.Skipf("RALPH_KILLS=%s is about other stories", kills)
	}
	switch of.confined {
	case wall.Namespaces:
		needsNamespaces(t)
	case wall.Landlock:
		if !hasLandlock() {
			t.Skip("this machine makes no sandbox of landlock")
		}
	}
	calm := crashSite(t, of)
	calm.toTheEnd(of)
	calm.oftenEnough()
	calm.sound()
	want := of.end(calm)
	points := calm.points()
	for _, p := range of.must {
		if !slices.Contains(points, p) {
			t.Errorf("the undisturbed run did not come to %s", p)
		}
	}
	if t.Failed() {
		t.Fatalf("it came to\n%s\nand left\n%s", strings.Join(points, "\n"), want)
	}
	if of.only != nil {
		points = slices.DeleteFunc(points, func(p string) bool { return !of.only(p) })
	}
	points = slices.DeleteFunc(points, func(p string) bool { return strings.HasSuffix(p, ".broken") != (kills == "git") })
	if _, divided := temptest.Turn("", 1); divided && kills == "" {
		kills = "all"
		points = slices.DeleteFunc(points, func(p string) bool { which, _ := temptest.Turn(of.name+p, 16); return which != 0 })
	}
	rng := rand.New(rand.NewPCG(7, 0))
	rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	const together = 12 // kills of one run
	if kills == "" {
		some := together
		if of.only != nil {
			some = together / 2
		}
		points = points[:min(len(points), some)]
	}
	t.Logf("%d points", len(points))
	var mu sync.Mutex
	var missed []string // an earlier kill of the same run led past them
	t.Run("together", func(t *testing.T) {
		for i := 0; i < len(points); i += together {
			some := points[i:min(i+together, len(points))]
			t.Run(fmt.Sprint("points ", i, " to ", i+len(some)-1), func(t *testing.T) {
				t.Parallel()
				left := killed(t, of, want, some)
				mu.Lock()
				defer mu.Unlock()
				missed = append(missed, left...)
			})
		}
	})
	for _, p := range missed {
		t.Run("alone/"+p, func(t *testing.T) {
			for _, p := range killed(t, of, want, []string{p}) {
				t.Logf("it does not always come to %s", p)
			}
		})
	}
}
