package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// carried are the settings of the repository that say how it is stored. All
// others steer what git does: an agent can write them at any time, and a filter
// of its own would show gates other files than those of the commit.
const carried = `^(core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|longpaths|bare|sharedrepository|logallrefupdates|compression|bigfilethreshold|protectntfs|protecthfs)` +
	`|extensions\.(objectformat|compatobjectformat|partialclone|refstorage|preciousobjects)|remote\..*\.(promisor|partialclonefilter)|index\.version)$`

// confine makes the directory that stands in for the repository's shared one in
// the calls of this package: objects and refs are the repository's, settings,
// attributes and excludes are as they were when the run started.
func (s *space) confine(ctx context.Context) error {
	dir := filepath.Join(s.state, "repository")
	q := asking{err: regular.MkdirOwn(filepath.Join(dir, "info"))}
	for _, name := range []string{"objects", "refs", "logs", "worktrees", "packed-refs", "shallow"} {
		at, link := filepath.Join(s.git.common, name), filepath.Join(dir, name)
		if was, err := os.Readlink(link); err == nil && was == at {
			continue
		}
		q.do(func() error { return regular.RemoveAllOwn(link) })
		q.do(func() error { return os.Symlink(at, link) })
	}
	if q.err != nil {
		return q.err
	}
	plain := *s.git
	plain.private = ""
	s.promisors = nil
	out, err := plain.run(ctx, place{}, "", nil, "config", "--file", filepath.Join(s.git.common, "config"), "--no-includes", "-z", "--get-regexp", carried)
	if err != nil && exitCode(err) != 1 {
		return err
	}
	var b strings.Builder
	for _, e := range entriesOf(out) {
		if _, name := splitKey(e.key); name == "promisor" && !slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(e.value)) {
			s.promisors = append(s.promisors, middleOf(e.key))
		}
		b.WriteString(configLines(e.key, e.value))
	}
	exclude, err := regular.ReadFile(filepath.Join(s.git.common, "info", "exclude"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	head, err := regular.ReadFile(filepath.Join(s.git.common, "HEAD"))
	q.note(err)
	for name, content := range map[string][]byte{"config": []byte(b.String()), "HEAD": head, "info/exclude": exclude} {
		q.do(func() error { return atomicfile.WriteOwn(filepath.Join(dir, name), content, 0o600) })
	}
	if q.err == nil {
		s.git.private = dir
	}
	return q.err
}

// configLines is a setting as a configuration file has it.
func configLines(key, value string) string {
	section, name := splitKey(key)
	if middle := middleOf(key); middle != "" {
		section += ` "` + quoteConfig(middle) + `"`
	}
	return fmt.Sprintf("[%s]\n\t%s = \"%s\"\n", section, name, quoteConfig(value))
}

func quoteConfig(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}
