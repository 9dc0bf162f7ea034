package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/ir"
)

// ForgeOf says with what pull requests are made in the repository that contains dir:
// "gh", "glab" or "none". Where the settings do not say it, it follows from the host of
// the remote that is pushed to.
func ForgeOf(ctx context.Context, dir string, settings ir.GitSettings) (string, error) {
	if settings.Forge != "" {
		return settings.Forge, nil
	}
	r, err := lookAt(ctx, dir)
	if err != nil {
		return "", err
	}
	s := &space{repository: r, epic: &ir.Epic{Run: ir.Run{Git: settings}}}
	return forgeAt(s.pushURL(ctx)), nil
}

// forgeAt is the forge at an address.
func forgeAt(address string) string {
	if host, _ := webPlace(address); strings.Contains(strings.ToLower(host), "gitlab") {
		return "glab"
	}
	return "gh"
}

// forge is what makes the pull requests of this epic.
func (s *space) forge(ctx context.Context) (forge, error) {
	name, address := s.epic.Run.Git.Forge, ""
	if name != "gh" && name != "none" {
		address = s.pushURL(ctx)
	}
	if name == "" {
		name = forgeAt(address)
	}
	switch name {
	case "gh":
		return newGithub(s.top), nil
	case "glab":
		return newGitlab(s.top, s.remote(), address), nil
	}
	return nil, config("git { forge = %q } makes no pull requests: write \"gh\" or \"glab\" there, or nothing", name)
}

// pushURL is the address that is pushed to, as git's settings rewrite it; it may hold
// a password.
func (s *space) pushURL(ctx context.Context) string {
	address, err := s.users().line(ctx, place{}, "remote", "get-url", "--push", "--", s.remote())
	if err != nil {
		return s.remote() // git push takes addresses, too
	}
	return strings.TrimSpace(address)
}

// webPlace is where a browser finds the repository that git finds at an address: a host
// and a path. The host is "" for a path of this machine.
func webPlace(address string) (host, path string) {
	if u, err := url.Parse(address); err == nil && u.Host != "" && u.Scheme != "file" {
		host, path = u.Hostname(), u.Path
		if u.Scheme == "http" || u.Scheme == "https" { // other ports are not the web's
			host = u.Host
		}
	} else if before, after, ok := strings.Cut(address, ":"); ok && !strings.Contains(before, "/") && !strings.Contains(address, "://") {
		host, path = before[strings.LastIndex(before, "@")+1:], after
	}
	return host, strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}

// program is one that speaks to a forge. It runs in the user's checkout, with the
// user's environment and configuration.
type program struct {
	name    string
	top     string
	env     []string
	missing string   // says what to install
	lasting []string // what it prints, in lower case, where another try is of no use
}

// forgeTime bounds one call of a program.
const forgeTime = 2 * time.Minute

func (p *program) find() error {
	_, err := p.look()
	return err
}

func (p *program) look() (string, error) {
	bin, err := exec.LookPath(p.name)
	if err != nil {
		return "", config("%s", p.missing)
	}
	return bin, nil
}

// run returns what the program printed. Errors name its first two arguments.
func (p *program) run(ctx context.Context, in string, args ...string) (string, error) {
	bin, err := p.look()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, forgeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.SysProcAttr = process.OwnGroup()
	cmd.Dir = p.top
	cmd.Env = append(append(userEnv(), p.env...), "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdin = strings.NewReader(in)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	call := p.name + " " + args[0] + " " + args[1]
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s: %w", call, ctx.Err())
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "", fmt.Errorf("%s: %w", call, err)
	}
	text := oneLine(errOut.String(), 500)
	if says(strings.ToLower(text), p.lasting...) {
		return "", config("%s: %s", call, text)
	}
	return "", &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("%s: exit %d: %s", call, exit.ExitCode(), text)}
}
