package workspace

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// forge gives the repository a bare remote "origin" and a stand-in for gh, whose
// state is returned.
func (r *repo) forge() string {
	r.t.Helper()
	script, err := os.ReadFile("testdata/gh.sh")
	r.must(err)
	home := r.t.TempDir()
	bin, state, remote := filepath.Join(home, "bin"), filepath.Join(home, "forge"), filepath.Join(home, "origin.git")
	r.must(os.MkdirAll(bin, 0o755))
	r.must(os.MkdirAll(filepath.Join(state, "pulls"), 0o755))
	r.must(os.WriteFile(filepath.Join(bin, "gh"), script, 0o755))
	r.t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	r.t.Setenv("FORGE", state)
	r.t.Setenv("REMOTE", remote)
	r.git("init", "-q", "--bare", "-b", "main", remote)
	r.git("remote", "add", "origin", remote)
	r.git("push", "-q", "origin", "main")
	return state
}

func (r *repo) pull(res executor.Result, title string) (executor.Pull, error) {
	p, err := r.space.Pull(r.t.Context(), r.effect(executor.EffectPull, res.Node, 1, res.Commit), executor.PullText{Title: title, Body: "What was done.", Onto: "main"})
	return p.Pull, err
}

func waiting(e *ir.Epic) {
	e.Epic.Integration.Mode, e.Epic.Integration.PR, e.Epic.Target = "wait", "node", "main"
	e.Run.Git.Remote = "origin"
}

func TestAPullRequestIsMadeOnce(t *testing.T) { // S2-62, execution §9, L0-06
	r := newRepo(t, executortest.Epic(two, waiting))
	state := r.forge()
	res := r.result("bd-1-1", r.head(), "a.txt", "a\n")
	before := r.manifest()

	r.write(state+"/lose", "") // it is made, and nobody hears of it
	p, err := r.pull(res, "1.1: one")
	if err != nil || p != (executor.Pull{Number: 1, URL: "https://forge.invalid/pull/1"}) {
		t.Fatalf("got %+v, %v", p, err)
	}
	if p, err := r.pull(res, "1.1: another title"); err != nil || p.Number != 1 {
		t.Errorf("again: %+v, %v", p, err)
	}
	if b, err := os.ReadFile(state + "/pulls/1/title"); err != nil || string(b) != "1.1: another title\n" {
		t.Errorf("the title is %q, %v", b, err)
	}
	r.open() // after a crash, with new work
	r.prepare("bd-1-1", 2, res.Commit)
	r.in("bd-1-1", "a.txt", "better\n")
	res.Tree = r.collect("bd-1-1", 2, res.Commit).Result
	if p, err := r.pull(res, "1.1: one"); err != nil || p.Number != 1 {
		t.Errorf("new work: %+v, %v", p, err)
	}
	if got := r.git("ls-remote", "origin", "ralph/x/1-1"); !strings.HasPrefix(got, res.Commit) {
		t.Errorf("pushed %s, want %s", got, res.Commit)
	}
	if all, err := filepath.Glob(state + "/pulls/*"); err != nil || len(all) != 1 {
		t.Errorf("pull requests: %q, %v", all, err)
	}
	after := r.manifest() // as after every push, where the remote's branch is
	maps.DeleteFunc(after, func(path, _ string) bool { return strings.HasSuffix(path, "/refs/remotes/origin/ralph/x/1-1") })
	if !maps.Equal(before, after) {
		t.Errorf("something of the user's changed: %v", diffKeys(before, after))
	}
}

func diffKeys(a, b map[string]string) []string {
	var out []string
	for k := range b {
		if a[k] != b[k] {
			out = append(out, k)
		}
	}
	for k := range a {
		if _, ok := b[k]; !ok {
			out = append(out, k+" is gone")
		}
	}
	slices.Sort(out)
	return out
}

func TestThePullRequestsOfOthersAreLeftAlone(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, waiting))
	state := r.forge()
	res := r.result("bd-1-1", r.head(), "a.txt", "a\n")
	make := func(n int, fields map[string]string) {
		for name, text := range fields {
			r.write(fmt.Sprintf("%s/pulls/%d/%s", state, n, name), text)
		}
	}
	make(1, map[string]string{"head": "ralph/x/1-1\n", "base": "main\n", "state": "OPEN\n", "body": "of a fork", "fork": "true"})
	make(2, map[string]string{"head": "ralph/x/1-1\n", "base": "main\n", "state": "CLOSED\n", "body": "older"})
	r.git("push", "-q", "origin", "main:ralph/x/1-1") // theirs: not what ralph pushed
	_, err := r.pull(res, "1.1: one")
	if failure(err) != executor.FailConfig || !strings.Contains(err.Error(), "holds commits that are not ralph's") || !strings.Contains(err.Error(), "(git push --delete origin refs/heads/ralph/x/1-1)") {
		t.Fatalf("got %v", err)
	}
	r.git("push", "-q", "origin", "--delete", "ralph/x/1-1")
	r.must(os.RemoveAll(state + "/pulls/2"))
	p, err := r.pull(res, "1.1: one")
	if err != nil || p.Number != 2 {
		t.Errorf("got %+v, %v", p, err)
	}
	r.write(state+"/pulls/2/body", "a person's own words")
	r.write(state+"/pulls/2/title", "a person's title\n")
	if p, err := r.pull(res, "1.1: one"); err != nil || p.Number != 2 {
		t.Errorf("got %+v, %v", p, err)
	}
	if b, err := os.ReadFile(state + "/pulls/2/title"); err != nil || string(b) != "a person's title\n" {
		t.Errorf("the title is now %q, %v", b, err)
	}
}

func TestWhatBecameOfAPullRequest(t *testing.T) { // execution §5: mode wait
	r := newRepo(t, executortest.Epic(two, waiting))
	state := r.forge()
	if _, _, err := r.space.Bases.Pin(t.Context()); err != nil {
		t.Fatal(err)
	}
	base := r.head()
	res := r.result("bd-1-1", base, "a.txt", "a\n")
	p, err := r.pull(res, "1.1: one")
	if err != nil {
		t.Fatal(err)
	}
	poll := func() executor.PullSeen {
		t.Helper()
		e := r.effect(executor.EffectPoll, "bd-1-1", 1, res.Commit)
		e.Pull = p
		seen, err := r.space.Poll(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	if seen := poll(); seen.State != "open" {
		t.Errorf("got %+v", seen)
	}
	r.write(state+"/pulls/1/state", "CLOSED\n")
	r.write(state+"/pulls/1/comments", `[{"body":"first","author":{"login":"a"}},{"body":"not like this","author":{"login":"b"}}]`)
	if seen := poll(); seen.State != "closed" || seen.Comment != "not like this" {
		t.Errorf("got %+v", seen)
	}

	// Somebody squashes it on the forge; the answer comes before the commit.
	squash := r.git("commit-tree", res.Commit+"^{tree}", "-p", base, "-m", "squashed")
	r.write(state+"/pulls/1/state", "MERGED\n")
	r.write(state+"/pulls/1/merge", `{"oid":"`+squash+`"}`)
	if seen := poll(); seen.State != "open" {
		t.Errorf("before the merge can be fetched: %+v", seen)
	}
	next := r.effect(executor.EffectBase, "bd-1-2", 0, "")
	next.Onto, next.Inputs = executor.OntoTarget, []executor.Result{res}
	if _, err := r.space.Base(t.Context(), next); failure(err) != executor.FailTransient {
		t.Errorf("a target without the work: %v", err)
	}
	r.git("push", "-q", "origin", squash+":refs/heads/main")
	before := r.manifest()
	seen := poll()
	if seen.State != "merged" || seen.Head.Commit != squash {
		t.Errorf("got %+v, want %s", seen, squash)
	}
	made, err := r.space.Base(t.Context(), next)
	if err != nil || made.Base.Commit != squash || made.Head != squash {
		t.Errorf("the next base is %+v, %v", made, err)
	}
	// The target goes on, over what was merged: it has arrived all the same.
	later := r.git("commit-tree", base+"^{tree}", "-p", squash, "-m", "reverted")
	r.git("push", "-q", "origin", later+":refs/heads/main")
	if made, err = r.space.Base(t.Context(), next); err != nil || made.Base.Commit != later {
		t.Fatalf("the base after that is %+v, %v", made, err)
	}
	r.prepare("bd-1-2", 1, later)
	r.in("bd-1-2", "b.txt", "b\n")
	c := r.collect("bd-1-2", 1, later)
	pub := r.effect(executor.EffectPublish, "bd-1-2", 1, c.Result.Commit)
	pub.Inputs, pub.Base = []executor.Result{res}, later
	if _, err := r.space.Publish(t.Context(), pub); err != nil {
		t.Errorf("a result on a squashed base: %v", err)
	}
	pub.Base = base
	if _, err := r.space.Publish(t.Context(), pub); failure(err) != executor.FailConfig {
		t.Errorf("a result on a base without it: %v", err)
	}
	after := r.manifest()
	maps.DeleteFunc(after, func(path, _ string) bool { return strings.Contains(path, "refs/remotes/origin/") })
	maps.DeleteFunc(before, func(path, _ string) bool { return strings.Contains(path, "refs/remotes/origin/") })
	if got := after; !maps.Equal(before, got) {
		t.Errorf("fetching changed what is the user's: %v", diffKeys(before, got))
	}
}

func TestAPullRequestOntoABranchOfRalphs(t *testing.T) { // execution §5: node pull requests in dag
	r := newRepo(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) { e.Epic.Integration.PR = "node" }))
	r.forge()
	base, _, err := r.space.Bases.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := r.result("bd-1-1", base.Commit, "a.txt", "a\n")
	b := r.result("bd-1-2", a.Commit, "b.txt", "b\n")
	for onto, want := range map[string]string{"ralph/x/integration": base.Commit, "ralph/x/1-1": a.Commit} {
		e := r.effect(executor.EffectPull, "bd-1-2", 1, b.Commit)
		if _, err := r.space.Pull(t.Context(), e, executor.PullText{Title: "t", Onto: onto}); err != nil {
			t.Fatal(err)
		}
		if got := r.git("ls-remote", "origin", onto); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %s", onto, got, want)
		}
	}
}

func TestAForgeThatDoesNotAnswer(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, waiting))
	state := r.forge()
	res := r.result("bd-1-1", r.head(), "a.txt", "a\n")
	r.write(state+"/down", "")
	if _, err := r.pull(res, "x"); failure(err) != executor.FailTransient {
		t.Errorf("down: %v", err)
	}
	r.must(os.Remove(state + "/down"))
	r.git("remote", "set-url", "origin", filepath.Join(state, "nowhere.git"))
	if _, err := r.pull(res, "x"); failure(err) != executor.FailConfig {
		t.Errorf("no remote: %v", err)
	}
	bin, err := filepath.EvalSymlinks(r.space.git.bin)
	r.must(err)
	t.Setenv("PATH", filepath.Dir(bin))
	if _, err := r.pull(res, "x"); failure(err) != executor.FailConfig || !strings.Contains(err.Error(), "gh auth login") {
		t.Errorf("no gh: %v", err)
	}
}

func TestALockThatAKilledFetchLeftIsTakenAway(t *testing.T) { // execution §9
	r := newRepo(t, executortest.Epic(two, waiting))
	r.forge()
	r.write(".git/"+r.space.prefix()+"target.lock", "")
	if _, err := r.space.fetch(t.Context(), "main"); err != nil {
		t.Error(err)
	}
}
