package workspace

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/executor"
)

// batch is a `git cat-file --batch-command` that is kept alive: what would be a
// process for each question is a line. It sees refs and objects as they are when
// asked, also after a gc. It ends with ralph, when its input is closed.
type batch struct {
	mu      sync.Mutex // guards the rest
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	commits map[string]*header // what has been read; commits never change
	within  map[[2]string]bool // ancestor, descendant
}

func newBatch() *batch {
	return &batch{commits: map[string]*header{}, within: map[[2]string]bool{}}
}

// header is what ralph reads of a commit.
type header struct {
	tree    string
	parents []string
	when    string // of the committer, in seconds since 1970
	message string
}

var errNoCommit = errors.New("no commit of this repository")

// Bounds of what is kept in memory.
const (
	maxContents = 64 << 20 // bytes of an object that are read; the rest is passed over
	maxKept     = 5_000    // answers
	maxHeader   = 64 << 10 // bytes of a commit that is kept
)

// ask sends one line and returns the object's name, its type and, if asked
// for, its contents. The name is "" if there is no such object.
func (g *git) ask(ctx context.Context, what, name string) (oid, kind string, data []byte, err error) {
	err = g.talk(ctx, func(b *batch) (err error) {
		oid, kind, data, err = b.ask(what, name)
		return err
	})
	return oid, kind, data, err
}

// atOnce is how many objects are asked for before others have their turn.
const atOnce = 10_000

// lacks lists those of some objects that the repository has not.
func (g *git) lacks(ctx context.Context, oids []string) (lacks []string, err error) {
	for part := range slices.Chunk(oids, atOnce) {
		var found []string
		if err := g.talk(ctx, func(b *batch) (err error) {
			found, err = b.askAll(part)
			return err
		}); err != nil {
			return nil, err
		}
		for i, oid := range found {
			if oid == "" {
				lacks = append(lacks, part[i])
			}
		}
	}
	return lacks, nil
}

// talk has a conversation with the process that is kept. If it breaks off, it is begun
// once more, with another process.
func (g *git) talk(parent context.Context, conversation func(b *batch) error) (err error) {
	ctx, cancel := context.WithTimeout(parent, g.patience)
	defer cancel()
	b := g.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	for try := 0; try < 2 && ctx.Err() == nil; try++ {
		if err = b.until(ctx, g, conversation); err == nil {
			return nil
		}
		b.end()
	}
	if parent.Err() != nil {
		return parent.Err()
	}
	return fmt.Errorf("git cat-file: %w", cmp.Or(err, ctx.Err()))
}

// sizeOf is the size of a file's content, -1 if it is not known.
func (g *git) sizeOf(ctx context.Context, oid string) int {
	name, _, data, err := g.ask(ctx, "info", oid)
	if err != nil || name == "" {
		return -1
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return -1
	}
	return n
}

// until is a conversation whose process is killed when ctx ends.
func (b *batch) until(ctx context.Context, g *git, conversation func(b *batch) error) error {
	if b.cmd == nil {
		if err := b.start(g); err != nil {
			return err
		}
	}
	cmd := b.cmd
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // it may have ended
	defer stop()
	err := conversation(b)
	if err != nil {
		_ = cmd.Process.Kill() // it may still have much to say
	}
	return err
}

// askAll asks for objects by their full names, all at once: "" stands for one that is not
// there. A pipe may have room for a few answers only: they are read meanwhile.
func (b *batch) askAll(oids []string) ([]string, error) {
	wrote := make(chan error, 1)
	to, all := b.in, "info "+strings.Join(oids, "\ninfo ")+"\n"
	go func() {
		_, err := io.WriteString(to, all)
		wrote <- err
	}()
	found := make([]string, len(oids))
	for i := range oids {
		oid, _, _, err := b.answer("info")
		if err != nil {
			return nil, err // the process is killed, and with it ends what is still written
		}
		found[i] = oid
	}
	return found, <-wrote
}

// ask sends one line; of info, data is the size.
func (b *batch) ask(what, name string) (oid, kind string, data []byte, err error) {
	if _, err := fmt.Fprintf(b.in, "%s %s\n", what, name); err != nil {
		return "", "", nil, err
	}
	return b.answer(what)
}

func (b *batch) answer(what string) (oid, kind string, data []byte, err error) {
	line, err := b.out.ReadString('\n')
	if err != nil {
		return "", "", nil, err
	}
	line = strings.TrimSuffix(line, "\n")
	if strings.HasSuffix(line, " missing") || strings.HasSuffix(line, " ambiguous") {
		return "", "", nil, nil
	}
	f := strings.Fields(line)
	if len(f) != 3 {
		return "", "", nil, fmt.Errorf("it answered %q", line)
	}
	if what != "contents" {
		return f[0], f[1], []byte(f[2]), nil
	}
	size, err := strconv.Atoi(f[2])
	if err != nil {
		return "", "", nil, err
	}
	data = make([]byte, min(size, maxContents))
	if _, err := io.ReadFull(b.out, data); err != nil {
		return "", "", nil, err
	}
	if _, err := io.CopyN(io.Discard, b.out, int64(size-len(data)+1)); err != nil {
		return "", "", nil, err
	}
	return f[0], f[1], data, nil
}

func (b *batch) start(g *git) error {
	cmd := g.command(context.Background(), place{}, nil, "cat-file", "--batch-command")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	b.cmd, b.in, b.out = cmd, in, bufio.NewReader(out)
	return nil
}

func (b *batch) end() {
	if b.cmd == nil {
		return
	}
	b.in.Close()
	_ = b.cmd.Wait() // it ends because its input has
	b.cmd = nil
}

// Release ends the git process that is kept. The space remains usable.
func (s Trees) Release() { s.git.batch.release() }

func (b *batch) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end()
}

// ref returns the object that a ref, or another name of an object, stands for,
// "" if there is none.
func (g *git) ref(ctx context.Context, name string) (string, error) {
	if strings.ContainsAny(name, "\n\x00") {
		out, err := g.line(ctx, place{}, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
		if exitCode(err) == 1 || exitCode(err) == 128 {
			return "", nil
		}
		return out, err
	}
	oid, _, _, err := g.ask(ctx, "info", name)
	return oid, err
}

// commitHeader reads a commit.
func (g *git) commitHeader(ctx context.Context, commit string) (*header, error) {
	g.batch.mu.Lock()
	h := g.batch.commits[commit]
	g.batch.mu.Unlock()
	if h != nil {
		return h, nil
	}
	oid, kind, data, err := g.ask(ctx, "contents", commit+"^{commit}")
	if err != nil {
		return nil, err
	}
	if kind != "commit" {
		return nil, fmt.Errorf("%s: %w", commit, errNoCommit)
	}
	h = &header{}
	head, message, _ := strings.Cut(string(data), "\n\n")
	h.message = message
	behind := false // its tree and its parents, of which git takes no more then
	for line := range strings.Lines(head) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case word == "tree" && h.tree == "":
			h.tree = rest
		case word == "parent" && !behind:
			h.parents = append(h.parents, rest)
		default:
			behind = true
		}
		if word == "committer" {
			if f := strings.Fields(rest[strings.LastIndexByte(rest, '>')+1:]); len(f) > 0 {
				h.when = f[0]
			}
		}
	}
	if len(data) > maxHeader {
		return h, nil
	}
	g.batch.mu.Lock()
	defer g.batch.mu.Unlock()
	if len(g.batch.commits) > maxKept {
		clear(g.batch.commits)
	}
	g.batch.commits[oid] = h
	return h, nil
}

// blob reads a file of a commit, nil if there is none or it is larger than limit.
func (g *git) blob(ctx context.Context, name string, limit int) ([]byte, error) {
	if strings.ContainsAny(name, "\n\x00") {
		return nil, nil
	}
	oid, _, said, err := g.ask(ctx, "info", name)
	if err != nil || oid == "" {
		return nil, err
	}
	if size, err := strconv.Atoi(string(said)); err != nil || size > limit {
		return nil, err
	}
	_, kind, data, err := g.ask(ctx, "contents", name)
	if err != nil || kind != "blob" {
		return nil, err
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// tree returns the tree of a commit.
func (g *git) tree(ctx context.Context, commit string) (string, error) {
	h, err := g.commitHeader(ctx, commit)
	if err != nil {
		return "", err
	}
	return h.tree, nil
}

// at returns a commit with its tree.
func (g *git) at(ctx context.Context, commit string) (executor.Tree, error) {
	tree, err := g.tree(ctx, commit)
	return executor.Tree{Commit: commit, Tree: tree}, err
}

// near is how many commits are looked at before git is asked.
const near = 32

// ancestor reports whether a is b or an ancestor of b.
func (g *git) ancestor(ctx context.Context, a, b string) (bool, error) {
	if a == b {
		return true, nil
	}
	key := [2]string{a, b}
	g.batch.mu.Lock()
	is, known := g.batch.within[key]
	g.batch.mu.Unlock()
	if known {
		return is, nil
	}
	is, err := g.nearAncestor(ctx, a, b)
	if err != nil {
		return false, err
	}
	if !is {
		_, err := g.line(ctx, place{}, "merge-base", "--is-ancestor", a, b)
		if err != nil && exitCode(err) != 1 {
			return false, err
		}
		is = err == nil
	}
	g.batch.mu.Lock()
	defer g.batch.mu.Unlock()
	if len(g.batch.within) > maxKept {
		clear(g.batch.within)
	}
	g.batch.within[key] = is
	return is, nil
}

// nearAncestor looks for a in the history of b, not far.
func (g *git) nearAncestor(ctx context.Context, a, b string) (bool, error) {
	queue := []string{b}
	seen := map[string]bool{b: true}
	for i := 0; i < len(queue) && i < near; i++ {
		h, err := g.commitHeader(ctx, queue[i])
		if errors.Is(err, errNoCommit) && i > 0 {
			continue // beyond the edge of a shallow clone
		}
		if err != nil {
			return false, err
		}
		for _, p := range h.parents {
			if p == a {
				return true, nil
			}
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	return false, nil
}
