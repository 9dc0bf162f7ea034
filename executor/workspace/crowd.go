package workspace

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// A few trees that name each other many times make a commit of any number of files,
// which git walks through one by one. So what commits change is counted by their trees,
// each of which is read once, before git is asked for it.

// maxMore is how many files and directories commits may change in all.
const maxMore = 1_000_000

// maxTrees is how many bytes of trees are read to count them.
const maxTrees = 512 << 20

// maxDeep is how deep directories of such a commit may lie inside each other.
const maxDeep = 4096

// uncounted stands for more files than are counted.
const uncounted = int64(1) << 60

// census counts the files and directories of trees.
type census struct {
	s     *space
	seen  map[string]crowd
	pairs map[[2]string]int64
	bytes int // of the trees that were read
}

// crowd is how many files and directories a tree holds, itself with them, at whatever
// depth, and how deep they lie.
type crowd struct {
	n    int64
	deep int
}

// named is a file or a directory of a tree.
type named struct{ name, mode, oid string }

func (e named) isTree() bool {
	mode, err := strconv.ParseUint(e.mode, 8, 64)
	return err != nil || mode&0o170000 == 0o40000
}

func (s *space) census() *census {
	return &census{s: s, seen: map[string]crowd{}, pairs: map[[2]string]int64{}}
}

// read lists a tree as far as git would, and returns what it counts itself.
func (c *census) read(ctx context.Context, tree string) (list []named, own int64, err error) {
	if tree == "" {
		return nil, 0, nil
	}
	_, kind, data, err := c.s.git.ask(ctx, "contents", tree)
	if err != nil {
		return nil, 0, err
	}
	if kind != "tree" { // git cannot read it, either
		return nil, 1, nil
	}
	if c.bytes += len(data); len(data) >= maxContents || c.bytes > maxTrees { // it was cut, or there are too many
		return nil, uncounted, nil
	}
	for size := len(tree) / 2; len(data) > 0; {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, _ := bytes.Cut(head, []byte(" "))
		if !ok || len(rest) < size {
			break // git calls it broken
		}
		list = append(list, named{string(name), string(mode), hex.EncodeToString(rest[:size])})
		data = rest[size:]
	}
	return list, 1, nil
}

// of counts a tree that is so deep.
func (c *census) of(ctx context.Context, tree string, depth int) (crowd, error) {
	if in, ok := c.seen[tree]; ok {
		if depth+in.deep > maxDeep {
			in.n = uncounted
		}
		return in, nil
	}
	if depth >= maxDeep || len(c.seen) > maxMore { // each of them counts
		return crowd{uncounted, 0}, nil
	}
	list, own, err := c.read(ctx, tree)
	if err != nil {
		return crowd{}, err
	}
	all := crowd{own, 1}
	var below []string // a tree may be large and lie deep: no more of it is kept
	for _, e := range list {
		if e.isTree() {
			below = append(below, e.oid)
		} else {
			all.n++
		}
	}
	for _, oid := range below {
		if all.n > maxMore { // it is not counted any further
			break
		}
		in, err := c.of(ctx, oid, depth+1)
		if err != nil {
			return crowd{}, err
		}
		all = crowd{min(all.n+in.n, uncounted), max(all.deep, in.deep+1)}
	}
	c.seen[tree] = all
	return all, nil
}

// between counts what differs in two trees at the same place.
func (c *census) between(ctx context.Context, a, b string, depth int) (int64, error) {
	if a == b {
		return 0, nil
	}
	if n, ok := c.pairs[[2]string{a, b}]; ok {
		return n, nil
	}
	if depth >= maxDeep || len(c.pairs) > maxMore {
		return uncounted, nil
	}
	was, _, err := c.read(ctx, a)
	if err != nil {
		return 0, err
	}
	now, sum, err := c.read(ctx, b)
	if err != nil {
		return 0, err
	}
	before := lists.Table(was, func(e named) (string, named) { return e.name, e })
	add := func(e named, at string) error {
		n, err := c.entry(ctx, e, at, depth+1)
		sum = min(sum+n, uncounted)
		return err
	}
	same := map[named]bool{} // of what was before: it is there still, or was counted
	for _, e := range now {
		if sum > maxMore {
			break
		}
		at := ""
		if old, ok := before[e.name]; ok && (old == e || old.isTree() && e.isTree()) {
			same[old] = true
			if old == e {
				continue
			}
			at = old.oid
		}
		if err := add(e, at); err != nil {
			return 0, err
		}
	}
	for _, e := range was {
		if !same[e] && sum <= maxMore {
			if err := add(e, ""); err != nil {
				return 0, err
			}
		}
	}
	c.pairs[[2]string{a, b}] = sum
	return sum, nil
}

// entry counts what a file or directory brings; at is the tree that was there before.
func (c *census) entry(ctx context.Context, e named, at string, depth int) (int64, error) {
	switch {
	case at != "":
		return c.between(ctx, at, e.oid, depth)
	case e.isTree():
		in, err := c.of(ctx, e.oid, depth)
		return in.n, err
	}
	return 1, nil
}

// crowdedSince is crowded of the commits that a head has on top of a base.
func (s *space) crowdedSince(ctx context.Context, head, base string) (string, error) {
	if head == base {
		return "", nil
	}
	out, err := s.git.line(ctx, place{}, "rev-list", head, "^"+base)
	if err != nil {
		return "", ctx.Err() // unsound says why
	}
	return s.crowded(ctx, strings.Fields(out))
}

// crowded says what is wrong with commits that change too many files, "" if none do.
func (s *space) crowded(ctx context.Context, commits []string) (string, error) {
	c, sum := s.census(), int64(0)
	for _, commit := range commits {
		h, err := s.git.commitHeader(ctx, commit)
		if err != nil {
			return "", err
		}
		before := []string{""}
		if len(h.parents) > 0 {
			before = nil
		}
		for _, p := range h.parents {
			tree, err := s.git.tree(ctx, p)
			if err != nil && !errors.Is(err, errNoCommit) { // of a shallow clone
				return "", err
			}
			before = append(before, tree)
		}
		least := uncounted
		for _, tree := range before { // of a merge the smallest: its parents are counted, too, or were there
			n, err := c.between(ctx, tree, h.tree, 0)
			if err != nil {
				return "", err
			}
			least = min(least, n)
		}
		if sum += least; least > maxMore {
			return fmt.Sprintf("commit %.12s changes more than %d files, or directories deeper than %d", commit, maxMore, maxDeep), nil
		}
		if sum > maxMore {
			return fmt.Sprintf("commit %.12s and others with it change more than %d files in all", commit, maxMore), nil
		}
	}
	return "", nil
}
