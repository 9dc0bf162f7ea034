package web_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/web"
)

// children are the processes that one has started and has not waited for.
func children(t *testing.T, pid int) (all []string) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(files) == 0 {
		t.Skip("the system does not list them")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil { // else its thread has ended
			all = append(all, strings.Fields(string(b))...)
		}
	}
	return all
}

// ui starts ralph ui as a process of its own.
func (n *night) ui() (p *page, pid int) {
	n.t.Helper()
	cmd := n.command(filepath.Join(n.bin, "ralph"), "ui", "--no-open")
	out, err := cmd.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, token, is := strings.Cut(lines.Text(), "#t="); is {
			return &page{t: n.t, url: url, auth: "Bearer " + token}, cmd.Process.Pid
		}
	}
	n.t.Fatal("it printed no link")
	return nil, 0
}

func TestNoGitProcessStays(t *testing.T) {
	n := newNight(t)
	n.ralph(3, "apply")
	p, pid := n.ui()
	at := "/epics/" + p.only().ID
	for i := range 3 {
		if err := os.Chtimes(filepath.Join(n.dir, "epic.json"), time.Time{}, time.Now().Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		p.ask(http.MethodPost, "api/v1"+at+"/nodes/2.1/decisions", decision("dddd-"+strconv.Itoa(1000+i), "reject", get[web.Sprint](p, at+"/nodes/2.1").Seq, fmt.Sprintf(`, "message": "again %d"`, i)))
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
	until(t, "nothing that was started is left", func() bool { return len(children(t, pid)) == 0 })
}
