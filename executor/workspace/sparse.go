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

	"github.com/ralph-compiler/ralph/internal/regular"
)

// unfold makes sure that git can read the index of a worktree. One of a sparse checkout
// names whole directories, which git expands: with more files in them than a commit may
// hold it is made anew from what ralph left.
func (s *Space) unfold(ctx context.Context, w *worktree) error {
	name := filepath.Join(w.at.gitDir, "index")
	if w.Left == "" || w.Index != "" && w.Index == indexMark(w) {
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
	for _, tree := range directories(b, len(w.Left)/2) {
		in, err := c.of(ctx, tree, 0)
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

// directories lists the trees that an index names in place of files, as far as it can be
// read; size is that of an object's name.
func directories(index []byte, size int) []string {
	const fixed = 40 // times, mode, owner and size of a file
	if len(index) < 12 {
		return nil
	}
	version := binary.BigEndian.Uint32(index[4:])
	var trees []string
	at := 12
	for range binary.BigEndian.Uint32(index[8:]) {
		end := at + fixed + size + 2
		if end > len(index) {
			break
		}
		if mode := binary.BigEndian.Uint32(index[at+24:]); mode == 0o40000 {
			trees = append(trees, hex.EncodeToString(index[at+fixed:at+fixed+size]))
		}
		if index[end-2]&0x40 != 0 { // more flags
			end += 2
		}
		if version == 4 {
			for end < len(index) && index[end]&0x80 != 0 { // what the name shares with the one before
				end++
			}
			end++
		}
		name := bytes.IndexByte(index[min(end, len(index)):], 0)
		if name < 0 {
			break
		}
		end += name + 1
		if version != 4 {
			end += (8 - (end-at)%8) % 8
		}
		at = end
	}
	return trees
}
