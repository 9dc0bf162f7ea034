package command

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// pulseTime is the least time between two signs of life that are told.
const pulseTime = 500 * time.Millisecond

// pulse turns output into signs of life.
type pulse struct {
	tell  func(executor.Activity)
	mu    sync.Mutex // guards the rest
	bytes int64
	line  string
	told  time.Time
	late  bool // something came after the last sign
}

// heard takes a piece of output.
func (p *pulse) heard(_ bool, b []byte) {
	p.mu.Lock()
	p.bytes += int64(len(b))
	now := time.Now()
	due := now.Sub(p.told) >= pulseTime
	p.late = !due
	if due || len(b) < 4096 { // a flood is only looked at when it is told of
		if l := lastOf(b); l != "" {
			p.line = l
		}
	}
	if due {
		p.told = now
	}
	a := executor.Activity{Bytes: p.bytes, Line: p.line}
	p.mu.Unlock()
	if due {
		p.tell(a)
	}
}

// end tells what was not told yet.
func (p *pulse) end() {
	p.mu.Lock()
	late, a := p.late, executor.Activity{Bytes: p.bytes, Line: p.line}
	p.late = false
	p.mu.Unlock()
	if late {
		p.tell(a)
	}
}

// lastOf is the last line in a piece of output that says something, at most 200
// bytes of it.
func lastOf(b []byte) string {
	b = bytes.TrimRight(b[max(0, len(b)-4096):], " \t\r\n\x00")
	b = b[bytes.LastIndexByte(b, '\n')+1:]
	return clip(strings.TrimSpace(clean(strings.ToValidUTF8(string(b[:min(len(b), 1000)]), "\uFFFD"))), 200)
}
