package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

func TestWhatLooksLikeGit(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, ".Git": true, ".GIT": true, "git~1": true, "GIT~1": true, ".git ": true, ".git. .": true, ".git::$INDEX_ALLOCATION": true,
		".g\u200cit": true, `.git\x`: true, "git": false, ".gitignore": false, ".github": false, "x.git": false, "git~2": false, ".git-x": false,
	} {
		if got := looksLikeGit(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// TestWhatGitRefuses: what git cannot add is moved away, whatever its name reads like, and
// nothing else.
func TestWhatGitRefuses(t *testing.T) { // execution §3, collect
	for name, test := range map[string]struct{ files, out, in, why string }{
		"a name that is git's":            {"a/.Git/hooks/x", "a/.Git", "", "choose another name"},
		"a link that git reads":           {"link .gitmodules", ".gitmodules", "", "choose another name"},
		"with a line break":               {"a\nb/.Git/x", "a\nb/.Git", "", "choose another name"},
		"that names another sprint's":     {"a\nerror: invalid path '../SIBLING'\n/.GIT/f", "a\nerror: invalid path '../SIBLING'\n/.GIT", "", "choose another name"},
		"that names its own repository":   {"a\nerror: invalid path '.git'\n/.GIT/f", "a\nerror: invalid path '.git'\n/.GIT", "", "choose another name"},
		"an encoding":                     {"b c.txt", "b c.txt", "*.txt working-tree-encoding=UTF-16\n", "working-tree-encoding"},
		"an encoding and a line break":    {"b\nc.txt", "b\nc.txt", "*.txt working-tree-encoding=UTF-16\n", "working-tree-encoding"},
		"an encoding, and odd characters": {"b\rc.txt", "b\rc.txt", "*.txt working-tree-encoding=UTF-16\n", "working-tree-encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, executortest.Epic(two))
			base := r.head()
			r.prepare("bd-1-1", 1, base)
			r.prepare("bd-1-2", 1, base)
			sibling := filepath.Base(r.space.Dir("bd-1-2"))
			test.files, test.out = strings.ReplaceAll(test.files, "SIBLING", sibling), strings.ReplaceAll(test.out, "SIBLING", sibling)
			if test.in != "" {
				r.in("bd-1-1", ".gitattributes", test.in)
			}
			r.in("bd-1-1", "good", "x")
			dir := r.space.Dir("bd-1-1")
			if link, ok := strings.CutPrefix(test.files, "link "); ok {
				r.must(os.Symlink("good", filepath.Join(dir, link)))
			} else {
				r.in("bd-1-1", test.files, "x")
			}
			c := r.collect("bd-1-1", 1, base)
			if !strings.Contains(strings.Join(c.Problems, "\n"), test.why) {
				t.Errorf("problems: %q, want %q", c.Problems, test.why)
			}
			if _, err := os.Lstat(filepath.Join(dir, test.out)); err == nil {
				t.Errorf("%q is there still", test.out)
			}
			for _, p := range []string{dir + "/.git", r.space.Dir("bd-1-2"), dir + "/good"} {
				if _, err := os.Lstat(p); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
