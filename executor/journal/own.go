package journal

import (
	"path/filepath"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// own returns an error when one of the journal's files, or a directory above them, is a
// link, or no file: SQLite and the lock would follow it.
func own(dir string) error {
	for _, name := range []string{"lock", File, File + "-wal", File + "-shm"} {
		if err := regular.Own(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
