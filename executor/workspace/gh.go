package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// ghTime bounds one call of gh.
const ghTime = 2 * time.Minute

func (s *space) findGh() (string, error) {
	bin, err := exec.LookPath("gh")
	if err != nil {
		return "", config("pull requests need the program gh, which is not on PATH: install it (https://cli.github.com) and run gh auth login")
	}
	return bin, nil
}

// gh runs GitHub's program in the user's checkout, with the user's environment
// and configuration, and returns what it printed.
func (s *space) gh(ctx context.Context, in string, args ...string) (string, error) {
	bin, err := s.findGh()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, ghTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.SysProcAttr = apart()
	cmd.Dir = s.top
	cmd.Env = append(userEnv(), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdin = strings.NewReader(in)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("gh %s %s: %w", args[0], args[1], ctx.Err())
	}
	var exit *exec.ExitError
	text := oneLine(errOut.String(), 500)
	if !errors.As(err, &exit) {
		return "", fmt.Errorf("gh %s %s: %w", args[0], args[1], err)
	}
	if says(strings.ToLower(text), "gh auth login", "authentication", "http 401", "could not resolve to a repository", "none of the git remotes",
		"must be a collaborator", "resource not accessible", "no commits between") {
		return "", config("gh %s %s: %s", args[0], args[1], text)
	}
	return out.String(), &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("gh %s %s: exit %d: %s", args[0], args[1], exit.ExitCode(), text)}
}
