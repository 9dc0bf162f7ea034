package process

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// Bounds of what is kept of an output, in bytes: of the file, and of the end that
// waits in memory until the program is done.
const (
	defaultCap = 64 << 20
	maxRing    = 4 << 20
)

// sink keeps the beginning of an output in a file and the end in a ring, written
// after it on Close. What falls between is counted, not kept, and never slows
// the writer down.
type sink struct {
	mu   sync.Mutex // guards the rest: stdout and stderr may share a sink
	f    *os.File
	err  error // of the first write that failed; nothing is written after it
	head int64 // still free in the beginning
	ring []byte
	size int64 // of the ring; it is made when the beginning is full
	next int64 // bytes that came after the beginning

	filter func(io.Writer) io.WriteCloser
	to     io.WriteCloser // the beginning of the file, through the filter
}

// Create makes a file that keeps so many bytes of what is written to it: half of
// them from the beginning, half from the end; 0 is 64 MiB. Writing never fails,
// Close tells. What is kept goes through the filter; nil: as it is.
func Create(path string, limit int64, filter func(io.Writer) io.WriteCloser) (io.WriteCloser, error) {
	return create(path, limit, filter)
}

func create(path string, limit int64, filter func(io.Writer) io.WriteCloser) (*sink, error) {
	limit = cmp.Or(max(limit, 0), defaultCap)
	size := max(min(limit-limit/2, maxRing), 1)
	s := &sink{head: limit - size, size: size, filter: filter}
	if path == "" || path == os.DevNull { // no regular file, and nothing is kept
		return s, nil
	}
	f, err := regular.CreateOwn(path, 0o600)
	if err != nil {
		return nil, err
	}
	s.f = f
	s.to = s.filtered()
	return s, nil
}

// filtered is a writer to the file, through the filter if there is one.
func (s *sink) filtered() io.WriteCloser {
	if s.filter == nil {
		return unfiltered{s.f}
	}
	return s.filter(s.f)
}

// unfiltered hands on what it gets; closing it does nothing.
type unfiltered struct{ io.Writer }

func (unfiltered) Close() error { return nil }

// Write takes everything. A disk that is full must not stop the program in the
// middle of its work: Close returns the error.
func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(b)
	if s.f == nil || s.err != nil {
		return n, nil
	}
	if s.head > 0 {
		part := b[:min(int64(len(b)), s.head)]
		if _, s.err = s.to.Write(part); s.err != nil {
			return n, nil
		}
		s.head -= int64(len(part))
		b = b[len(part):]
	}
	if len(b) > 0 && s.ring == nil {
		s.ring = make([]byte, s.size)
	}
	if skip := int64(len(b)) - s.size; skip > 0 { // it would be overwritten at once
		s.next += skip
		b = b[skip:]
	}
	for len(b) > 0 {
		k := copy(s.ring[s.next%s.size:], b)
		s.next += int64(k)
		b = b[k:]
	}
	return n, nil
}

// Close writes what is kept of the end. Where something is left out, the end begins
// with a whole line, so that no half of a secret is there that nothing would know.
func (s *sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		return nil
	}
	err := s.err
	lost := s.next - s.size
	if err == nil && lost > 0 {
		err = s.to.Close()
		end := append(bytes.Clone(s.ring[s.next%s.size:]), s.ring[:s.next%s.size]...)
		if i := bytes.IndexByte(end, '\n'); s.filter != nil && i >= 0 {
			lost += int64(i) + 1
			end = end[i+1:]
		}
		if err == nil {
			_, err = fmt.Fprintf(s.f, "\n[%d bytes are left out here]\n", lost)
		}
		s.to = s.filtered()
		_, werr := s.to.Write(end)
		err = errors.Join(err, werr)
	} else if err == nil && s.next > 0 {
		_, err = s.to.Write(s.ring[:s.next])
	}
	s.ring = nil
	return errors.Join(err, s.to.Close(), s.f.Close())
}

// Tail returns the last n bytes of a file, from the start of a line if there is
// one, as valid text.
func Tail(path string, n int64) (string, error) {
	f, err := regular.OpenOwn(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	b := make([]byte, min(size, n))
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return printable(b, size > n), nil
}
