package workspace

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// repository is what is found out about one when it is opened, whatever the epic.
type repository struct {
	git    *git
	top    string   // the user's checkout, absolute
	who    []string // committer, as environment
	person []string // the same, and the user as author
	ignore string   // the user's excludes file, "" if none
	lfs    bool     // the user has Git LFS

	carried map[string]string // settings that clones get, by name
	shared  string            // who else may write objects, as core.sharedRepository has it
	looked  *looked           // what trees hold
}

// lookAt finds the repository that contains dir, and reads the user's settings.
func lookAt(ctx context.Context, dir string) (*repository, error) {
	g, err := findGit(dir)
	if err != nil {
		return nil, err
	}
	top, whole, err := g.locateTop(ctx, dir)
	if err != nil {
		return nil, err
	}
	r := &repository{git: g, top: top, looked: &looked{}}
	if err := r.settings(ctx); err != nil || whole {
		return r, err
	}
	defer g.batch.release()
	return r, r.complete(ctx)
}

// again is the same repository with a git of its own.
func (s *repository) again() *repository {
	r, g := *s, *s.git
	g.conf, g.env = slices.Clip(g.conf), slices.Clip(g.env)
	g.batch, g.dirs = newBatch(), &refDirs{}
	r.git = &g
	return &r
}

func (g *git) locate(ctx context.Context) error {
	where := []string{"rev-parse", "--path-format=absolute", "--git-common-dir"}
	out, err := g.line(ctx, place{}, where...)
	if err == nil && !filepath.IsAbs(out) { // git is too old for the question
		if err := g.version(ctx); err != nil {
			return err
		}
	}
	if err != nil && strings.Contains(err.Error(), "dubious ownership") && g.trusted(ctx) {
		out, err = g.line(ctx, place{}, where...)
	}
	if err != nil {
		return &Refusal{What: fmt.Sprintf("%s is not in a git repository that ralph may use (%v)", g.dir, err), Hint: "git init"}
	}
	return g.isIn(out)
}

// isIn takes up the git directory of the repository.
func (g *git) isIn(common string) (err error) {
	if g.common, err = filepath.EvalSymlinks(common); err != nil {
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
	var dirs []string // those of the system first: an empty one takes back what is before it
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

// locateTop locates the repository, and the top of the checkout that dir is in. One git
// answers both, and whole: HEAD's commit and its tree are there. Where it does not answer,
// others say what is missing.
func (g *git) locateTop(ctx context.Context, dir string) (top string, whole bool, err error) {
	out, err := g.line(ctx, place{}, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel", "HEAD^{commit}", "HEAD^{tree}")
	if f := strings.Split(out, "\n"); err == nil && len(f) == 4 && filepath.IsAbs(f[0]) && isOid(f[2]) && isOid(f[3]) {
		if err := g.isIn(f[0]); err != nil {
			return "", false, err
		}
		top, err = filepath.EvalSymlinks(f[1])
		return top, true, err
	}
	if err := g.locate(ctx); err != nil {
		return "", false, err
	}
	bare := *g
	bare.common = "" // the checkout is found from dir
	top, err = bare.line(ctx, place{}, "rev-parse", "--path-format=absolute", "--show-toplevel")
	if err != nil {
		return "", false, &Refusal{What: fmt.Sprintf("%s is not in a checkout (%v)", dir, err)}
	}
	top, err = filepath.EvalSymlinks(top)
	return top, false, err
}

// settings reads, once, the few settings of the user that have to hold in every
// call, with the user's own configuration.
func (s *repository) settings(ctx context.Context) error {
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
	out := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(v, "GIT_") && !slices.Contains([]string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}, name)
	})
	return append(out, process.ToolMark())
}

// MayCommit refuses if git has no identity for commits here. Readers need not call it.
func (s User) MayCommit() error {
	if len(s.person) < 4 { // name and address, of the author and of the committer
		return &Refusal{"git has no identity for commits", `git config user.name "Your Name" && git config user.email you@example.org`}
	}
	return nil
}

// Committer is the committer here according to git: the name and the address.
func (s User) Committer() []string {
	return lists.Map(s.who, func(v string) string {
		_, name, _ := strings.Cut(v, "=")
		return name
	})
}

// Identity is the environment that gives git in a worktree the committer as of the opening
// of the space. Clones have their own setting; worktrees share the repository's, which an
// agent may change for all others. Nil with clones.
func (s User) Identity() map[string]string {
	if s.clones() {
		return nil
	}
	return lists.Table(s.person, func(v string) (string, string) {
		name, value, _ := strings.Cut(v, "=")
		return name, value
	})
}

// Pager returns core.pager of the user or the machine, "" if neither sets it.
// What the repository says is not asked: an agent can write there, and a pager is a
// program that is run.
func (s User) Pager(ctx context.Context) (string, error) {
	for value, err := range s.git.personal(ctx, "--get", "core.pager") {
		return strings.TrimSuffix(value, "\x00"), err
	}
	return "", nil
}

// personal asks git config what the user's own configuration says, and then the
// system's, each as -z prints it. One that says nothing, or is not there, is left out.
func (g *git) personal(ctx context.Context, args ...string) iter.Seq2[string, error] {
	user := *g
	user.conf, user.env, user.common, user.private, user.user = nil, userEnv(), "", "", true
	return func(yield func(string, error) bool) {
		for _, scope := range []string{"--global", "--system"} {
			out, err := user.run(ctx, place{}, "", nil, append([]string{"config", scope, "--includes", "-z"}, args...)...)
			if exitCode(err) == 0 && !yield(string(out), err) {
				return
			}
		}
	}
}

// CommonDir returns the git directory that all worktrees of a repository share, for
// the top of a checkout, or "" if there is none that can be found. It reads git's
// own files and starts no process.
func CommonDir(top string) string {
	dir := filepath.Join(top, ".git")
	if b, err := regular.ReadFile(dir); err == nil { // a linked worktree, or a submodule
		to, linked := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
		if !linked {
			return ""
		}
		dir = from(top, to)
	}
	if b, err := regular.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		dir = from(dir, strings.TrimSpace(string(b)))
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		return ""
	}
	return dir
}

// gitLink is where a .git file leads, "" if it does not.
func gitLink(path string) string {
	b, err := regular.ReadMax(path, maxRef)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	return to
}

// from resolves a path that a file in dir names.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
