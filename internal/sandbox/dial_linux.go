//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/ralph-compiler/ralph/internal/sandbox/inside"
)

// dials are connections into a sandbox that were asked for and have not come.
type dials struct {
	mu    sync.Mutex
	asked int
	wait  map[int]chan dialed // by the ID of what was asked; with room for the answer
}

// dialed is an answer: a connection's descriptor, or why there is none.
type dialed struct {
	files  []*os.File
	reason string
}

// Dial implements process.Inside.
func (r *running) Dial(ctx context.Context, at string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, answer := r.dials.expect()
	defer r.dials.forget(id)
	b, err := json.Marshal(inside.Dial{ID: id, At: at})
	if err != nil {
		return nil, err
	}
	if len(b) > inside.MaxDial {
		return nil, fmt.Errorf("dial in sandbox %q: that is not an address", r.s.spec.Name)
	}
	if _, err := r.conn.Write(b); err != nil {
		return nil, fmt.Errorf("dial %s in sandbox %q: %w", at, r.s.spec.Name, err)
	}
	select {
	case d := <-answer:
		return d.conn(at, r.s.spec.Name)
	case <-r.ended:
		return nil, fmt.Errorf("dial %s in sandbox %q: its program has ended", at, r.s.spec.Name)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// conn is the connection of an answer.
func (d dialed) conn(at, name string) (net.Conn, error) {
	defer closeAll(d.files)
	if len(d.files) != 1 {
		return nil, fmt.Errorf("dial %s in sandbox %q: %s", at, name, d.reason)
	}
	c, err := net.FileConn(d.files[0])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("dial %s in sandbox %q", at, name), err)
	}
	return c, nil
}

func (d *dials) expect() (id int, answer chan dialed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wait == nil {
		d.wait = map[int]chan dialed{}
	}
	d.asked++
	answer = make(chan dialed, 1)
	d.wait[d.asked] = answer
	return d.asked, answer
}

// forget closes what comes too late.
func (d *dials) forget(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if answer, ok := d.wait[id]; ok {
		delete(d.wait, id)
		select {
		case late := <-answer:
			closeAll(late.files)
		default:
		}
	}
}

// came hands an answer to who asked; without one its descriptors are closed.
func (d *dials) came(m inside.Report, files []*os.File) {
	d.mu.Lock()
	defer d.mu.Unlock()
	answer, ok := d.wait[m.ID]
	if !ok {
		closeAll(files)
		return
	}
	select {
	case answer <- dialed{files, m.Reason}:
	default: // it was answered before
		closeAll(files)
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// hear waits for the program's end, and hands on the connections that come out.
func (r *running) hear() {
	defer close(r.ended)
	for {
		m, files, err := r.receive()
		if err == nil && m.Stage == inside.Dialed {
			r.dials.came(m, files)
			continue
		}
		closeAll(files) // none is expected
		if err != nil {
			return
		}
		if m.Stage == inside.Ended {
			r.last = &m
			return
		}
	}
}
