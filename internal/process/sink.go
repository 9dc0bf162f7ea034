package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Bounds of what is kept of an output, in bytes: of the file, and of the end that
// waits in memory until the program is done.
const (
	defaultCap = 64 << 20
	maxRing    = 4 << 20
)

// sink keeps the beginning of an output in a file and the end in a ring, written
// behind it on Close. What falls between is counted, not kept, and never slows
// the writer down.
type sink struct {
	mu   sync.Mutex // guards the rest: stdout and stderr may share a sink
	f    *os.File
	err  error // of the first write that failed; nothing is written after it
	head int64 // still free in the beginning
	ring []byte
	size int64 // of the ring; it is made when the beginning is full
	next int64 // bytes that came after the beginning

	filter io.WriteCloser // what is written goes through it to put; nil: directly
}

// Create makes a file that keeps so many bytes of what is written to it: half of
// them from the beginning, half from the end; 0 is 64 MiB. Writing never fails,
// Close tells. filter may be nil.
func Create(path string, limit int64, filter func(io.Writer) io.WriteCloser) (io.WriteCloser, error) {
	return create(path, limit, filter)
}

func create(path string, limit int64, filter func(io.Writer) io.WriteCloser) (*sink, error) {
	if limit <= 0 {
		limit = defaultCap
	}
	size := max(min(limit-limit/2, maxRing), 1)
	s := &sink{head: limit - size, size: size}
	if filter != nil {
		s.filter = filter(putter{s})
	}
	if path == "" {
		return s, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	s.f = f
	return s, err
}

// Write takes everything. A disk that is full must not stop the program in the
// middle of its work: the error is told by Close.
func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filter != nil {
		_, _ = s.filter.Write(b) // what it writes to takes everything
		return len(b), nil
	}
	return s.put(b)
}

// putter is what a sink's filter writes to.
type putter struct{ s *sink }

func (p putter) Write(b []byte) (int, error) { return p.s.put(b) }

// put keeps what falls into its bounds.
func (s *sink) put(b []byte) (int, error) {
	n := len(b)
	if s.f == nil || s.err != nil {
		return n, nil
	}
	if s.head > 0 {
		part := b[:min(int64(len(b)), s.head)]
		if _, s.err = s.f.Write(part); s.err != nil {
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

func (s *sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filter != nil {
		_ = s.filter.Close() // it only writes here
	}
	if s.f == nil {
		return nil
	}
	err := s.err
	if err == nil && s.next > 0 {
		end := [][]byte{s.ring[:min(s.next, s.size)]}
		if lost := s.next - s.size; lost > 0 {
			_, err = fmt.Fprintf(s.f, "\n[%d bytes are left out here]\n", lost)
			at := s.next % s.size
			end = [][]byte{s.ring[at:], s.ring[:at]}
		}
		for _, b := range end {
			_, werr := s.f.Write(b)
			err = errors.Join(err, werr)
		}
	}
	s.ring = nil
	return errors.Join(err, s.f.Close())
}

// Tail returns the last n bytes of a file, from the start of a line if there is
// one, as valid text.
func Tail(path string, n int64) (string, error) {
	f, err := os.Open(path)
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
	return text(b, size > n), nil
}
