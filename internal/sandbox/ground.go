package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// ground is where programs inside write what stays there for the next sandbox. A link in it
// may be one of theirs: it would choose what that one mounts, and is not followed.
type ground struct {
	outside []string // paths of the machine, links resolved
	inside  []string // where they are mounted
}

// errPlanted is the error of a path that leads over a link in the ground.
var errPlanted = errors.New("it leads over a symbolic link that programs in sandboxes may have put there: name what it leads to")

// maxLinks is how many links Linux follows.
const maxLinks = 40

// groundOf is that of a Spec.
func groundOf(s *wall.Spec) ground {
	var g ground
	add := func(from string) {
		if real, err := filepath.EvalSymlinks(from); err == nil { // else nothing is there yet
			g.outside = append(g.outside, real)
		}
	}
	for _, m := range s.Mounts {
		if m.Write {
			add(m.From)
			g.inside = append(g.inside, filepath.Clean(cmp.Or(m.At, m.From)))
		}
	}
	for _, c := range s.Caches {
		add(c.Upper)
	}
	if s.Home != "" {
		add(s.Home)
	}
	return g
}

// writes reports whether a program inside may change what is at a path of the machine that
// leads over no link.
func (g ground) writes(path string) bool {
	return slices.ContainsFunc(g.outside, func(dir string) bool { return regular.Within(path, dir) })
}

// covers reports whether a path inside lies in what programs write to.
func (g ground) covers(at string) bool {
	return slices.ContainsFunc(g.inside, func(dir string) bool { return regular.Within(at, dir) })
}

// real is where an absolute path leads. It is the kernel's way, ".." included.
func (g ground) real(path string) (string, error) {
	at, links := "/", 0
	for rest := path; rest != ""; {
		name, more, _ := strings.Cut(rest, "/")
		rest = more
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		to, is, err := linkAt(next)
		if err != nil {
			return "", err
		}
		if !is {
			at = next
			continue
		}
		if g.writes(next) {
			return "", errPlanted
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = to + "/" + rest
	}
	return at, nil
}

// linkAt is the target of what is at a path, if that is a link.
func linkAt(path string) (to string, is bool, err error) {
	st, err := os.Lstat(path)
	if err != nil || st.Mode()&fs.ModeSymlink == 0 {
		return "", false, err
	}
	to, err = os.Readlink(path)
	return to, true, err
}

// shown are mounts with their links resolved, each at its place. What is optional and not
// there is left out. So is, where all is in place, what a link in another of them leads to.
func (g ground) shown(mounts []wall.Mount, inPlace bool) ([]wall.Mount, error) {
	var out []wall.Mount
	for _, m := range mounts {
		if m.Cover {
			out = append(out, m)
			continue
		}
		real, err := g.real(m.From)
		switch {
		case err == nil:
			m.From, m.At = real, cmp.Or(m.At, m.From)
			out = append(out, m)
		case m.Optional && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)):
		case inPlace && errors.Is(err, errPlanted) && slices.ContainsFunc(mounts, func(o wall.Mount) bool { return o.Write && o.From != m.From && regular.Within(m.From, o.From) }):
		default:
			if errors.Is(err, fs.ErrNotExist) {
				err = fs.ErrNotExist
			}
			return nil, fmt.Errorf("mount %s: %w", m.From, err)
		}
	}
	return out, nil
}
