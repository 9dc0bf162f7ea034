package group

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// scopeTime bounds how long systemd may take.
const scopeTime = 20 * time.Second

// scope has systemd move this process into a new group that is delegated to it: what
// systemd-run --scope --property=Delegate=yes does with itself.
func (p place) scope(ctx context.Context) error {
	path, err := exec.LookPath("busctl")
	if err != nil {
		return &Lacking{Why: "no systemd is here to make a group (busctl is not on PATH)", Mend: "start ralph alone in a group that it may write to"}
	}
	before, err := p.own()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, scopeTime)
	defer cancel()
	pid := strconv.Itoa(p.pid)
	args := []string{
		"call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))",
		fmt.Sprintf("ralph-%s-%x.scope", pid, time.Now().UnixNano()), "fail",
		"4", "PIDs", "au", "1", pid, "Delegate", "b", "true", "CollectMode", "s", "inactive-or-failed", "Description", "s", "ralph and its sandboxes",
		"0",
	}
	if os.Geteuid() != 0 {
		args = append([]string{"--user"}, args...)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return systemdSaid(said.String(), err)
	}
	for ctx.Err() == nil { // systemd answers before it has done it
		if now, err := p.own(); err != nil || now != before {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return &Lacking{Why: "systemd made a group for ralph, and did not move it there"}
}

// systemdSaid is the error of a group that systemd did not make.
func systemdSaid(said string, err error) error {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if line == "" {
		line = err.Error()
	}
	l := &Lacking{Why: fmt.Sprintf("systemd makes no group for ralph (%s)", line)}
	if uid := os.Geteuid(); uid != 0 {
		l.Mend = fmt.Sprintf("loginctl enable-linger, and XDG_RUNTIME_DIR=/run/user/%d in the environment", uid)
	}
	return l
}
