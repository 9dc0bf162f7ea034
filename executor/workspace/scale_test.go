package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// wide is an epic of n nodes that need nothing.
func wide(n int, change ...func(*ir.Epic)) *ir.Epic {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("1.%d", i+1)
	}
	return executortest.Epic(lines, change...)
}

func TestAnAttemptCostsTheSameBesideManyRefs(t *testing.T) {
	overLayouts(t, testAnAttemptCostsTheSameBesideManyRefs)
}

func testAnAttemptCostsTheSameBesideManyRefs(t *testing.T) {
	cost := func(branches, done int) (processes []string, files int) {
		r := newRepo(t, wide(done+2))
		base := r.head()
		for i := range branches {
			r.write(fmt.Sprintf(".git/refs/heads/feature/b%d", i), base+"\n")
		}
		for i := range done {
			r.write(fmt.Sprintf(".git/refs/heads/ralph/x/1-%d", i+3), base+"\n")
		}
		time.Sleep(2 * tick)
		for _, node := range []ir.NodeID{"bd-1-1", "bd-1-2"} { // what the first one reads is known to the second
			processes, files = nil, r.space.git.dirs.read
			r.space.git.started = func(args []string) { processes = append(processes, args[0]) }
			r.prepare(node, 1, base)
			r.in(node, "new.txt", "new\n")
			r.collect(node, 1, base)
			r.space.git.started = nil
		}
		return processes, r.space.git.dirs.read - files
	}
	few, fewRead := cost(10, 5)
	many, manyRead := cost(1000, 500)
	if !slices.Equal(few, many) {
		t.Errorf("an attempt took %d git processes beside few refs, %d beside many:\n%v\n%v", len(few), len(many), few, many)
	}
	if fewRead != manyRead {
		t.Errorf("an attempt read %d files of refs beside few, %d beside many", fewRead, manyRead)
	}
}

func TestAClonesRefsAreTheUsersAndWhatItsNodeNeeds(t *testing.T) {
	r := newRepo(t, executortest.Epic([]string{"0.1", "0.2: 0.1", "1.1: 0.2", "1.2", "2.1"}, cloning))
	r.git("tag", "v1")
	for _, branch := range []string{"feature/x", "ralph/other/1-1", "ralph/x/0-1", "ralph/x/1-1", "ralph/x/1-2", "ralph/x/integration"} { // 0.2 was skipped
		r.git("update-ref", "refs/heads/"+branch, r.head())
	}
	for _, remote := range []string{"main", "ralph/x/1-2", "ralph/x/1-1"} {
		r.git("update-ref", "refs/remotes/origin/"+remote, r.head())
	}
	r.git("pack-refs", "--all")
	r.git("update-ref", "refs/heads/loose", r.head())
	for node, want := range map[ir.NodeID][]string{
		"bd-1-2":      {},
		"bd-2-1":      {},
		"bd-1-1":      {"refs/heads/ralph/x/0-1"},
		"integration": {"refs/heads/ralph/x/0-1", "refs/heads/ralph/x/1-1", "refs/heads/ralph/x/1-2", "refs/remotes/origin/ralph/x/1-1", "refs/remotes/origin/ralph/x/1-2"},
	} {
		want = append(want, "refs/heads/feature/x", "refs/heads/loose", "refs/heads/main", "refs/heads/ralph/other/1-1", "refs/heads/ralph/x/integration", "refs/remotes/origin/main", "refs/tags/v1")
		slices.Sort(want)
		refs, err := r.space.shows(r.space.nodes[node])
		if err != nil || !slices.Equal(sortedKeys(refs), want) {
			t.Errorf("%s: %v\n%v\nwant %v", node, err, sortedKeys(refs), want)
		}
	}
}

func TestARefThatMovedIsReadAgain(t *testing.T) {
	r := newRepo(t, wide(1))
	r.git("branch", "feature/x")
	refs := func() map[string]string {
		t.Helper()
		time.Sleep(2 * tick)
		got, err := r.space.foreignRefs()
		r.must(err)
		return got
	}
	first := refs()
	again := refs()
	if r.space.git.dirs.read != len(first) || first["refs/heads/feature/x"] != r.head() || !slices.Equal(sortedKeys(first), sortedKeys(again)) {
		t.Errorf("%d files were read for %v and %v", r.space.git.dirs.read, first, again)
	}
	r.git("commit", "-q", "--allow-empty", "-m", "second")
	r.git("branch", "-f", "feature/x")
	r.git("branch", "feature/y/z")
	if now := refs(); now["refs/heads/feature/x"] != r.head() || now["refs/heads/main"] != r.head() || now["refs/heads/feature/y/z"] != r.head() {
		t.Errorf("refs that moved: %v", now)
	}
	r.git("branch", "-D", "feature/x")
	r.git("pack-refs", "--all")
	if now := refs(); now["refs/heads/feature/x"] != "" || now["refs/heads/feature/y/z"] != r.head() {
		t.Errorf("refs that are gone or packed: %v", now)
	}
}

// Room is asked before each agent and each gate.
func TestRoomCostsTheSameForAnyNumberOfNodes(t *testing.T) { // worktree.min_free
	cost := func(nodes int) float64 {
		r := newRepo(t, wide(nodes, func(e *ir.Epic) { e.Run.Worktree.MinFree = 1 }))
		return testing.AllocsPerRun(10, func() { r.must(r.space.Trees.Room()) })
	}
	if few, many := cost(10), cost(2000); many > few {
		t.Errorf("%.0f allocations for 10 nodes, %.0f for 2,000", few, many)
	}
}

// A start looks once for what gates left, whatever the number of nodes is.
func TestWhatGatesLeftIsFoundOnceForAllNodes(t *testing.T) {
	cost := func(nodes int) float64 {
		r := newRepo(t, wide(nodes))
		r.prepare("bd-1-1", 1, r.head())
		for i := range nodes {
			r.must(os.Mkdir(filepath.Join(filepath.Dir(r.space.Dir("bd-1-1")), fmt.Sprint("other-", i)), 0o755))
		}
		return testing.AllocsPerRun(1, func() { r.must(r.space.recoverApart()) }) / float64(nodes)
	}
	if few, many := cost(50), cost(500); many > 1.5*few {
		t.Errorf("%.0f allocations a node for 50 nodes, %.0f for 500", few, many)
	}
}
