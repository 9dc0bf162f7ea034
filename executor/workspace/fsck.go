package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// unsound says what is wrong with the commits that a head has on top of a base, as git
// fsck would; "" if nothing is. Such a commit never becomes part of a branch: others
// could not fetch it, or would check out what it hides.
func (s *space) unsound(ctx context.Context, w *worktree, head, base string) (string, error) {
	if head == base {
		return "", nil
	}
	out, err := s.git.line(ctx, place{}, "rev-list", "--objects", "--filter=blob:none", head, "^"+base)
	if err != nil {
		if !theirs(err) {
			return "", err
		}
		return "its commits cannot be read: " + oneLine(err.Error(), 300), ctx.Err()
	}
	commit := head
	var commits []string
	for line := range strings.Lines(out) {
		oid, _, named := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !named { // its message may be of any size
			commit = oid
			commits = append(commits, oid)
			continue
		}
		_, kind, data, err := s.git.ask(ctx, "contents", oid)
		if err != nil {
			return "", err
		}
		if wrong := oddEntry(data, len(oid)/2); kind == "tree" && wrong != "" {
			return fmt.Sprintf("its commit %.12s holds a tree that git calls broken (%.12s: %s)", commit, oid, wrong), nil
		}
	}
	if wrong, err := s.crowded(ctx, commits); wrong != "" || err != nil {
		return "its " + wrong, err
	}
	if w != nil && w.checked == head {
		return "", nil
	}
	return s.fsck(ctx, head, base)
}

// fsck checks commits, and all that they add, with git's own rules.
func (s *space) fsck(ctx context.Context, head, base string) (string, error) {
	tmp, err := os.CreateTemp(s.state, "import-*.pack")
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(tmp.Name(), ".pack")
	defer func() {
		for _, ending := range []string{".pack", ".idx", ".rev"} {
			_ = os.Remove(name + ending) // mostly not all are there
		}
	}()
	err = s.git.pipe(ctx, strings.NewReader(head+"\n--not\n"+base+"\n"), tmp, nil, "pack-objects", "--revs", "--stdout", "-q")
	if err = errors.Join(err, tmp.Close()); err == nil {
		_, err = s.git.line(ctx, place{}, "index-pack", "--strict", "-o", name+".idx", tmp.Name())
	}
	if err != nil && theirs(err) {
		return "its commits are broken: " + oneLine(err.Error(), 300), ctx.Err()
	}
	return "", err
}

// oddEntry says what is wrong with a tree, as git stores it: names of size bytes.
func oddEntry(tree []byte, size int) string {
	before := ""
	names := map[string]bool{}
	for len(tree) > 0 {
		head, rest, ok := bytes.Cut(tree, []byte{0})
		mode, path, has := strings.Cut(string(head), " ")
		switch {
		case !ok || !has || len(rest) < size:
			return "it is cut short"
		case !slices.Contains([]string{"100644", "100755", "100664", "120000", "160000", "40000"}, mode):
			return fmt.Sprintf("the mode of %q is %s", path, mode)
		case path == "" || path == "." || path == ".." || strings.ContainsRune(path, '/') || looksLikeGit(path):
			return fmt.Sprintf("it contains %q", path)
		case names[path]:
			return fmt.Sprintf("it contains %q twice", path)
		}
		names[path] = true
		key := path
		if mode == "40000" {
			key += "/"
		}
		if key < before {
			return fmt.Sprintf("%q comes after %q", path, strings.TrimSuffix(before, "/"))
		}
		before, tree = key, rest[size:]
	}
	return ""
}
