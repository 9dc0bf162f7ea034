package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// wholeBlob is the size in bytes up to which a file is read at once, without a
// process of its own.
const wholeBlob = 4 << 20

// known finds secrets that what an attempt left has and where it started has not: in
// files, their names, and all that its own commits say. The value itself is never said.
// Of a merge the start is what git makes of it, with conflicts.
func (s *space) known(ctx context.Context, e executor.Effect, parents []string, tree string) ([]string, error) {
	if s.Secrets.Count == nil {
		return nil, nil
	}
	at := e.Commit
	if e.Merge {
		whole, err := s.join(ctx, e.Node, e.Inputs[0].Commit, e.Inputs[1:])
		if err != nil {
			return nil, err
		}
		at, parents = whole.commit, nil // its own commits are not taken
	}
	start, err := s.git.tree(ctx, at)
	if err != nil {
		return nil, err
	}
	var changes string
	if start != tree {
		if changes, err = s.git.line(ctx, place{}, "diff-tree", "-r", "-M", "--raw", "-z", "--no-abbrev", at, tree); err != nil {
			return nil, err
		}
	}
	var problems []string
	if slices.ContainsFunc(parents, func(p string) bool { return p != e.Commit }) && (e.Person || s.epic.Run.Git.Commit != "squash") {
		own, err := s.git.line(ctx, place{}, append([]string{"rev-list", "^" + e.Commit}, parents...)...)
		if err != nil {
			return nil, err
		}
		if wrong, err := s.crowded(ctx, strings.Fields(own)); err != nil || wrong != "" {
			return []string{"its " + wrong}, err
		}
		more, said, err := s.inCommits(ctx, own)
		if err != nil {
			return nil, err
		}
		changes += "\x00" + more
		for _, name := range said {
			problems = append(problems, fmt.Sprintf("the secret %s is in the message of a commit or in its author", name))
		}
	}
	more, err := s.inChanges(ctx, at, changes, ": read it from the environment where it is needed, and write it into no file")
	problems = append(problems, more...)
	slices.Sort(problems)
	return slices.Compact(problems), err
}

// inCommits returns what commits change, as diff-tree --raw -z does, and the names of the
// secrets that are in the commits themselves: messages, people, other headers.
func (s *space) inCommits(ctx context.Context, commits string) (changes string, said []string, err error) {
	if commits == "" {
		return "", nil, nil
	}
	raw, err := s.git.run(ctx, place{}, commits+"\n", nil, "diff-tree", "--stdin", "--root", "-r", "-c", "-M", "--raw", "-z", "--no-abbrev")
	if err != nil {
		return "", nil, err
	}
	found, err := s.count(func(w io.Writer) error {
		return s.git.pipe(ctx, strings.NewReader(commits+"\n"), w, nil, "cat-file", "--batch")
	})
	return string(raw), sortedKeys(found), err
}

// inChanges finds secrets in what changes add to files and to their names. Start is the
// commit before them, "" if all is new; advice follows what is said of a file.
func (s *space) inChanges(ctx context.Context, start, changes, advice string) (problems []string, err error) {
	var list []altered
	var names strings.Builder
	eachChange(changes, func(c altered) {
		list = append(list, c)
		names.WriteString(c.path + "\x00")
	})
	named, err := s.Secrets.Count(strings.NewReader(names.String()))
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		where := oneLine(c.path, 200)
		if len(named) > 0 {
			in, err := s.Secrets.Count(strings.NewReader(c.path))
			if err != nil {
				return nil, err
			}
			if len(in) > 0 {
				where = "a file"
			}
			for name := range in {
				if was, err := s.namedBefore(ctx, start, c.path, name); err != nil {
					return nil, err
				} else if !was {
					problems = append(problems, fmt.Sprintf("the secret %s is in the name of a file", name))
				}
			}
		}
		if c.mode == submoduleMode { // a submodule's commit is not here
			continue
		}
		now, err := s.inBlob(ctx, c.now)
		if err != nil {
			return nil, err
		}
		if len(now) == 0 {
			continue
		}
		before := map[string]int{}
		for _, o := range c.old {
			was, err := s.inBlob(ctx, o)
			if err != nil {
				return nil, err
			}
			for name, n := range was {
				before[name] = max(before[name], n)
			}
		}
		for name, n := range now {
			if n > before[name] {
				problems = append(problems, fmt.Sprintf("the secret %s is in %s%s", name, where, advice))
			}
		}
	}
	return problems, nil
}

// namedBefore reports whether the file or directory of a path whose name a secret is
// in was there at the start.
func (s *space) namedBefore(ctx context.Context, start, path, secret string) (bool, error) {
	for end := 0; start != "" && end < len(path); end++ {
		if i := strings.IndexByte(path[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(path)
		}
		in, err := s.Secrets.Count(strings.NewReader(path[:end]))
		if err != nil {
			return false, err
		}
		if in[secret] > 0 {
			was, err := s.git.ref(ctx, start+":"+path[:end])
			return was != "", err
		}
	}
	return false, nil
}

// altered is a path that differs: the objects before and now.
type altered struct {
	old             []string
	now, mode, path string
}

// eachChange reads what diff-tree --raw -z writes, also of merges (-c). What was
// deleted is left out.
func eachChange(raw string, do func(altered)) {
	tokens := strings.Split(raw, "\x00")
	for i := 0; i < len(tokens); i++ {
		fields := strings.Fields(tokens[i])
		parents := len(tokens[i]) - len(strings.TrimLeft(tokens[i], ":"))
		if parents == 0 || len(fields) != 2*parents+3 || i+1 >= len(tokens) {
			continue // the name of a commit
		}
		i++
		status := fields[len(fields)-1]
		if (status[0] == 'R' || status[0] == 'C') && parents == 1 && i+1 < len(tokens) {
			i++
		}
		mode, objects := fields[parents], fields[parents+1:len(fields)-1]
		if mode != "000000" {
			do(altered{objects[:parents], objects[parents], mode, tokens[i]})
		}
	}
}

// inBlob counts the known secrets of a file's content.
func (s *space) inBlob(ctx context.Context, oid string) (map[string]int, error) {
	if strings.Trim(oid, "0") == "" {
		return nil, nil
	}
	b, err := s.git.blob(ctx, oid, wholeBlob)
	if err != nil {
		return nil, err
	}
	if b != nil {
		return s.Secrets.Count(bytes.NewReader(b))
	}
	return s.count(func(w io.Writer) error { return s.git.stream(ctx, place{}, w, "cat-file", "blob", oid) })
}

// count counts the known secrets of what is written.
func (s *space) count(write func(io.Writer) error) (map[string]int, error) {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(write(w)) }() // ends with write, or when r is closed
	defer r.Close()
	return s.Secrets.Count(r)
}

// mostCommits is how many new commits of others are searched below a ref, mostTips in
// how many refs.
const mostCommits, mostTips = 1000, 200

// redacted is what agents say without secrets.
func (s *space) redacted(text string) string {
	if s.Secrets.Redact == nil {
		return text
	}
	return s.Secrets.Redact(text)
}

// knownRefs finds secrets in refs that are not ralph's and were made or moved: in their
// names, in tags, and in the commits that came with them, notes among them. What was
// fetched is others'.
func (s *space) knownRefs(ctx context.Context, was, now map[string]string) ([]string, error) {
	if s.Secrets.Count == nil {
		return nil, nil
	}
	problems, not := []string{}, ""
	tips := map[string]string{} // the first ref of an object
	for _, ref := range sortedKeys(now) {
		at := now[ref]
		if at == was[ref] || strings.HasPrefix(ref, "refs/remotes/") {
			continue
		}
		if isOid(at) && tips[at] == "" {
			tips[at] = ref
		}
		if was[ref] != "" {
			continue
		}
		in, err := s.Secrets.Count(strings.NewReader(ref))
		if err != nil {
			return nil, err
		}
		for _, name := range sortedKeys(in) {
			problems = append(problems, fmt.Sprintf("the secret %s is in the name of a %s that was made%s: delete it (git for-each-ref --points-at %.12s)", name, kindOf(ref), meanwhile, at))
		}
	}
	if len(tips) == 0 {
		return problems, nil
	}
	for _, at := range was {
		if isOid(at) {
			not += "^" + at + "\n"
		}
	}
	for ref, at := range now {
		if isOid(at) && strings.HasPrefix(ref, "refs/remotes/") {
			not += "^" + at + "\n"
		}
	}
	for i, at := range sortedKeys(tips) {
		if i == mostTips {
			problems = append(problems, fmt.Sprintf("more than %d refs were made or moved%s: secrets were searched for in %d of them", mostTips, meanwhile, mostTips))
			break
		}
		found, err := s.inTip(ctx, at, not)
		if err != nil {
			return nil, err
		}
		for _, what := range found {
			problems = append(problems, fmt.Sprintf("%s, which came with a %s%s: delete it (git for-each-ref --points-at %.12s)", what, kindOf(tips[at]), meanwhile, at))
		}
	}
	return slices.Compact(problems), nil
}

// kindOf is what people call a ref.
func kindOf(ref string) string {
	switch {
	case strings.HasPrefix(ref, "refs/heads/"):
		return "branch"
	case strings.HasPrefix(ref, "refs/tags/"):
		return "tag"
	case strings.HasPrefix(ref, "refs/notes/"):
		return "ref of notes"
	}
	return "ref"
}

// inTip says which secrets are in an object and the new commits below it. Not are the
// commits that were there.
func (s *space) inTip(ctx context.Context, at, not string) (said []string, err error) {
	tag, err := s.count(func(w io.Writer) error {
		err := s.git.stream(ctx, place{}, w, "cat-file", "tag", at)
		if exitCode(err) > 0 { // it is no tag
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	say := func(names []string, where string) {
		said = append(said, lists.Map(names, func(name string) string { return fmt.Sprintf("the secret %s is in a %s", name, where) })...)
	}
	say(sortedKeys(tag), "tag")
	commits, err := s.git.run(ctx, place{}, at+"\n"+not, nil, "rev-list", "--stdin", "--ignore-missing", fmt.Sprintf("--max-count=%d", mostCommits))
	if err != nil {
		return said, ctx.Err() // it leads to no commit
	}
	if wrong, err := s.crowded(ctx, strings.Fields(string(commits))); err != nil || wrong != "" {
		return append(said, wrong), err
	}
	changes, names, err := s.inCommits(ctx, strings.TrimSpace(string(commits)))
	if err != nil {
		return nil, err
	}
	say(names, "commit")
	in, err := s.inChanges(ctx, "", changes, "")
	return append(said, in...), err
}
