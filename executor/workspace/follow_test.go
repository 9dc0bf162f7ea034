package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// Files behind links are those that they lead to; a link that leads outside, nowhere or in
// a circle, and a submodule, are no errors.
func TestFilesBehindLinks(t *testing.T) { // execution §5, preflight
	r := newRepo(t, executortest.Epic(two))
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(r.space.Top(), name)); err != nil {
			t.Fatal(err)
		}
	}
	r.write("tools/x.sh", "exit 0\n")
	r.write("tools/z.sh", "exit 0\n")
	r.write("sub/one.txt", "one\n")
	link("tools", "link")
	link("link/x.sh", "x.sh")
	link("../link", "sub/up")
	link("/elsewhere", "out")
	link("../../..", "sub/above")
	link("nowhere", "dangling")
	link("b", "a")
	link("a", "b")
	link(filepath.Join(r.space.Top(), "tools"), "whole")
	r.git("add", "-A")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+r.head()+",vendor/tool")
	r.git("commit", "-q", "-m", "tools")
	r.write("vendor/tool/.git/HEAD", "")
	r.write("vendor/tool/run.sh", "exit 0\n")
	r.write("tools/y.sh", "exit 0\n")
	r.write("tools/y.log", "")
	r.write("tools/z.sh", "exit 1\n")
	link("tools", "new")
	paths := []string{
		"link/x.sh", "link/y.sh", "link/z.sh", "link/y.log", "x.sh", "sub/up/x.sh", "sub/up/y.sh", "out/x.sh", "sub/above/x.sh",
		"dangling/x.sh", "dangling", "a/x.sh", "a", "whole/x.sh", "new/x.sh", "vendor/tool/run.sh", "vendor/tool/no.sh",
	}
	for _, c := range []struct {
		what string
		get  func() ([]string, error)
		want string
	}{
		{"lacks", func() ([]string, error) { return r.space.Files.Lacks(t.Context(), r.head(), paths) }, "link/y.sh link/y.log sub/up/y.sh dangling/x.sh dangling a/x.sh a new/x.sh"},
		{"differs", func() ([]string, error) { return r.space.Files.Differs(t.Context(), r.head(), paths) }, "link/y.sh link/z.sh link/y.log sub/up/y.sh new/x.sh"},
		{"ignored", func() ([]string, error) { return r.space.Files.Ignored(t.Context(), paths) }, "link/y.log"},
		{"submodules", func() (out []string, err error) {
			in, err := r.space.Files.Submodules(t.Context(), r.head(), paths)
			for p, s := range in {
				out = append(out, p+":"+s)
			}
			slices.Sort(out)
			return out, err
		}, "vendor/tool/no.sh:vendor/tool vendor/tool/run.sh:vendor/tool"},
		{"ways", func() (out []string, err error) {
			for _, p := range []string{"link/y.sh", "x.sh", "sub/up/y.sh", "out/x.sh", "a/x.sh", "dangling/x.sh", "whole/x.sh", "tools/x.sh"} {
				out = append(out, strings.Join(r.space.Files.Way(p), ":"))
			}
			return out, nil
		}, "link:tools/y.sh x.sh:link:tools/x.sh sub/up:link:tools/y.sh out a dangling:nowhere/x.sh whole:tools/x.sh tools/x.sh"},
	} {
		if got, err := c.get(); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v, want %q", c.what, strings.Join(got, " "), err, c.want)
		}
	}
}
