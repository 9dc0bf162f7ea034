package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// fileCache remembers what was read of files that have not changed since, as far as
// their times tell. The zero value is ready; it may be used concurrently.
type fileCache struct {
	mu   sync.Mutex // guards read
	read map[string]cached
}

type cached struct {
	mark stamp
	got  any
}

// stamp tells one state of a file from another. Programs do not set the time of its last
// change (ctime), where the system has one.
type stamp struct {
	size, mtime, ctime int64
	ino                uint64
	mode               fs.FileMode
}

func stampOf(st fs.FileInfo) stamp {
	ino, ctime := identity(st)
	return stamp{st.Size(), st.ModTime().UnixNano(), ctime, ino, st.Mode()}
}

// tick is longer than the time within which two changes of a file can look like one.
const tick = 50 * time.Millisecond

func (s stamp) fresh() bool { return time.Since(time.Unix(0, max(s.mtime, s.ctime))) < tick }

// forget lets everything be read again.
func (c *fileCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.read)
}

// get returns what make makes of a regular file's state; nil if there is none.
func (c *fileCache) get(path string, read func(fs.FileInfo) any) any {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	mark := stampOf(st)
	c.mu.Lock()
	was, ok := c.read[path]
	c.mu.Unlock()
	if ok && was.mark == mark {
		return was.got
	}
	got := read(st)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == nil {
		c.read = map[string]cached{}
	}
	if delete(c.read, path); !mark.fresh() {
		c.read[path] = cached{mark, got}
	}
	return got
}

// text is what is in a small file, "" if there is none.
func (c *fileCache) text(path string, limit int64) string {
	got, _ := c.get(path, func(fs.FileInfo) any {
		b, err := regular.ReadMax(path, limit)
		if errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		if err != nil {
			return "unreadable: " + err.Error()
		}
		return strings.TrimSpace(string(b))
	}).(string)
	return got
}

// parse is what make makes of a file's bytes; nil if it cannot be read.
func (c *fileCache) parse(path string, limit int64, read func([]byte) any) any {
	return c.get(path, func(fs.FileInfo) any {
		b, err := regular.ReadMax(path, limit)
		if err != nil {
			return nil
		}
		return read(b)
	})
}

// digest is that of a file's bytes.
func (c *fileCache) digest(path string) string {
	got, _ := c.get(path, func(st fs.FileInfo) any {
		f, err := regular.Open(path)
		if err != nil {
			return "unreadable"
		}
		defer f.Close()
		h := sha256.New()
		if n, err := io.Copy(h, io.LimitReader(f, maxDigest)); err != nil {
			return "unreadable"
		} else if n == maxDigest { // a huge one: its beginning, its size and its times
			fmt.Fprint(h, stampOf(st))
		}
		return hex.EncodeToString(h.Sum(nil))[:16]
	}).(string)
	return got
}

// maxDigest is how much of a file is read to tell whether it changed, in bytes.
const maxDigest = 16 << 20

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
