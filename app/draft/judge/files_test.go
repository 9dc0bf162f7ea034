package judge

import (
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

func TestTrackedShowsWhatACommitHolds(t *testing.T) {
	all := fstest.MapFS{
		"a.txt": {Data: []byte("a")}, "dir/b.txt": {}, "dir/deep/c.txt": {}, "sub/x/y.txt": {}, "ignored/z.txt": {}, "dir/new.txt": {},
	}
	held := tracked{all, map[string]bool{".": false, "a.txt": true, "dir": false, "dir/deep": false, "dir/deep/c.txt": true, "dir/b.txt": true, "sub": true, "gone.txt": true}}
	var got []string
	err := fs.WalkDir(held, ".", func(path string, e fs.DirEntry, err error) error {
		if !e.IsDir() {
			got = append(got, path)
		}
		return err
	})
	if want := []string{"a.txt", "dir/b.txt", "dir/deep/c.txt", "sub/x/y.txt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if b, err := fs.ReadFile(held, "a.txt"); err != nil || string(b) != "a" {
		t.Errorf("a.txt: %q, %v", b, err)
	}
	if _, err := fs.ReadFile(held, "dir/new.txt"); err == nil {
		t.Error("what is not committed can be read")
	}
}
