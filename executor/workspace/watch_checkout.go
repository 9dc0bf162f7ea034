package workspace

import (
	"context"
	"crypto/sha1" //nolint:gosec // the name that git gives a file's content
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// checkout is the user's checkout as far as it is compared: at the start and the end
// of a run, without running git status. Of files that git knows the names and times, and
// what the index says of their content; of others those beside them.
type checkout struct {
	Head  string          `json:"head"`
	At    string          `json:"at,omitempty"` // the commit of HEAD; "": none, or an earlier release did not say
	Index string          `json:"index"`        // digest of what is staged
	Files map[string]seen `json:"files"`
	Stash []stashed       `json:"stash"`          // oldest first; nil: an earlier release did not say
	Kept  string          `json:"kept,omitempty"` // directory of what was not committed, see keepWork
}

// seen is a file of the checkout.
type seen struct {
	Size    int64  `json:"s"`
	Time    int64  `json:"t"`           // of its last change, in nanoseconds
	Mode    uint32 `json:"m"`           // a directory that git does not know is not looked into
	Content string `json:"c,omitempty"` // git's name of it; "": not known
	Known   bool   `json:"k,omitempty"` // to git
	Index   string `json:"i,omitempty"` // what the index has, if it is not Content
}

// Bounds of what is read of a checkout.
const (
	maxIndex   = 64 << 20 // bytes
	maxKnown   = 50_000   // files that git knows: of a larger checkout only HEAD and the index are compared
	maxBeside  = 20_000   // other files
	maxHashed  = 32 << 20 // bytes whose content is read at the start
	maxContent = 4 << 20  // bytes of one file
)

// lookAround looks at the user's checkout. What is not committed is given to keep, if
// it is read; keep may be nil.
func (w *watch) lookAround(keep func(name string, e indexed, b []byte)) *checkout {
	c := &checkout{Files: map[string]seen{}, Stash: w.stashes()}
	dir := w.s.gitDir()
	c.Head, c.At = w.head()
	b, err := regular.ReadMax(filepath.Join(dir, "index"), maxIndex)
	if err != nil {
		return c
	}
	known, ok := readIndex(b, w.s.newHash().Size())
	if !ok {
		c.Index = digestOf(b)
		return c
	}
	h := sha256.New()
	for _, e := range known {
		fmt.Fprintf(h, "%o %s %d %s\x00", e.mode, e.oid, e.stage, e.path)
	}
	c.Index = hex.EncodeToString(h.Sum(nil))
	if len(known) > maxKnown {
		return c
	}
	room := int64(maxHashed)
	dirs := map[string]bool{".": true}
	for _, e := range known {
		if e.mode == 0o160000 || e.stage > 0 { // a submodule; a conflict
			continue
		}
		for d := path.Dir(e.path); !dirs[d]; d = path.Dir(d) {
			dirs[d] = true
		}
		if f, ok := w.seen(e.path, &room, e, keep); ok {
			c.Files[e.path] = f
		} else {
			c.Files[e.path] = seen{Known: true, Index: e.oid} // deleted, not staged
		}
	}
	beside := 0
	for _, d := range sortedKeys(dirs) {
		list, _ := os.ReadDir(filepath.Join(w.s.top, filepath.FromSlash(d)))
		for _, f := range list {
			name := path.Join(d, f.Name())
			if _, is := c.Files[name]; is || dirs[name] || f.Name() == ".git" || w.ours(name) {
				continue
			}
			if beside++; beside > maxBeside {
				return c
			}
			if f, ok := w.seen(name, &room, indexed{}, keep); ok {
				c.Files[name] = f
			}
		}
	}
	return c
}

// ours reports whether a path of the checkout leads to worktrees of ralph's.
func (w *watch) ours(name string) bool {
	at := filepath.Join(w.s.top, filepath.FromSlash(name))
	for id := range w.s.nodes {
		if dir := w.s.dirOf(id); dir == at || strings.HasPrefix(dir, at+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// seen looks at one file. If it is as when git looked, its content is what the index
// says; else it is read, while there is room.
func (w *watch) seen(name string, room *int64, e indexed, keep func(string, indexed, []byte)) (seen, bool) {
	full := filepath.Join(w.s.top, filepath.FromSlash(name))
	st, err := os.Lstat(full)
	if err != nil {
		return seen{}, false
	}
	s := seen{Size: st.Size(), Time: st.ModTime().UnixNano(), Mode: uint32(st.Mode()), Known: e.oid != ""}
	switch {
	case st.IsDir():
		s.Size, s.Time = 0, 0
	case e.oid != "" && uint32(st.Size()) == e.size && st.ModTime().Unix() == int64(e.sec) && st.ModTime().Nanosecond() == int(e.nsec) && !e.racy:
		s.Content = e.oid
	case st.Mode().IsRegular() && st.Size() <= min(maxContent, *room):
		*room -= st.Size()
		if b, err := regular.ReadMax(full, maxContent); err == nil {
			if s.Content = w.content(b); keep != nil && s.Content != e.oid {
				keep(name, e, b)
			}
		}
	}
	if s.Content != e.oid {
		s.Index = e.oid
	}
	return s, true
}

// content is the name that git has for what a file holds.
func (w *watch) content(b []byte) string {
	h := w.s.newHash()
	fmt.Fprintf(h, "blob %d\x00", len(b))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// newHash is what git names objects by in this repository.
func (s *space) newHash() hash.Hash {
	if s.carried["extensions.objectformat"] == "sha256" {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // see above
}

// head is what HEAD of the checkout holds, and the commit that it is at.
func (w *watch) head() (head, at string) {
	b, err := regular.ReadMax(filepath.Join(w.s.gitDir(), "HEAD"), maxRef)
	if err != nil {
		return "", ""
	}
	head = oneLine(string(b), maxValue)
	if ref, symbolic := strings.CutPrefix(head, "ref: "); symbolic {
		return head, w.last.Refs[ref]
	}
	return head, head
}

func (a seen) same(b seen) bool {
	if a.Size == b.Size && a.Time == b.Time && a.Mode == b.Mode {
		return true
	}
	return a.Mode == b.Mode && a.Content != "" && a.Content == b.Content
}

// unignored leaves out files that git ignores: they are no one's work.
func (w *watch) unignored(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ignored, err := w.s.ignored(ctx, names)
	if err != nil {
		return names
	}
	return slices.DeleteFunc(names, func(n string) bool { return ignored[n] })
}

// ignored says which paths of the user's checkout git ignores there.
func (s *space) ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	list, err := s.git.list(ctx, place{gitDir: s.git.common, workTree: s.top, ignore: s.ignore}, strings.Join(paths, "\x00")+"\x00", "check-ignore", "-z", "--stdin", "--no-index")
	if err != nil && exitCode(err) != 1 { // 1: none of them
		return nil, err
	}
	return lists.Set(list), nil
}
