package workspace

import (
	"context"
	"path/filepath"
	"sync"
)

// memory is what Once remembers.
type memory struct {
	mu  sync.Mutex             // guards the rest
	all map[string]*repository // by the directory that was asked about
}

type memoryKey struct{}

// Once returns a context in which each repository is found, and its settings are read, one
// time: for a command that opens it again and again, and ends.
func Once(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, &memory{all: map[string]*repository{}})
}

// memoryOf is what Once has put into a context, nil if nothing.
func memoryOf(ctx context.Context) *memory {
	m, _ := ctx.Value(memoryKey{}).(*memory)
	return m
}

// repository is lookAt, once for each directory.
func (m *memory) repository(ctx context.Context, dir string) (*repository, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.all[at]; r != nil {
		return r, nil
	}
	r, err := lookAt(ctx, dir)
	if err == nil {
		m.all[at] = r
	}
	return r, err
}
