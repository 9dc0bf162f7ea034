package workspace

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// distrust writes the index of a worktree anew from the contents that it names,
// if anybody else has written it since ralph did. What an index says of files (not
// changed, not to be looked at) is believed by git, and anybody can write it: gates
// would be shown files that are not the commit's. Files that were taken away
// without a word (a sparse checkout) come back.
func (s *space) distrust(ctx context.Context, w *worktree) error {
	if w.Left == "" || s.asIndexed(w) {
		return nil
	}
	if err := s.unfold(ctx, w); err != nil {
		return err
	}
	out, err := s.git.run(ctx, w.at, "", nil, "ls-files", "--stage", "-v", "-z")
	if err != nil {
		return ctx.Err() // it cannot be read: mendIndex
	}
	var stages, hidden strings.Builder
	for entry := range strings.SplitSeq(string(out), "\x00") {
		tag, rest, ok := strings.Cut(entry, " ")
		_, path, _ := strings.Cut(rest, "\t")
		if !ok {
			continue
		}
		stages.WriteString(rest + "\x00")
		if there, err := exists(filepath.Join(w.dir, path)); err == nil && !there && strings.EqualFold(tag, "s") {
			hidden.WriteString(path + "\x00")
		}
	}
	tmp, err := os.CreateTemp(s.state, "index-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Remove(tmp.Name()); err != nil { // git wants none rather than an empty one
		return err
	}
	at := w.at
	at.index = tmp.Name()
	if _, err := s.git.run(ctx, at, stages.String(), nil, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	if there, err := exists(at.index); err != nil || !there { // of an index that names nothing
		return err
	}
	if hidden.Len() > 0 {
		if _, err := s.git.run(ctx, at, hidden.String(), nil, "checkout-index", "-z", "--stdin"); err != nil {
			return err
		}
	}
	// Looks at each file once, so that later calls need not.
	if _, err := s.git.line(ctx, at, "update-index", "-q", "--refresh"); err != nil && exitCode(err) != 1 {
		return err
	}
	return os.Rename(at.index, filepath.Join(w.at.gitDir, "index"))
}

// unfold makes sure that git can read the index of a worktree. One of a sparse checkout
// names whole directories, which git expands: with more files in them than a commit may
// hold it is made anew from what ralph left.
func (s *space) unfold(ctx context.Context, w *worktree) error {
	name := filepath.Join(w.at.gitDir, "index")
	if w.Left == "" || s.asIndexed(w) {
		return nil
	}
	b, err := regular.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(b, []byte("sdir")) {
		return nil
	}
	if err != nil {
		return err
	}
	c, sum := s.census(), int64(0)
	entries, _ := readIndex(b, len(w.Left)/2) // as far as it can be read
	for _, e := range entries {
		if e.mode != 0o40000 { // of a directory
			continue
		}
		in, err := c.of(ctx, e.oid, 0)
		if err != nil {
			return err
		}
		sum = min(sum+in.n, uncounted)
	}
	if sum <= maxMore {
		return nil
	}
	left, err := s.git.tree(ctx, w.Left)
	if err != nil {
		return err
	}
	if in, err := s.census().of(ctx, left, 0); err != nil || sum < uncounted && sum <= in.n+maxMore {
		return err
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	_, err = s.git.line(ctx, w.at, "read-tree", w.Left)
	return err
}

// indexed is an entry of git's index.
type indexed struct {
	path, oid             string
	mode, sec, nsec, size uint32
	stage                 int
	racy                  bool // what the index says of its content may be wrong
}

// readIndex reads the entries of an index of version 2 to 4, sorted by path. ok is false
// if they are not all: it is another one, broken, sparse, or only the difference to one
// that is shared.
func readIndex(b []byte, oid int) (list []indexed, ok bool) {
	if len(b) < 12+oid || !bytes.HasPrefix(b, []byte("DIRC")) {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(b[4:]), int(binary.BigEndian.Uint32(b[8:]))
	if version < 2 || version > 4 {
		return nil, false
	}
	rest := b[12 : len(b)-oid]
	before := ""
	for range count {
		if len(rest) < 42+oid {
			return list, false
		}
		u32 := func(at int) uint32 { return binary.BigEndian.Uint32(rest[at:]) }
		flags := binary.BigEndian.Uint16(rest[40+oid:])
		e := indexed{mode: u32(24), sec: u32(8), nsec: u32(12), size: u32(36), oid: hex.EncodeToString(rest[40 : 40+oid]), stage: int(flags>>12) & 3}
		e.racy = flags&0x8000 != 0 // git was told not to look at the file
		n := 42 + oid
		if flags&0x4000 != 0 && version > 2 {
			if len(rest) < n+2 {
				return list, false
			}
			e.racy = e.racy || binary.BigEndian.Uint16(rest[n:])&0x4000 != 0
			n += 2
		}
		keep := 0
		if version == 4 {
			strip, used := offset(rest[n:])
			if used == 0 || strip > len(before) {
				return list, false
			}
			n, keep = n+used, len(before)-strip
		}
		end := bytes.IndexByte(rest[n:], 0)
		if end < 0 {
			return list, false
		}
		e.path = before[:keep] + string(rest[n:n+end])
		if version == 4 {
			before, n = e.path, n+end+1
		} else {
			n = (n + end + 8) &^ 7
		}
		if n > len(rest) {
			return list, false
		}
		list, rest = append(list, e), rest[n:]
	}
	return list, !inPart(rest)
}

// inPart reports whether the extensions of an index say that its entries are not all.
func inPart(extensions []byte) bool {
	for rest := extensions; len(rest) >= 8; {
		if name := string(rest[:4]); name == "link" || name == "sdir" {
			return true
		}
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if size > len(rest)-8 {
			break
		}
		rest = rest[8+size:]
	}
	return false
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
