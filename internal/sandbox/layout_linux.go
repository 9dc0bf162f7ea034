//go:build amd64 || arm64

package sandbox

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
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/sandbox/inside"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// layout is an order in bwrap's words: the same mounts in the same order as process 1 makes
// where it makes them itself.
type layout struct {
	args  []string
	files []*os.File // descriptors that args name, from first on
	first int
	shown []shown
	seen  []inside.Seen
	links []inside.Link
}

// shown is a directory or file of the machine inside; from is "" for what is in memory.
type shown struct {
	at, from string
	write    bool
	own      bool // the program's home: what is in it, a program has put there
}

// layOut says what bwrap is to do. What is missing to mount on is made. first is the first
// descriptor that is free.
func layOut(o *inside.Order, first int) (*layout, error) {
	l := &layout{first: first, shown: []shown{{at: "/"}}}
	err := l.furnish(o)
	if err == nil {
		err = l.home(o)
	}
	for _, m := range o.First {
		if err == nil {
			err = l.mount(m, nil)
		}
	}
	for _, c := range o.Wall.Caches {
		if err == nil {
			err = l.cache(c)
		}
	}
	for _, m := range o.Wall.Mounts {
		if err == nil && !m.Cover {
			err = l.mount(m, o.Wall.Mounts)
		}
	}
	for _, m := range o.Wall.Mounts {
		if err == nil && m.Cover {
			err = l.cover(m.At)
		}
	}
	if err != nil {
		l.close()
		return nil, err
	}
	l.add("--remount-ro", "/")
	return l, nil
}

func (l *layout) add(args ...string) { l.args = append(l.args, args...) }

// data adds a file in memory and returns its descriptor as bwrap will have it.
func (l *layout) data(text string) (string, error) {
	f, err := inMemory("file", []byte(text))
	if err != nil {
		return "", err
	}
	l.files = append(l.files, f)
	return strconv.Itoa(l.first + len(l.files) - 1), nil
}

func (l *layout) close() {
	for _, f := range l.files {
		_ = f.Close()
	}
}

// furnish says what every sandbox has.
func (l *layout) furnish(o *inside.Order) error {
	has := o.Table()
	l.links = has.Links
	for _, link := range has.Links {
		l.add("--symlink", link.To, link.At)
	}
	l.add("--proc", "/proc")
	l.devices(o)
	l.shown = append(l.shown, shown{at: "/proc"}, shown{at: "/dev"})
	for _, m := range has.Memory {
		l.tmpfs(m)
	}
	l.add("--remount-ro", "/dev")
	for _, f := range has.Files {
		fd, err := l.data(f.Text)
		if err != nil {
			return err
		}
		l.add("--perms", "0644", "--file", fd, f.At)
	}
	for _, path := range has.System {
		if err := l.bind(shown{at: path, from: path}); err != nil {
			return fmt.Errorf("mount %s: %w", path, err)
		}
	}
	return nil
}

// devices says what is in /dev: bwrap's own has the same. Root owns the machine's devices, so
// process 1 has to protect them. It may do so unless bwrap makes a terminal: for that it
// takes a second user namespace.
func (l *layout) devices(o *inside.Order) {
	if !o.Root {
		l.add("--dev", "/dev")
		return
	}
	l.add("--perms", "0755", "--tmpfs", "/dev", "--dir", "/dev/pts")
	for _, d := range inside.Devices {
		l.add("--dev-bind", "/dev/"+d, "/dev/"+d)
	}
	for _, k := range inside.DeviceLinks {
		l.add("--symlink", k.To, k.At)
	}
}

func (l *layout) tmpfs(m inside.Memory) {
	l.add("--perms", m.Mode, "--size", strconv.FormatInt(m.Size, 10), "--tmpfs", m.At)
	l.shown = append(l.shown, shown{at: m.At, write: true})
}

func (l *layout) home(o *inside.Order) error {
	if o.Wall.Home == "" {
		l.tmpfs(inside.Memory{At: o.Home, Mode: "0700", Size: inside.TmpSize(o.Wall.Limits)})
		return nil
	}
	if err := l.bind(shown{at: o.Home, from: o.Wall.Home, write: true, own: true}); err != nil {
		return fmt.Errorf("its home %s: %w", o.Wall.Home, err)
	}
	return nil
}

// cache shows a cache as process 1 does where there is no overlayfs: bwrap has it from 0.11
// on.
func (l *layout) cache(c wall.Cache) error {
	if err := os.MkdirAll(c.Upper, 0o700); err != nil {
		return err
	}
	s := shown{at: c.Lower, from: c.Upper, write: true}
	if st, err := os.Stat(c.Lower); err == nil && st.IsDir() && c.Downloads {
		s.from, s.write = c.Lower, false
	}
	if err := l.bind(s); err != nil {
		return fmt.Errorf("cache %s: %w", c.Lower, err)
	}
	return nil
}

// mount shows what a mount names, and holds in place the directories that lead to what all
// hides in it.
func (l *layout) mount(m wall.Mount, all []wall.Mount) error {
	at := cmp.Or(m.At, m.From)
	seen, dir, ok, err := inside.Look("/", m.From)
	switch {
	case err != nil:
		return fmt.Errorf("mount %s: %w", m.From, err)
	case !ok && m.Optional:
		return nil
	case !ok:
		return fmt.Errorf("mount %s: %w", m.From, fs.ErrNotExist)
	}
	err = l.bindTo(shown{at: filepath.Clean(at), from: m.From, write: m.Write}, seen, dir)
	if m.Optional && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)) {
		return nil
	}
	if errors.Is(err, unix.ELOOP) {
		return fmt.Errorf("mount %s: a symbolic link is there, or on the way, in the sandbox: name what it leads to", at)
	}
	if err != nil {
		return fmt.Errorf("mount %s: %w", m.From, err)
	}
	for _, c := range all {
		if c.Cover && holder(all, c.At) == at {
			if err := l.pin(at, c.At); err != nil {
				return fmt.Errorf("hide %s: %w", c.At, err)
			}
		}
	}
	return nil
}

// holder is the place of the innermost mount that a path lies in; "" if it is in none.
func holder(all []wall.Mount, path string) (top string) {
	for _, m := range all {
		if at := cmp.Or(m.At, m.From); !m.Cover && len(at) > len(top) && strings.HasPrefix(path, at+"/") {
			top = at
		}
	}
	return top
}

// pin makes a mount of each directory between top and a path: a directory can be moved away,
// with what it hides, and a mount cannot.
func (l *layout) pin(top, path string) error {
	for dir := top; ; {
		next, _, more := strings.Cut(strings.TrimPrefix(path, dir+"/"), "/")
		if !more {
			return nil
		}
		dir += "/" + next
		s := l.around(dir)
		from := filepath.Join(s.from, strings.TrimPrefix(dir, s.at))
		if _, is, ok, err := inside.Look(s.from, strings.TrimPrefix(dir, s.at)); err != nil || !ok || !is {
			return err
		}
		if s.at == dir {
			continue // it is one
		}
		if err := l.bind(shown{at: dir, from: from, write: s.write}); err != nil {
			return err
		}
	}
}

// cover puts something empty over what is at a path, if anything is.
func (l *layout) cover(at string) error {
	s := l.around(at)
	if s.from == "" {
		return nil // nothing of the machine is there
	}
	seen, dir, ok, err := inside.Look(s.from, strings.TrimPrefix(at, s.at))
	if err != nil {
		return fmt.Errorf("hide %s: %w", at, err)
	}
	if !ok {
		return nil
	}
	if dir {
		l.add("--perms", "0755", "--tmpfs", at, "--remount-ro", at)
	} else {
		fd, err := l.data("")
		if err != nil {
			return err
		}
		l.add("--perms", "0444", "--ro-bind-data", fd, at)
	}
	seen.At, seen.Hidden = at, true
	l.note(seen)
	return nil
}

// bind shows a file or directory of the machine.
func (l *layout) bind(s shown) error {
	st, err := os.Stat(s.from)
	if err != nil {
		return err
	}
	sys := st.Sys().(*syscall.Stat_t)
	return l.bindTo(s, inside.Seen{Dev: sys.Dev, Ino: sys.Ino}, st.IsDir())
}

// bindTo shows what was seen where s is from.
func (l *layout) bindTo(s shown, seen inside.Seen, dir bool) error {
	if err := l.place(s.at, dir); err != nil {
		return err
	}
	how := "--ro-bind"
	if s.write {
		how = "--bind"
	}
	l.add(how, s.from, s.at)
	l.shown = append(l.shown, s)
	seen.At, seen.Write = s.at, s.write
	l.note(seen)
	return nil
}

// note notes what has to be at a place. What lies below it is not seen any more.
func (l *layout) note(s inside.Seen) {
	l.seen = append(slices.DeleteFunc(l.seen, func(old inside.Seen) bool { return regular.Within(old.At, s.At) }), s)
}

// around is what a path is in.
func (l *layout) around(at string) shown {
	for _, s := range slices.Backward(l.shown) {
		if regular.Within(at, s.at) {
			return s
		}
	}
	return shown{at: "/"}
}

// place makes sure that bwrap, which follows links, meets none on the way to a path.
func (l *layout) place(at string, dir bool) error {
	s := l.around(at)
	rest := strings.TrimPrefix(strings.TrimPrefix(at, s.at), "/")
	switch {
	case s.from == "" && slices.ContainsFunc(l.links, func(k inside.Link) bool { return regular.Within(at, k.At) }):
		return unix.ELOOP
	case s.from == "" || rest == "":
		return nil
	case s.write:
		return inside.Place(s.from, rest, dir, s.own)
	}
	_, _, ok, err := inside.Look(s.from, rest)
	if err == nil && !ok {
		err = unix.EROFS
	}
	return err
}
