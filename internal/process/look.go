package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Look finds a program as a shell with this environment would: a name on its
// PATH, a path as it is (from dir). The error says what is missing.
func Look(name string, env []string, dir string) (string, error) {
	if name == "" {
		return "", errors.New("no program is named")
	}
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	for _, v := range env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, d := range filepath.SplitList(list) {
			if !filepath.IsAbs(d) {
				continue // never a program from an agent's worktree by accident
			}
			if p := filepath.Join(d, name); !missing(p) && executable(p) == nil {
				return p, nil
			}
		}
	}
	return "", &NotOnPath{name}
}

// NotOnPath is the error of Look about a name that no directory of PATH has.
type NotOnPath struct{ Name string }

func (e *NotOnPath) Error() string { return e.Name + " is not on PATH" }

func executable(path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", path)
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a directory", path)
	case st.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable", path)
	}
	return nil
}

var adopt = sync.OnceFunc(func() { becomeSubreaper(syscall.Getpid()) })
