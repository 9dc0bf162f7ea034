package glob

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"**/*_test.go", "a/b/x_test.go", true},
		{"**/*_test.go", "x_test.go", true},
		{"*.go", "a/x.go", false},
		{"src/**", "src/a/b", true},
		{"src", "src/a", true},
		{"src", "srcs/a", false},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"{a,b}.txt", "b.txt", true},
		{"[a-c].txt", "b.txt", true},
		{"[!a].txt", "a.txt", false},
		{"a+b", "a+b", true},
		{"[", "[", true},
		{"lib/add.sh", "lib/add.sh", true},
		{"./lib/", "lib/x", true},
		{"**", "a/b/c", true},
		{"", "", false},
	} {
		if got := MatchAny([]string{c.pattern}, c.path); got != c.want {
			t.Errorf("glob %q on %q = %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func TestCheckRefusesWhatCouldTakeForEver(t *testing.T) {
	for name, p := range map[string]string{
		"nothing":         "",
		"an open bracket": "[a",
		"too many stars":  strings.Repeat("**/", 100),
		"too many braces": strings.Repeat("{a,", 50) + strings.Repeat("}", 50),
		"too many bytes":  strings.Repeat("a", 10_000),
	} {
		if Check(p) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestFilesAreSortedAndBounded(t *testing.T) {
	fsys := fstest.MapFS{"b/x.go": {}, "a.go": {}, ".git/y.go": {}, "b/z.txt": {}}
	got, err := Files(fsys, "**/*.go", 10)
	if err != nil || strings.Join(got, " ") != "a.go b/x.go" {
		t.Errorf("Files = %v, %v", got, err)
	}
	if _, err := Files(fsys, "**", 1); err == nil {
		t.Error("more files than the limit, and no error")
	}
}
