package workspace

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// A clone in which a sandbox's programs worked is read by no git outside: neither its
// objects nor its configuration. A git that runs in a sandbox of its own, without network
// and home, packs what is new in it. Outside the pack goes into a quarantine, a directory
// of objects that no repository reads, and from there, if all of it is as it has to be,
// into the user's repository. No ref has moved by then.

// maxPack is how large a pack of a clone may be, in bytes, and maxFile a file in it if
// the sandbox sets no limit.
const (
	maxPack int64 = 1 << 30
	maxFile int64 = 2 << 30
)

// notTaken is why what a clone holds cannot be taken, in words: its content is to blame.
type notTaken string

func (n notTaken) Error() string { return string(n) }

// handOver is copyObjects of a clone whose node is confined.
func (s *space) handOver(ctx context.Context, w *worktree, spec *wall.Spec, revs string) (err error) {
	dir, err := os.MkdirTemp(s.state, "import-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, regular.RemoveAllOwn(dir)) }()
	if err := s.packInside(ctx, w, spec, dir, revs); err != nil {
		return err
	}
	in, err := s.quarantined(ctx, dir)
	if err != nil || in == nil {
		return err
	}
	added, err := s.incoming(ctx, in, revs)
	if err != nil {
		return err
	}
	limit := cmp.Or(spec.Limits.File, maxFile)
	for _, f := range added {
		if f.size > limit {
			return tooLarge(fmt.Sprintf("%s has %s, and limits.file of its sandbox allows %s", oneLine(f.path, 100), size(f.size), size(limit)))
		}
	}
	if wrong := s.weigh(w, added); wrong != "" {
		return wrong
	}
	w.added += total(added)
	return s.keepPack(ctx, in)
}

// packInside lets git pack what revs name, in a sandbox that has only the clone's .git and
// the user's objects, both read-only, into <dir>/pack. All that it writes or says is
// the clone's word.
func (s *space) packInside(ctx context.Context, w *worktree, spec *wall.Spec, dir, revs string) error {
	if err := s.git.version(ctx); err != nil {
		return err
	}
	in := filepath.Join(dir, "revs")
	if err := regular.WriteOwn(in, []byte(revs), 0o600); err != nil {
		return err
	}
	stdin, err := regular.OpenOwn(in)
	if err != nil {
		return err
	}
	defer stdin.Close()
	mounts, err := s.objectMounts()
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "pack")
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	said := hearing{most: s.largest, full: stop}
	killed := false
	// Without deltas, which take longer than they save: git gc makes them. Those of the clone
	// would be unfolded outside, where no group bounds what an object of a few bytes comes to.
	res, err := process.Run(ctx, process.Spec{
		Argv:  slices.Concat([]string{s.git.bin}, s.git.conf, []string{"--git-dir=" + w.at.gitDir, "pack-objects", "--revs", "--thin", "--stdout", "-q", "--window=0", "--no-reuse-object"}),
		Dir:   w.at.gitDir,
		Env:   s.packEnv(out),
		Mark:  Mark,
		Stdin: stdin, Stdout: out, Stderr: os.DevNull, Cap: s.largest, Time: s.git.patience, Tap: said.take,
		Wall: s.enclose(&wall.Spec{
			Name: spec.Name, Kind: spec.Kind, Limits: spec.Limits, Groups: spec.Groups, OutOfMemory: func() { killed = true },
			Mounts: append([]wall.Mount{{From: w.at.gitDir}}, mounts...),
		}),
	})
	switch text := said.text(); {
	case said.bytes() > s.largest:
		return tooLarge(fmt.Sprintf("what it adds makes a pack of more than %s. Leave large files out of the work: write them below ${TMPDIR:-/tmp}, or into a directory that git ignores", size(s.largest)))
	case killed:
		return notTaken("git pack-objects " + (&executor.Sandboxed{Name: spec.Name, Memory: executor.Bytes(spec.Limits.Memory)}).OutOfMemory())
	case err != nil:
		return lasting(fmt.Errorf("git pack-objects in a sandbox: %w", err))
	case res.How == process.TimedOut:
		return notTaken(fmt.Sprintf("git pack-objects did not end within %s", s.git.patience))
	case res.How != process.Exited || res.Code != 0:
		return notTaken(fmt.Sprintf("git pack-objects: exit %d: %s", res.Code, text))
	}
	return nil
}

// packEnv is the environment of that git, with its own mark. Neither the user's home nor
// their programs are there for what a clone says.
func (s *space) packEnv(mark string) []string {
	env := slices.DeleteFunc(slices.Clone(s.git.env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{Mark, "HOME", "PATH"}, name)
	})
	return append(append(env, keepMemory...), Mark+"="+mark, "HOME=/nowhere", "PATH=/usr/bin:/bin")
}

// keepMemory keeps the C library from handing memory back to the system after each object:
// with that it takes twice as long to pack 5,000 files.
var keepMemory = []string{"MALLOC_TOP_PAD_=16777216", "MALLOC_TRIM_THRESHOLD_=268435456"}

// hearing counts what a program writes, and keeps the end of what it says.
type hearing struct {
	most int64
	full func() // called when it wrote more than most bytes

	mu   sync.Mutex // guards the rest
	n    int64
	said []byte
}

func (h *hearing) take(stderr bool, b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if stderr {
		h.said = append(h.said, b...)
		h.said = h.said[max(0, len(h.said)-4096):]
		return
	}
	if h.n += int64(len(b)); h.n > h.most {
		h.full()
	}
}

func (h *hearing) bytes() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

func (h *hearing) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.ReplaceAll(strings.TrimSpace(strings.ToValidUTF8(string(h.said), "?")), "\n", "; ")
}

// incomingPack is a pack in quarantine.
type incomingPack struct {
	base  string   // its path, without the ending
	count int      // objects that were handed over; git adds those that they are deltas of
	env   []string // with which git sees it, and the user's objects
}

// quarantined checks <dir>/pack, with git's own rules, and completes it in a directory of
// objects that only env leads to; nil if nothing is in it.
func (s *space) quarantined(ctx context.Context, dir string) (*incomingPack, error) {
	f, err := regular.OpenOwn(filepath.Join(dir, "pack"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	count, err := packed(f)
	switch {
	case err != nil || int64(count) > st.Size()/minObject:
		return nil, notTaken("git pack-objects wrote no pack") //nolint:nilerr // it is cut short
	case count == 0:
		return nil, nil
	}
	objects := filepath.Join(dir, "objects")
	in := &incomingPack{count: count, env: []string{
		"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotedPath(filepath.Join(s.git.common, "objects")),
	}}
	if err := regular.MkdirOwn(filepath.Join(objects, "pack")); err != nil {
		return nil, err
	}
	var said bytes.Buffer
	if err := s.streaming().pipe(ctx, bufio.NewReader(f), &said, in.env, "index-pack", "--strict", "--fix-thin", "--stdin", fmt.Sprintf("--max-input-size=%d", s.largest)); err != nil {
		return nil, err
	}
	_, name, _ := strings.Cut(strings.TrimSpace(said.String()), "\t") // pack, and its name
	if !isOid(name) {
		return nil, fmt.Errorf("git index-pack says %q", said.String())
	}
	in.base = filepath.Join(objects, "pack", "pack-"+name)
	return in, nil
}

// minObject is the least that an object takes in a pack, in bytes: its header, and nothing, compressed.
const minObject = 9

// incoming lists the files of a pack in quarantine: those that revs name, as newFiles
// does, and whatever else is in it. It fails if something is missing, here and in the
// user's repository, that revs need.
func (s *space) incoming(ctx context.Context, in *incomingPack, revs string) ([]heavy, error) {
	var own map[string]bool
	var wrong error
	var beside sync.WaitGroup
	beside.Go(func() { own, wrong = s.ownOf(ctx, in) })
	list, err := s.git.run(ctx, place{}, wanted(revs), in.env, "rev-list", "--objects", "--stdin")
	beside.Wait()
	if err := cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(list)) {
		oid, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		delete(own, oid)
	}
	for oid := range own {
		list = append(list, oid+"\n"...)
	}
	return s.sizes(ctx, in.env, list)
}

// ownOf are the objects that a pack had before git completed it: what it adds comes last.
func (s *space) ownOf(ctx context.Context, in *incomingPack) (map[string]bool, error) {
	f, err := regular.OpenOwn(in.base + ".idx")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out bytes.Buffer
	if err := s.git.pipe(ctx, bufio.NewReader(f), &out, in.env, "show-index"); err != nil {
		return nil, err
	}
	type object struct {
		offset int64
		oid    string
	}
	var all []object
	for line := range strings.Lines(out.String()) {
		f := strings.Fields(line) // offset, name, checksum
		if len(f) < 2 {
			continue
		}
		n, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git show-index says %q", line)
		}
		all = append(all, object{n, f[1]})
	}
	slices.SortFunc(all, func(a, b object) int { return cmp.Compare(a.offset, b.offset) })
	own := map[string]bool{}
	for _, o := range all[:min(len(all), in.count)] {
		own[o.oid] = true
	}
	return own, nil
}

// keepPack brings a pack from quarantine into the user's repository: as a pack or, if it
// is small, object by object.
func (s *space) keepPack(ctx context.Context, in *incomingPack) error {
	again := []string{"unpack-objects", "--strict", "-q"}
	if in.count > few {
		if moved, err := s.movePack(in); moved || err != nil {
			return err
		}
		again = []string{"index-pack", "--strict", "--stdin"}
	}
	f, err := regular.OpenOwn(in.base + ".pack")
	if err != nil {
		return err
	}
	defer f.Close()
	return s.streaming().pipe(ctx, bufio.NewReader(f), nil, nil, again...)
}

// streaming is a git that holds no large file of a pack in memory: a few bytes of a pack can
// be one of hundreds of megabytes.
func (s *space) streaming() *git {
	g := *s.git
	g.conf = append(slices.Clip(g.conf), "-c", "core.bigFileThreshold=8m")
	return &g
}

// movePack moves a pack to the user's, which git sees from when its index is there. moved
// is false if that is on another file system, or no place for packs yet.
func (s *space) movePack(in *incomingPack) (moved bool, err error) {
	to, err := os.OpenRoot(filepath.Join(s.git.common, "objects", "pack"))
	if err != nil {
		return false, nil //nolint:nilerr // git makes it, or says what is wrong
	}
	defer to.Close()
	for _, ending := range []string{".pack", ".rev", ".idx"} {
		err := os.Rename(in.base+ending, filepath.Join(to.Name(), filepath.Base(in.base)+ending))
		switch {
		case ending == ".rev" && errors.Is(err, fs.ErrNotExist): // an older git writes none
		case ending == ".pack" && errors.Is(err, syscall.EXDEV):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	dir, err := to.Open(".")
	if err != nil {
		return false, err
	}
	return true, errors.Join(dir.Sync(), dir.Close())
}
