package record

import (
	"io"
	"reflect"
	"strings"
	"testing"
)

// Diffs are told apart by the paths that git names, in whatever way it writes them.
func TestDiffsAreCutByFile(t *testing.T) { // S1-22, S1-23
	all := "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+diff --git a/no b/no\n" +
		"diff --git a/old name b/new name\nsimilarity index 90%\nrename from old name\nrename to new name\n@@ -1 +1 @@\n-rename to lie\n+y\n" +
		"diff --git \"a/t\\tb\" \"b/t\\tb\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/t\\tb\"\n@@ -0,0 +1 @@\n+z\n" +
		"diff --git a/bin b/bin\nBinary files a/bin and b/bin differ\n"
	parts := splitDiff(all)
	var got []string
	joined := ""
	for _, p := range parts {
		got = append(got, p.path)
		joined += p.text
	}
	if want := []string{"a", "new name", "t\tb", "bin"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the paths are %q, want %q", got, want)
	}
	if joined != all {
		t.Error("something of the diff is lost")
	}
	if splitDiff("") != nil || len(splitDiff("nothing of git's\n")) != 0 {
		t.Error("what is no diff has parts")
	}
}

// Whoever writes takes the quickest way that there is: none is without the limit.
func TestWhatIsBoundedIsSoForEachWriter(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer, string) error{
		"bytes":   func(w io.Writer, s string) error { _, err := w.Write([]byte(s)); return err },
		"strings": func(w io.Writer, s string) error { _, err := io.WriteString(w, s); return err },
		"copies": func(w io.Writer, s string) error {
			_, err := io.Copy(w, struct{ io.Reader }{strings.NewReader(s)})
			return err
		},
	} {
		b := &Bounded{Most: 10}
		first, second := write(b, "twelve"), write(b, "twelve")
		if first != nil || second == nil || !b.Full || string(b.Bytes()) != "twelve" {
			t.Errorf("%s: %v, %v, full %t, %q", name, first, second, b.Full, b.Bytes())
		}
	}
}
