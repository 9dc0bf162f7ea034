// Package regular opens regular files and nothing else. An agent, a gate or a
// stranger may have put a FIFO, a socket or a device where ralph expects a file:
// to open one may take for ever. Nothing here waits, and no error is nil for what
// is no file. It imports the standard library alone.
package regular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// ErrNot is the error for an existing file that is not a regular file.
var ErrNot = errors.New("not a regular file")

// ErrLarge is the error for a file that exceeds the size limit.
var ErrLarge = errors.New("it is too large")

// Kind names the type of a file that is not regular, in words.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO (named pipe)"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		return "a device"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "no regular file"
}

// Special reports whether a type is one that nothing can be read from without
// waiting: neither a file nor a directory nor a link.
func Special(mode fs.FileMode) bool {
	return !mode.IsRegular() && !mode.IsDir() && mode&fs.ModeSymlink == 0
}

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) {
	return checked(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// OpenIn opens a regular file below a root for reading.
func OpenIn(root *os.Root, path string) (*os.File, error) {
	return checked(root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// OpenFile opens a regular file as os.OpenFile does. What flag asks for, such as
// to truncate it, is done before it is known what the file is.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return checked(os.OpenFile(path, flag|syscall.O_NONBLOCK, perm))
}

// WriteFile writes a regular file, as os.WriteFile does.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	f, err := OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func checked(f *os.File, err error) (*os.File, error) {
	if errors.Is(err, syscall.ENXIO) { // a socket, or a FIFO without a reader
		var p *fs.PathError
		if errors.As(err, &p) {
			err = &fs.PathError{Op: p.Op, Path: p.Path, Err: ErrNot}
		}
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: fmt.Errorf("%w, but %s", ErrNot, Kind(st.Mode()))}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadFile reads a regular file.
func ReadFile(path string) ([]byte, error) { return read(-1)(Open(path)) }

// ReadMax reads a regular file of at most limit bytes.
func ReadMax(path string, limit int64) ([]byte, error) { return read(limit)(Open(path)) }

// ReadIn reads a regular file below a root.
func ReadIn(root *os.Root, path string) ([]byte, error) { return read(-1)(OpenIn(root, path)) }

// ReadMaxIn reads a regular file below a root, of at most limit bytes.
func ReadMaxIn(root *os.Root, path string, limit int64) ([]byte, error) {
	return read(limit)(OpenIn(root, path))
}

func read(limit int64) func(*os.File, error) ([]byte, error) {
	return func(f *os.File, err error) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if limit >= 0 && st.Size() > limit {
			return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("%w: %d bytes, at most %d are read", ErrLarge, st.Size(), limit)}
		}
		var in io.Reader = f
		if limit >= 0 {
			in = io.LimitReader(f, limit+1)
		}
		var b bytes.Buffer
		b.Grow(int(st.Size()) + bytes.MinRead) // to see the end without growing
		if _, err := b.ReadFrom(in); err != nil {
			return b.Bytes(), err
		}
		if limit >= 0 && int64(b.Len()) > limit {
			return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("%w: at most %d bytes are read", ErrLarge, limit)}
		}
		return b.Bytes(), nil
	}
}

// FS is the file system below a root, in which nothing but regular files and
// directories can be opened.
func FS(root *os.Root) fs.FS { return confined{root, root.FS()} }

type confined struct {
	root *os.Root
	fs.FS
}

// Open implements fs.FS.
func (c confined) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := c.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		if st, serr := f.Stat(); serr == nil && st.IsDir() {
			return f, nil
		}
	}
	f, err = checked(f, err)
	if err != nil {
		return nil, err // not a typed nil
	}
	return f, nil
}

// ReadFile implements fs.ReadFileFS.
func (c confined) ReadFile(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return ReadIn(c.root, name)
}

// Stat implements fs.StatFS.
func (c confined) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

// ReadDir implements fs.ReadDirFS.
func (c confined) ReadDir(name string) ([]fs.DirEntry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	f, err := c.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}
