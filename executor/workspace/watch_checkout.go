package workspace

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the name that git gives a file's content
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// checkout is the user's checkout as far as it is compared: at the start and the end
// of a run, without running git status. Of files that git knows the names and times, and
// what the index says of their content; of others those beside them.
type checkout struct {
	Head  string          `json:"head"`
	Index string          `json:"index"` // digest of what is staged
	Files map[string]seen `json:"files"`
}

// seen is a file of the checkout.
type seen struct {
	Size    int64  `json:"s"`
	Time    int64  `json:"t"`           // of its last change, in nanoseconds
	Mode    uint32 `json:"m"`           // a directory that git does not know is not looked into
	Content string `json:"c,omitempty"` // git's name of it; "": not known
	Known   bool   `json:"k,omitempty"` // to git
}

// Bounds of what is read of a checkout.
const (
	maxIndex   = 64 << 20 // bytes
	maxKnown   = 50_000   // files that git knows: of a larger checkout only HEAD and the index are compared
	maxBeside  = 20_000   // other files
	maxHashed  = 32 << 20 // bytes whose content is read at the start
	maxContent = 4 << 20  // bytes of one file
)

// lookAround looks at the user's checkout.
func (w *watch) lookAround() *checkout {
	c := &checkout{Files: map[string]seen{}}
	dir := w.s.gitDir()
	if b, _, err := readPlain(filepath.Join(dir, "HEAD"), maxRef); err == nil {
		c.Head = oneLine(string(b), maxValue)
	}
	b, _, err := readPlain(filepath.Join(dir, "index"), maxIndex)
	if err != nil {
		return c
	}
	oid := sha1.Size
	if w.s.carried["extensions.objectformat"] == "sha256" {
		oid = sha256.Size
	}
	known, ok := readIndex(b, oid)
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
		if f, ok := w.seen(e.path, &room, e); ok {
			c.Files[e.path] = f
		} else {
			c.Files[e.path] = seen{Known: true} // deleted, not staged
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
			if f, ok := w.seen(name, &room, indexed{}); ok {
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
		if dir := w.s.Dir(id); dir == at || strings.HasPrefix(dir, at+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// seen looks at one file. If it is as when git looked, its content is what the index
// says; else it is read, while there is room.
func (w *watch) seen(name string, room *int64, e indexed) (seen, bool) {
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
		s.Content = w.content(full)
	}
	return s, true
}

// content is git's name of what a file holds, "" if it cannot be read.
func (w *watch) content(full string) string {
	b, _, err := readPlain(full, maxContent)
	if err != nil {
		return ""
	}
	var h hash.Hash = sha1.New() //nolint:gosec // see above
	if w.s.carried["extensions.objectformat"] == "sha256" {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(b))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// compare says what of the checkout is not as it was: one sighting, or none.
func (was *checkout) compare(w *watch, now *checkout) []executor.Sighting {
	var fresh, changed, gone, parts []string
	for _, name := range union(was.Files, now.Files) {
		a, had := was.Files[name]
		b, has := now.Files[name]
		switch {
		case !had && b.Known && b.Mode == 0: // it was committed, and taken away
		case !had:
			fresh = append(fresh, name)
		case !has || b.Mode == 0 && a.Mode != 0:
			gone = append(gone, name)
		case !a.same(b):
			changed = append(changed, name)
		}
	}
	fresh = w.unignored(fresh)
	if was.Head != now.Head {
		parts = append(parts, fmt.Sprintf("HEAD was %s and is %s", was.Head, now.Head))
	}
	if was.Index != now.Index {
		parts = append(parts, "what is staged changed")
	}
	for _, p := range []struct {
		what  string
		names []string
	}{{"changed", changed}, {"new", fresh}, {"gone", gone}} {
		if len(p.names) > 0 {
			parts = append(parts, p.what+": "+listed(p.names))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	s := executor.Sighting{Thing: executor.ThingOther, Drift: executor.Drift{
		What: "your checkout", Was: executor.AsBefore, Is: clip(strings.Join(parts, "; ")),
	}}
	if names := slices.Concat(changed, fresh, gone); len(names) > 0 && len(names) <= shown {
		s.Back = "git stash push --include-untracked --"
		for _, n := range names {
			s.Back += " " + quoteWord(n)
		}
	} else if was.Head != now.Head {
		if branch, ok := strings.CutPrefix(was.Head, "ref: refs/heads/"); ok {
			s.Back = "git switch " + quoteWord(branch)
		}
	}
	return []executor.Sighting{s}
}

func (a seen) same(b seen) bool {
	if a.Size == b.Size && a.Time == b.Time && a.Mode == b.Mode {
		return true
	}
	return a.Mode == b.Mode && a.Content != "" && a.Content == b.Content
}

// unignored leaves out files that git ignores: they are nobody's work.
func (w *watch) unignored(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	at := place{gitDir: w.s.git.common, workTree: w.s.top, ignore: w.s.ignore}
	out, err := w.s.git.run(ctx, at, strings.Join(names, "\x00")+"\x00", nil, "check-ignore", "--no-index", "--stdin", "-z")
	if err != nil && exitCode(err) != 1 {
		return names
	}
	ignored := map[string]bool{}
	for n := range strings.SplitSeq(string(out), "\x00") {
		ignored[n] = true
	}
	return slices.DeleteFunc(names, func(n string) bool { return ignored[n] })
}

// indexed is an entry of git's index.
type indexed struct {
	path            string
	oid             string
	mode, sec, nsec uint32
	size            uint32
	stage           int
	racy            bool // what the index says of its content may be wrong
}

// readIndex reads the entries of an index of version 2 to 4, sorted by path; ok is
// false if it is another one, or only the difference to one that is shared.
func readIndex(b []byte, oid int) (list []indexed, ok bool) {
	if len(b) < 12+oid || !bytes.HasPrefix(b, []byte("DIRC")) {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(b[4:]), int(binary.BigEndian.Uint32(b[8:]))
	if version < 2 || version > 4 || count > len(b)/40 {
		return nil, false
	}
	rest := b[12 : len(b)-oid]
	before := ""
	for range count {
		if len(rest) < 42+oid {
			return nil, false
		}
		u32 := func(at int) uint32 { return binary.BigEndian.Uint32(rest[at:]) }
		flags := binary.BigEndian.Uint16(rest[40+oid:])
		e := indexed{mode: u32(24), sec: u32(8), nsec: u32(12), size: u32(36), oid: hex.EncodeToString(rest[40 : 40+oid]), stage: int(flags>>12) & 3}
		e.racy = flags&0x8000 != 0 // somebody told git not to look at the file
		n := 42 + oid
		if flags&0x4000 != 0 && version > 2 {
			if len(rest) < n+2 {
				return nil, false
			}
			e.racy = e.racy || binary.BigEndian.Uint16(rest[n:])&0x4000 != 0
			n += 2
		}
		keep := 0
		if version == 4 {
			strip, used := offset(rest[n:])
			if used == 0 || strip > len(before) {
				return nil, false
			}
			n, keep = n+used, len(before)-strip
		}
		end := bytes.IndexByte(rest[n:], 0)
		if end < 0 {
			return nil, false
		}
		e.path = before[:keep] + string(rest[n:n+end])
		if version == 4 {
			before, n = e.path, n+end+1
		} else {
			n = (n + end + 8) &^ 7
		}
		if n > len(rest) {
			return nil, false
		}
		list, rest = append(list, e), rest[n:]
	}
	for len(rest) >= 8 { // extensions
		if name := string(rest[:4]); name == "link" || name == "sdir" {
			return nil, false
		}
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if size > len(rest)-8 {
			break
		}
		rest = rest[8+size:]
	}
	return list, true
}

// offset reads a number as git's pack files write it, and how many bytes it took; 0: none.
func offset(b []byte) (n, used int) {
	for i, c := range b[:min(len(b), 5)] {
		if i > 0 {
			n++
		}
		n = n<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}
