package view

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/term"
)

// PagerOf is the pager that git would use for this user: GIT_PAGER, core.pager,
// PAGER, less. "" means no pager.
func PagerOf(ctx context.Context, space *workspace.Space) (string, error) {
	pager, set := os.LookupEnv("GIT_PAGER")
	if !set {
		configured, err := space.User.Pager(ctx)
		if err != nil {
			return "", err
		}
		if pager = configured; pager == "" {
			if pager, set = os.LookupEnv("PAGER"); !set {
				pager = "less"
			}
		}
	}
	if pager = strings.TrimSpace(pager); pager == "cat" {
		return "", nil
	}
	return pager, nil
}

// Paged calls write with out, through the user's pager if out is a terminal. Quitting the
// pager early is not an error.
func Paged(ctx context.Context, space *workspace.Space, out io.Writer, write func(io.Writer) error) error {
	if !term.IsTerminal(out) {
		return write(out)
	}
	pager, err := PagerOf(ctx, space)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("less"); pager == "" || pager == "less" && err != nil {
		return write(out)
	}
	cmd := exec.Command("/bin/sh", "-c", pager) // as git does it: the variable may hold arguments, and quotes
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	interrupts := make(chan os.Signal, 1) // Ctrl-C is the pager's
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if err := cmd.Start(); err != nil {
		return exit.Inputf("the pager (%s) cannot be started: %w", pager, err)
	}
	to := &untilGone{w: in}
	err = write(to)
	if to.gone {
		err = nil
	}
	_ = in.Close()
	_ = cmd.Wait() // how a pager ends says nothing about what it showed
	return err
}

// untilGone writes to a program until that ends.
type untilGone struct {
	w    io.Writer
	gone bool
}

func (u *untilGone) Write(p []byte) (int, error) {
	n, err := u.w.Write(p)
	u.gone = u.gone || errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
	return n, err
}
