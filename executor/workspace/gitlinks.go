package workspace

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// addAll stages all that is in a worktree, as `git add --all` does. Of submodules
// it only reads where their HEAD is: to see whether files in them changed, git
// would run another git there, with settings that an agent can write.
func (s *space) addAll(ctx context.Context, at place) error {
	links, err := s.gitlinks(ctx, at)
	if err != nil {
		return err
	}
	if len(links) == 0 {
		_, err := s.git.line(ctx, at, "add", "--all", "--", ".")
		return err
	}
	var paths, heads strings.Builder
	paths.WriteString(".\x00")
	for _, p := range links {
		if isDir(filepath.Join(at.workTree, p)) { // else it was removed, or is a file now
			paths.WriteString(":(exclude,literal,top)" + p + "\x00")
			heads.WriteString(p + "\x00")
		}
	}
	if _, err := s.git.run(ctx, at, paths.String(), nil, "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		return err
	}
	if heads.Len() == 0 {
		return nil
	}
	_, err = s.git.run(ctx, at, heads.String(), nil, "update-index", "--add", "-z", "--stdin")
	return err
}

// gitlinks lists the submodules that an index has. git is asked only if the file
// may hold one: each entry has its mode in four bytes.
func (s *space) gitlinks(ctx context.Context, at place) ([]string, error) {
	index := at.index
	if index == "" {
		index = filepath.Join(at.gitDir, "index")
	}
	b, err := regular.ReadFile(index)
	if err != nil || !bytes.Contains(b, []byte{0, 0, 0xE0, 0}) && !bytes.Contains(b, []byte("link")) { // "link": its entries are in another file
		return nil, nil // of one that cannot be read, git says why
	}
	out, err := s.git.line(ctx, at, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var links []string
	for entry := range strings.SplitSeq(out, "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		if strings.HasPrefix(meta, "160000 ") && (len(links) == 0 || links[len(links)-1] != path) {
			links = append(links, path)
		}
	}
	return links, nil
}
