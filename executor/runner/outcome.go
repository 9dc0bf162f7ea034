package runner

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
)

// maxOutcome bounds an outcome file, in bytes.
const maxOutcome = 1 << 20

// ReadOutcome reads an agent's report on its work. A missing or empty file is the zero
// Outcome; everything that is not an outcome is Invalid.
func ReadOutcome(path string) (executor.Outcome, executor.Usage) {
	none := executor.Usage{}
	st, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return executor.Outcome{}, none
	}
	invalid := func(format string, args ...any) (executor.Outcome, executor.Usage) {
		return executor.InvalidOutcome(format, args...), none
	}
	if err != nil {
		return invalid("%v", err)
	}
	if !st.Mode().IsRegular() { // a pipe or a link could make ralph wait, or read elsewhere
		return invalid("the outcome is not a regular file")
	}
	f, err := regular.OpenOwn(path)
	if err != nil {
		return invalid("%v", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxOutcome+1))
	switch {
	case err != nil:
		return invalid("%v", err)
	case len(b) > maxOutcome:
		return invalid("it is longer than %d bytes", maxOutcome)
	case strings.TrimSpace(string(b)) == "":
		return executor.Outcome{}, none
	}
	return executor.ParseOutcome(b)
}

// Scrub brings the agent's outcome file out of its sandbox, and what it left beside it, and
// removes secrets from them. An irregular file, or one too long to be an outcome, is left to its reader.
func (b Base) Scrub(r executor.AgentRun) error {
	if err := fetch(r); err != nil {
		return err
	}
	if r.Wall != nil {
		if err := errors.Join(b.keepLeft(r), regular.RemoveAllOwn(r.Inside())); err != nil {
			return err
		}
	}
	if b.Redact == nil {
		return nil
	}
	path := r.OutcomeFile()
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > answerCap {
		return nil
	}
	old, err := regular.ReadOwn(path)
	if err != nil {
		return err
	}
	if clean := b.Redact(string(old)); clean != string(old) {
		return atomicfile.WriteOwn(path, []byte(clean), 0o600)
	}
	return nil
}

// fetch copies what a program in a sandbox left as its outcome, unless it reported
// through a tool. No link is followed out of the turn's directory.
func fetch(r executor.AgentRun) error {
	if r.Wall == nil {
		return nil
	}
	if _, err := os.Lstat(r.OutcomeFile()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	root, err := os.OpenRoot(r.Inside())
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Base(r.OutcomeFile())
	if _, err := root.Lstat(name); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	b := []byte("the outcome is not a regular file\n") // which is no outcome
	if f, err := regular.OpenIn(root, name); err == nil {
		b, err = io.ReadAll(io.LimitReader(f, maxOutcome+1))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return atomicfile.WriteOwn(r.OutcomeFile(), b, 0o600)
}

// Bounds of what is kept of files that are left beside an outcome in a sandbox.
const (
	maxLeft     = 50
	maxLeftFile = 1 << 20 // bytes; a larger one is not kept
	maxLooked   = 1000    // entries of its directory
)

// keepLeft copies the files that a program in a sandbox left beside its outcome, for the agents
// of later steps. They have a directory of their own: none takes the name of one of ralph's.
func (b Base) keepLeft(r executor.AgentRun) error {
	if err := regular.RemoveAllOwn(r.Left()); err != nil { // of an earlier try of the turn
		return err
	}
	root, err := os.OpenRoot(r.Inside())
	if err != nil {
		return nil //nolint:nilerr // what the program made unreadable is not kept
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return nil //nolint:nilerr // the same
	}
	entries, _ := dir.ReadDir(maxLooked) // as far as they can be read
	_ = dir.Close()                      // it was only read
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	entries = lists.Keep(entries, func(e fs.DirEntry) bool {
		st, err := e.Info()
		return err == nil && st.Mode().IsRegular() && st.Size() <= maxLeftFile && !strings.HasPrefix(e.Name(), r.Turn()+".")
	})
	for _, e := range entries[:min(len(entries), maxLeft)] {
		f, err := regular.OpenIn(root, e.Name())
		if err != nil {
			continue // it is not what it was
		}
		text, err := io.ReadAll(io.LimitReader(f, maxLeftFile))
		_ = f.Close() // it was only read
		if err == nil && b.Redact != nil {
			text = []byte(b.Redact(string(text)))
		}
		err = errors.Join(err, regular.MkdirOwn(r.Left()))
		if err == nil {
			err = regular.WriteOwn(filepath.Join(r.Left(), e.Name()), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func note(s string, n int) string { return text.Head(executor.Clean(strings.TrimSpace(s)), n) }

func trimRight(s string) string { return strings.TrimRight(s, "\n") }
