package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// wholeBlob is the size in bytes up to which a file is read at once, without a
// process of its own.
const wholeBlob = 4 << 20

// known finds secrets that what an attempt left has and where it started has not: in
// files, their names, and the messages of its own commits. The value itself is never
// said.
func (s *Space) known(ctx context.Context, e executor.Effect, parent, tree string) ([]string, error) {
	if s.Known == nil {
		return nil, nil
	}
	start, err := s.git.tree(ctx, e.Commit)
	if err != nil {
		return nil, err
	}
	var changes string
	if start != tree {
		if changes, err = s.git.line(ctx, place{}, "diff-tree", "-r", "-M", "--raw", "-z", "--no-abbrev", e.Commit, tree); err != nil {
			return nil, err
		}
	}
	var problems []string
	if parent != e.Commit && (e.Person || s.epic.Run.Git.Commit != "squash") {
		own, err := s.git.line(ctx, place{}, "rev-list", parent, "^"+e.Commit)
		if err != nil {
			return nil, err
		}
		more, err := s.git.run(ctx, place{}, own+"\n", nil, "diff-tree", "--stdin", "--root", "-r", "-c", "-M", "--raw", "-z", "--no-abbrev")
		if err != nil {
			return nil, err
		}
		changes += "\x00" + string(more)
		names, err := s.count(func(w io.Writer) error {
			return s.git.stream(ctx, place{}, w, "log", "--no-show-signature", "--format=%an%n%ae%n%cn%n%ce%n%B", parent, "^"+e.Commit)
		})
		if err != nil {
			return nil, err
		}
		for name := range names {
			problems = append(problems, fmt.Sprintf("the secret %s stands in the message of a commit", name))
		}
	}
	err = eachChange(changes, func(old []string, oid, path string) error {
		where := path
		names, err := s.Known(strings.NewReader(path))
		if err != nil {
			return err
		}
		for name := range names {
			where = "a file"
			problems = append(problems, fmt.Sprintf("the secret %s stands in the name of a file", name))
		}
		now, err := s.inBlob(ctx, oid)
		if err != nil || len(now) == 0 {
			return err
		}
		before := map[string]int{}
		for _, o := range old {
			was, err := s.inBlob(ctx, o)
			if err != nil {
				return err
			}
			for name, n := range was {
				before[name] = max(before[name], n)
			}
		}
		for name, n := range now {
			if n > before[name] {
				problems = append(problems, fmt.Sprintf("the secret %s stands in %s: read it from the environment where it is needed, and write it into no file", name, where))
			}
		}
		return nil
	})
	slices.Sort(problems)
	return slices.Compact(problems), err
}

// eachChange reads what diff-tree --raw -z writes, also of merges (-c): the objects
// before and after, and the path. What was deleted is left out.
func eachChange(raw string, do func(old []string, oid, path string) error) error {
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
		if mode == "000000" || mode == "160000" { // gone, or a submodule
			continue
		}
		if err := do(objects[:parents], objects[parents], tokens[i]); err != nil {
			return err
		}
	}
	return nil
}

// inBlob counts the known secrets of a file's content.
func (s *Space) inBlob(ctx context.Context, oid string) (map[string]int, error) {
	if strings.Trim(oid, "0") == "" {
		return nil, nil
	}
	b, err := s.git.blob(ctx, oid, wholeBlob)
	if err != nil {
		return nil, err
	}
	if b != nil {
		return s.Known(bytes.NewReader(b))
	}
	return s.count(func(w io.Writer) error { return s.git.stream(ctx, place{}, w, "cat-file", "blob", oid) })
}

// count counts the known secrets of what is written.
func (s *Space) count(write func(io.Writer) error) (map[string]int, error) {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(write(w)) }() // ends with write, or when r is closed
	defer r.Close()
	return s.Known(r)
}
