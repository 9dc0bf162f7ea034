//go:build unix

package web

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// A directory is looked at once for all that follow a file in it, and more seldom while nothing
// is written.
func TestFilesAreWatchedOnceForAll(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	var w watches
	at, leave := w.join(dir)
	for range 99 {
		again, _ := w.join(dir)
		if again != at {
			t.Fatal("it is watched twice")
		}
	}
	now := at.due
	looks := func(within time.Duration) (n int) {
		for end := now.Add(within); now.Before(end); now = now.Add(tailEvery) {
			for _, due := range w.dueAt(now) {
				n++
				w.saw(due, markOf(due.dir), now)
			}
		}
		return n
	}
	if n := looks(20 * time.Second); n < 15 || n > 25 {
		t.Errorf("silent for 20 seconds: %d looks", n)
	}
	written := w.written(at)
	write("ab")
	looks(2 * tailSeldom)
	select {
	case <-written:
	default:
		t.Error("nobody is told")
	}
	write("abc")
	looks(2 * tailSeldom)
	if at.every != tailSeldom && at.every != 2*tailEvery && at.every != tailEvery {
		t.Errorf("every %s", at.every)
	}
	for range 99 {
		at.listeners--
	}
	leave()
	if len(w.by) != 0 {
		t.Error("it is watched for nobody")
	}
}

func TestManyWhoFollowOneFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, slowWork, executortest.Epic([]string{"1.1"}))
	s.start()
	s.until("the agent speaks", func() bool {
		b, _ := os.ReadFile(filepath.Join(s.attemptDir("bd-1-1", "implement-1"), "agent-1.out"))
		return len(b) > 0
	})
	s.serve()
	var all []func() said
	for range 20 {
		next := s.stream("/EPIC/nodes/1.1/tail")
		next()
		next()
		all = append(all, next)
	}
	s.page.watches.mu.Lock()
	n := len(s.page.watches.by)
	s.page.watches.mu.Unlock()
	if n != 1 {
		t.Errorf("%d directories are watched", n)
	}
	s.write("go-1", "")
	for _, next := range all {
		if e := next(); lineOf(t, e) != "two\n" {
			t.Errorf("%+v", e)
		}
	}
	s.write("on-1", "")
}
