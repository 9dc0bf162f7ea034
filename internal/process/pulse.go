package process

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/internal/text"
)

// pulseTime is the least time between two reported signs of life.
const pulseTime = 500 * time.Millisecond

// Pulse turns output into signs of life: how many bytes came so far, and the last
// line that says something, at most 200 bytes of it. Heard is a Spec.Tap.
type Pulse struct {
	tell  func(bytes int64, line string)
	mu    sync.Mutex // guards the rest
	bytes int64
	line  string
	told  time.Time
	late  bool // something came after the last sign
}

// NewPulse returns a pulse that tells at most twice a second, and from any
// goroutine.
func NewPulse(tell func(bytes int64, line string)) *Pulse { return &Pulse{tell: tell} }

// Heard takes a piece of output.
func (p *Pulse) Heard(_ bool, b []byte) {
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
	n, line := p.bytes, p.line
	p.mu.Unlock()
	if due {
		p.tell(n, line)
	}
}

// End reports what has not been reported yet.
func (p *Pulse) End() {
	p.mu.Lock()
	late, n, line := p.late, p.bytes, p.line
	p.late = false
	p.mu.Unlock()
	if late {
		p.tell(n, line)
	}
}

// lastOf is the last line in a piece of output that says something.
func lastOf(b []byte) string {
	b = bytes.TrimRight(b[max(0, len(b)-4096):], " \t\r\n\x00")
	b = b[bytes.LastIndexByte(b, '\n')+1:]
	return text.Head(strings.TrimSpace(printable(b[:min(len(b), 1000)], false)), 200)
}
