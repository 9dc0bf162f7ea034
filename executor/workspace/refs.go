package workspace

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// readRefs lists the refs below some directories ("refs/heads") from git's own
// files, without a process. A ref that is symbolic is given as what it says.
func (g *git) readRefs(under ...string) (map[string]string, error) {
	return g.refsBut(func(string) bool { return false }, under...)
}

// refsBut is readRefs without the refs that skip names: none of their files is
// opened. A directory ends with a slash.
func (g *git) refsBut(skip func(ref string) bool, under ...string) (map[string]string, error) {
	refs := map[string]string{}
	below := func(ref string) bool {
		for _, u := range under {
			if strings.HasPrefix(ref, u+"/") {
				return true
			}
		}
		return false
	}
	// A git that packs them writes the file first and removes the loose ones then: who
	// looks the other way round misses what it packs meanwhile.
	for _, u := range under {
		if err := g.loose(refs, u, skip); err != nil {
			return nil, err
		}
	}
	f, err := regular.Open(filepath.Join(g.common, "packed-refs"))
	if err == nil {
		in := bufio.NewScanner(f)
		for in.Scan() {
			oid, ref, ok := strings.Cut(in.Text(), " ")
			if _, loose := refs[ref]; ok && !loose && below(ref) && !skip(ref) {
				refs[ref] = oid
			}
		}
		err = errors.Join(in.Err(), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return refs, nil
}

// refFile reads where a ref stands from git's own files, "" if there is none.
func (g *git) refFile(ref string) (string, error) {
	b, err := regular.ReadMax(filepath.Join(g.common, filepath.FromSlash(ref)), maxRef)
	if err == nil {
		return strings.TrimSpace(string(b)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	b, err = regular.ReadMax(filepath.Join(g.common, "packed-refs"), maxPacked)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if oid, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return oid, nil
		}
	}
	return "", nil
}

// headOf reads HEAD of a worktree: the ref that it names ("" if it is detached)
// and the commit ("" if there is none).
func (s *space) headOf(w *worktree) (ref, commit string, err error) {
	b, err := regular.ReadFile(filepath.Join(w.at.gitDir, "HEAD"))
	if err != nil {
		return "", "", err
	}
	text := strings.TrimSpace(string(b))
	ref, symbolic := strings.CutPrefix(text, "ref: ")
	if !symbolic {
		return "", text, nil
	}
	return ref, "", nil
}

// indexMark tells whether anything has written the index of a worktree: git
// replaces the file, but others can also write into it. Its time counts because
// git takes what is older for unchanged.
func indexMark(w *worktree) string {
	f, err := regular.Open(filepath.Join(w.at.gitDir, "index"))
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return fmt.Sprintf("%d %x", st.ModTime().UnixNano(), sum.Sum(nil))
}
