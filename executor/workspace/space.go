package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

var _ executor.Workspace = (*Space)(nil)

// Space is the repository as one epic uses it.
type Space struct {
	git    *git
	top    string // the user's checkout, absolute
	state  string // this epic's state directory, absolute
	epic   *ir.Epic
	nodes  map[ir.NodeID]*ir.Node
	byKey  map[ir.Key]*ir.Node
	who    []string // committer, as environment
	person []string // the same, and the user as author
	ignore string   // the user's excludes file, "" if none
	lfs    bool     // the user has Git LFS

	carried   map[string]string // settings that clones get, by name
	promisors []string          // remotes that a partial clone expects objects of
	shared    string            // who else may write objects, as core.sharedRepository has it

	mu      sync.Mutex // guards trees being added: git numbers them by looking
	busy    sync.Map   // *sync.Mutex by name of the worktree
	stamped sync.Map   // map[string]stamp of the tracked files that a gate works beside, by name of the worktree
	refs    sync.Map   // *standing: the user's refs when a node's agent began

	stash sync.Mutex // guards what is pinned of it

	// Filter takes secrets out of what setup commands print, Redact out of what agents say
	// in commits of ralph's; nil: nothing is taken. They are set before anything is prepared.
	Filter func(io.Writer) io.WriteCloser
	Redact func(string) string

	// Known counts the known secrets of a text, by name; nil: there are none. It is set
	// before anything is collected.
	Known func(io.Reader) (map[string]int, error)

	branches map[string]bool    // refs of this epic's branches
	begun    map[ir.NodeID]bool // nodes that have attempts by the journal, see Began
	based    atomic.Value       // string: the base that this run has pinned
	attrs    sync.Map           // files of attributes, by the commit of a base
	disks    []string           // directories that may lie on different file systems: the state's, and each in which worktrees are
	free     func(dir string) (int64, error)
}

// Refusal is an error that the user can mend; Hint says what to type.
type Refusal struct{ What, Hint string }

func (r *Refusal) Error() string {
	if r.Hint == "" {
		return r.What
	}
	return r.What + "\n  " + r.Hint
}

// StateDir returns where the state of an epic is kept, for the repository that
// dir lies in: outside every worktree, shared by all, never committed.
func StateDir(ctx context.Context, dir string, epic ir.NodeID) (string, error) {
	g, err := findGit(ctx, dir)
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

// Open opens the repository that dir lies in, for an epic. It changes nothing.
func Open(ctx context.Context, dir string, epic *ir.Epic) (*Space, error) {
	g, err := findGit(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := g.locate(ctx); err != nil {
		return nil, err
	}
	s := &Space{git: g, epic: epic, branches: map[string]bool{}, free: free}
	if s.top, err = g.top(ctx, dir); err != nil {
		return nil, err
	}
	if err := s.know(); err != nil {
		return nil, err
	}
	if err := s.settings(ctx); err != nil {
		return nil, err
	}
	return s, s.complete(ctx)
}

// know takes up what the epic says about the repository.
func (s *Space) know() error {
	var err error
	if s.state, err = stateIn(s.git.common, s.epic.Epic.ID); err != nil {
		return err
	}
	disks := map[string]bool{}
	s.nodes = make(map[ir.NodeID]*ir.Node, len(s.epic.Nodes))
	s.byKey = make(map[ir.Key]*ir.Node, len(s.epic.Nodes))
	for i := range s.epic.Nodes {
		n := &s.epic.Nodes[i]
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
func (s *Space) sumRef() string {
	if s.epic.Epic.Integration.Branch == "" {
		return ""
	}
	return "refs/heads/" + s.epic.Epic.Integration.Branch
}

// State returns this epic's state directory.
func (s *Space) State() string { return s.state }

// Top returns the user's checkout.
func (s *Space) Top() string { return s.top }

func (g *git) locate(ctx context.Context) error {
	where := []string{"rev-parse", "--path-format=absolute", "--git-common-dir"}
	out, err := g.line(ctx, place{}, where...)
	if err != nil && strings.Contains(err.Error(), "dubious ownership") && g.trusted(ctx) {
		out, err = g.line(ctx, place{}, where...)
	}
	if err != nil {
		return &Refusal{What: fmt.Sprintf("%s is not in a git repository that ralph may use (%v)", g.dir, err), Hint: "git init"}
	}
	if g.common, err = filepath.EvalSymlinks(out); err != nil {
		return err
	}
	return notAClone(g.dir, g.common)
}

// notAClone refuses to work in a clone that is a sprint's worktree: the run is recorded
// where it was made for.
func notAClone(dir, common string) error {
	b, _, err := readPlain(filepath.Join(common, cloneMark), maxRef)
	of, _, ok := strings.Cut(string(b), "\n")
	if err != nil || !ok || !filepath.IsAbs(of) {
		return nil //nolint:nilerr // it is none
	}
	if filepath.Base(of) == ".git" {
		of = filepath.Dir(of)
	}
	return &Refusal{What: fmt.Sprintf("%s is the worktree of a sprint, which ralph made for %s; call it there", dir, of), Hint: "cd " + shellword.Quote(of)}
}

// trusted takes over which repositories of other owners the user trusts, as git reads
// that nowhere but in the user's and the system's configuration.
func (g *git) trusted(ctx context.Context) bool {
	user := *g
	user.conf, user.env, user.user = nil, userEnv(), true
	var dirs []string
	for _, scope := range []string{"--system", "--global"} {
		out, err := user.line(ctx, place{}, "config", scope, "--includes", "-z", "--type=path", "--get-all", "safe.directory")
		if err == nil { // else there is none
			dirs = append(dirs, strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")...)
		}
	}
	for _, dir := range dirs {
		g.conf = append(g.conf, "-c", "safe.directory="+dir)
	}
	return len(dirs) > 0
}

func (g *git) top(ctx context.Context, dir string) (string, error) {
	bare := *g
	bare.common = "" // the checkout is found from dir
	out, err := bare.line(ctx, place{}, "rev-parse", "--path-format=absolute", "--show-toplevel")
	if err != nil {
		return "", &Refusal{What: fmt.Sprintf("%s is not in a checkout (%v)", dir, err)}
	}
	return filepath.EvalSymlinks(out)
}

// settings reads, once, the few settings of the user that have to hold in every
// call, with the user's own configuration.
func (s *Space) settings(ctx context.Context) error {
	user := *s.git
	user.conf = nil
	user.env = userEnv()
	user.common, user.user = "", true
	out, err := user.run(ctx, place{}, "", nil, "config", "-z", "--get-regexp",
		`^(user\.(name|email)|core\.(excludesfile|autocrlf|eol|filemode|ignorecase|symlinks|precomposeunicode|sharedrepository)|filter\..*\.(clean|smudge|process|required)|extensions\.(refstorage|objectformat))$`)
	if err != nil && exitCode(err) != 1 {
		return err
	}
	values := map[string]string{}
	off := map[string]bool{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		name, value, ok := strings.Cut(entry, "\n")
		switch {
		case strings.HasPrefix(name, "filter.") && !strings.HasPrefix(name, "filter.lfs."):
			off[name] = true
		case ok:
			values[name] = value
		}
	}
	s.git.without(off)
	if f := values["extensions.refstorage"]; f != "" && f != "files" {
		return &Refusal{fmt.Sprintf("this repository keeps its refs as %q, which ralph cannot use yet", f), "git refs migrate --ref-format=files"}
	}
	name, email := values["user.name"], values["user.email"]
	if name == "" || email == "" {
		return &Refusal{"git does not know who commits", `git config user.name "Your Name" && git config user.email you@example.org`}
	}
	s.who = []string{"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email}
	s.person = append([]string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email}, s.who...)
	for _, k := range []string{"core.autocrlf", "core.eol", "filter.lfs.clean", "filter.lfs.smudge", "filter.lfs.process", "filter.lfs.required"} {
		if v, ok := values[k]; ok {
			s.git.conf = append(s.git.conf, "-c", k+"="+v)
		}
	}
	s.carried = maps.Clone(values)
	delete(s.carried, "extensions.refstorage")
	s.shared = values["core.sharedrepository"]
	delete(s.carried, "core.sharedrepository")
	s.lfs = values["filter.lfs.process"] != "" || values["filter.lfs.clean"] != ""
	s.ignore = values["core.excludesfile"]
	if s.ignore == "" {
		home := os.Getenv("XDG_CONFIG_HOME")
		if home == "" && os.Getenv("HOME") != "" {
			home = filepath.Join(os.Getenv("HOME"), ".config")
		}
		if home != "" {
			s.ignore = filepath.Join(home, "git", "ignore")
		}
	}
	if rest, ok := strings.CutPrefix(s.ignore, "~/"); ok {
		s.ignore = filepath.Join(os.Getenv("HOME"), rest)
	}
	return nil
}

// without turns filters off for every call, which the repository's own configuration
// would otherwise bring in before a run, and to who only looks.
func (g *git) without(filters map[string]bool) {
	for i, key := range slices.Sorted(maps.Keys(filters)) {
		value := ""
		if strings.HasSuffix(key, ".required") {
			value = "false"
		}
		g.env = append(g.env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	if len(filters) > 0 {
		g.env = append(g.env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(filters)))
	}
}

// userEnv is the caller's environment without anything that steers git.
func userEnv() []string {
	var out []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			out = append(out, v)
		}
	}
	return append(out, process.ToolMark())
}

// Dir implements executor.Workspace.
func (s *Space) Dir(id ir.NodeID) string {
	dir, err := s.path(s.nodes[id].Git.Worktree)
	if err != nil {
		panic("workspace: an unchecked path: " + err.Error()) // Open refused it
	}
	return dir
}

// path fills in {repo} and makes a worktree's path absolute. It lies inside the
// project or inside a sibling ../<name>-worktrees/.
func (s *Space) path(template string) (string, error) {
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
		return "", fmt.Errorf("its worktree path %q lies in the git directory", template)
	}
	return filepath.Join(s.top, clean), nil
}

func (s *Space) prefix() string { return "refs/ralph/" + string(s.epic.Epic.ID) + "/" }

func (s *Space) nodeRef(id ir.NodeID, rest string) string {
	return s.prefix() + "nodes/" + string(id) + "/" + rest
}

// Pin pins the base of the epic, and those of roots that name their own, at
// their first call; later calls return what was pinned.
func (s *Space) Pin(ctx context.Context) (executor.Tree, []executor.NamedTree, error) {
	base, err := s.pin(ctx, s.prefix()+"base", s.epic.Epic.Base)
	if err != nil {
		return base, nil, err
	}
	s.based.Store(base.Commit)
	if err := s.keepStash(ctx); err != nil {
		return base, nil, err
	}
	var own []executor.NamedTree
	for i := range s.epic.Nodes {
		n := &s.epic.Nodes[i]
		if !s.ownBase(n) {
			continue
		}
		t, err := s.pin(ctx, s.nodeRef(n.ID, "base"), n.Git.Base)
		if err != nil {
			return base, nil, fmt.Errorf("node %s: %w", n.Key, err)
		}
		own = append(own, executor.NamedTree{Name: n.Git.Base, Tree: t})
	}
	return base, own, nil
}

// base is the commit that the epic starts from, "" if none is pinned: once it is
// pinned for a run, whatever others do to the ref meanwhile.
func (s *Space) base(ctx context.Context) (string, error) {
	if at, ok := s.based.Load().(string); ok {
		return at, nil
	}
	return s.git.ref(ctx, s.prefix()+"base")
}

func blocked(n *ir.Node) bool {
	for _, e := range n.After {
		if e.Type == ir.Blocks {
			return true
		}
	}
	return false
}

func (s *Space) pin(ctx context.Context, ref, branch string) (executor.Tree, error) {
	commit, err := s.git.ref(ctx, ref)
	if err != nil {
		return executor.Tree{}, err
	}
	if commit == "" {
		from, err := s.source(ctx, branch)
		if err != nil {
			return executor.Tree{}, err
		}
		commit, err = s.git.ref(ctx, from+"^{commit}")
		if err != nil {
			return executor.Tree{}, err
		}
		if commit == "" {
			return executor.Tree{}, &Refusal{fmt.Sprintf("the base %q does not exist in this repository", branch), "git branch " + shellword.Quote(branch) + " (or name another base in the plan)"}
		}
		if err := s.git.update(ctx, "pin base", move{ref, "", commit}); err != nil {
			return executor.Tree{}, err
		}
	}
	tree, err := s.git.tree(ctx, commit)
	return executor.Tree{Commit: commit, Tree: tree}, err
}

// hold keeps two effects on the same worktree apart.
func (s *Space) hold(name string) func() {
	m, _ := s.busy.LoadOrStore(name, new(sync.Mutex))
	m.(*sync.Mutex).Lock()
	return m.(*sync.Mutex).Unlock
}

func config(format string, args ...any) error {
	return &executor.Failure{Class: executor.FailConfig, Err: fmt.Errorf(format, args...)}
}

// exists reports whether there is anything at path.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
