//go:build unix

package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// sound checks, after whatever happened, the invariants that "nothing is lost,
// nothing happens twice, nothing of theirs is touched" stands for. N8 (a resumed
// run ends like one that was never killed) compares two runs and is the business
// of the crash test; N7 (damage is refused) of the journal's tests.
func (s *site) sound() {
	s.t.Helper()
	events := s.events()
	s.acknowledgedIsDurable(events)
	s.passedIsReachable(events)
	s.onceEach()
	s.doneIsJudged(events)
	s.accountIsTrue(events)
	s.untouched()
	s.nobodyLeft()
	s.bounded()
	s.audited(events)
	if s.t.Failed() {
		s.t.Logf("what did not pass:\n%s", s.failures())
	}
}

// acknowledgedIsDurable is N1: what was printed is on record, word for word.
func (s *site) acknowledgedIsDurable(events []executor.Event) {
	s.t.Helper()
	kept := map[int64]string{}
	for _, e := range events {
		b, err := e.MarshalJSON()
		if err != nil {
			s.t.Fatal(err)
		}
		kept[e.Seq] = string(b)
	}
	for _, e := range s.said {
		b, err := e.MarshalJSON()
		if err != nil {
			s.t.Fatal(err)
		}
		if kept[e.Seq] != string(b) {
			s.t.Errorf("N1: ralph said event %d\n  %s\nand the journal says\n  %s", e.Seq, b, kept[e.Seq])
		}
	}
}

// passedIsReachable is N2: every collected commit hangs on a ref.
func (s *site) passedIsReachable(events []executor.Event) {
	s.t.Helper()
	reach := map[string]bool{}
	for c := range strings.Lines(s.git("rev-list", "--all")) {
		reach[strings.TrimSpace(c)] = true
	}
	for _, e := range events {
		c, ok := e.Body.(executor.Collected)
		if ok && c.Result.Commit != "" && e.Node != executor.Integration && !reach[c.Result.Commit] {
			s.t.Errorf("N2: no ref holds commit %s of %s %s/%d (event %d)", c.Result.Commit, e.Node, e.Step, e.Attempt, e.Seq)
		}
	}
}

// onceEach is N3: a collected commit is made once, and joined once.
func (s *site) onceEach() {
	s.t.Helper()
	seen := map[string]string{}
	for line := range strings.Lines(s.git("log", "--all", "--format=%H %T %(trailers:key=Ralph-Key,valueonly,separator=)")) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		if other, twice := seen[f[2]]; twice {
			s.t.Errorf("N3: %s is in two commits, %s and %s", f[2], other, f[0])
		}
		seen[f[2]] = f[0]
	}
}

// doneIsJudged is N4: what is done was judged as it is, and is in the result.
func (s *site) doneIsJudged(events []executor.Event) {
	s.t.Helper()
	gates := map[ir.NodeID][]string{executor.Integration: s.epic.Epic.Integration.Gates}
	for _, n := range s.epic.Nodes {
		for _, step := range n.Steps {
			gates[n.ID] = append(gates[n.ID], step.Gates...)
		}
	}
	type at struct {
		node ir.NodeID
		step string
		n    int
	}
	tree := map[at]string{}                   // what an attempt left
	passed := map[ir.NodeID]map[string]bool{} // gate and tree
	over := map[ir.NodeID]map[string]bool{}   // trees that a person passed in spite of a gate
	done := map[ir.NodeID]executor.Tree{}     // the last success
	note := func(to map[ir.NodeID]map[string]bool, node ir.NodeID, what string) {
		if to[node] == nil {
			to[node] = map[string]bool{}
		}
		to[node][what] = true
	}
	for _, e := range events {
		a := at{e.Node, e.Step, e.Attempt}
		switch b := e.Body.(type) {
		case executor.AttemptStarted:
			if b.Rejudge {
				t, err := s.tryGit("rev-parse", b.From+"^{tree}")
				if err == nil {
					tree[a] = t
				}
			}
		case executor.Collected:
			tree[a] = b.Result.Tree
		case executor.GateJudged:
			if b.Verdict == executor.Pass && !b.Red {
				note(passed, e.Node, b.Gate+" "+tree[a])
			}
		case executor.Decided:
			if b.Verb == executor.Approve && b.How == executor.Override {
				note(over, e.Node, b.Gate)
			}
		case executor.NodeDone:
			done[e.Node] = b.Result
			for _, g := range gates[e.Node] {
				if !passed[e.Node][g+" "+b.Result.Tree] && !over[e.Node][g] && e.Node != executor.Integration {
					// A step before the last one was judged on its own commit.
					if !slices.ContainsFunc(b.Steps, func(d executor.StepDone) bool { return passed[e.Node][g+" "+d.Result.Tree] }) {
						s.t.Errorf("N4: %s is done with tree %s (event %d), and gate %s has not passed it", e.Node, b.Result.Tree, e.Seq, g)
					}
				}
			}
		}
	}
	sum, ok := done[executor.Integration]
	if !ok {
		return
	}
	if head := s.git("rev-parse", s.epic.Epic.Integration.Branch); head != sum.Commit && !slices.Contains(s.moved, s.epic.Epic.Integration.Branch) {
		s.t.Errorf("N4: the integration branch is at %s, and what was judged is %s", head, sum.Commit)
	}
}

// accountIsTrue is N11: of all results on record exactly those are said to be in the
// integration branch that git finds in its history, by status as by the machine
// alone. execution §5 (the sum)
func (s *site) accountIsTrue(events []executor.Event) {
	s.t.Helper()
	in := s.epic.Epic.Integration
	head, err := s.tryGit("rev-parse", "--verify", "-q", "refs/heads/"+in.Branch)
	if in.Mode != "dag" || len(events) == 0 || err != nil {
		return
	}
	got := s.ralph("status", "--json")
	var st record.StatusJSON
	if err := json.Unmarshal([]byte(got.out), &st); err != nil {
		s.t.Errorf("N11: status: %v\n%s", err, got.all())
		return
	}
	run, err := machine.New(s.epic)
	if err != nil {
		s.t.Fatal(err)
	}
	put := ""
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			s.t.Fatal(err)
		}
		if b, ok := e.Body.(executor.Published); ok && e.Node == executor.Integration {
			put = b.Result.Commit
		}
	}
	is := map[string]bool{}
	for _, c := range run.Integration().Results() {
		_, err := s.tryGit("merge-base", "--is-ancestor", c, head)
		is[c] = err == nil
	}
	check := func(who string, said map[string]bool) {
		s.t.Helper()
		for c, in := range is {
			if said[c] != in {
				s.t.Errorf("N11: %s: result %s is in the branch at %s: %t; git says %t", who, c, head, said[c], in)
			}
		}
	}
	said := map[string]bool{}
	for _, n := range st.Nodes {
		if n.ID != executor.Integration {
			continue
		}
		for _, h := range n.Holds {
			said[h.Commit] = true
		}
		check("status", said)
	}
	if head == put {
		said = map[string]bool{}
		for _, h := range run.Integration().Branch(nil).Holds {
			said[h.Commit] = true
		}
		check("the machine", said)
	}
}

// untouched is N5: not a byte of the user's is another one.
func (s *site) untouched() {
	s.t.Helper()
	now := s.manifest()
	for _, name := range slices.Sorted(maps.Keys(s.before)) {
		if was := s.before[name]; now[name] != was && !slices.Contains(s.moved, name) {
			s.t.Errorf("N5: %s was %q and is %q", name, was, now[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, ok := s.before[name]; !ok && !slices.Contains(s.moved, name) {
			s.t.Errorf("N5: %s is new: %q", name, now[name])
		}
	}
	if _, err := os.Lstat(filepath.Join(s.top, "a-hook-of-the-user-ran")); err == nil {
		s.t.Error("N5: a hook of the user was run")
	}
}

// manifest is everything that is the user's: files, settings, index, refs.
func (s *site) manifest() map[string]string {
	s.t.Helper()
	m := map[string]string{}
	for _, dir := range []string{s.dir, filepath.Join(s.top, "home")} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(s.top, p)
			if err != nil {
				return err
			}
			in := strings.TrimPrefix(name, "project/.git/")
			if in != name && d.IsDir() && in != "hooks" && in != "info" {
				return fs.SkipDir // objects, refs (see below), ralph's own
			}
			if in != name && !slices.Contains([]string{"HEAD", "index", "config", "config.worktree", "description"}, in) && !strings.HasPrefix(in, "hooks/") && !strings.HasPrefix(in, "info/") {
				return nil
			}
			st, err := d.Info()
			if err != nil {
				return err
			}
			what := st.Mode().String()
			if st.Mode().IsRegular() {
				b, err := os.ReadFile(p)
				if err != nil {
					return err
				}
				what += fmt.Sprintf(" %x", sha256.Sum256(b))
			}
			m[name] = what
			return nil
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	delete(m, "project/.git")      // its own entry: git and ralph make files in it
	delete(m, "project/epic.json") // tests write another one
	for line := range strings.Lines(s.git("for-each-ref", "--format=%(refname) %(objectname)")) {
		ref, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(ref, "refs/ralph/") && !strings.HasPrefix(strings.Replace(ref, "remotes/origin", "heads", 1), "refs/heads/ralph/x/") {
			m[ref] = at
		}
	}
	m["stash"] = s.git("stash", "list")
	return m
}

// nobodyLeft is N6: who was started is gone, and the lock is free.
func (s *site) nobodyLeft() {
	s.t.Helper()
	if left := s.processes(); len(left) > 0 {
		for _, pid := range left {
			line, _ := readAll(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may be gone by now
			s.t.Errorf("N6: process %d is still at work: %s", pid, bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		}
	}
	if by, held, err := journal.Holder(s.state()); err != nil || held {
		s.t.Errorf("N6: the lock is held by %v (%v)", by, err)
	}
}

// mostKept bounds what a test's run may leave in the state directory.
const mostKept = 160 << 20

// bounded is N9: what is kept of a run is bounded, whatever agents print.
func (s *site) bounded() {
	s.t.Helper()
	var size int64
	_ = filepath.WalkDir(s.state(), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if st, err := d.Info(); err == nil {
				size += st.Size()
			}
		}
		return nil
	})
	if size > mostKept {
		s.t.Errorf("N9: %d bytes are kept", size)
	}
}

// audited is N10: the chain holds, and what began has an end.
func (s *site) audited(events []executor.Event) {
	s.t.Helper()
	if len(events) == 0 {
		return
	}
	v, err := journal.Verify(s.t.Context(), s.state(), s.epic.Epic.ID)
	if err != nil || v.Last != events[len(events)-1].Seq {
		s.t.Errorf("N10: the journal is not sound: %+v, %v", v, err)
	}
	for _, e := range events {
		if b, err := e.MarshalJSON(); err != nil || len(b) > 8<<10 {
			s.t.Errorf("N10: event %d has %d bytes (%v)", e.Seq, len(b), err)
		}
	}
}

// failures reads from the journal what did not pass, and why.
func (s *site) failures() string {
	s.t.Helper()
	var b strings.Builder
	for _, e := range s.events() {
		at := fmt.Sprintf("%4d %s %s/%d", e.Seq, e.Node, e.Step, e.Attempt)
		switch body := e.Body.(type) {
		case executor.RunStarted:
			fmt.Fprintf(&b, "%4d a run begins\n", e.Seq)
		case executor.AttemptEnded:
			if body.Status != executor.AttemptPassed {
				fmt.Fprintf(&b, "%s: %s: %s\n", at, body.Status, body.Reason)
			}
		case executor.EffectFailed:
			fmt.Fprintf(&b, "%s: %s: %s\n", at, body.Class, body.Detail)
		case executor.NodeWaiting:
			fmt.Fprintf(&b, "%s: waits for %s (%s): %s\n", at, body.For, body.Cause, body.Detail)
		case executor.NodeBlocked:
			fmt.Fprintf(&b, "%s: blocked: %s\n", at, body.Reason)
		}
	}
	return b.String()
}
