package workspace

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

func (g *git) locate(ctx context.Context) error {
	where := []string{"rev-parse", "--path-format=absolute", "--git-common-dir"}
	out, err := g.line(ctx, place{}, where...)
	if err != nil && strings.Contains(err.Error(), "dubious ownership") && g.trusted(ctx) {
		out, err = g.line(ctx, place{}, where...)
	}
	if err != nil {
		return &Refusal{What: fmt.Sprintf("%s is not in a git repository that ralph may use (%v)", g.dir, err), Hint: "git init"}
	}
	if g.common, err = filepath.EvalSymlinks(out); err != nil {
		return err
	}
	return notAClone(g.dir, g.common)
}

// notAClone refuses to work in a clone that is a sprint's worktree: the run is recorded
// where it was made for.
func notAClone(dir, common string) error {
	b, err := regular.ReadMax(filepath.Join(common, cloneMark), maxRef)
	of, _, ok := strings.Cut(string(b), "\n")
	if err != nil || !ok || !filepath.IsAbs(of) {
		return nil //nolint:nilerr // it is none
	}
	if filepath.Base(of) == ".git" {
		of = filepath.Dir(of)
	}
	return &Refusal{What: fmt.Sprintf("%s is the worktree of a sprint, which ralph made for %s; call it there", dir, of), Hint: "cd " + shellword.Quote(of)}
}

// trusted takes over which repositories of other owners the user trusts, as git reads
// that nowhere but in the user's and the system's configuration.
func (g *git) trusted(ctx context.Context) bool {
	var dirs []string // those of the system first: an empty one takes back what stands before it
	for out, err := range g.personal(ctx, "--type=path", "--get-all", "safe.directory") {
		if err == nil {
			dirs = append(strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), dirs...)
		}
	}
	for _, dir := range dirs {
		g.conf = append(g.conf, "-c", "safe.directory="+dir)
	}
	return len(dirs) > 0
}

func (g *git) top(ctx context.Context, dir string) (string, error) {
	bare := *g
	bare.common = "" // the checkout is found from dir
	out, err := bare.line(ctx, place{}, "rev-parse", "--path-format=absolute", "--show-toplevel")
	if err != nil {
		return "", &Refusal{What: fmt.Sprintf("%s is not in a checkout (%v)", dir, err)}
	}
	return filepath.EvalSymlinks(out)
}

// settings reads, once, the few settings of the user that have to hold in every
// call, with the user's own configuration.
func (s *space) settings(ctx context.Context) error {
	user := *s.git
	user.conf = nil
	user.env = userEnv()
	user.common, user.user = "", true
	out, err := user.run(ctx, place{}, "", nil, "config", "-z", "--get-regexp",
		`^(user\.(name|email)|core\.(excludesfile|autocrlf|eol|filemode|ignorecase|symlinks|precomposeunicode|sharedrepository)|filter\..*\.(clean|smudge|process|required)|extensions\.(refstorage|objectformat))$`)
	if err != nil && exitCode(err) != 1 {
		return err
	}
	values := map[string]string{}
	off := map[string]bool{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		name, value, ok := strings.Cut(entry, "\n")
		switch {
		case strings.HasPrefix(name, "filter.") && !strings.HasPrefix(name, "filter.lfs."):
			off[name] = true
		case ok:
			values[name] = value
		}
	}
	s.git.without(off)
	if f := values["extensions.refstorage"]; f != "" && f != "files" {
		return &Refusal{fmt.Sprintf("this repository keeps its refs as %q, which ralph cannot use yet", f), "git refs migrate --ref-format=files"}
	}
	for _, key := range []string{"name", "email"} {
		variable := strings.ToUpper(key)
		v := cmp.Or(values["user."+key], os.Getenv("GIT_COMMITTER_"+variable), os.Getenv("GIT_AUTHOR_"+variable))
		if v == "" {
			continue
		}
		values["user."+key] = v
		s.who = append(s.who, "GIT_COMMITTER_"+variable+"="+v)
		s.person = append(s.person, "GIT_AUTHOR_"+variable+"="+v)
	}
	s.person = append(s.person, s.who...)
	for _, k := range []string{"core.autocrlf", "core.eol", "filter.lfs.clean", "filter.lfs.smudge", "filter.lfs.process", "filter.lfs.required"} {
		if v, ok := values[k]; ok {
			s.git.conf = append(s.git.conf, "-c", k+"="+v)
		}
	}
	s.carried = maps.Clone(values)
	delete(s.carried, "extensions.refstorage")
	s.shared = values["core.sharedrepository"]
	delete(s.carried, "core.sharedrepository")
	s.lfs = values["filter.lfs.process"] != "" || values["filter.lfs.clean"] != ""
	s.ignore = values["core.excludesfile"]
	if s.ignore == "" {
		home := os.Getenv("XDG_CONFIG_HOME")
		if home == "" && os.Getenv("HOME") != "" {
			home = filepath.Join(os.Getenv("HOME"), ".config")
		}
		if home != "" {
			s.ignore = filepath.Join(home, "git", "ignore")
		}
	}
	s.ignore = atHome(s.ignore)
	return nil
}

// atHome is a path of a setting, without the ~ of the user's home.
func atHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(os.Getenv("HOME"), rest)
	}
	return path
}

// without turns filters off for every call, which the repository's own configuration
// would otherwise bring in before a run, and to who only looks.
func (g *git) without(filters map[string]bool) {
	for i, key := range slices.Sorted(maps.Keys(filters)) {
		value := ""
		if strings.HasSuffix(key, ".required") {
			value = "false"
		}
		g.env = append(g.env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	if len(filters) > 0 {
		g.env = append(g.env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(filters)))
	}
}

// userEnv is the caller's environment without anything that steers git, but for where its
// configuration is.
func userEnv() []string {
	var out []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(v, "GIT_") || slices.Contains([]string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}, name) {
			out = append(out, v)
		}
	}
	return append(out, process.ToolMark())
}
