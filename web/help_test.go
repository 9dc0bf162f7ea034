package web_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// policy adds to the policy of a night, and compiles its plan again.
func (n *night) policy(more string) {
	n.t.Helper()
	file := filepath.Join(n.dir, "ralph.hcl")
	b, err := os.ReadFile(file)
	if err != nil {
		n.t.Fatal(err)
	}
	write(n.t, file, string(b)+more)
	n.ralph(0, "compile", "plan.md")
	n.git("commit", "-q", "-a", "-m", "another policy")
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
	usual := true
	for lines := bufio.NewScanner(out); lines.Scan(); {
		usual = usual && !strings.Contains(lines.Text(), "the usual port of this repository is taken: another ralph ui may serve it")
		if url, token, is := strings.Cut(lines.Text(), "#t="); is {
			return &page{t: n.t, url: url, auth: "Bearer " + token, usual: usual}, cmd.Process.Pid
		}
	}
	n.t.Fatal("it printed no link")
	return nil, 0
}
