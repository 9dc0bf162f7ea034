package workspace

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// What an agent writes into the checkout, the index or the settings hides nothing of
// a change: neither from a reviewer, nor from what is counted, nor a conflict marker.
// execution §5 (Approval)
func TestNothingHidesAChangeFromWhoReviewsIt(t *testing.T) {
	for name, hide := range map[string]func(r *repo){
		"no diff": func(r *repo) { r.write(".gitattributes", "* -diff\n") },
		"binary":  func(r *repo) { r.write(".gitattributes", "*.go binary\n") },
		"a driver with textconv": func(r *repo) {
			r.write(".gitattributes", "*.go diff=x\n")
			r.git("config", "diff.x.textconv", "echo same #")
		},
		"a driver that is binary":   func(r *repo) { r.write(".gitattributes", "*.go diff=x\n"); r.git("config", "diff.x.binary", "true") },
		"a driver with a command":   func(r *repo) { r.write(".gitattributes", "*.go diff=x\n"); r.git("config", "diff.x.command", "true") },
		"a command for all":         func(r *repo) { r.git("config", "diff.external", "true") },
		"export-subst, generated":   func(r *repo) { r.write(".gitattributes", "*.go export-subst linguist-generated -text\n") },
		"no markers":                func(r *repo) { r.write(".gitattributes", "* conflict-marker-size=90 -whitespace\n") },
		"attributes that are added": func(r *repo) { r.write(".gitattributes", "* -diff\n"); r.git("add", ".gitattributes") },
		"attributes of info":        func(r *repo) { r.write(".git/info/attributes", "* -diff\n") },
		"settings of diff": func(r *repo) {
			for _, s := range []string{"diff.ignoreSubmodules=all", "diff.orderFile=/dev/null", "diff.noprefix=true", "diff.context=0", "core.bigFileThreshold=1", "diff.renames=false"} {
				k, v, _ := strings.Cut(s, "=")
				r.git("config", k, v)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two))
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			hide(r)
			r.in("bd-1-1", "a.go", "package a // evil\n")
			r.in("bd-1-1", "b.go", "<<<<<<< ours\n")
			c := r.collect("bd-1-1", 1, base)
			var b bytes.Buffer
			if err := r.space.Diff(t.Context(), base, c.Result.Commit, &b); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), "+package a // evil\n") {
				t.Errorf("the diff hides it:\n%s", b.String())
			}
			if c.Added != 2 {
				t.Errorf("%d lines are counted, want 2", c.Added)
			}
			if len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "conflict marker") {
				t.Errorf("problems: %q, want the conflict marker", c.Problems)
			}
		})
	}
}

// A diff says of each kind of change what it is. execution §5 (Approval)
func TestADiffShowsEachKindOfChange(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	r.write("run.sh", "echo\n")
	r.write("moved.txt", strings.Repeat("a line that stays\n", 20))
	symlink := func(to string) {
		_ = os.Remove(filepath.Join(r.dir, "link"))
		if err := os.Symlink(to, filepath.Join(r.dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
	symlink("README.md")
	r.write("image.bin", "\x00one")
	r.git("add", "-A")
	r.git("commit", "-qm", "base")
	from := r.head()

	if err := os.Chmod(filepath.Join(r.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("mv", "moved.txt", "elsewhere.txt")
	r.write("elsewhere.txt", strings.Repeat("a line that stays\n", 20)+"evil\n")
	symlink("/etc/passwd")
	r.write("image.bin", "\x00three")
	r.write("new.bin", "\x00")
	r.write("script.js", "alert(1) /* \x00 */\n")
	r.write("invalid.txt", "caf\xe9 \u202e evil\n")
	r.write("quote\"new\nline\u202e.txt", "evil\n")
	r.write("huge.txt", strings.Repeat("0123456789abcde\n", 1<<19)+"the end\n")
	r.write("line.txt", strings.Repeat("x", 8<<20)+"\n")
	r.write("z.txt", "behind the huge ones\n")
	r.git("add", "-A")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+from+",module")
	r.git("commit", "-qm", "change")
	r.git("update-index", "--force-remove", "module")

	var b bytes.Buffer
	if err := r.space.Diff(t.Context(), from, r.git("rev-parse", "HEAD"), &b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for what, want := range map[string]string{
		"a mode":                 "old mode 100644\nnew mode 100755\n",
		"a rename with a change": "rename from moved.txt\nrename to elsewhere.txt\n",
		"the change in it":       "+evil\n",
		"a link":                 "-README.md\n\\ No newline at end of file\n+/etc/passwd\n",
		"a submodule":            "new file mode 160000\n",
		"its commit":             "+Subproject commit " + from,
		"a binary file":          "Binary files a/image.bin and b/image.bin differ (4 → 6 bytes)\n",
		"a new binary file":      "Binary files /dev/null and b/new.bin differ (0 → 1 bytes)\n",
		"a text with a NUL":      "Binary files /dev/null and b/script.js differ (0 → 17 bytes)\n",
		"bytes as they are":      "+caf\xe9 \u202e evil\n",
		"a quoted path":          `b/quote\"new\nline`,
		"what was cut":           " more bytes of this file are not shown",
		"what comes behind it":   "+behind the huge ones\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q", what, want)
		}
	}
	if strings.Contains(text, "the end\n") || len(text) > 3*(4<<20) || strings.Count(text, " more bytes of this file are not shown") != 2 {
		t.Errorf("%d bytes: the huge files were not cut", len(text))
	}
}
