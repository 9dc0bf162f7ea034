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

// listeners are the addresses at which a process listens, as proc(5) has them.
func listeners(t *testing.T, pid int) (all []string) {
	t.Helper()
	own := map[string]bool{}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil { // else it was closed
			own[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		b, err := os.ReadFile("/proc/net/" + table)
		if err != nil {
			continue // a system without IPv6
		}
		for line := range strings.Lines(string(b)) {
			if w := strings.Fields(line); len(w) > 9 && own[w[9]] && (w[3] == "0A" || strings.HasPrefix(table, "udp")) {
				all = append(all, table+" "+w[1])
			}
		}
	}
	return all
}

func TestItListensOnLoopbackAlone(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	p, pid := n.ui()
	p.only()
	var port int
	if _, err := fmt.Sscanf(p.url, "http://127.0.0.1:%d/", &port); err != nil {
		t.Fatal(err)
	}
	all := listeners(t, pid)
	if len(all) != 1 || all[0] != fmt.Sprintf("tcp 0100007F:%04X", port) && all[0] != fmt.Sprintf("tcp 7F000001:%04X", port) {
		t.Errorf("%s listens at %q", p.url, all)
	}
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
