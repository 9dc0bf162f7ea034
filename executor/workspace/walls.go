package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// Purpose is what this package starts a program in a sandbox for.
type Purpose string

// Purposes.
const (
	Setup    Purpose = "setup"     // a command of worktree.setup
	HandOver Purpose = "hand-over" // git, which packs what a clone holds
)

// Walls returns the sandbox that is in force for a node in the worktree dir, which may be
// one apart; nil if none is. For Setup the worktree, and what git in it needs, are added to
// its mounts; for HandOver only Name, Kind, Limits and Groups count, and it is asked often. It may
// be called from any goroutine.
type Walls func(id ir.NodeID, p Purpose, dir string) (*wall.Spec, error)

// walled is what is remembered of a sandbox: who only looks is not told of it, and must not
// read the clone either.
type walled struct {
	Name   string      `json:"name"`
	Kind   wall.Kind   `json:"kind"`
	Limits wall.Limits `json:"limits"`
}

// confined is the sandbox that is in force for a worktree, nil if none is.
func (s *space) confined(w *worktree, p Purpose) (*wall.Spec, error) {
	switch {
	case s.Walls != nil:
	case w.Walled != nil && p == HandOver:
		limits := w.Walled.Limits
		limits.Memory, limits.CPU = 0, 0 // who only looks has no groups
		return &wall.Spec{Name: w.Walled.Name, Kind: w.Walled.Kind, Limits: limits}, nil
	default:
		return nil, nil
	}
	spec, err := s.Walls(w.node.ID, p, w.dir)
	if spec == nil || err != nil || spec.Kind == wall.None {
		return nil, err
	}
	return spec, nil
}

// Mounts are what a program in a sandbox needs of a worktree, or of one apart, at dir: all
// of it, which it may write to but for what leads git elsewhere, and the objects of the
// user's repository. What lies inside the worktree is mounted after these. Where a clone
// has no directory of hooks, one is made.
func (s Trees) Mounts(dir string) ([]wall.Mount, error) { return s.mounts(dir) }

// mounts are what a program in a sandbox needs of a worktree: all of it, which it may
// write to but for what leads git elsewhere, and the objects of the user's repository.
func (s *space) mounts(dir string) ([]wall.Mount, error) {
	mounts := []wall.Mount{{From: dir, Write: true}}
	if git := filepath.Join(dir, ".git"); isDir(git) {
		root, err := os.OpenRoot(git)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if err := mendHooks(root); err != nil { // a clone that was never confined has none
			return nil, err
		}
		mounts = append(mounts, wall.Mount{From: git, Write: true}, wall.Mount{From: filepath.Join(git, "config")}, wall.Mount{From: filepath.Join(git, "hooks")})
	}
	objects, err := s.objectMounts()
	return append(mounts, objects...), err
}

// objectMounts show the objects of the user's repository, and those that it borrows.
func (s *space) objectMounts() ([]wall.Mount, error) {
	dirs := []string{filepath.Join(s.git.common, "objects")}
	for i := 0; i < len(dirs); i++ {
		b, err := regular.ReadMax(filepath.Join(dirs[i], "info/alternates"), maxConfig)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for line := range strings.Lines(string(b)) {
			dir := strings.TrimSpace(line)
			if dir == "" || strings.HasPrefix(dir, "#") {
				continue
			}
			if dir = filepath.Clean(from(dirs[i], dir)); !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return lists.Map(dirs, func(dir string) wall.Mount { return wall.Mount{From: dir, Optional: dir != dirs[0]} }), nil
}

// missing says what a setup command may have missed in its sandbox. The zero value is for
// commands without one.
type missing struct {
	refused *wall.Refused // nil: no sandbox, or one without a proxy
	offline bool          // the sandbox has no network
}

// begin forgets what earlier commands missed.
func (m missing) begin() {
	if m.refused != nil {
		m.refused.Clear()
	}
}

// failed is the error of a command that missed it: said is what happened, rest where to look.
// A host that the policy does not name is refused the next time, too.
func (m missing) failed(said, rest string) error {
	if m.offline {
		return fmt.Errorf("%s; its sandbox has no network (see worktree.network); %s", said, rest)
	}
	var hosts string
	var unlisted []string
	if m.refused != nil {
		hosts, unlisted = executor.RefusedHosts(executor.Refusals(m.refused.Times())), m.refused.Unlisted()
	}
	switch {
	case len(unlisted) > 0:
		add := strings.Join(lists.Map(unlisted[:min(len(unlisted), executor.MaxRefused)], strconv.Quote), ", ")
		return config("%s; its sandbox refused %s (if it needs them, add to worktree.network: %s); %s", said, hosts, executor.Plain(add), rest)
	case hosts != "":
		said += fmt.Sprintf("; its sandbox refused %s (see worktree.network)", hosts)
	}
	return fmt.Errorf("%s; %s", said, rest)
}

// inside is the sandbox for the commands of a worktree's setup, nil if none is in force,
// and what a command may miss there. What it mounts inside the worktree is mounted after
// it, all else before. outOfMemory is told the reason if all in it is killed because it had
// used up its memory.
func (s *space) inside(w *worktree, outOfMemory func(why string)) (in process.Wall, m missing, err error) {
	spec, err := s.confined(w, Setup)
	if spec == nil || err != nil {
		return nil, m, err
	}
	own, err := s.mounts(w.dir)
	if err != nil {
		return nil, m, err
	}
	box := *spec
	if m.offline = spec.Egress == nil; !m.offline {
		m.refused = &wall.Refused{}
		egress := *spec.Egress
		egress.Refused = m.refused.Add
		box.Egress = &egress
	}
	box.OutOfMemory = func() {
		outOfMemory((&executor.Sandboxed{Name: box.Name, Memory: executor.Bytes(box.Limits.Memory)}).OutOfMemory())
	}
	below := func(m wall.Mount) bool {
		return strings.HasPrefix(cmp.Or(m.At, m.From), w.dir+string(filepath.Separator))
	}
	box.Mounts = slices.Concat(lists.Keep(spec.Mounts, func(m wall.Mount) bool { return !below(m) }), own, lists.Keep(spec.Mounts, below))
	return s.enclose(&box), m, nil
}

// mendWalled makes sound what a sandbox shows of a clone's .git read-only, and remembers
// the sandbox.
func (s *space) mendWalled(w *worktree) error {
	spec, err := s.confined(w, HandOver)
	if err != nil || s.Walls == nil {
		return err
	}
	var now *walled
	q := asking{}
	if spec != nil {
		now = &walled{spec.Name, spec.Kind, spec.Limits}
		q.do(func() error { return s.mendConfig(w) })
	}
	if same := now == nil && w.Walled == nil || now != nil && w.Walled != nil && *now == *w.Walled; !same {
		if w.Walled = now; w.Left != "" { // else it is remembered when something is there
			q.do(func() error { return s.remember(w) })
		}
	}
	return q.err
}

// mendConfig makes a clone's configuration what ralph wrote, and the directory of its
// hooks. What was there before the sandbox was in force would otherwise stay.
func (s *space) mendConfig(w *worktree) error {
	root, err := os.OpenRoot(w.at.gitDir)
	if err != nil {
		return err
	}
	defer root.Close()
	var q asking
	q.do(func() error { return mendHooks(root) })
	want := s.cloneConfig()
	if b, err := regular.ReadIn(root, "config"); err != nil || string(b) != want {
		q.do(func() error { return root.RemoveAll("config") })
		q.do(func() error { return root.WriteFile("config", []byte(want), 0o644) })
	}
	return q.err
}

// mendHooks makes the directory of a clone's hooks, where root is its .git, if there is none.
func mendHooks(root *os.Root) error {
	if st, err := root.Lstat("hooks"); err == nil && st.IsDir() {
		return nil
	}
	return errors.Join(root.RemoveAll("hooks"), root.Mkdir("hooks", 0o755))
}
