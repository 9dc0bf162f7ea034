package web_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/web"
)

// children counts the processes that this one has started and that it has not waited for.
func children(t *testing.T) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(files) == 0 {
		t.Skip("the system does not list them")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil { // else its thread has ended
			n += len(strings.Fields(string(b)))
		}
	}
	return n
}

func TestNoGitProcessStays(t *testing.T) {
	n := newNight(t)
	n.ralph(3, "apply")
	p := serve(t, web.Options{Dirs: []string{n.dir}})
	at := "/epics/" + p.only().ID
	for i := range 3 {
		if err := os.Chtimes(filepath.Join(n.dir, "epic.json"), time.Time{}, time.Now().Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		p.ask(http.MethodPost, "api/v1"+at+"/nodes/2.1/decisions", decision("dddd-"+strconv.Itoa(1000+i), "reject", 0, fmt.Sprintf(`, "message": "again %d"`, i)))
		get[web.Next](p, at+"/next")
		get[web.Diff](p, at+"/nodes/1.1/diff")
		time.Sleep(500 * time.Millisecond)
	}
	journal := filepath.Join(n.stateDir(), "journal.db")
	write(t, journal+".new", "no journal")
	if err := os.Rename(journal+".new", journal); err != nil {
		t.Fatal(err)
	}
	until(t, "the journal is read in vain", func() bool { return p.only().Broken != "" })
	time.Sleep(time.Second) // it is tried again and again
	until(t, "nothing that was started is left", func() bool { return children(t) == 0 })
}
