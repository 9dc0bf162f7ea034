package view

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/internal/reveal"
)

// Tail prints a file as it is written.
type Tail struct {
	path string
	out  io.Writer
	said strings.Builder
	stop chan struct{}
	work sync.WaitGroup
}

func FollowFile(path string, out io.Writer) *Tail {
	t := &Tail{path: path, out: out, stop: make(chan struct{})}
	t.work.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-t.stop:
				t.more(true)
				return
			case <-tick.C:
				t.more(false)
			}
		}
	})
	return t
}

// More prints the whole lines that came; at last also one without an end.
func (t *Tail) more(last bool) {
	b, err := readPart(t.path, int64(t.said.Len()), 1<<20)
	if err != nil {
		return // not there yet
	}
	if !last {
		b = b[:bytes.LastIndexByte(b, '\n')+1]
	}
	t.said.Write(b)
	text := reveal.Words(string(b))
	if last && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, _ = io.WriteString(t.out, text) // the answer is printed with its error
}

// End waits for the rest and returns all that was printed.
func (t *Tail) End() string {
	close(t.stop)
	t.work.Wait()
	return t.said.String()
}
