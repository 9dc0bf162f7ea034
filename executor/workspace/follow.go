package workspace

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// mostLinks bounds the links on the way to a file: one more is a circle.
const mostLinks = 40

// follow walks to a path through the links on its way. It returns these, none of which
// leads through another, and the place where the path leads, "" if that is outside or, with
// more than mostLinks, in a circle.
func follow(p string, link func(p string) (target string, ok bool)) (links []string, to string) {
	to = "."
	for rest := strings.Split(path.Clean(p), "/"); len(rest) > 0; {
		next := path.Join(to, rest[0])
		rest = rest[1:]
		if next == "." {
			continue
		}
		target, ok := link(next)
		if !ok {
			to = next
			continue
		}
		if links = append(links, next); len(links) > mostLinks {
			return links, ""
		}
		at := path.Join(to, target)
		if path.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(at)) {
			return links, ""
		}
		rest, to = append(strings.Split(at, "/"), rest...), "."
	}
	return links, to
}

// Way is what leads to a path in the user's checkout: the links on its way and the file
// itself, without those outside the checkout. Git accepts each of them; it accepts no
// path beyond a link.
func (s Files) Way(p string) []string {
	links, to := follow(p, func(p string) (string, bool) {
		target, err := os.Readlink(filepath.Join(s.top, filepath.FromSlash(p)))
		if rel, relErr := filepath.Rel(s.top, target); filepath.IsAbs(target) && relErr == nil && filepath.IsLocal(rel) {
			target = strings.Repeat("../", strings.Count(p, "/")) + rel
		}
		return filepath.ToSlash(target), err == nil
	})
	switch {
	case to != "":
		links = append(links, to)
	case len(links) > mostLinks:
		links = links[:1]
	}
	return links
}

// ofAnother reports whether a path of the user's checkout is in a repository of its
// own there, such as a submodule.
func (s *space) ofAnother(p string) bool {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if _, err := os.Lstat(filepath.Join(s.top, filepath.FromSlash(d), ".git")); err == nil {
			return true
		}
	}
	return false
}

// Modes of a tree's entries.
const (
	linkMode      = "120000"
	submoduleMode = "160000"
)

// treeEntry is what a tree holds at a path.
type treeEntry struct{ mode, hash string }

// treeFile is what a path leads to in a tree.
type treeFile struct {
	treeEntry
	submodule string // the one that it is in
	outside   bool   // it is outside of the repository
}

// looked is what was asked of a commit's tree, which never changes.
type looked struct {
	mu     sync.Mutex // guards the rest, and what at returns until it is done
	commit string
	tree   map[string]treeEntry // what was asked for; no mode: it is not there
}

// at returns what is known of a commit's tree, to be added to.
func (l *looked) at(commit string) (tree map[string]treeEntry, done func()) {
	l.mu.Lock()
	if l.commit != commit || !isOid(commit) || len(l.tree) > maxKept {
		l.commit, l.tree = commit, map[string]treeEntry{}
	}
	return l.tree, l.mu.Unlock
}

// files looks for paths in a commit, also behind its links.
func (s *space) files(ctx context.Context, commit string, paths []string) (map[string]treeFile, error) {
	tree, done := s.looked.at(commit)
	defer done()
	load := func(paths ...string) error {
		ask := []string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--"}
		args := len(ask)
		for _, p := range paths {
			for ; p != "."; p = path.Dir(p) {
				if _, asked := tree[p]; !asked {
					tree[p] = treeEntry{}
					ask = append(ask, p)
				}
			}
		}
		if len(ask) == args {
			return nil
		}
		slices.Sort(ask[args:])
		there, err := s.git.entries(ctx, ask...)
		if err != nil {
			clear(tree)
		}
		maps.Copy(tree, there)
		return err
	}
	err := load(paths...)
	found := map[string]treeFile{}
	for _, p := range paths {
		links, to := follow(p, func(p string) (target string, ok bool) {
			if _, asked := tree[p]; !asked && err == nil {
				err = load(p)
			}
			if e := tree[p]; e.mode == linkMode && err == nil {
				var out []byte
				out, err = s.git.run(ctx, place{}, "", nil, "cat-file", "blob", e.hash)
				return string(out), true
			}
			return "", false
		})
		if err != nil {
			return nil, err
		}
		f := treeFile{treeEntry: tree[to], outside: to == "" && len(links) <= mostLinks}
		for d := path.Dir(to); to != "" && d != "."; d = path.Dir(d) {
			if tree[d].mode == submoduleMode {
				f.submodule = d
			}
		}
		found[p] = f
	}
	return found, nil
}

// Tracked returns the files below dir in a commit of its repository, which may be HEAD of
// its checkout: by path, relative to dir, with forward slashes, git's name of each file's
// content. A submodule counts as a file.
func Tracked(ctx context.Context, dir, commit string) (map[string]string, error) {
	g, err := findGit(dir)
	if err == nil {
		err = g.locate(ctx)
	}
	if err != nil {
		return nil, err
	}
	g.common = "" // HEAD is that of the checkout around dir
	entries, err := g.entries(ctx, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return nil, err
	}
	files := make(map[string]string, len(entries))
	for path, e := range entries {
		files[path] = e.hash
	}
	return files, nil
}
