//go:build linux

package claude

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/modeltest"
)

// terminal is a pseudo-terminal with a program in it.
type terminal struct {
	f  *os.File
	mu sync.Mutex
	b  strings.Builder
}

// open starts a program in a terminal of its own.
func open(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: there are no terminals here: %v", err)
	}
	var unlock, number int32
	size := struct{ rows, cols, x, y uint16 }{50, 160, 0, 0}
	for request, at := range map[uintptr]unsafe.Pointer{syscall.TIOCSPTLCK: unsafe.Pointer(&unlock), syscall.TIOCGPTN: unsafe.Pointer(&number), syscall.TIOCSWINSZ: unsafe.Pointer(&size)} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(at)); errno != 0 {
			t.Skipf("SKIPPED: there are no terminals here: %v", errno)
		}
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: there are no terminals here: %v", err)
	}
	defer tty.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	term := &terminal{f: f}
	var wg sync.WaitGroup
	wg.Go(func() {
		b := make([]byte, 4096)
		for {
			n, err := f.Read(b)
			term.mu.Lock()
			term.b.Write(b[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		wg.Wait()
		_ = f.Close()
	})
	return term
}

// shows waits until something stands on the screen.
func (term *terminal) shows(t *testing.T, what string) {
	t.Helper()
	for range 600 {
		term.mu.Lock()
		all := term.b.String()
		term.mu.Unlock()
		if strings.Contains(all, what) {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Fatalf("the screen does not show %q: %.3000q", what, term.b.String())
}

// S4-64, S4-68, S4-106: a person joins the session in Claude Code's own screen, with
// the command that ralph names, and types.
func TestRealPersonAtTheScreen(t *testing.T) {
	w := newWorld(t)
	base := w.model.Load(t, modeltest.Scenario{Rules: []modeltest.Rule{
		{Match: "heron", Steps: []modeltest.Step{{Text: "I heard you."}}},
		{Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Bash("sh -c 'echo $$ > pid; exec sleep 1000'")}}, {Text: success}}},
	}})
	r := w.ask(t, base)
	r.Human.OnHumanMessage = "review"
	config, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": map[string][]string{"approved": {"dummy"}},
		"projects": map[string]any{r.Dir: map[string]bool{"hasTrustDialogAccepted": true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, ".claude.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	var f facts
	r.Record = f.record
	type end struct {
		got executor.AgentEnded
		err error
	}
	ended := make(chan end, 1)
	go func() { got, err := quick.Run(t.Context(), r); ended <- end{got, err} }()
	pid := await(t, t.Context(), filepath.Join(r.Dir, "pid"))

	argv := quick.Join(r, f.sessions()[0].Session).Argv
	person := exec.Command(argv[0], argv[1:]...)
	person.Dir = r.Dir
	person.Env = []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "TMPDIR=" + t.TempDir(), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	for name, v := range r.Runner.Set {
		person.Env = append(person.Env, name+"="+v)
	}
	term := open(t, person)
	term.shows(t, "/effort") // the line below the input
	if _, err := term.f.WriteString("think of the heron"); err != nil {
		t.Fatal(err)
	}
	term.shows(t, "heron")
	if _, err := term.f.WriteString("\r"); err != nil {
		t.Fatal(err)
	}
	e := <-ended
	if e.err != nil || e.got.End != executor.EndTakenOver {
		t.Errorf("got %+v, %v", e.got, e.err)
	}
	gone(t, pid)
	if p := f.people(); len(p) != 1 || p[0].Text != "think of the heron" {
		t.Errorf("on record: %+v", p)
	}
	term.shows(t, "heard")
}
