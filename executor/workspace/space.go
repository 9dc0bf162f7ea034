package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

var _ executor.Workspace = (*Space)(nil)

// Space is the repository as one epic uses it: the worktrees of its nodes, as effects
// use them (executor.Workspace), and the rest by subject.
type Space struct {
	*space
	Bases    Bases
	Results  Results
	Checkout Checkout
	Files    Files
	User     User
	Names    Names
	Refs     Refs
	Trees    Trees
}

// Bases are the commits that the epic and its roots start from.
type Bases struct{ *space }

// Results are what nodes have made, in comparison with a base: whether it holds them, and
// where work would start that is built on them.
type Results struct{ *space }

// Checkout is the user's checkout and its repository, which are read and watched.
type Checkout struct{ *space }

// Files are files of the user's checkout, in comparison with a commit.
type Files struct{ *space }

// User is the user as git's configuration knows them.
type User struct{ *space }

// Names are the branches and directories that the epic needs.
type Names struct{ *space }

// Refs are the epic's branches and refs, and their commits: what is left of a run without
// its journal.
type Refs struct{ *space }

// Trees are the worktrees between effects: files left in them, and files moved out.
type Trees struct{ *space }

func (s *space) whole() *Space {
	return &Space{s, Bases{s}, Results{s}, Checkout{s}, Files{s}, User{s}, Names{s}, Refs{s}, Trees{s}}
}

// space is what they share.
type space struct {
	*repository
	state string // this epic's state directory, absolute
	epic  *ir.Epic
	nodes map[ir.NodeID]*ir.Node
	byKey map[ir.Key]*ir.Node

	promisors []string // remotes that a partial clone expects objects of

	mu      sync.Mutex // guards trees being added: git numbers them by looking
	busy    sync.Map   // *sync.Mutex by name of the worktree
	stamped sync.Map   // map[string]stamp of the tracked files that a gate works beside, by name of the worktree
	refs    sync.Map   // *standing: the user's refs when a node's agent began

	stash sync.Mutex // guards what is pinned of it

	Secrets Secrets // set before anything is prepared
	Walls   Walls   // likewise; nil: no sandbox is in force

	enclose func(*wall.Spec) process.Wall // makes a sandbox
	largest int64                         // pack that a clone may hand over, in bytes

	branches map[string]bool    // refs of this epic's branches
	begun    map[ir.NodeID]bool // nodes that have attempts by the journal, see Began
	based    atomic.Value       // string: the base that this run has pinned
	attrs    sync.Map           // files of attributes, by the commit of a base
	disks    []string           // directories that may lie on different file systems: the state's, and each in which worktrees are
	free     func(dir string) (int64, error)
}

// Secrets keep the secrets of a run out of what is stored; nil: nothing is a secret.
type Secrets struct {
	Filter func(io.Writer) io.WriteCloser          // takes them out of what setup commands print
	Redact func(string) string                     // takes them out of what agents say in commits of ralph's
	Count  func(io.Reader) (map[string]int, error) // counts those of a text, by name
}

// Refusal is an error that the user can fix; Hint says what to type.
type Refusal struct{ What, Hint string }

func (r *Refusal) Error() string {
	if r.Hint == "" {
		return r.What
	}
	return r.What + "\n  " + r.Hint
}

// StateDir returns the state directory of an epic, for the repository that contains
// dir: outside every worktree, shared by all, never committed.
func StateDir(ctx context.Context, dir string, epic ir.NodeID) (string, error) {
	if known := memoryOf(ctx); known != nil {
		if r, err := known.repository(ctx, dir); err == nil {
			return stateIn(r.git.common, epic)
		}
	}
	g, err := findGit(dir)
	if err != nil {
		return "", err
	}
	if err := g.locate(ctx); err != nil {
		return "", err
	}
	return stateIn(g.common, epic)
}

// stateIn is the state directory of an epic in a git directory whose path is resolved;
// a link on the way there is refused.
func stateIn(common string, epic ir.NodeID) (string, error) {
	dir := filepath.Join(common, "ralph", string(epic))
	return dir, regular.NoLinks(dir)
}

// Open opens the repository that contains dir, for an epic. It changes nothing.
func Open(ctx context.Context, dir string, epic *ir.Epic) (*Space, error) {
	look := lookAt
	if known := memoryOf(ctx); known != nil {
		look = known.repository
	}
	r, err := look(ctx, dir)
	if err != nil {
		return nil, err
	}
	s := &space{repository: r.again(), epic: epic, branches: map[string]bool{}, free: FreeSpace, enclose: sandbox.Of, largest: maxPack}
	if err := s.know(); err != nil {
		return nil, err
	}
	return s.whole(), nil
}

// know takes up what the epic says about the repository.
func (s *space) know() error {
	var err error
	if s.state, err = stateIn(s.git.common, s.epic.Epic.ID); err != nil {
		return err
	}
	disks := map[string]bool{}
	s.nodes = make(map[ir.NodeID]*ir.Node, len(s.epic.Nodes))
	s.byKey = make(map[ir.Key]*ir.Node, len(s.epic.Nodes))
	for n := range lists.Refs(s.epic.Nodes) {
		s.nodes[n.ID], s.byKey[n.Key] = n, n
		s.branches["refs/heads/"+n.Git.Branch] = true
		dir, err := s.path(n.Git.Worktree)
		if err != nil {
			return &Refusal{What: fmt.Sprintf("node %s: %v", n.Key, err)}
		}
		disks[s.disk(dir)] = true
	}
	if name := s.epic.Epic.Integration.Branch; name != "" {
		s.nodes[executor.Integration] = &ir.Node{
			ID: executor.Integration, Key: executor.Integration, Kind: ir.GateKind, Title: s.epic.Epic.Title,
			Git: ir.Git{Branch: name, Worktree: "../{repo}-worktrees/" + name},
		}
		s.branches[s.sumRef()] = true
		dir, err := s.path(s.nodes[executor.Integration].Git.Worktree)
		if err != nil {
			return &Refusal{What: fmt.Sprintf("integration branch: %v", err)}
		}
		disks[s.disk(dir)] = true
	}
	s.disks = append([]string{s.state}, sortedKeys(disks)...)
	return nil
}

// sumRef is the ref of the integration branch, "" if the epic has none.
func (s *space) sumRef() string {
	if s.epic.Epic.Integration.Branch == "" {
		return ""
	}
	return "refs/heads/" + s.epic.Epic.Integration.Branch
}

// State returns this epic's state directory.
func (s *Space) State() string { return s.state }

// Top returns the user's checkout.
func (s *Space) Top() string { return s.top }

// Dir implements executor.Workspace.
func (s *Space) Dir(id ir.NodeID) string { return s.dirOf(id) }

func (s *space) dirOf(id ir.NodeID) string {
	dir, err := s.path(s.nodes[id].Git.Worktree)
	if err != nil {
		panic("workspace: an unchecked path: " + err.Error()) // Open refused it
	}
	return dir
}

// path fills in {repo} and makes a worktree's path absolute. It is inside the
// project or inside a sibling ../<name>-worktrees/.
func (s *space) path(template string) (string, error) {
	rel := strings.ReplaceAll(template, "{repo}", filepath.Base(s.top))
	clean := filepath.Clean(filepath.FromSlash(rel))
	outside, beside := strings.CutPrefix(filepath.ToSlash(clean), "../")
	switch {
	case rel == "" || clean == ".":
		return "", fmt.Errorf("its worktree path is empty")
	case filepath.IsAbs(clean):
		return "", fmt.Errorf("its worktree path %q is absolute", template)
	case beside:
		first, _, deeper := strings.Cut(outside, "/")
		if !strings.HasSuffix(first, "-worktrees") || !deeper {
			return "", fmt.Errorf("its worktree path %q leaves the project (a sibling ../…-worktrees/ is allowed)", template)
		}
	case clean == ".git" || strings.HasPrefix(clean, ".git"+string(filepath.Separator)):
		return "", fmt.Errorf("its worktree path %q is in the git directory", template)
	}
	return filepath.Join(s.top, clean), nil
}

func (s *space) prefix() string { return "refs/ralph/" + string(s.epic.Epic.ID) + "/" }

func (s *space) nodeRef(id ir.NodeID, rest string) string {
	return s.prefix() + "nodes/" + string(id) + "/" + rest
}

// Pin pins the epic's base, and those of roots that name their own, on the first call;
// later calls return what was pinned.
func (s Bases) Pin(ctx context.Context) (executor.Tree, []executor.NamedTree, error) {
	base, own, err := s.eachBase(func(ref, branch string) (executor.Tree, error) {
		q := s.git.asking(ctx)
		commit := q.ref(ref)
		if commit == "" {
			q.do(func() (err error) { commit, err = s.headOfBase(ctx, branch); return err })
			q.update("pin base", move{ref, "", commit})
		}
		at := q.at(commit)
		return at, q.err
	})
	if err != nil {
		return base, nil, err
	}
	s.based.Store(base.Commit)
	return base, own, s.keepStash(ctx)
}

// base is the commit that the epic starts from, "" if none is pinned: once it is
// pinned for a run, whatever others do to the ref meanwhile.
func (s *space) base(ctx context.Context) (string, error) {
	if at, ok := s.based.Load().(string); ok {
		return at, nil
	}
	return s.git.ref(ctx, s.prefix()+"base")
}

func blocked(n *ir.Node) bool {
	return slices.ContainsFunc(n.After, func(e ir.Edge) bool { return e.Type == ir.Blocks })
}

// hold keeps two effects on the same worktree apart.
func (s *space) hold(name string) func() {
	m, _ := s.busy.LoadOrStore(name, new(sync.Mutex))
	m.(*sync.Mutex).Lock()
	return m.(*sync.Mutex).Unlock
}

func config(format string, args ...any) error {
	return &executor.Failure{Class: executor.FailConfig, Err: fmt.Errorf(format, args...)}
}

// lasting makes the error of a program that cannot be started at all a configuration
// failure; other errors are unchanged.
func lasting(err error) error {
	if _, is := errors.AsType[*process.NotStarted](err); is {
		return config("%w", err)
	}
	return err
}

// exists reports whether there is anything at path.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
