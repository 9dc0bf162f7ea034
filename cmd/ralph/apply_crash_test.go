//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
)

// killAfter starts apply and kills it, without a word, once it has made so many
// events durable: somewhere in the effects that they began. It reports whether
// it was killed; else the run came to its end.
func (r *applyRepo) killAfter(events int) bool {
	r.t.Helper()
	cmd := exec.Command("ralph", "apply", "--events", "jsonl")
	cmd.Dir = r.dir
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	sc := bufio.NewScanner(out)
	for n := 0; sc.Scan(); {
		if n++; n < events {
			continue
		}
		if err := cmd.Process.Kill(); err != nil {
			r.t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		return true
	}
	if err := cmd.Wait(); err != nil {
		r.t.Fatalf("apply: %v\n%s", err, &errOut)
	}
	return false
}

// endState is what a run leaves: every ref with its tree and the number of
// commits that it adds, and how often each effect on a branch happened. What was
// saved from interrupted attempts comes on top of that and is left out.
func (r *applyRepo) endState() string {
	r.t.Helper()
	var b strings.Builder
	for ref := range strings.Lines(r.git("for-each-ref", "--format=%(refname)")) {
		ref = strings.TrimSpace(ref)
		if strings.Contains(ref, "/saved/") || strings.Contains(ref, "/integration/attempts/") {
			continue // the sum begins again after a kill: the same commit, one attempt later
		}
		name := regexp.MustCompile(`/sum/\d+`).ReplaceAllString(ref, "/sum/N")
		files := regexp.MustCompile(`(?m)^.*\tepic\.json$`).ReplaceAllString(r.git("ls-tree", "-r", ref), "") // it names this directory
		fmt.Fprintf(&b, "%s %x %s\n", name, sha256.Sum256([]byte(files)), r.git("rev-list", "--count", "main.."+ref))
	}
	keys := map[string]int{}
	for key := range strings.Lines(r.git("log", "--format=%(trailers:key=Ralph-Key,valueonly,separator=)", "main..ralph/x/integration")) {
		if key = strings.TrimSpace(key); key != "" {
			keys[key]++
		}
	}
	fmt.Fprintln(&b, keys)
	fmt.Fprintln(&b, r.git("symbolic-ref", "HEAD"), r.git("status", "--porcelain"), r.git("stash", "list"))
	fmt.Fprintln(&b, strings.Count(r.git("worktree", "list", "--porcelain"), "worktree "), "worktrees")
	return b.String()
}

// failures reads from the journal what did not pass, and why.
func (r *applyRepo) failures() string {
	r.t.Helper()
	log, err := journal.Read(filepath.Join(r.dir, ".git/ralph/bd-epic"), "bd-epic")
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	var b strings.Builder
	for e, err := range log.Events(r.t.Context()) {
		if err != nil {
			r.t.Fatal(err)
		}
		switch body := e.Body.(type) {
		case executor.AttemptEnded:
			if body.Status != executor.AttemptPassed {
				fmt.Fprintf(&b, "%d %s %s/%d: %s\n", e.Seq, e.Node, e.Step, e.Attempt, body.Reason)
			}
		case executor.EffectFailed:
			fmt.Fprintf(&b, "%d %s %s/%d: %s: %s\n", e.Seq, e.Node, e.Step, e.Attempt, body.Class, body.Detail)
		}
	}
	return b.String()
}

// TestApplyIsKilledAgainAndAgain kills the real process, in a real repository, at
// a seeded sample of its journal records, until it comes to its end all the same.
// RALPH_KILLS=all kills it once at every record of the run.
func TestApplyIsKilledAgainAndAgain(t *testing.T) { // L0-12
	if testing.Short() {
		t.Skip("it runs git for some seconds")
	}
	calm := newApplyRepo(t, diamondEpic())
	calm.run(exitDone)
	want := calm.endState()
	check := func(t *testing.T, r *applyRepo, kills int) {
		t.Helper()
		if got := r.endState(); got != want {
			t.Errorf("after %d kills it left\n%s\nwithout them\n%s\nattempts that did not pass:\n%s", kills, got, want, r.failures())
		}
		if out := r.git("fsck", "--strict", "--connectivity-only"); strings.Contains(out, "missing") || strings.Contains(out, "broken") {
			t.Errorf("git fsck: %s", out)
		}
		if again := r.run(exitDone); strings.Contains(again.out.String(), "▶") {
			t.Errorf("something ran again:\n%s", &again.out)
		}
	}
	if os.Getenv("RALPH_KILLS") == "all" {
		for at, more := 1, true; more; at++ {
			t.Run(fmt.Sprint("event ", at), func(t *testing.T) {
				r := newApplyRepo(t, diamondEpic())
				if more = r.killAfter(at); more {
					r.run(exitDone)
				}
				check(t, r, 1)
			})
		}
		return
	}
	for _, seed := range []uint64{1, 2, 3, 4} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			r := newApplyRepo(t, diamondEpic())
			kills := 0
			for kills < 20 && r.killAfter(2+rng.IntN(24)) {
				kills++
			}
			if kills < 3 {
				t.Errorf("it was killed only %d times", kills)
			}
			r.run(exitDone)
			check(t, r, kills)
		})
	}
}
