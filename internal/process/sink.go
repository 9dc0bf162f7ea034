package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// defaultCap bounds each output file.
const defaultCap = 64 << 20

// sink keeps the first half of its size in a file and the last half in a ring,
// written behind it on Close. What falls between is counted, not kept, and never
// slows the writer down.
type sink struct {
	mu   sync.Mutex // guards the rest: stdout and stderr may share a sink
	f    *os.File
	head int64 // still free in the first half
	ring []byte
	size int64 // of the ring
	next int64 // bytes that came after the first half
}

func create(path string, limit int64) (*sink, error) {
	if limit <= 0 {
		limit = defaultCap
	}
	s := &sink{head: limit / 2, size: max(limit-limit/2, 1)}
	if path == "" {
		return s, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	s.f = f
	return s, err
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(b)
	if s.f == nil {
		return n, nil
	}
	if s.head > 0 {
		part := b[:min(int64(len(b)), s.head)]
		if _, err := s.f.Write(part); err != nil {
			return 0, err
		}
		s.head -= int64(len(part))
		b = b[len(part):]
	}
	for len(b) > 0 {
		at := s.next % s.size
		if int64(len(s.ring)) < s.size { // grows up to its size, then turns
			room := min(s.size-int64(len(s.ring)), int64(len(b)))
			s.ring = append(s.ring, b[:room]...)
			s.next += room
			b = b[room:]
			continue
		}
		k := copy(s.ring[at:], b)
		s.next += int64(k)
		b = b[k:]
	}
	return n, nil
}

func (s *sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		return nil
	}
	var err error
	if lost := s.next - int64(len(s.ring)); lost > 0 {
		_, err = fmt.Fprintf(s.f, "\n[%d bytes are left out here]\n", lost)
		at := s.next % s.size
		s.ring = append(s.ring[at:len(s.ring):len(s.ring)], s.ring[:at]...)
	}
	_, werr := s.f.Write(s.ring)
	return errors.Join(err, werr, s.f.Close())
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
