package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// worktree is one of ralph's worktrees and what ralph remembers about it, in
// <state>/worktrees/<name>.json.
type worktree struct {
	node *ir.Node
	name string // of its record: the node's id, and for a gate apart the gate
	ref  string // of its branch, "" if HEAD is detached there
	dir  string
	at   place
	cut  bool // its .git file was not ralph's when it was looked at
	gone bool // its directory was not there, or not all of it yet

	special []string // special files that were found in it, not reported yet
	refused string   // why what was committed in a clone could not be taken
	checked string   // commit that was taken from it, checked
	added   int64    // bytes of what it committed and staged

	At       string   `json:"at,omitempty"`     // its directory; an earlier ralph did not note it
	Refill   bool     `json:"refill,omitempty"` // its directory was not there, and not all was put back into it yet
	Admin    string   `json:"admin"`            // name below <common>/worktrees; of a clone ".git"
	Clone    bool     `json:"clone,omitempty"`  // it is a shared clone, not a linked worktree
	Left     string   `json:"left"`             // commit that ralph last left there
	Shot     string   `json:"shot,omitempty"`   // tree of the files that a conflict left there, "" if there was none
	Heads    []string `json:"heads,omitempty"`  // MERGE_HEAD beside it
	Index    string   `json:"index,omitempty"`  // mark of the index that ralph left, see indexMark
	Prepared bool     `json:"prepared"`         // copy and setup have run
	Made     []string `json:"made"`             // files that they made; never collected
	Walled   *walled  `json:"walled,omitempty"` // the sandbox that was in force last for a clone
}

// own is the node's worktree. Nothing is looked at yet.
func (s *space) own(n *ir.Node) *worktree {
	w := &worktree{node: n, name: string(n.ID), dir: s.dirOf(n.ID)}
	if n.ID != executor.Integration && n.Kind != ir.Manual {
		w.ref = "refs/heads/" + n.Git.Branch
	}
	return w
}

// apart is the worktree of a gate that judges beside others, detached.
func (s *space) apart(n *ir.Node, gate string) *worktree {
	name := component(gate)
	if name != gate {
		name += fmt.Sprintf("-%x", sha256.Sum256([]byte(gate)))[:7]
	}
	return &worktree{node: n, name: string(n.ID) + "@" + name, dir: s.dirOf(n.ID) + gateMark + name}
}

// gateMark is between the directory of a node and the name of a gate that judges
// apart.
const gateMark = ".gate-"

func (s *space) record(w *worktree, ending string) string {
	return filepath.Join(s.state, "worktrees", w.name+ending)
}

// forget drops what is remembered.
func (w *worktree) forget() {
	*w = worktree{node: w.node, name: w.name, ref: w.ref, dir: w.dir, special: w.special}
}

// find reads what is remembered and reports whether the worktree is there, as
// far as git's own records of it go.
func (s *space) find(w *worktree) (bool, error) {
	if err := s.load(w); err != nil {
		return false, err
	}
	if w.At != "" && w.At != w.dir && isDir(w.At) { // it is somewhere else, see moveRenamed
		w.forget()
	}
	if !w.Clone && s.ownClone(w) {
		w.forget()
		w.Clone, w.Admin = true, ".git"
	}
	if !w.Clone && (w.Admin == "" || !s.registered(w.Admin, w.dir)) {
		admin, err := s.findAdmin(w.dir)
		if err != nil {
			return false, err
		}
		w.forget()
		w.Admin = admin
	}
	s.locate(w)
	return w.Admin != "", nil
}

// load reads what is remembered.
func (s *space) load(w *worktree) error {
	b, err := regular.ReadOwn(s.record(w, ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && json.Unmarshal(b, w) != nil {
		w.forget()
	}
	return err
}

func (s *space) locate(w *worktree) {
	w.at = place{gitDir: filepath.Join(s.git.common, "worktrees", w.Admin), workTree: w.dir, ignore: s.ignore}
	if w.Clone {
		w.at.gitDir, w.at.common = filepath.Join(w.dir, ".git"), s.git.common
	}
	if len(w.Made) > 0 {
		w.at.ignore = s.record(w, ".exclude")
	}
}

// worktree finds a worktree, and creates it, empty, if it is not there. A
// directory that is not ralph's is never used.
func (s *space) worktree(ctx context.Context, w *worktree, commit string) error {
	q := s.git.asking(ctx)
	q.do(func() error { return s.sweep(ctx, w) })
	q.do(func() error {
		if there, err := s.find(w); err != nil || there {
			return err
		}
		err := s.create(ctx, w, commit)
		s.locate(w)
		return err
	})
	q.do(func() error {
		// A link would lead git, which puts the tree back, to the files of someone else.
		if st, err := os.Lstat(w.dir); err != nil || st.IsDir() {
			return nil
		}
		return s.moveOut(w, "what was in place of its worktree was moved away", ".")
	})
	q.do(func() error {
		w.cut = !s.linkIntact(w)
		if there, err := exists(w.dir); err != nil || there {
			return nil //nolint:nilerr // mend says so
		}
		w.Refill = true
		s.unprepare(w)
		return s.remember(w)
	})
	if w.Clone {
		q.do(func() error { return s.mendClone(ctx, w, commit) })
		q.do(func() error { return s.take(ctx, w) })
	} else {
		q.do(func() error { return s.mend(w) })
	}
	q.do(func() error { return s.refill(ctx, w) })
	q.do(func() error { return s.distrust(ctx, w) })
	return q.err
}

// refill puts the files back of a worktree that was not there, as its index has them:
// they were not deleted one by one, and there is nothing else of it that could be saved.
func (s *space) refill(ctx context.Context, w *worktree) error {
	if w.gone = w.Refill; !w.gone {
		return nil
	}
	if w.Left != "" {
		if _, err := s.git.line(ctx, w.at, "checkout-index", "--all", "--quiet"); ctx.Err() != nil {
			return err // else the index is broken: it is mended, or reset, later
		}
	}
	w.Refill = false
	return s.remember(w)
}

// registered reports whether the administrative directory belongs to dir and is
// whole.
func (s *space) registered(admin, dir string) bool {
	base := filepath.Join(s.git.common, "worktrees", admin)
	if !isFor(filepath.Join(base, "gitdir"), dir) {
		return false
	}
	for _, f := range []string{"HEAD", "commondir"} {
		if _, err := os.Stat(filepath.Join(base, f)); err != nil {
			return false
		}
	}
	return true
}

// isFor reports whether a gitdir file of git's names the worktree dir.
func isFor(gitdir, dir string) bool {
	b, err := regular.ReadFile(gitdir)
	return err == nil && strings.TrimSpace(string(b)) == filepath.Join(dir, ".git")
}

// findAdmin looks for a worktree that was added at dir and is not on record: a
// crash came in between. A half-made one is removed.
func (s *space) findAdmin(dir string) (string, error) {
	base := filepath.Join(s.git.common, "worktrees")
	entries, err := os.ReadDir(base)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	prefix := filepath.Base(dir) // git names it so, and puts a number after
	if strings.Trim(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		prefix = ""
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !isFor(filepath.Join(base, e.Name(), "gitdir"), dir) {
			continue
		}
		if s.registered(e.Name(), dir) {
			return e.Name(), nil
		}
		if err := regular.RemoveAllOwn(filepath.Join(base, e.Name())); err != nil {
			return "", err
		}
	}
	return "", nil
}

func (s *space) create(ctx context.Context, w *worktree, commit string) error {
	if err := s.room(w.dir); err != nil {
		return err
	}
	if s.clones() {
		if err := vacant(w.dir); err != nil {
			return err
		}
		w.Clone, w.Admin = true, ".git"
		return s.build(ctx, w, commit)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for try := 1; ; try++ {
		if err := vacant(w.dir); err != nil {
			return err
		}
		_, err := s.git.line(ctx, place{}, "worktree", "add", "--force", "--detach", "--no-checkout", "--", w.dir, commit)
		if err == nil {
			break
		}
		// A gc of the user's prunes what looks like an old worktree, also one that
		// is just being made.
		if try == 3 || !strings.Contains(err.Error(), "No such file or directory") {
			return err
		}
	}
	var err error
	if w.Admin, err = s.findAdmin(w.dir); err == nil && w.Admin == "" {
		err = fmt.Errorf("git made no worktree at %s", w.dir)
	}
	if err == nil && w.ref != "" {
		err = atomicfile.WriteOwn(filepath.Join(s.git.common, "worktrees", w.Admin, "HEAD"), []byte("ref: "+w.ref+"\n"), 0o644)
	}
	return err
}

// vacant refuses a place that is taken. A worktree that was cut while it was made
// holds nothing but its link, or the half of a .git, which is removed.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return config("worktree %s: %v", dir, err)
	case len(entries) == 1 && entries[0].Name() == ".git" && entries[0].Type().IsRegular():
		return os.Remove(filepath.Join(dir, ".git"))
	case len(entries) == 1 && entries[0].Name() == halfClone && entries[0].IsDir():
		return os.RemoveAll(filepath.Join(dir, halfClone))
	case len(entries) > 0:
		return config("the path of its worktree, %s, is occupied by something that is not ralph's: move it away", dir)
	}
	return nil
}

// remember makes durable what ralph knows about the worktree.
func (s *space) remember(w *worktree) error {
	if err := regular.MkdirOwn(filepath.Join(s.state, "worktrees")); err != nil {
		return err
	}
	w.At = w.dir
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return atomicfile.WriteOwn(s.record(w, ".json"), append(b, '\n'), 0o600)
}
