package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// wallIn confines all nodes of a space in sandboxes with these limits, or skips the test
// where there are none.
func (r *repo) wallIn(limits wall.Limits) {
	r.t.Helper()
	spec := wall.Spec{Name: "default", Kind: wall.Namespaces, Limits: limits}
	_, err := process.Run(r.t.Context(), process.Spec{Argv: []string{"/bin/true"}, Dir: "/", Wall: sandbox.New(spec)})
	if _, off := errors.AsType[*sandbox.Unavailable](err); off {
		r.t.Skipf("SKIPPED: no sandbox on this machine: %v", err)
	}
	r.must(err)
	r.space.Walls = func(ir.NodeID, Purpose, string) (*wall.Spec, error) { return &spec, nil }
}

// has reports whether the user's repository has an object.
func (r *repo) has(oid string) bool {
	cmd := exec.Command("git", "cat-file", "-e", oid)
	cmd.Dir, cmd.Env = r.dir, userEnv()
	return cmd.Run() == nil
}

// said is what a script of an agent printed into $OUT.
func (r *repo) said() []string {
	r.t.Helper()
	b, err := os.ReadFile(r.dir + "-out")
	r.must(err)
	return strings.Fields(string(b))
}

// What a confined agent left in its clone runs nowhere outside, brings nothing of others
// along and, where it is refused, leaves nothing in the user's repository. OUT gets the
// objects that must not be there.
func TestAHostileCloneHandsOverNothing(t *testing.T) {
	const noise, zeros = 30 << 20, 64 << 20
	tree := func(name string) string {
		return fmt.Sprintf(`
blob=$(echo planted | git hash-object -w --stdin); inner=$(printf '100644 blob %%s\tconfig\n' $blob | git mktree)
tree=$( (printf '40000 %s\0'; printf $(echo $inner | sed 's/../\\x&/g')) | git hash-object -t tree -w --literally --stdin)
git reset -q --soft $(git commit-tree $tree -p HEAD -m evil); git read-tree HEAD^; echo a > a.txt
echo $blob $inner $tree $(git rev-parse HEAD) > $TOP-out`, name)
	}
	for name, c := range map[string]struct {
		do   string
		want string // part of a problem; "" for none
	}{
		"programs in its configuration": {`
for k in core.fsmonitor core.sshCommand core.alternateRefsCommand uploadpack.packObjectsHook diff.external core.editor core.pager gpg.program filter.x.clean filter.x.smudge filter.x.process; do git config $k "touch $TOP/pwned"; done
git config core.hooksPath "$PWD/hooks"; git config extensions.partialClone evil; git config remote.evil.promisor true; git config remote.evil.url "ext::sh -c touch% $TOP/pwned"; git config protocol.allow always
mkdir -p hooks .git/hooks; for h in post-checkout reference-transaction post-index-change pre-auto-gc; do printf '#!/bin/sh\ntouch %s/pwned\n' "$TOP" | tee hooks/$h .git/hooks/$h >/dev/null; done; chmod +x hooks/* .git/hooks/*
echo '* filter=x' > .git/info/attributes; echo '* filter=x' > .gitattributes
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=false GIT_CONFIG_KEY_1=core.hooksPath GIT_CONFIG_VALUE_1=/dev/null
tree=$(git mktree </dev/null); git update-ref HEAD $(git commit-tree $tree -p HEAD -m own)
echo a > a.txt; : > $TOP-out; rm -f $TOP/pwned`, ""},
		"a directory named .GIT":   {tree(".GIT"), "cannot be taken"},
		"a directory named .git":   {tree(".git"), "cannot be taken"},
		"a directory named ..":     {tree(".."), "cannot be taken"},
		"a name with a slash":      {tree("a/b"), "cannot be taken"},
		"more than max_commit":     {fmt.Sprintf(`head -c %d /dev/urandom > noise; git add noise; git commit -qm noise; git rev-parse HEAD HEAD:noise > $TOP-out; git rm -q --cached noise; rm noise; echo a > a.txt`, noise), "worktree.max_commit allows"},
		"a file above limits.file": {fmt.Sprintf(`head -c %d /dev/zero > zeros; git add zeros; git commit -qm zeros; git rev-parse HEAD HEAD:zeros > $TOP-out; git rm -q --cached zeros; rm zeros; echo a > a.txt`, zeros), "limits.file of its sandbox allows"},
		"staged above limits.file": {fmt.Sprintf(`head -c %d /dev/zero > zeros; git add zeros; git rev-parse :zeros > $TOP-out; rm zeros; echo a > a.txt`, zeros), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two, cloning, func(e *ir.Epic) {
				if e.Run.Worktree.MaxCommit = 1 << 30; c.want == "worktree.max_commit allows" {
					e.Run.Worktree.MaxCommit = 10 << 20
				}
			}))
			r.wallIn(wall.Limits{File: 32 << 20})
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			r.sh("bd-1-1", c.do)
			got := r.collect("bd-1-1", 1, base)
			problems := strings.Join(got.Problems, "\n")
			if c.want == "" && problems != "" || !strings.Contains(problems, c.want) {
				t.Errorf("problems %q, want %q", problems, c.want)
			}
			if text := r.git("show", got.Result.Commit+":a.txt"); text != "a" {
				t.Errorf("a.txt is %q", text)
			}
			for _, oid := range r.said() {
				if r.has(oid) {
					t.Errorf("%s is in the user's repository", oid)
				}
			}
			if _, err := os.Stat(r.dir + "/pwned"); err == nil {
				t.Error("what the agent wrote was run")
			}
			if left, err := filepath.Glob(r.space.State() + "/import-*"); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			r.git("fsck", "--strict", "--no-dangling")
		})
	}
}

// The git that packs sees the clone and the user's objects, and no other repository; with
// a promise of more objects in its configuration, too.
func TestTheGitThatPacksSeesNoOtherRepository(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.sh("bd-1-1", `
git init -q ../secret; echo secret > ../secret/f; blob=$(git -C ../secret hash-object -w f)
echo "$PWD/../secret/.git/objects" >> .git/objects/info/alternates
git config extensions.partialClone evil; git config remote.evil.promisor true; git config remote.evil.url "$PWD/../secret"; git config protocol.allow always
git update-index --add --cacheinfo "100644,$blob,stolen"; git commit -qm stolen; echo $blob $(git rev-parse HEAD) > $TOP-out`)
	w := r.space.own(r.space.nodes["bd-1-1"])
	if _, err := r.space.find(w); err != nil {
		t.Fatal(err)
	}
	blob, head := r.said()[0], r.said()[1]
	r.wallIn(wall.Limits{})
	if err := r.space.copyObjects(t.Context(), w, head); err == nil || !theirs(err) {
		t.Errorf("it handed over another repository's object: %v", err)
	}
	if r.has(blob) || r.has(head) {
		t.Error("another repository's object was copied")
	}
	r.space.Walls = nil
	if err := r.space.copyObjects(t.Context(), w, head); err != nil || !r.has(blob) {
		t.Errorf("without a sandbox: %v; the test shows nothing", err)
	}
}

// No git outside is told of a confined clone's objects or reads its configuration, see
// audit, which watches all other tests of confined clones, too.
func TestNoGitOutsideReadsAConfinedClone(t *testing.T) {
	overWalls(t, testNoGitOutsideReadsAConfinedClone)
}

func testNoGitOutsideReadsAConfinedClone(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	r.must(r.space.Trees.Recover(t.Context()))
	inside := 0
	if r.confined() {
		r.space.enclose = func(spec *wall.Spec) process.Wall { inside++; return noWall{spec} }
	}
	base := r.head()
	for i := 1; i < 3; i++ {
		r.prepare("bd-1-1", i, base)
		r.sh("bd-1-1", `for i in $(seq 150); do echo $i > f$i; done; git add -A; git commit -qm many; echo s > s.txt; git add s.txt; git init -q nested; echo n > nested/n; echo a > a.txt`)
		c := r.collect("bd-1-1", i, base)
		if got := strings.Join(c.Problems, "\n"); got != "" && !strings.Contains(got, "nested") || c.Files != 153 {
			t.Errorf("collected %d files, %q", c.Files, got)
		}
		e := r.gate("bd-1-1", c.Result.Commit, "check", true)
		r.opened(e)
		r.closed(e)
	}
	if (inside > 0) != r.confined() {
		t.Errorf("%d calls of git in a sandbox", inside)
	}
}

func TestAPackThatIsTooLargeIsRefused(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	confine(r.space)
	r.space.largest = 100_000
	base := r.head()
	r.prepare("bd-1-1", 1, base)
	r.sh("bd-1-1", `head -c 300000 /dev/urandom > noise; git add noise; git commit -qm noise; git rev-parse HEAD:noise > $TOP-out; git rm -q --cached noise; rm noise; echo a > a.txt`)
	c := r.collect("bd-1-1", 1, base)
	if got := strings.Join(c.Problems, "\n"); !strings.Contains(got, "makes a pack of more than 100000 bytes") {
		t.Errorf("problems %q", got)
	}
	if r.has(r.said()[0]) {
		t.Error("it was copied")
	}
}

// What git inside says decides nothing: not even that the machine is to blame.
func TestWhatGitInsideSaysIsTheClonesWord(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	confine(r.space)
	base := r.head()
	real := r.space.git.bin
	for what, script := range map[string]string{
		"a failure":    `echo "fatal: No space left on device" >&2; exit 128`,
		"no pack":      `echo nonsense`,
		"half a pack":  real + ` "$@" | head -c 60`,
		"a huge count": `printf 'PACK\0\0\0\2\177\377\377\377aaaaaaaaaaaaaaaaaaaa'`,
	} {
		t.Run(what, func(t *testing.T) {
			r.space.git.bin = real
			r.prepare("bd-1-1", int(r.seq)+1, base)
			shim := filepath.Join(t.TempDir(), "git")
			r.must(os.WriteFile(shim, fmt.Appendf(nil, "#!/bin/sh\n[ -n \"$INSIDE\" ] || exec %s \"$@\"\n%s\n", real, script), 0o755))
			r.space.git.bin = shim
			r.sh("bd-1-1", `echo b > b.txt; git add b.txt; git commit -qm b; git rm -q --cached b.txt; rm b.txt; echo a > a.txt`)
			c := r.collect("bd-1-1", int(r.seq), base)
			if got := strings.Join(c.Problems, "\n"); !strings.Contains(got, "its commits cannot be taken: ") {
				t.Errorf("problems %q", got)
			}
			if r.git("show", c.Result.Commit+":a.txt") != "a" {
				t.Error("its files are not taken")
			}
		})
	}
}

// What a clone has packed as deltas is unfolded by the git inside: the one outside has to
// make no object of another.
func TestAPackThatIsHandedOverHasNoDeltas(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	confine(r.space)
	r.prepare("bd-1-1", 1, r.head())
	r.sh("bd-1-1", `for i in $(seq 9); do seq 5000 >> long; git add long; git commit -qm $i; done; git repack -adfq
git verify-pack -v .git/objects/pack/*.idx | grep -q '^chain length' || exit 1; git rev-parse HEAD > $TOP-out`)
	w := r.space.own(r.space.nodes["bd-1-1"])
	if _, err := r.space.find(w); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	r.must(err)
	spec, err := r.space.confined(w, HandOver)
	r.must(err)
	revs, err := r.space.newRevs(w, r.said())
	r.must(err)
	r.must(r.space.packInside(t.Context(), w, spec, dir, revs))
	r.must(os.Rename(filepath.Join(dir, "pack"), filepath.Join(dir, "x.pack")))
	if said := r.git("index-pack", "-v", filepath.Join(dir, "x.pack")) + r.git("verify-pack", "-v", filepath.Join(dir, "x.pack")); strings.Contains(said, "chain length") || !strings.Contains(said, "non delta: ") {
		t.Error(said)
	}
}

// A pack of a few bytes can hold a file of hundreds of megabytes, which takes no memory outside.
func TestALargeFileIsHandedOverInLittleMemory(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	r.must(err)
	from := filepath.Join(dir, "from")
	cmd := exec.Command("sh", "-ec", `git init -q from; cd from; head -c 100000000 /dev/zero > z; git add z; git -c user.name=a -c user.email=a commit -qm z; echo HEAD | git pack-objects -q --revs --stdout > ../pack`)
	cmd.Dir, cmd.Env = dir, userEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	small := filepath.Join(dir, "git")
	r.must(os.WriteFile(small, fmt.Appendf(nil, "#!/bin/sh\nulimit -v 90000\nexec %s \"$@\"\n", r.space.git.bin), 0o700))
	head := strings.TrimSpace(r.git("-C", from, "rev-parse", "HEAD"))
	r.space.git.bin = small
	in, err := r.space.quarantined(t.Context(), dir)
	r.must(err)
	r.must(r.space.keepPack(t.Context(), in))
	if !r.has(head) {
		t.Error("it is not there")
	}
}

// A hand-over that is cut leaves its quarantine, which the next run removes.
func TestACutHandOverIsCleanedUp(t *testing.T) {
	r := newRepo(t, executortest.Epic(two, cloning))
	confine(r.space)
	r.prepare("bd-1-1", 1, r.head())
	r.sh("bd-1-1", `echo b > b.txt; git add b.txt; git commit -qm b`)
	ctx, cancel := context.WithCancel(t.Context())
	r.space.git.started = func(args []string) {
		if args[0] == "index-pack" {
			cancel()
		}
	}
	r.must(os.MkdirAll(r.space.State()+"/import-left/objects/pack", 0o700))
	if _, err := r.space.Prepare(ctx, r.effect(executor.EffectPrepare, "bd-1-1", 2, r.head())); !errors.Is(err, context.Canceled) {
		t.Errorf("prepared: %v", err)
	}
	r.must(r.space.Trees.Recover(t.Context()))
	if left, err := filepath.Glob(r.space.State() + "/import-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if saved := r.prepare("bd-1-1", 2, r.head()); saved == "" || r.git("show", saved+":b.txt") != "b" {
		t.Errorf("saved %q", saved)
	}
}
