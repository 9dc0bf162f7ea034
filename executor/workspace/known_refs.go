package workspace

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// mostCommits is how many new commits of others are searched below a ref, mostTips in
// how many refs.
const mostCommits, mostTips = 1000, 200

// redacted is what agents say without secrets.
func (s *space) redacted(text string) string {
	if s.Redact == nil {
		return text
	}
	return s.Redact(text)
}

// knownRefs finds secrets in refs that are not ralph's and were made or moved: in their
// names, in tags, and in the commits that came with them, notes among them. What was
// fetched is others'.
func (s *space) knownRefs(ctx context.Context, was, now map[string]string) ([]string, error) {
	if s.Known == nil {
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
		in, err := s.Known(strings.NewReader(ref))
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

// inTip says which secrets stand in an object and the new commits below it. Not are the
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
		for _, name := range names {
			said = append(said, fmt.Sprintf("the secret %s is in a %s", name, where))
		}
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
