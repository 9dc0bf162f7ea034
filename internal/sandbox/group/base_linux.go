package group

import (
	"context"
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
)

// place is where the files of the kernel are; a test has its own.
type place struct {
	root string // where cgroup v2 is mounted
	self string // says in which group this process is
	pid  int
}

var system = place{root: "/sys/fs/cgroup", self: "/proc/self/cgroup", pid: os.Getpid()}

// leaf is the group that a ralph moves itself into.
const leaf = "ralph"

func base(ctx context.Context, need []Controller) (string, error) {
	dir, err := system.base(need)
	if l, ok := errors.AsType[*Lacking](err); ok && l.elsewhere {
		if not := system.scope(ctx); not != nil {
			if s, ok := errors.AsType[*Lacking](not); ok {
				s.Why = l.Why + ", and " + s.Why
			}
			return "", not
		}
		dir, err = system.base(need)
	}
	return dir, err
}

// look is the directory of the group that is a base, or can become one.
func (p place) look(need []Controller) (dir string, err error) {
	dir, err = p.own()
	if err != nil {
		return "", err
	}
	if parent := filepath.Dir(dir); filepath.Base(dir) == leaf && p.lacks(parent, "cgroup.subtree_control", need) == "" && writable(parent) == nil {
		return parent, nil // as this process, or another ralph that it was started by, has made it
	}
	name := "/" + strings.TrimPrefix(strings.TrimPrefix(dir, p.root), "/")
	if err := writable(dir); err != nil {
		l := &Lacking{Why: fmt.Sprintf("the group that ralph is in (%s) is not its own", name), elsewhere: true}
		if errors.Is(err, syscall.EROFS) {
			l.elsewhere, l.Why, l.Mend = false, "ralph is in a container that may make no groups (/sys/fs/cgroup is read-only)", "let the container be the limit (docker run --memory 4g), and take the limit out"
		}
		return "", l
	}
	if c := p.lacks(dir, "cgroup.controllers", need); c != "" {
		return "", &Lacking{Why: fmt.Sprintf("the group that ralph is in (%s) was not given the controller %s", name, c), Mend: delegate, elsewhere: true}
	}
	others, err := p.others(dir)
	if err != nil {
		return "", err
	}
	if others {
		return "", &Lacking{Why: fmt.Sprintf("ralph is not alone in its group (%s)", name), elsewhere: true}
	}
	return dir, nil
}

// delegate lets systemd give users what it keeps for itself by default on older systems.
const delegate = "systemctl edit user@.service, with [Service] and Delegate=cpu memory pids in it, and log in again"

// base makes a base of the group that this process is in, unless its parent is one.
func (p place) base(need []Controller) (string, error) {
	dir, err := p.look(need)
	if err != nil {
		return "", err
	}
	if at, err := p.own(); err != nil {
		return "", err
	} else if at == dir {
		if err := p.become(dir); err != nil {
			return "", err
		}
	}
	p.sweep(dir)
	return dir, nil
}

// become moves this process out of a group, and hands its controllers to its children.
func (p place) become(dir string) error {
	in := filepath.Join(dir, leaf)
	if err := os.Mkdir(in, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make a group: %w", err)
	}
	self := strconv.Itoa(p.pid)
	err := write(in, "cgroup.procs", self)
	for _, c := range []Controller{Memory, CPU, Pids} {
		if err == nil && p.lacks(dir, "cgroup.controllers", []Controller{c}) == "" {
			err = write(dir, "cgroup.subtree_control", "+"+string(c))
		}
	}
	if err == nil {
		return nil
	}
	back := write(dir, "cgroup.procs", self)
	_ = os.Remove(in) // it is in nobody's way
	if errors.Is(err, syscall.EBUSY) {
		return errors.Join(&Lacking{Why: "ralph is not alone in its group", elsewhere: true}, back)
	}
	return errors.Join(err, back)
}

// sweep removes the groups of sandboxes whose ralph is gone.
func (p place) sweep(dir string) {
	entries, _ := os.ReadDir(dir) // what cannot be read is in nobody's way
	for _, e := range entries {
		rest, is := strings.CutPrefix(e.Name(), leaf+"-")
		pid, _, _ := strings.Cut(rest, "-")
		n, err := strconv.Atoi(pid)
		if !is || err != nil || n != p.pid && syscall.Kill(n, 0) != syscall.ESRCH {
			continue
		}
		_ = syscall.Rmdir(filepath.Join(dir, e.Name())) // it fails if something is left in it
	}
}

// own is the directory of the group that this process is in.
func (p place) own() (string, error) {
	b, err := os.ReadFile(p.self)
	if err != nil {
		return "", fmt.Errorf("the group that ralph is in: %w", err)
	}
	if _, err := os.Stat(filepath.Join(p.root, "cgroup.controllers")); err != nil {
		return "", &Lacking{Why: "this machine has no cgroup v2 at " + p.root, Mend: "boot it with systemd.unified_cgroup_hierarchy=1, or take the limit out"}
	}
	for line := range strings.Lines(string(b)) {
		if at, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "0::"); is {
			return filepath.Join(p.root, filepath.Clean("/"+at)), nil
		}
	}
	return "", &Lacking{Why: "this machine has no cgroup v2"}
}

// lacks is the first of some controllers that a file of a group does not list, "" if none.
func (p place) lacks(dir, file string, need []Controller) Controller {
	b, _ := os.ReadFile(filepath.Join(dir, file)) // then it lists none
	has := strings.Fields(string(b))
	for _, c := range need {
		if !slices.Contains(has, string(c)) {
			return c
		}
	}
	return ""
}

// writable is nil if this process may make groups in a group, and move itself there.
func writable(dir string) error {
	for _, at := range []string{dir, filepath.Join(dir, "cgroup.procs"), filepath.Join(dir, "cgroup.subtree_control")} {
		if err := unix.Access(at, unix.W_OK); err != nil {
			return err
		}
	}
	return nil
}

// others reports whether a group holds a process that is not this one.
func (p place) others(dir string) (bool, error) {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return false, fmt.Errorf("who is in ralph's group: %w", err)
	}
	return slices.ContainsFunc(strings.Fields(string(b)), func(pid string) bool { return pid != strconv.Itoa(p.pid) }), nil
}

// write writes to a file of a group, which the kernel has made.
func write(dir, file, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
