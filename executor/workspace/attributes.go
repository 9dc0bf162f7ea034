package workspace

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// maxAttributes bounds a file of attributes, in bytes; git reads no larger one.
const maxAttributes = 100 << 20

// mergeTree merges two commits. It returns the tree, with markers where they
// conflict, and git's index entries ("mode object stage\tpath") of what does. label is
// what markers call the second: its branch, or the commit.
//
// How files merge is what the attributes of the pinned base say: git would ask those
// of the checkout, where an agent could have written that nothing conflicts.
func (s *space) mergeTree(ctx context.Context, at, in, label string) (_ string, _ []string, err error) {
	attributes, err := s.attributes(ctx)
	if err != nil {
		return "", nil, err
	}
	g, err := s.borrow()
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(g.dir)) }()
	files := map[string]string{"files/.gitattributes": ""}
	for path, text := range attributes {
		files["files/"+path] = text
	}
	if label != in {
		files["refs/heads/"+label] = in + "\n"
	}
	for name, text := range files {
		path := filepath.Join(g.dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), regular.WriteFile(path, []byte(text), 0o600)); err != nil {
			return "", nil, err
		}
	}
	place := place{gitDir: g.dir, workTree: filepath.Join(g.dir, "files")}
	out, err := g.run(ctx, place, "", nil, "merge-tree", "--write-tree", "--no-messages", "-z", at, label)
	fields := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	if err != nil && (exitCode(err) != 1 || len(fields) < 2) {
		return "", nil, err
	}
	return fields[0], slices.Clone(fields[1:]), nil
}

// attributes are the files of attributes of the pinned base, by path; none if nothing
// is pinned.
func (s *space) attributes(ctx context.Context) (map[string]string, error) {
	base, err := s.base(ctx)
	if err != nil || base == "" {
		return nil, err
	}
	if known, ok := s.attrs.Load(base); ok {
		return known.(map[string]string), nil
	}
	entries, err := s.git.entries(ctx, "ls-tree", "-r", "-z", "--full-tree", base)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for name, e := range entries {
		if !strings.HasPrefix(e.mode, "100") || !filepath.IsLocal(filepath.FromSlash(name)) || path.Base(name) != ".gitattributes" {
			continue
		}
		b, err := s.git.blob(ctx, e.hash, maxAttributes)
		if err != nil {
			return nil, err
		}
		found[name] = string(b)
	}
	s.attrs.Store(base, found)
	return found, nil
}
