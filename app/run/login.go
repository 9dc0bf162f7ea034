package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// Login is a login that ralph keeps for sandboxes, in LoginsDir()/NAME/KIND.
type Login struct {
	Name  string    `json:"name"` // of a runner, or its kind
	Kind  string    `json:"kind"`
	Since time.Time `json:"since"`
	Dir   string    `json:"dir"` // that sandboxes share
}

// Person is where a program that a person talks to reads and prints.
type Person struct {
	In       io.Reader
	Out, Err io.Writer
}

// LoginsDir is where logins are kept: ralph's own state of this user, not of a project. It
// need not be there.
func LoginsDir() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", exit.Inputf("where logins are kept is below your home directory, which is unknown: %w", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	if real, err := filepath.EvalSymlinks(state); err == nil { // the user's own links
		state = real
	}
	return filepath.Join(state, "ralph", "logins"), nil
}

// loginName is what a login can be named: it is a directory.
var loginName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)

// LoginList are the logins that there are, by name.
func LoginList() ([]Login, error) {
	top, err := LoginsDir()
	if err != nil {
		return nil, err
	}
	names, err := os.ReadDir(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Login
	for _, n := range names {
		for _, kind := range slices.Sorted(maps.Keys(runner.Logins)) {
			dir := filepath.Join(top, n.Name(), kind)
			st, err := os.Lstat(dir)
			if !loginName.MatchString(n.Name()) || err != nil || !st.IsDir() {
				continue
			}
			if st, err = os.Lstat(filepath.Dir(dir)); err == nil { // nothing is written there later
				out = append(out, Login{Name: n.Name(), Kind: kind, Since: st.ModTime().UTC().Truncate(time.Second), Dir: dir})
			}
		}
	}
	return out, nil
}

// loginsOf are the directories of the logins of an epic's runners, by runner: its own, else
// that of its kind.
func loginsOf(epic *ir.Epic) (map[string]string, error) {
	all, err := LoginList()
	out := map[string]string{}
	for _, l := range all {
		for name, r := range epic.Runners {
			if r.Kind != l.Kind || l.Name != name && (l.Name != l.Kind || out[name] != "") {
				continue
			}
			if err := runner.Logins[l.Kind].Ready(l.Dir); err != nil {
				return nil, exit.Inputf("login %s: %w\n  To make it anew: ralph login %s", l.Name, err, l.Name)
			}
			out[name] = l.Dir
		}
	}
	return out, err
}

// LogIn has the program of a runner log a person in, in an empty directory of its own, and
// keeps what comes of it under a name, in the place of what was there. It runs as the person
// and in no sandbox: it opens their browser, which comes back to a port of this machine.
func LogIn(ctx context.Context, name string, r ir.Runner, args []string, p Person) (l Login, err error) {
	how, can := runner.Logins[r.Kind]
	switch {
	case !can:
		return l, exit.Inputf("runner %s: %s", name, noLogins(r.Kind))
	case !loginName.MatchString(name):
		return l, exit.Inputf("a login of runner %q cannot be kept: its name would be a directory's; name it with letters, digits, _ and -, or log in by its kind: ralph login %s", name, r.Kind)
	}
	top, err := LoginsDir()
	if err != nil {
		return l, err
	}
	if err := regular.MkdirOwn(top); err != nil {
		return l, err
	}
	if err := removeCut(top); err != nil {
		return l, err
	}
	work, err := os.MkdirTemp(top, newLogin)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, regular.RemoveAllOwn(work)) }()
	from, to := filepath.Join(work, "program"), filepath.Join(work, "keep", r.Kind)
	for _, dir := range []string{from, runner.LoginDir(to)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return l, err
		}
	}
	if err := logIn(ctx, r, how, from, args, p); err != nil {
		return l, err
	}
	if err := regular.Own(filepath.Join(from, how.File)); err != nil {
		return l, err
	}
	err = os.Rename(filepath.Join(from, how.File), filepath.Join(runner.LoginDir(to), how.File))
	if errors.Is(err, fs.ErrNotExist) {
		return l, exit.Inputf("the program ended well, but left no login: no %s in %s=%s. What was there before is kept.\n  If it keeps logins in a key ring, tell it to use a file; or give the runner a key: %s", how.File, how.Variable, from, how.Keys[0])
	}
	if err = errors.Join(err, how.Ready(to)); err != nil {
		return l, err
	}
	at := filepath.Join(top, name)
	if err := errors.Join(regular.RemoveAllOwn(at), os.Rename(filepath.Dir(to), at)); err != nil {
		return l, err
	}
	return Login{Name: name, Kind: r.Kind, Since: time.Now().UTC().Truncate(time.Second), Dir: filepath.Join(at, r.Kind)}, nil
}

// newLogin begins the names of the directories of logins that are being made.
const newLogin = ".new-"

// removeCut removes what logins left that were killed.
func removeCut(top string) error {
	all, err := os.ReadDir(top)
	for _, d := range all {
		if st, bad := d.Info(); bad == nil && strings.HasPrefix(d.Name(), newLogin) && time.Since(st.ModTime()) > time.Hour {
			err = errors.Join(err, regular.RemoveAllOwn(filepath.Join(top, d.Name())))
		}
	}
	return err
}

// noLogins says why a kind of runner cannot be logged in.
func noLogins(kind string) string {
	if kind == "opencode" {
		return "OpenCode keeps its login beside the database of all its sessions, which sandboxes do not share: give the runner a key as a secret, or by its env"
	}
	return fmt.Sprintf("ralph cannot log in a program of kind %s: %s can be. Give the runner a key as a secret, or by its env", kind, words.ListOf(slices.Sorted(maps.Keys(runner.Logins))))
}

// logIn runs the program's own login, whose directory is dir.
func logIn(ctx context.Context, r ir.Runner, how runner.Login, dir string, args []string, p Person) error {
	argv := []string{r.Kind}
	if len(r.Run) > 0 { // what is filled in for a turn is of no login
		argv = slices.Clone(r.Run)
		if i := slices.IndexFunc(argv, func(a string) bool { return strings.Contains(a, "${") }); i >= 0 {
			argv = argv[:max(i, 1)]
		}
	}
	argv = slices.Concat(argv, how.Args, args)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err
	others := append([]string{how.Variable}, how.Keys...)
	for _, v := range os.Environ() { // a key would stand for a login, and another directory is not ralph's
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(others, name) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, how.Variable+"="+dir)
	err := cmd.Run()
	if code, ended := errors.AsType[*exec.ExitError](err); ended {
		return exit.Inputf("%s did not log in: it ended with %s. What was there before is kept", strings.Join(argv, " "), code)
	}
	if err != nil {
		return exit.Inputf("%s cannot run: %w", argv[0], err)
	}
	return nil
}

// LogOut removes the login of a name. Sandboxes that are at work keep it until they end.
func LogOut(name string) error {
	all, err := LoginList()
	if err != nil {
		return err
	}
	names := []string{}
	for _, l := range all {
		if l.Name == name {
			return regular.RemoveAllOwn(filepath.Dir(l.Dir))
		}
		names = append(names, l.Name)
	}
	if len(names) == 0 {
		return exit.Inputf("ralph keeps no login of %s, and no other", name)
	}
	return exit.Inputf("ralph keeps no login of %s; there are: %s", name, words.ListOf(names))
}
