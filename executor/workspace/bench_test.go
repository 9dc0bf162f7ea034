package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// before, made and after are what a script does for each node that ralph does with
// git, one command after another: a worktree on a branch of its own, one new file, a
// commit under a ref, a look before and after a gate, a result. $G is git with
// ralph's settings. How a worktree is made depends on the layout.
const (
	before = `set -eu
: "${FROM:?}" "${TO:?}" "${G:?}"
base=$($G rev-parse HEAD)
here=$PWD
i=$FROM
while [ $i -le "$TO" ]; do
  d=$here/../script-worktrees/$i
  r=refs/ralph/script/nodes/$i
  printf 'create %s/attempts/implement/1 %s\ncreate refs/heads/script/%s %s\n' $r $base $i $base | $G update-ref --stdin
`
	after = `
  $w reset --hard --quiet $base
  echo "$i" > $d/file-$i.txt
  $w ls-files --others --exclude-standard -z > /dev/null
  $w add --all -- .
  t=$($w write-tree)
  c=$(printf 'node %s\n\nRalph-Key: %s\n' $i $i | $G commit-tree $t -p $base)
  printf 'update %s/attempts/implement/1 %s %s\nupdate refs/heads/script/%s %s %s\n' $r $c $base $i $c $base | $G update-ref --stdin
  $G diff-tree -r -z --raw --numstat --find-renames $base $c > /dev/null
  $w status --porcelain=v2 --branch -z > /dev/null
  $w status --porcelain=v2 --branch -z > /dev/null
  printf 'create %s/result %s\n' $r $c | $G update-ref --stdin
  i=$((i + 1))
done
`
)

var made = map[string]string{
	"worktree": `
  $G worktree add --force --detach --no-checkout -- $d $base 2>/dev/null
  echo "ref: refs/heads/script/$i" > .git/worktrees/$i/HEAD
  w="$G --git-dir=.git/worktrees/$i --work-tree=$d"
`,
	"clone": `
  mkdir -p $d/.git/objects/info $d/.git/refs/heads/script
  echo "$here/.git/objects" > $d/.git/objects/info/alternates
  printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n' > $d/.git/config
  echo $base > $d/.git/refs/heads/script/$i
  echo "ref: refs/heads/script/$i" > $d/.git/HEAD
  w="env GIT_COMMON_DIR=$here/.git $G --git-dir=$d/.git --work-tree=$d"
`,
}

// BenchmarkNodesWithGit walks 200 nodes through prepare, collect, one gate and
// publish, and compares with the script that issues the same git commands, ten nodes
// of each in turn. ratio is ralph's wall time by the script's; it should stay below
// 1.3.
func BenchmarkNodesWithGit(b *testing.B) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		b.Skip("no sh: nothing to compare with")
	}
	for _, layout := range []string{"clone", "worktree"} {
		b.Run(layout, func(b *testing.B) { benchNodesWithGit(b, sh, layout) })
	}
}

func benchNodesWithGit(b *testing.B, sh, layout string) {
	nodes, turn := 200, 10
	if testing.Short() {
		nodes = 20
	}
	var lines []string
	for i := range nodes {
		lines = append(lines, fmt.Sprintf("1.%d", i+1))
	}
	var ours, theirs time.Duration
	for range b.N {
		r, peer := newRepo(b, executortest.Epic(lines)), newRepo(b, executortest.Epic(nil))
		r.epic.Run.Worktree.Layout = layout
		base := r.head()
		g := append([]string{r.space.git.bin}, r.space.git.conf...)
		env := append(append(os.Environ(), r.space.git.env...), r.space.person...)
		env = withoutVar(append(env, "G="+strings.Join(g, " ")), "GIT_DIR")
		for from := 1; from <= nodes; from += turn {
			began := time.Now()
			for i := from; i < from+turn; i++ {
				c := r.result(ir.NodeID(fmt.Sprintf("bd-1-%d", i)), base, fmt.Sprintf("file-%d.txt", i), "x\n")
				e := r.gate(c.Node, c.Commit, "check", false)
				r.opened(e)
				r.closed(e)
			}
			ours += time.Since(began)

			cmd := exec.Command(sh, "-c", before+made[layout]+after)
			cmd.Dir = peer.dir
			cmd.Env = append(env, fmt.Sprintf("FROM=%d", from), fmt.Sprintf("TO=%d", from+turn-1))
			began = time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			theirs += time.Since(began)
		}
		if n := strings.Count(peer.git("for-each-ref", "refs/ralph/script/nodes/*/result"), "\n"); n != nodes-1 {
			b.Fatalf("the script made %d results", n+1)
		}
		if got, err := filepath.Glob(r.dir + "/.git/refs/ralph/bd-epic/nodes/*/result"); err != nil || len(got) != nodes {
			b.Fatalf("ralph made %d results", len(got))
		}
	}
	b.ReportMetric(float64(ours.Milliseconds())/float64(nodes)/float64(b.N), "ms/node")
	b.ReportMetric(float64(theirs.Milliseconds())/float64(nodes)/float64(b.N), "script-ms/node")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
}

func withoutVar(env []string, name string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			out = append(out, v)
		}
	}
	return out
}

// TestGitProcessesOfANode counts the git commands that one node costs. It is a
// bound, not a wish: each costs milliseconds.
func TestGitProcessesOfANode(t *testing.T) { overLayouts(t, testGitProcessesOfANode) }

func testGitProcessesOfANode(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	base := r.head()
	c := r.result("bd-1-1", base, "a.txt", "a\n")
	e := r.gate("bd-1-1", c.Commit, "check", false)
	r.opened(e)
	r.closed(e)
	var kinds []string
	r.space.git.started = func(args []string) { kinds = append(kinds, args[0]) }
	c = r.result("bd-1-2", base, "a.txt", "a\n")
	e = r.gate("bd-1-2", c.Commit, "check", false)
	r.opened(e)
	r.closed(e)
	if len(kinds) > 12 {
		t.Errorf("%d git commands for one node: %v", len(kinds), kinds)
	}
}

// BenchmarkHandOver takes 5,000 new files of a clone that a confined node has committed,
// in a sandbox, and without one: in ms each, and as a ratio to the same objects by git's
// pack-objects and index-pack alone, into an empty repository.
func BenchmarkHandOver(b *testing.B) {
	for _, name := range []string{"confined", "open"} {
		b.Run(name, func(b *testing.B) { benchHandOver(b, name == "confined") })
	}
}

func benchHandOver(b *testing.B, confined bool) {
	files := 5000
	if testing.Short() {
		files = 200
	}
	var took, plain time.Duration
	for range b.N {
		r := newRepo(b, executortest.Epic(two, cloning))
		if confined {
			r.wallIn(wall.Limits{})
		}
		r.prepare("bd-1-1", 1, r.head())
		for i := range files {
			r.in("bd-1-1", fmt.Sprintf("d%d/f%d.go", i/50, i), fmt.Sprintf("package d%d\n\n// F%d returns its number.\nfunc F%d() int { return %d }\n%s", i/50, i, i, i, strings.Repeat("// more text\n", i%80)))
		}
		r.sh("bd-1-1", "git add -A; git commit -qm many")
		w := r.space.own(r.space.nodes["bd-1-1"])
		_, err := r.space.find(w)
		r.must(err)
		_, head, err := r.space.cloneHead(w)
		r.must(err)
		r.sh("bd-1-1", `git init -q --bare "$TOP-plain"`)
		began := time.Now()
		r.sh("bd-1-1", `echo HEAD | git pack-objects --revs --stdout -q --window=0 | git -C "$TOP-plain" index-pack --strict --stdin >/dev/null`)
		plain += time.Since(began)
		began = time.Now()
		r.must(r.space.importFrom(b.Context(), w, head))
		took += time.Since(began)
		if w.refused != "" || !r.has(head) {
			b.Fatalf("it was not taken: %s", w.refused)
		}
	}
	b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/hand-over")
	b.ReportMetric(float64(plain.Milliseconds())/float64(b.N), "git-ms")
	b.ReportMetric(float64(took)/float64(plain), "ratio")
}
