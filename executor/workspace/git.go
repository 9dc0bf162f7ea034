package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/internal/regular"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// git makes every git call of this package.
type git struct {
	bin     string   // absolute
	dir     string   // where it runs: the user's checkout
	common  string   // absolute, the repository's shared git directory
	private string   // stands in for common where settings are read, "" before a run: see confine
	env     []string // the whole environment
	conf    []string // -c options
	user    bool     // with the user's configuration, not only ralph's
	batch   *batch
	dirs    *refDirs // nil: each ref is read each time

	patience time.Duration // how long a call, or a walk through a worktree, may take

	own     *ownRefs            // told of each ref that moves; nil: nobody looks
	started func(args []string) // told of each process; nil: not counted
}

// place is what a call works on: the repository, or one of ralph's worktrees.
type place struct {
	gitDir   string // "": the repository
	workTree string
	common   string // of a clone: the repository whose configuration, refs and objects hold, "" otherwise
	index    string // another index file, "" for the usual one
	ignore   string // excludes file, "" for the repository's own rules only
}

// gitError is a git command that failed.
type gitError struct {
	args   []string
	code   int
	stderr string
}

func (e *gitError) Error() string {
	msg := strings.TrimSpace(e.stderr)
	if len(msg) > 1000 {
		msg = msg[:1000]
	}
	return fmt.Sprintf("git %s: exit %d: %s", e.args[0], e.code, strings.ReplaceAll(msg, "\n", "; "))
}

// says reports whether a text has one of the signs.
func says(text string, signs ...string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}

// exitCode returns the exit code of a failed git command, 0 for other errors.
func exitCode(err error) int {
	if g, ok := errors.AsType[*gitError](err); ok {
		return g.code
	}
	return 0
}

// Mark is the variable by which processes of this package (git, and commands that set
// up a worktree) are found again, even after ralph was killed: its value is a path in
// the epic's state directory.
const Mark = "RALPH_WORKSPACE"

// safe are the settings of every call. Those of the user that have to hold are
// added when the workspace is opened.
var safe = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.fsync=all", "core.untrackedCache=false",
	"core.quotePath=false", "gc.auto=0", "maintenance.auto=false", "safe.bareRepository=explicit",
	"commit.gpgSign=false", "submodule.recurse=false", "diff.external=", "core.editor=true",
	"advice.detachedHead=false", "init.templateDir=", "protocol.allow=never",
	"core.attributesFile=/dev/null", "core.sparseCheckout=false", "core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false",
}

// findGit returns a wrapper for the repository that dir is in. The binary is
// looked up once, on the PATH of the caller.
func findGit(dir string) (*git, error) {
	bin, err := exec.LookPath("git")
	if err == nil {
		bin, err = filepath.Abs(bin)
	}
	if err != nil {
		return nil, fmt.Errorf("git is needed and not on PATH: %w", err)
	}
	g := &git{bin: bin, dir: dir, patience: patience, batch: newBatch(), dirs: &refDirs{}, env: []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_EDITOR=true", "LC_ALL=C", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
	}}
	for _, c := range safe {
		g.conf = append(g.conf, "-c", c)
	}
	return g, nil
}

// patience is how long a call of git may take: a fetch or a checkout of a huge
// repository is still at work then, or waits for what never comes.
const patience = time.Hour

// minGit is the first git with `merge-tree --write-tree`.
var minGit = [2]int{2, 38}

// recent are the programs whose version was found to do: their stamps, by path. Each
// opening of a repository asks, and a command opens several times.
var recent sync.Map

// anyGit are the commands that are the same in every git, or answer what their caller
// notices: most of ralph's commands need no others. Before another one the version is
// asked.
var anyGit = []string{"version", "rev-parse", "config", "cat-file"}

func (g *git) version(ctx context.Context) error {
	st, err := os.Stat(g.bin)
	if err != nil {
		return err
	}
	if was, ok := recent.Load(g.bin); ok && was == stampOf(st) {
		return nil
	}
	out, err := g.line(ctx, place{}, "version")
	if err != nil {
		return err
	}
	if v, ok := parseVersion(out); !ok || v[0] < minGit[0] || v[0] == minGit[0] && v[1] < minGit[1] {
		return fmt.Errorf("git %d.%d or later is needed; %s is %q", minGit[0], minGit[1], g.bin, out)
	}
	recent.Store(g.bin, stampOf(st))
	return nil
}

func parseVersion(s string) (v [2]int, ok bool) {
	parts := strings.Split(strings.TrimPrefix(s, "git version "), ".")
	if len(parts) < 2 {
		return v, false
	}
	for i := range v {
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// run runs git and returns what it printed.
func (g *git) run(ctx context.Context, at place, in string, env []string, args ...string) ([]byte, error) {
	var out bytes.Buffer
	err := g.feed(ctx, at, strings.NewReader(in), &out, env, args...)
	for try := 1; try < 4 && swept(err); try++ {
		out.Reset()
		err = g.feed(ctx, at, strings.NewReader(in), &out, env, args...)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out.Bytes(), err
}

// swept reports whether git found a directory of objects gone that it was about
// to write to: a gc of the user's removes empty ones. To write objects again is
// to write them once.
func swept(err error) bool {
	var g *gitError
	return errors.As(err, &g) && strings.Contains(g.stderr, "unable to create temporary file: No such file or directory")
}

// stream runs git and writes what it prints.
func (g *git) stream(ctx context.Context, at place, to io.Writer, args ...string) error {
	return g.feed(ctx, at, strings.NewReader(""), to, nil, args...)
}

// pipe runs git on the repository with input and output that may be large.
func (g *git) pipe(ctx context.Context, in io.Reader, out io.Writer, env []string, args ...string) error {
	return g.feed(ctx, place{}, in, out, env, args...)
}

func (g *git) feed(parent context.Context, at place, in io.Reader, out io.Writer, env []string, args ...string) error {
	if !slices.Contains(anyGit, args[0]) {
		if err := g.version(parent); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(parent, g.patience)
	defer cancel()
	cmd := g.command(ctx, at, env, args...)
	cmd.Stdin = in
	var errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &errOut
	err := cmd.Run()
	if parent.Err() != nil {
		return parent.Err()
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git %s did not end within %s: does it wait for a FIFO that somebody put into the repository (find %s -type p)?", args[0], g.patience, shellword.Quote(g.common))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		failed := &gitError{args, exit.ExitCode(), errOut.String()}
		if strings.Contains(failed.stderr, "from promisor remote") { // and so it will next time
			return &executor.Failure{Class: executor.FailConfig, Err: fmt.Errorf("this is a partial clone, and missing objects are not fetched during a run: %w; git fetch --refetch --no-filter, then retry", failed)}
		}
		return failed
	}
	if err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	return nil
}

// command is git, ready to start.
func (g *git) command(ctx context.Context, at place, env []string, args ...string) *exec.Cmd {
	if g.started != nil {
		g.started(args)
	}
	full := append([]string{}, g.conf...)
	if !g.user {
		full = append(full, "-c", "core.excludesFile="+at.ignore)
	}
	dir := g.dir
	if at.gitDir != "" {
		full = append(full, "--git-dir="+at.gitDir, "--work-tree="+at.workTree)
		dir = at.workTree
	} else if g.common != "" {
		full = append(full, "--git-dir="+g.common)
	}
	cmd := exec.CommandContext(ctx, g.bin, append(full, args...)...)
	cmd.SysProcAttr = process.OwnGroup() // Ctrl-C in a terminal is for ralph, who drains
	cmd.Dir, cmd.Env = dir, append(append([]string{}, g.env...), env...)
	if at.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+at.index)
	}
	// The user's checkout is seen as the user sees it; a new worktree is to name
	// the repository itself.
	if g.private != "" && !g.user && at.gitDir != g.common && args[0] != "worktree" {
		cmd.Env = append(cmd.Env, "GIT_COMMON_DIR="+g.private)
	} else if at.common != "" {
		cmd.Env = append(cmd.Env, "GIT_COMMON_DIR="+at.common)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // git removes its locks
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// line runs git and returns its output without the last line ending.
func (g *git) line(ctx context.Context, at place, args ...string) (string, error) {
	out, err := g.run(ctx, at, "", nil, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// list runs git and returns the names that it prints with -z.
func (g *git) list(ctx context.Context, at place, in string, args ...string) ([]string, error) {
	out, err := g.run(ctx, at, in, nil, args...)
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(name string) bool { return name == "" }), err
}

// entries runs git ls-tree and returns what it prints with -z, by path.
func (g *git) entries(ctx context.Context, args ...string) (map[string]treeEntry, error) {
	list, err := g.list(ctx, place{}, "", args...)
	entries := make(map[string]treeEntry, len(list))
	for _, e := range list {
		meta, path, _ := strings.Cut(e, "\t")
		if f := strings.Fields(meta); len(f) == 3 {
			entries[path] = treeEntry{f[0], f[2]}
		}
	}
	return entries, err
}

// move is one ref that moves from old ("" if it must not exist) to new.
type move struct{ ref, old, new string }

// update moves refs, all or none, each only if it still is where it is
// expected. One that was made symbolic becomes a plain one: what it led to is
// not ralph's. Locks that a killed git left on them are removed first: they are
// ralph's own refs, and the caller holds the run lock.
func (g *git) update(ctx context.Context, why string, moves ...move) error {
	went := g.own.moving(moves)
	var b strings.Builder
	for _, m := range moves {
		if m.old == m.new && !g.symbolic(m.ref) {
			continue
		}
		g.unlock(m.ref)
		if m.old == "" {
			fmt.Fprintf(&b, "create %s %s\n", m.ref, m.new)
		} else {
			fmt.Fprintf(&b, "update %s %s %s\n", m.ref, m.new, m.old)
		}
	}
	if b.Len() == 0 { // each is there already
		went(true)
		return nil
	}
	_, err := g.run(ctx, place{}, b.String(), nil, "update-ref", "--no-deref", "-m", "ralph: "+why, "--stdin")
	went(err == nil)
	if err != nil && ctx.Err() == nil {
		for _, m := range moves {
			if taken := g.inTheWay(m.ref); taken != "" {
				return config("beside the branch %s git cannot make %s, since branches are files: git branch -m %s OTHER", taken, strings.TrimPrefix(m.ref, "refs/heads/"), shellword.Quote(taken))
			}
		}
	}
	return err
}

// point moves refs to commits from wherever they are, all or none. A target is a ref
// and its commit.
func (g *git) point(ctx context.Context, why string, targets ...[2]string) error {
	moves := make([]move, 0, len(targets))
	for _, t := range targets {
		old, err := g.ref(ctx, t[0])
		if err != nil {
			return err
		}
		moves = append(moves, move{t[0], old, t[1]})
	}
	return g.update(ctx, why, moves...)
}

// commitTree makes a commit; env says who made it, and when.
func (g *git) commitTree(ctx context.Context, message string, env []string, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := g.run(ctx, place{}, message, env, args...)
	return strings.TrimSpace(string(out)), err
}

// byRalph is the environment of a commit that is the same wherever it is made: ralph
// made it, at a time in seconds since 1970.
func byRalph(when string) []string {
	date := "@" + when + " +0000"
	return []string{
		"GIT_AUTHOR_NAME=ralph", "GIT_AUTHOR_EMAIL=ralph@localhost", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=ralph", "GIT_COMMITTER_EMAIL=ralph@localhost", "GIT_COMMITTER_DATE=" + date,
	}
}

// symbolic reports whether a ref says no more than where another one is.
func (g *git) symbolic(ref string) bool {
	b, err := regular.ReadMax(filepath.Join(g.common, filepath.FromSlash(ref)), maxRef)
	return err == nil && strings.HasPrefix(string(b), "ref: ")
}

// inTheWay is a branch that is a directory of another one that is wanted, or below
// it; "" if there is none.
func (g *git) inTheWay(ref string) string {
	refs, err := g.readRefs("refs/heads")
	if err != nil {
		return ""
	}
	for _, r := range slices.Sorted(maps.Keys(refs)) {
		if strings.HasPrefix(ref, r+"/") || strings.HasPrefix(r, ref+"/") {
			return strings.TrimPrefix(r, "refs/heads/")
		}
	}
	return ""
}

func (g *git) unlock(ref string) {
	_ = os.Remove(filepath.Join(g.common, filepath.FromSlash(ref)+".lock")) // mostly there is none
}
