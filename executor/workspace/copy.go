package workspace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// copyPath copies a regular file, or a directory of them, between two roots.
func copyPath(from, to *os.Root, path string) error {
	st, err := from.Lstat(path)
	if err != nil {
		return err
	}
	if st.IsDir() {
		d, err := from.Open(path)
		if err != nil {
			return err
		}
		names, err := d.Readdirnames(-1)
		d.Close()
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := copyPath(from, to, filepath.Join(path, n)); err != nil {
				return err
			}
		}
		return nil
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a directory", path)
	}
	if err := to.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	in, err := regular.OpenIn(from, path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, st.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
