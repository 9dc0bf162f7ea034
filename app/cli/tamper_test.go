//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// tampering is an agent that does its work, and what it must not.
const tampering = siteWork + `
if [ "$RALPH_NODE" = 1.1 ] && [ ! -e "$TOP/tampered" ]; then
	touch "$TOP/tampered"
	cd "$TOP/project"
	git branch -D theirs
	git config core.hooksPath /evil
	git config user.name Mallory
	echo evil > evil.txt
fi`

// tampered are the changes of a site that are on record.
func (s *site) tampered() []string {
	s.t.Helper()
	var out []string
	for _, e := range s.events() {
		switch b := e.Body.(type) {
		case executor.TamperSeen:
			out = append(out, string(b.Grade)+" "+b.What)
		case executor.TamperUndone:
			out = append(out, "undone "+b.What)
		}
	}
	return out
}

// changes are those that status --json calls open.
func (s *site) changes() []words.Change {
	s.t.Helper()
	var st record.StatusJSON
	if err := json.Unmarshal([]byte(s.ralph("status", "--json").out), &st); err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(st.Changes, func(c words.Change) bool { return c.State != "open" })
}

var allTampered = []string{
	"tampered core.hooksPath in .git/config", "tampered user.name in .git/config", "tampered refs/heads/theirs", "noticed your checkout",
}

// atWork names the attempt that tampers. On a slow machine looks are far apart, and who
// was at work before or after it, since the last look, is named, too.
const atWork = `at work: (preflight, )?1\.1 implement #1(, 1\.2 implement #1)?`

// execution §5, tampering: the run ends with 3 until each change is put back or
// accepted; work and sum go on; each is said once.
func TestTamperingIsLoud(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"worktree", "clone"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, tampering, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
				e.Run.Worktree.Layout = layout
				e.Run.Notify = []ir.Notify{{On: []string{policies.OnTamper}, Run: []string{"/bin/sh", "-c", `echo "$RALPH_MESSAGE" >> ../log/told`}}}
			}))
			s.git("branch", "theirs")
			at := s.git("rev-parse", "theirs")
			got := s.apply(exit.NotDone)
			if runs := s.ralph("runs").out; !regexp.MustCompile(` tampered +3 .*core.hooksPath`).MatchString(runs) {
				t.Errorf("runs: %s", runs)
			}
			if now := s.tampered(); !slices.Equal(now, allTampered) {
				t.Fatalf("on record: %q", now)
			}
			for _, want := range []string{
				"2 of 2 sprints done", "core.hooksPath in .git/config is new: /evil", "user.name in .git/config was Test User and is Mallory",
				"refs/heads/theirs is gone; it was " + at, "put it back: git config --unset-all core.hooksPath",
				"put it back: git update-ref --no-deref refs/heads/theirs " + at, "your checkout: new: evil.txt", "accept it:   ralph approve --tamper ",
			} {
				if strings.Count(got.out, want) == 0 {
					t.Errorf("apply lacks %q:\n%s", want, got.out)
				}
			}
			if !regexp.MustCompile(atWork).MatchString(got.out) {
				t.Errorf("apply does not say who was at work:\n%s", got.out)
			}
			for _, once := range []string{"/evil", "Mallory", "theirs is gone", "evil.txt\n"} {
				if n := strings.Count(got.out, once); n > 1 && once != "evil.txt\n" || n > 2 {
					t.Errorf("%q is said %d times:\n%s", once, n, got.out)
				}
			}
			if told := s.read("../log/told"); strings.Count(told, "\n") != 3 || !strings.Contains(told, "/evil") {
				t.Errorf("told:\n%s", told)
			}
			for _, args := range []string{"status", "log", "report -o -"} {
				if out := s.ralph(strings.Fields(args)...); out.code != exit.Done || !strings.Contains(out.out, "core.hooksPath") {
					t.Errorf("ralph %s does not say it (exit %d):\n%s", args, out.code, out.all())
				}
			}

			s.apply(exit.NotDone)
			if now := s.tampered(); len(now) != 4 {
				t.Errorf("said again: %q", now)
			}
			if left := s.changes(); len(left) != 4 || left[3].What != "your checkout" || left[3].Earlier != 1 {
				t.Errorf("what nobody has looked at is not shown any more: %+v", left)
			}
			s.git("config", "--unset-all", "core.hooksPath")
			if err := os.Remove(s.file("evil.txt")); err != nil {
				t.Fatal(err)
			}
			if out := s.ralph("status").out; !regexp.MustCompile(`is new: /evil\n    `+atWork+`\n    it is as it was again: the next ralph apply records that\n`).MatchString(out) || strings.Contains(out, "evil.txt") {
				t.Errorf("status says of what was put back:\n%s", out)
			}
			s.git("update-ref", "refs/heads/theirs", at)
			s.apply(exit.NotDone)
			left := s.changes()
			if len(left) != 1 || left[0].What != "user.name in .git/config" || !left[0].Failing || left[0].Back != "git config --replace-all user.name 'Test User'" {
				t.Fatalf("left: %+v", left)
			}
			if no := s.ralph("approve", "--tamper", "00000000"); no.code != exit.Input || !strings.Contains(no.err, "there is no open change") {
				t.Errorf("another change: exit %d\n%s", no.code, no.all())
			}
			if ok := s.ralph("approve", "--tamper", left[0].ID); ok.code != exit.Done || !strings.Contains(ok.out, "change "+left[0].ID+": approved") {
				t.Fatalf("approve: exit %d\n%s", ok.code, ok.all())
			}
			s.apply(exit.Done)
			if left := s.changes(); len(left) != 0 {
				t.Errorf("left: %+v", left)
			}
			s.moved = append(s.moved, "project/.git/config", "project/evil.txt", "refs/heads/theirs")
			s.sound()
		})
	}
}

func TestTamperingMayBeNoted(t *testing.T) { // policy-language: git { on_tamper }
	t.Parallel()
	s := newSite(t, tampering, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Run.Git.OnTamper = "note" }))
	s.git("branch", "theirs")
	got := s.apply(exit.Done)
	if !strings.Contains(got.out, "core.hooksPath in .git/config is new: /evil") || len(s.tampered()) != 4 {
		t.Errorf("on record %q\n%s", s.tampered(), got.out)
	}
}

// A crash between a change, its record and what is trusted after it neither loses
// the change nor says it twice.
func TestTamperingOutlivesACrash(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"agent.1.1.implement-1.end", "decided.tamper.seen..-0", "told.agent.ended.bd-1-1.implement-1", "decided.run.ended..-0"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, tampering, executortest.Epic([]string{"1.1"}))
			s.git("branch", "theirs")
			s.killAt(point)
			if got := s.ralph("apply", "--events", "jsonl"); got.code != -1 {
				t.Fatalf("exit %d\n%s", got.code, got.all())
			}
			got := s.apply(exit.NotDone)
			now := s.tampered()
			slices.Sort(now)
			want := slices.Sorted(slices.Values(allTampered))
			if !slices.Equal(now, want) {
				t.Errorf("on record %q, want %q", now, want)
			}
			if !strings.Contains(got.out, "/evil") {
				t.Errorf("the next apply does not say it:\n%s", got.out)
			}
			s.moved = append(s.moved, "project/.git/config", "project/evil.txt", "refs/heads/theirs")
			s.sound()
		})
	}
}

// Another epic that runs in the same repository at the same time, commits, tags and
// stashes are no tampering.
func TestWhatPeopleDoMeanwhileIsNoTampering(t *testing.T) {
	t.Parallel()
	work := siteWork + `
if [ -e "$TOP/wait" ]; then while [ ! -e "$TOP/go" ]; do sleep 0.1; done; fi`
	s := newSite(t, work, executortest.Epic([]string{"1.1", "1.2: 1.1"}))
	s.write("../wait", "")
	first := s.start("apply")
	s.until("the agent is at work", func() bool { return s.read("../log/agents") != "" })

	other := executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Epic.ID, e.Epic.Slug, e.Epic.Integration.Branch = "bd-other", "y", "ralph/y/integration"
		e.Nodes[0].ID, e.Nodes[0].Git = "bd-o-1", ir.Git{Branch: "ralph/y/1-1", Worktree: "../{repo}-worktrees/ralph/y/1-1"}
	})
	mine := s.epic
	s.seal(other)
	s.write("other.json", s.read("epic.json"))
	s.seal(mine)
	second := s.start("apply", "other.json")
	// A watch that began between the branch and its remote would call that branch one that was there.
	s.until("the agent of the other epic is at work", func() bool { return strings.Count(s.read("../log/agents"), "\n") == 2 })
	for _, args := range []string{
		"commit -q --allow-empty -m mine", "tag v1", "branch feature", "worktree add -q ../mine -b mine", "update-ref refs/remotes/origin/main HEAD",
		"remote add fork https://example.org/x.git", "config branch.feature.remote fork",
	} {
		s.git(strings.Fields(args)...)
	}
	s.write("README.md", "mine\n")
	s.git("stash", "-q")
	s.write("../go", "")
	if got := second.wait(); got.code != exit.Done {
		t.Errorf("the other epic: exit %d\n%s", got.code, got.all())
	}
	got := first.wait()
	if got.code != exit.Done {
		t.Errorf("exit %d\n%s", got.code, got.all())
	}
	for _, what := range s.tampered() {
		if !strings.HasPrefix(what, "noticed ") {
			t.Errorf("on record: %s", what)
		}
	}
	for _, want := range []string{"noticed refs/stash", "noticed remote.fork.url in .git/config"} {
		if !strings.Contains(fmt.Sprint(s.tampered()), want) {
			t.Errorf("%s: not said: %q", want, s.tampered())
		}
	}
}

// An agent does not accept what it has done itself.
func TestAnAgentDoesNotAcceptTampering(t *testing.T) {
	t.Parallel()
	s := newSite(t, siteWork+`
git config core.hooksPath /evil
cd "$TOP/project"; ralph approve --tamper 00000000 > "$TOP/said" 2>&1 || true`, executortest.Epic([]string{"1.1"}))
	s.apply(exit.NotDone)
	if said := s.read("../said"); !strings.Contains(said, "this is for people") {
		t.Errorf("it is told:\n%s", said)
	}
}

// A worker closes no issue while somebody has to look at what was tampered with.
func TestAWorkerDoesNotCloseWhatWasTamperedWith(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo x > a.txt; git -C "$TOP/project" config core.hooksPath /evil`, "")
	d.put(`{"id":"bd-a"}`)
	if got := d.worker(exit.Waiting, "--once"); !strings.Contains(got.out, "bd-a  waiting for a person: it is done, and the repository was tampered with") {
		t.Errorf("it says\n%s", got.out)
	}
	command := regexp.MustCompile("ralph (approve --tamper [0-9a-f]{8}[^`]*)`").FindStringSubmatch(d.comments("bd-a"))
	if command == nil {
		t.Fatalf("the comment does not say what to type:\n%s", d.comments("bd-a"))
	}
	w := d.going()
	if got := d.ralph(strings.Fields(command[1])...); got.code != exit.Done {
		t.Fatalf("approve: %s", got.all())
	}
	d.stands("bd-a", "closed")
	d.stop(w, exit.Interrupted)
}

// execution §7: who commits is read once, when apply starts. An agent that changes it
// in the settings that worktrees share does not sign the work of others.
func TestAnAgentDoesNotChangeWhoCommits(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"worktree", "clone"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, siteWork+`
if [ "$RALPH_NODE" = 1.1 ]; then git config user.name "Evil Agent"; git config user.email evil@example.org
else git add -A; git commit -qm mine; fi`, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
				e.Run.Worktree.Layout, e.Run.Git.Commit = layout, "each"
			}))
			s.ralph("apply")
			log := s.git("log", "--all", "--format=%an <%ae> %cn %s")
			if strings.Contains(log, "Evil") || !strings.Contains(log, "mine") {
				t.Errorf("commits are by\n%s", log)
			}
			if layout == "worktree" {
				s.git("config", "user.name", "Test User")
				s.git("config", "user.email", "test@example.org")
				s.moved = append(s.moved, "project/.git/config")
			}
		})
	}
}
