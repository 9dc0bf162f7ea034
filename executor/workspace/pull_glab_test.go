package workspace

import (
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// overGlabs runs a test with a stand-in for glab, and with the real one if it is there.
func overGlabs(t *testing.T, test func(t *testing.T, real bool)) {
	t.Run("stand-in", func(t *testing.T) { test(t, false) })
	t.Run("real", func(t *testing.T) {
		if _, err := exec.LookPath("glab"); err != nil {
			t.Skip("NOT TESTED: the real glab, which is not on PATH (Debian: apt install glab)")
		}
		test(t, true)
	})
}

func TestAMergeRequestIsMadeOnce(t *testing.T) { // S2-71, S2-62, L0-06
	overGlabs(t, func(t *testing.T, real bool) {
		r := newRepo(t, executortest.Epic(two, waiting))
		g := r.gitlab(real)
		res := r.result("bd-1-1", r.head(), "a.txt", "a\n")
		before := r.manifest()
		g.loses = true
		p, err := r.pull(res, "1.1: one")
		if want := (executor.Pull{Number: 1, URL: "https://gitlab.test/group/sub/project/-/merge_requests/1"}); err != nil || p != want {
			t.Fatalf("got %+v, %v; asked %q", p, err, g.asked)
		}
		m := g.merges[1]
		if m["source_branch"] != "ralph/x/1-1" || m["target_branch"] != "main" || m["title"] != "1.1: one" ||
			!strings.HasPrefix(m["description"].(string), "What was done.\n\n<!-- ralph ") {
			t.Errorf("GitLab got %v", m)
		}
		if p, err := r.pull(res, "77"); err != nil || p.Number != 1 || g.merges[1]["title"] != "77" {
			t.Errorf("again: %+v, %v, %v", p, err, g.merges[1])
		}
		g.set(func() {
			g.merges[1]["description"], g.merges[1]["title"] = "a person's own words", "a person's title"
		})
		if p, err := r.pull(res, "1.1: one"); err != nil || p.Number != 1 || g.merges[1]["title"] != "a person's title" {
			t.Errorf("a person's: %+v, %v, %v", p, err, g.merges[1])
		}
		g.set(func() { g.merges[1]["source_project_id"] = 2 }) // it was a fork's
		if p, err := r.pull(res, "1.1: one"); err == nil || p.Number != 0 {
			t.Errorf("beside a fork's, which this server calls the same branch: %+v, %v", p, err)
		}
		g.set(func() { g.merges[1]["state"] = "closed" })
		if p, err := r.pull(res, "1.1: one"); err != nil || p.Number != 2 {
			t.Errorf("after a fork's: %+v, %v", p, err)
		}
		after := r.manifest()
		maps.DeleteFunc(after, func(path, _ string) bool { return strings.HasSuffix(path, "/refs/remotes/origin/ralph/x/1-1") })
		if !maps.Equal(before, after) {
			t.Errorf("something of the user's changed: %v", diffKeys(before, after))
		}
	})
}

func TestWhatBecameOfAMergeRequest(t *testing.T) { // S2-71, execution §5: mode wait
	overGlabs(t, func(t *testing.T, real bool) {
		r := newRepo(t, executortest.Epic(two, waiting))
		g := r.gitlab(real)
		base := r.head()
		res := r.result("bd-1-1", base, "a.txt", "a\n")
		p, err := r.pull(res, "1.1: one")
		if err != nil {
			t.Fatal(err)
		}
		is := func(state string, merge, squash any) executor.PullSeen {
			t.Helper()
			g.set(func() {
				g.merges[1]["state"], g.merges[1]["merge_commit_sha"], g.merges[1]["squash_commit_sha"] = state, merge, squash
			})
			e := r.effect(executor.EffectPoll, "bd-1-1", 1, res.Commit)
			e.Pull = p
			seen, err := r.space.Poll(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			return seen
		}
		for _, state := range []string{"opened", "locked"} {
			if seen := is(state, nil, nil); seen.State != "open" {
				t.Errorf("%s: %+v", state, seen)
			}
		}
		g.notes = []map[string]any{{"body": "closed", "system": true}, {"body": "not like this", "system": false}, {"body": "first", "system": false}}
		if seen := is("closed", nil, nil); seen.State != "closed" || seen.Comment != "not like this" {
			t.Errorf("got %+v", seen)
		}
		if last := g.asked[len(g.asked)-1]; !strings.Contains(last, "/merge_requests/1/notes?sort=desc&order_by=created_at&") {
			t.Errorf("asked %s", last)
		}
		// The target has to contain the merge, the squashed commit, or the commit itself.
		squash := r.git("commit-tree", res.Commit+"^{tree}", "-p", base, "-m", "squashed")
		for _, at := range [][3]any{{squash, nil, squash}, {nil, squash, squash}, {nil, nil, res.Commit}} {
			r.git("push", "-q", "-f", "origin", base+":refs/heads/main")
			if seen := is("merged", at[0], at[1]); seen.State != "open" {
				t.Errorf("%v, before the merge can be fetched: %+v", at, seen)
			}
			r.git("push", "-q", "-f", "origin", at[2].(string)+":refs/heads/main")
			if seen := is("merged", at[0], at[1]); seen.State != "merged" || seen.Head.Commit != at[2] {
				t.Errorf("%v: %+v", at, seen)
			}
		}
	})
}

func TestAGitLabThatRefuses(t *testing.T) { // S2-71
	overGlabs(t, func(t *testing.T, real bool) {
		r := newRepo(t, executortest.Epic(two, waiting))
		g := r.gitlab(real)
		res := r.result("bd-1-1", r.head(), "a.txt", "a\n")
		for status, want := range map[int]executor.FailureClass{401: executor.FailConfig, 404: executor.FailConfig, 429: executor.FailTransient, 502: executor.FailTransient} {
			g.set(func() { g.refuses = status })
			_, err := r.pull(res, "x")
			if failure(err) != want {
				t.Errorf("%d: %v", status, err)
			}
		}
		g.set(func() { g.refuses = 0 })
		// Its reasons for not creating one are a list.
		e := r.effect(executor.EffectPull, "bd-1-1", 1, res.Commit)
		g.merges[1] = map[string]any{"iid": 1, "source_branch": "ralph/x/1-1", "state": "opened", "source_project_id": 2, "target_project_id": 1}
		if _, err := r.space.Pull(t.Context(), e, executor.PullText{Title: "t", Onto: "main"}); failure(err) != executor.FailConfig || !strings.Contains(err.Error(), "make it by hand") {
			t.Errorf("refused with reasons: %v", err)
		}
		g.set(func() { clear(g.merges) })
		if _, err := r.space.Pull(t.Context(), e, executor.PullText{Title: "t"}); err != nil || g.merges[1]["target_branch"] != "main" {
			t.Errorf("onto the default branch: %v, %v", g.merges[1], err)
		}
		bin, err := filepath.EvalSymlinks(r.space.git.bin)
		r.must(err)
		t.Setenv("PATH", filepath.Dir(bin))
		if _, err := exec.LookPath("glab"); err == nil {
			return // beside git
		}
		if _, err := r.pull(res, "x"); failure(err) != executor.FailConfig || !strings.Contains(err.Error(), "install it (https://gitlab.com/gitlab-org/cli) and run glab auth login") {
			t.Errorf("no glab: %v", err)
		}
	})
}

func TestTheForgeFollowsFromTheRemote(t *testing.T) { // S2-71
	r := newRepo(t, executortest.Epic(two, waiting))
	of := func(git ir.GitSettings) string {
		t.Helper()
		forge, err := ForgeOf(t.Context(), r.dir, git)
		r.must(err)
		return forge
	}
	if got := of(ir.GitSettings{}); got != "gh" {
		t.Errorf("no remote: %s", got)
	}
	r.git("remote", "add", "origin", "https://github.com/a/b.git")
	r.git("remote", "add", "up", "https://github.com/a/b.git")
	r.git("config", "remote.up.pushurl", "lab:a/b")
	r.git("config", "url.ssh://git@GitLab.example:2222/.insteadOf", "lab:")
	for _, c := range []struct{ forge, remote, want string }{
		{"", "", "gh"},
		{"", "up", "glab"},
		{"gh", "up", "gh"},
		{"glab", "", "glab"},
		{"none", "up", "none"},
		{"", "https://gitlab.com/a/b", "glab"},
	} {
		if got := of(ir.GitSettings{Forge: c.forge, Remote: c.remote}); got != c.want {
			t.Errorf("forge %q, remote %q: %s", c.forge, c.remote, got)
		}
	}
	for address, want := range map[string][2]string{
		"https://me:word@gitlab.com:8443/a/b.git/": {"gitlab.com:8443", "a/b"},
		"ssh://git@gitlab.com:22/a/c/b":            {"gitlab.com", "a/c/b"},
		"git@gitlab.com:a/b.git":                   {"gitlab.com", "a/b"},
		"git@gitlab.com:/a/b.git":                  {"gitlab.com", "a/b"},
		"/srv/gitlab/b.git":                        {"", "srv/gitlab/b"},
		"./a:b":                                    {"", "a:b"},
		"file:///srv/gitlab/b":                     {"", ""},
	} {
		host, path := webPlace(address)
		if got := [2]string{host, path}; got[0] != want[0] || want[0] != "" && got[1] != want[1] {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}

func TestAForgeThatMakesNone(t *testing.T) { // S2-71
	r := newRepo(t, executortest.Epic(two, waiting, func(e *ir.Epic) { e.Run.Git.Forge = "none" }))
	state := r.forge()
	res := r.result("bd-1-1", r.head(), "a.txt", "a\n")
	if _, err := r.pull(res, "x"); failure(err) != executor.FailConfig || !strings.Contains(err.Error(), `git { forge = "none" }`) {
		t.Errorf("none: %v", err)
	}
	r.epic.Run.Git.Forge = "glab" // of a path
	r.open()
	if _, err := r.pull(res, "x"); failure(err) != executor.FailConfig || !strings.Contains(err.Error(), "the address of origin names none") {
		t.Errorf("no GitLab: %v", err)
	}
	if calls, err := filepath.Glob(state + "/calls"); err != nil || len(calls) > 0 {
		t.Errorf("gh was called: %q, %v", calls, err)
	}
}
