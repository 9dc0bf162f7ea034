//go:build unix

package draft

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A plan is never written over what somebody else has put there meanwhile.
func TestAPlanReplacesOnlyWhatWasRead(t *testing.T) {
	for name, c := range map[string]struct {
		was    []byte
		there  string // "" none, "->" a link to other
		taken  bool
		wanted string
	}{
		"none":         {nil, "", true, "new"},
		"one appeared": {nil, "theirs", false, "theirs"},
		"a link came":  {nil, "->", false, "old"},
		"as it was":    {[]byte("old"), "old", true, "new"},
		"changed":      {[]byte("old"), "theirs", false, "theirs"},
		"now a link":   {[]byte("old"), "->", false, "old"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "plan.md")
			var err error
			switch c.there {
			case "":
			case "->":
				err = errors.Join(os.WriteFile(filepath.Join(dir, "other"), []byte("old"), 0o600), os.Symlink("other", file))
			default:
				err = os.WriteFile(file, []byte(c.there), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := replaceFile(file, c.was, []byte("new")); errors.Is(err, fs.ErrExist) == c.taken || c.taken && err != nil {
				t.Errorf("replaceFile: %v", err)
			}
			if b, err := os.ReadFile(file); err != nil || string(b) != c.wanted {
				t.Errorf("it holds %q, %v", b, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".plan*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}
