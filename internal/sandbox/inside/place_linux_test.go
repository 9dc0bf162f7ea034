package inside

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Sandboxes that share a directory make the same place in it at the same time.
func TestAPlaceThatOthersMakeToo(t *testing.T) {
	for range 50 {
		dir := t.TempDir()
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		start := make(chan struct{})
		for range 8 {
			all.Go(func() {
				<-start
				at, err := (&tree{fd: fd, home: "/home"}).place("/a/b/c/program", false)
				if err != nil {
					t.Error(err)
					return
				}
				_ = unix.Close(at)
			})
		}
		close(start)
		all.Wait()
		_ = unix.Close(fd)
		if st, err := os.Stat(filepath.Join(dir, "a/b/c/program")); err != nil || !st.Mode().IsRegular() {
			t.Errorf("the place is %v, %v", st, err)
		}
	}
}
