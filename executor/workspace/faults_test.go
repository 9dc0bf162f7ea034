package workspace

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestRefsThatMoveMeanwhileAreListed(t *testing.T) { // execution §7: reported, never put back
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	r.git("tag", "old")
	r.git("pack-refs", "--all")
	r.git("branch", "other")
	r.prepare("bd-1-1", 1, base)
	r.result("bd-1-2", base, "b.txt", "b") // another node's branch moves: that is ralph
	dir := r.space.Dir("bd-1-1")
	r.in("bd-1-1", "a.txt", "a")
	r.git("-C", dir, "tag", "-d", "old")
	theirs := r.git("commit-tree", base+"^{tree}", "-p", base, "-m", "elsewhere")
	r.git("update-ref", "refs/heads/other", theirs)
	r.git("branch", "fresh")
	c := r.collect("bd-1-1", 1, base)
	got := strings.Join(c.Listed, "\n")
	for _, want := range []string{"refs/heads/other moved", "refs/heads/fresh was made", "refs/tags/old was deleted"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if len(c.Listed) != 3 || c.Fresh != 0 || len(c.Problems) > 0 {
		t.Errorf("collected %+v", c)
	}
	if tip := r.git("rev-parse", "other"); tip != theirs {
		t.Errorf("other was put back to %s", tip)
	}
}

func TestWhatAnAttemptChanged(t *testing.T) { overLayouts(t, testWhatAnAttemptChanged) } // S1-09

func testWhatAnAttemptChanged(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	long := strings.Repeat("a line of some length\n", 20)
	r.write("old name.txt", long)
	r.write("gone.txt", "1\n2\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "more")
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	r.must(os.Rename(dir+"/old name.txt", dir+"/new name.txt"))
	r.must(os.Remove(dir + "/gone.txt"))
	r.in("bd-1-1", "README.md", "hello\nworld\n")
	r.in("bd-1-1", "picture", "\x00\x01")
	for i := range 30 {
		r.in("bd-1-1", fmt.Sprintf("many/%02d.txt", i), "x\n")
	}
	c := r.collect("bd-1-1", 1, base)
	if len(c.Problems) > 0 || c.Files != 34 || c.Added != 31 || c.Removed != 2 {
		t.Errorf("collected %+v", c)
	}
	if len(c.Changes) == 0 || len(c.Changes) > 20 {
		t.Errorf("%d changes in the event", len(c.Changes))
	}
	b, err := os.ReadFile(filepath.Join(r.space.State(), "attempts", "bd-1-1", "implement-1", "changes.json"))
	r.must(err)
	var all []executor.FileChange
	r.must(json.Unmarshal(b, &all))
	if len(all) != 34 {
		t.Errorf("changes.json holds %d", len(all))
	}
	for _, want := range []executor.FileChange{
		{Path: "new name.txt", From: "old name.txt", Type: "renamed"},
		{Path: "gone.txt", Type: "deleted", Removed: 2},
		{Path: "README.md", Type: "modified", Added: 1},
		{Path: "picture", Type: "created", Added: -1, Removed: -1},
		{Path: "many/07.txt", Type: "created", Added: 1},
	} {
		if !slices.Contains(all, want) {
			t.Errorf("changes.json lacks %+v", want)
		}
	}
	line, err := json.Marshal(executor.Event{Seq: 1, Node: "bd-1-1", Step: "implement", Attempt: 1, Body: c})
	if err != nil || len(line) > 4096 {
		t.Errorf("the event has %d bytes, %v", len(line), err)
	}
}

func TestAPersonsFixIsTakenAsItIs(t *testing.T) { overLayouts(t, testAPersonsFixIsTakenAsItIs) } // execution §5: retry --gates-only

func testAPersonsFixIsTakenAsItIs(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) {
		e.Nodes[0].Scope.Owns = []string{"src/**"}
		g := e.Gates["check"]
		g.Protect = []string{"tests/**"}
		e.Gates["check"] = g
		e.Run.Git.Commit = "squash"
	}))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	dir := r.space.Dir("bd-1-1")
	r.in("bd-1-1", "mine.txt", "by hand\n")
	r.git("-C", dir, "add", "-A")
	r.git("-C", dir, "commit", "-q", "-m", "by hand")
	own := r.git("-C", dir, "rev-parse", "HEAD")
	r.in("bd-1-1", "tests/a_test.sh", "exit 1\n")
	p := r.effect(executor.EffectPrepare, "bd-1-1", 2, base)
	p.Person = true
	got, err := r.space.Prepare(t.Context(), p)
	if err != nil || got.Saved != "" {
		t.Fatalf("prepared %+v, %v", got, err)
	}
	e := r.effect(executor.EffectCollect, "bd-1-1", 2, base)
	e.Person = true
	c, err := r.space.Collect(t.Context(), e, executor.Outcome{})
	if err != nil || len(c.Problems) > 0 || len(c.Listed) != 2 {
		t.Errorf("collected %+v, %v", c, err)
	}
	if parent := r.git("rev-parse", c.Result.Commit+"^"); parent != own {
		t.Errorf("it stands on %s, not on the person's own commit", parent)
	}
	if who := r.git("log", "-1", "--format=%an <%ae>", c.Result.Commit); who != "Test User <test@example.org>" {
		t.Errorf("written by %s", who)
	}
	e = r.effect(executor.EffectCollect, "bd-1-1", 3, c.Result.Commit)
	e.Person = true
	if c, err := r.space.Collect(t.Context(), e, executor.Outcome{}); err != nil || len(c.Problems) > 0 {
		t.Errorf("nothing changed: %+v, %v", c, err)
	}
	after := r.effect(executor.EffectCollect, "bd-1-1", 4, c.Result.Commit) // of the next step's agent, which has changed none of that
	after.Base = base
	r.prepare("bd-1-1", 4, c.Result.Commit)
	r.in("bd-1-1", "src/next.txt", "next\n")
	if c, err := r.space.Collect(t.Context(), after, executor.Outcome{}); err != nil || len(c.Problems) > 0 {
		t.Errorf("what a person changed before: %+v, %v", c, err)
	}
	r.in("bd-1-1", "tests/a_test.sh", "exit 2\n")
	after.Attempt, after.Seq = 5, after.Seq+50
	if c, err := r.space.Collect(t.Context(), after, executor.Outcome{}); err != nil || !strings.Contains(strings.Join(c.Problems, ""), "protects what was changed: tests/a_test.sh") {
		t.Errorf("a protected file that it changed itself: %+v, %v", c, err)
	}
	same := r.effect(executor.EffectCollect, "bd-1-1", 6, base) // of the same step's agent, which goes on from it
	same.Commit, same.Given = c.Result.Commit, c.Result.Commit
	r.prepare("bd-1-1", 6, c.Result.Commit)
	r.in("bd-1-1", "src/same.txt", "same\n")
	again, err := r.space.Collect(t.Context(), same, executor.Outcome{})
	if err != nil || len(again.Problems) > 0 {
		t.Errorf("what a person handed in before: %+v, %v", again, err)
	}
	r.in("bd-1-1", "other.txt", "other\n")
	r.in("bd-1-1", "tests/a_test.sh", "exit 3\n")
	same.Attempt, same.Seq = 7, same.Seq+50
	if c, err := r.space.Collect(t.Context(), same, executor.Outcome{}); err != nil || !strings.Contains(strings.Join(c.Problems, ""), "outside what the sprint owns (src/**): other.txt") ||
		!strings.Contains(strings.Join(c.Problems, ""), "protects what was changed: tests/a_test.sh") {
		t.Errorf("what it changed itself: %+v, %v", c, err)
	}
}

func TestNewProtectedFilesAreListed(t *testing.T) { overLayouts(t, testNewProtectedFilesAreListed) } // execution §3: protect

func testNewProtectedFilesAreListed(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Protect = []string{"tests/**"}
		e.Gates["check"] = g
	}))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.in("bd-1-1", "tests/b_test.sh", "exit 0\n")
	c := r.collect("bd-1-1", 1, base)
	if len(c.Problems) > 0 || len(c.Listed) != 1 || c.Fresh != 1 || !strings.Contains(c.Listed[0], "tests/b_test.sh") {
		t.Errorf("collected %+v", c)
	}
	r.prepare("bd-1-1", 2, base)
	dir := r.space.Dir("bd-1-1")
	r.git("-C", dir, "mv", "tests/a_test.sh", "elsewhere.sh") // a rename is a deletion too
	if c := r.collect("bd-1-1", 2, base); !strings.Contains(strings.Join(c.Problems, ""), "protects what was changed: tests/a_test.sh") {
		t.Errorf("collected %+v", c)
	}
}

func TestTheUsersSettingsHold(t *testing.T) { overLayouts(t, testTheUsersSettingsHold) } // execution §7

func testTheUsersSettingsHold(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	r := newRepo(t, nil)
	r.write(home+"/.gitignore-mine", "*.scratch\n")
	for k, v := range map[string]string{
		"core.excludesFile": "~/.gitignore-mine", "core.autocrlf": "input", "commit.gpgSign": "true", "gpg.program": "false",
		"core.hooksPath": r.dir + "/.git/hooks", "core.fsmonitor": "touch " + r.dir + "/pwned", "diff.external": "false", "merge.ff": "only",
		"filter.lfs.clean": "tr a-z A-Z", "filter.lfs.smudge": "tr A-Z a-z", "filter.lfs.required": "true",
		"filter.evil.clean": "touch " + r.dir + "/pwned", "core.editor": "false", "user.name": "Global Name",
		"status.showUntrackedFiles": "no", "diff.renames": "false", "core.quotePath": "true", "init.defaultBranch": "x",
	} {
		r.git("config", "--global", k, v)
	}
	r.git("config", "--unset", "user.name")
	r.write(".gitattributes", "*.big filter=lfs\n*.evil filter=evil\n")
	r.write(".git/info/exclude", "*.local\n")
	r.git("-c", "commit.gpgSign=false", "-c", "filter.evil.clean=", "add", "-A")
	r.git("-c", "commit.gpgSign=false", "commit", "-q", "-m", "attributes")
	r.epic = executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2"})
	os.Remove(r.dir + "/pwned")
	r.open()
	homeBefore, before := files(t, home), r.manifest()
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	for f, text := range map[string]string{"a.scratch": "x", "b.local": "x", "crlf.txt": "one\r\ntwo\r\n", "c.big": "large\n", "d.evil": "x\n", "e.log": "x"} {
		r.in("bd-1-1", f, text)
	}
	c := r.collect("bd-1-1", 1, base)
	if got := strings.Join(c.Changed, " "); got != "c.big crlf.txt d.evil" {
		t.Errorf("collected %q; problems %q", got, c.Problems)
	}
	if got := r.git("cat-file", "blob", c.Result.Commit+":crlf.txt"); strings.Contains(got, "\r") {
		t.Errorf("core.autocrlf did not hold: %q", got)
	}
	if got := r.git("cat-file", "blob", c.Result.Commit+":c.big"); got != "LARGE" {
		t.Errorf("the filter of large files did not run: %q", got)
	}
	if got := r.git("log", "-1", "--format=%cn", c.Result.Commit); got != "Global Name" {
		t.Errorf("committed by %q", got)
	}
	g := r.gate("bd-1-1", c.Result.Commit, "check", true)
	dir := r.opened(g)
	if b, err := os.ReadFile(dir + "/c.big"); err != nil || string(b) != "large\n" {
		t.Errorf("a gate sees %q, %v", b, err)
	}
	r.closed(g)
	if _, err := os.Stat(r.dir + "/pwned"); err == nil {
		t.Error("a program was run that no setting allows")
	}
	if got := files(t, home); !maps.Equal(homeBefore, got) {
		t.Errorf("the home directory changed: %v", diffKeys(homeBefore, got))
	}
	if got := r.manifest(); !maps.Equal(before, got) {
		t.Errorf("the repository changed: %v", diffKeys(before, got))
	}
}

// files returns the contents of all files below dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, rerr := os.ReadFile(path)
			out[path], err = string(b), rerr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRepositoriesOfSpecialKinds(t *testing.T) { overLayouts(t, testRepositoriesOfSpecialKinds) } // facts: D10

func testRepositoriesOfSpecialKinds(t *testing.T) {
	for name, make := range map[string]func(r *repo) string{ // returns the base
		"a shallow clone": func(r *repo) string {
			for i := range 3 {
				r.git("commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
			}
			shallow := filepath.Join(r.t.TempDir(), "project")
			r.git("clone", "-q", "--depth", "1", "file://"+r.dir, shallow)
			r.dir = shallow
			r.git("config", "user.name", "x")
			r.git("config", "user.email", "x@x")
			return r.head()
		},
		"a submodule pointer": func(r *repo) string {
			r.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./nowhere\n")
			r.git("add", ".gitmodules")
			r.git("update-index", "--add", "--cacheinfo", "160000,"+r.head()+",sub")
			r.git("commit", "-q", "-m", "with a submodule")
			return r.head()
		},
		"pointers of large files, and no program for them": func(r *repo) string {
			r.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
			r.write("a.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n")
			r.git("add", "-A")
			r.git("commit", "-q", "-m", "large")
			return r.head()
		},
		"objects with other names": func(r *repo) string {
			r.dir = filepath.Join(r.t.TempDir(), "project")
			r.must(os.MkdirAll(r.dir, 0o755))
			r.git("init", "-q", "-b", "main", "--object-format=sha256", ".")
			r.git("config", "user.name", "x")
			r.git("config", "user.email", "x@x")
			r.write("README.md", "hello\n")
			r.git("add", "-A")
			r.git("commit", "-q", "-m", "first")
			return r.head()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, nil)
			base := make(r)
			dir, err := filepath.EvalSymlinks(r.dir)
			r.must(err)
			r.dir = dir
			r.epic = executortest.Epic([]string{"1.1", "1.2", "1.3: 1.1 1.2"})
			r.open()
			e := r.effect(executor.EffectPrepare, "bd-1-1", 1, base)
			p, err := r.space.Prepare(t.Context(), e)
			r.must(err)
			if skipped := strings.Join(p.Skipped, ""); (skipped == "submodules") != (name == "a submodule pointer") {
				t.Errorf("skipped %q", skipped)
			}
			r.in("bd-1-1", "README.md", "one\n")
			c := r.collect("bd-1-1", 1, base)
			if len(c.Problems) > 0 || !slices.Equal(c.Changed, []string{"README.md"}) {
				t.Fatalf("collected %+v", c)
			}
			b := r.result("bd-1-2", base, "README.md", "two\n")
			in := []executor.Result{{Node: "bd-1-1", Tree: c.Result}, b}
			r.prepareMerge("bd-1-3", 1, c.Result.Commit, in)
			r.in("bd-1-3", "README.md", "both\n")
			if m := r.collectMerge("bd-1-3", 1, c.Result.Commit, in); len(m.Problems) > 0 {
				t.Errorf("merged %+v", m)
			}
		})
	}
}

func TestTheUserWorksMeanwhile(t *testing.T) { overLayouts(t, testTheUserWorksMeanwhile) } // facts: D7, D9; N2, N5

func testTheUserWorksMeanwhile(t *testing.T) {
	if testing.Short() {
		t.Skip("runs gc over and over")
	}
	var lines []string
	for i := range 8 {
		lines = append(lines, fmt.Sprintf("1.%d", i+1))
	}
	r := newRepo(t, executortest.Epic(lines))
	base := r.head()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			for _, args := range [][]string{
				{"checkout", "-q", "-b", fmt.Sprintf("user-%d", i)},
				{"gc", "-q"},
				{"pack-refs", "--all", "--prune"},
				{"commit", "-q", "--allow-empty", "-m", "by the user"},
				{"checkout", "-q", "main"},
			} {
				cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "core.hooksPath=/dev/null"}, args...)...)
				cmd.Env = userEnv()
				_ = cmd.Run() // a lock of the other side may be in its way
			}
		}
	}()
	var results []executor.Result
	for i := range lines {
		id := ir.NodeID(fmt.Sprintf("bd-1-%d", i+1))
		results = append(results, r.result(id, base, fmt.Sprintf("f%d.txt", i), "x\n"))
	}
	e := r.effect(executor.EffectBase, executor.Integration, 0, "")
	e.Inputs = results
	sum, err := r.space.Base(t.Context(), e)
	close(stop)
	<-done
	r.must(err)
	r.git("gc", "-q", "--prune=now")
	r.git("fsck", "--strict", "--no-dangling")
	for _, res := range results {
		r.git("merge-base", "--is-ancestor", res.Commit, sum.Base.Commit)
	}
}

func TestADiskThatIsFull(t *testing.T) { overLayouts(t, testADiskThatIsFull) } // facts: B4

func testADiskThatIsFull(t *testing.T) {
	r := newRepo(t, nil)
	disk := filepath.Join(t.TempDir(), "disk")
	r.must(os.Mkdir(disk, 0o755))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no small file system can be mounted here (needs root): %v %s", err, out)
	}
	t.Cleanup(func() {
		if r.space != nil {
			r.space.Trees.Release()
		}
		_ = exec.Command("umount", "-l", disk).Run()
	})
	r.must(os.CopyFS(disk+"/project", os.DirFS(r.dir)))
	dir, err := filepath.EvalSymlinks(disk + "/project")
	r.must(err)
	r.dir = dir
	r.must(os.RemoveAll(r.dir + "/.git/hooks"))
	r.epic = executortest.Epic([]string{"1.1", "1.2"})
	r.open()
	base := r.head()
	a := r.result("bd-1-1", base, "a.txt", "a\n")
	r.prepare("bd-1-2", 1, base)
	r.in("bd-1-2", "b.txt", "precious\n")
	ballast := filepath.Join(disk, "ballast")
	f, err := os.Create(ballast)
	r.must(err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	e := r.effect(executor.EffectCollect, "bd-1-2", 1, base)
	if c, err := r.space.Collect(t.Context(), e, executor.Outcome{}); err == nil {
		t.Errorf("collected on a full disk: %+v", c)
	} else if failure(err) != "" && failure(err) != executor.FailTransient {
		t.Errorf("class %s: %v", failure(err), err)
	}
	r.must(os.Remove(ballast))
	r.open() // and after a restart
	c, err := r.space.Collect(t.Context(), e, executor.Outcome{})
	if err != nil || len(c.Problems) > 0 || r.git("show", c.Result.Commit+":b.txt") != "precious" {
		t.Errorf("after room was made: %+v, %v", c, err)
	}
	r.git("fsck", "--strict", "--no-dangling")
	r.git("cat-file", "-e", a.Commit)
}
