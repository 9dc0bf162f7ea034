//go:build unix

package cli

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
)

// What a release of November 2026 left behind (testdata/release/make.sh) is
// understood by this one: nothing that is done runs again, and every sprint
// stands where it stood.
func TestARunOfAnEarlierReleaseGoesOn(t *testing.T) {
	s := releaseSite(t)
	for _, c := range []struct {
		epic string
		exit int
		runs []string // agents of the next apply, as they note themselves
	}{
		{"calm", 0, nil},
		{"spent", 3, nil},
		// 1.13 was at work, and what lacked a program is tried at each start.
		{"night", 3, []string{"bd-y8cs5d 1.13 implement-1", "bd-y8cs5d 1.17 implement-1"}},
	} {
		file := c.epic + ".json"
		if got := s.ralph("journal", "verify", file); got.code != 0 {
			t.Fatalf("%s: journal verify: exit %d\n%s", c.epic, got.code, got.all())
		}
		was := s.standing(s.read("../" + c.epic + ".status.json"))
		if now := s.standing(s.ralph("status", "--json", file).out); !slices.Equal(now, was) {
			t.Errorf("%s stands otherwise than it did:\n%s", c.epic, differing(was, now))
		}
		before := s.read("../home/agents.log")
		got := s.apply(c.exit, file)
		ran := strings.Fields(strings.ReplaceAll(strings.TrimPrefix(s.read("../home/agents.log"), before), " ", "_"))
		slices.Sort(ran)
		for i := range ran {
			ran[i] = strings.ReplaceAll(ran[i], "_", " ")
		}
		if !slices.Equal(ran, c.runs) {
			t.Errorf("%s: these agents ran: %q, want %q\n%s", c.epic, ran, c.runs, got.all())
		}
		after := s.standing(s.ralph("status", "--json", file).out)
		for _, line := range was {
			if strings.Contains(line, " done ") && !slices.Contains(after, line) {
				t.Errorf("%s: what was done is so no longer: %s", c.epic, line)
			}
		}
		if got := s.ralph("journal", "verify", file); got.code != 0 {
			t.Fatalf("%s: journal verify after the apply: exit %d\n%s", c.epic, got.code, got.all())
		}
	}
}

// releaseTop is where the archive was made.
const releaseTop = "/tmp/release"

// releaseSite unpacks what the release left. Worktrees and repository name each
// other absolutely; here they are told where they are now.
func releaseSite(t *testing.T) *site {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, top: top, dir: filepath.Join(top, "project"), path: os.Getenv("PATH")}
	if err := untar("testdata/release/run.tar.gz", top); err != nil {
		t.Fatal(err)
	}
	s.write("../log/points", "")
	s.write("../home/go-on", "")
	t.Cleanup(s.end)
	for _, pattern := range []string{"project-worktrees/ralph/*/*/.git", "project/.git/worktrees/*/gitdir"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s in the archive: %v", pattern, err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			s.write(f, strings.Replace(string(b), releaseTop, top, 1))
		}
	}
	return s
}

// standing says in a line for each sprint where it stands.
func (s *site) standing(status string) []string {
	s.t.Helper()
	var all record.StatusJSON
	if err := json.Unmarshal([]byte(status), &all); err != nil {
		s.t.Fatalf("status: %v\n%s", err, status)
	}
	var out []string
	for _, n := range all.Nodes {
		line := fmt.Sprintf("%s %s for=%s cause=%s gate=%s needs=%v reason=%t commit=%s", n.Key, n.Status, n.For, n.Cause, n.Gate, n.Needs, n.Reason != "", n.Commit)
		for _, a := range n.Attempts {
			if a.Ended != nil {
				line += fmt.Sprintf(" %s#%d:%s:%s", a.Step, a.Number, a.Status, a.Commit)
			}
			for _, g := range a.Gates {
				line += fmt.Sprintf(" %s=%s", g.Gate, g.Verdict)
			}
		}
		out = append(out, line)
	}
	return out
}

func differing(was, now []string) string {
	var b strings.Builder
	for _, l := range was {
		if !slices.Contains(now, l) {
			fmt.Fprintln(&b, "-", l)
		}
	}
	for _, l := range now {
		if !slices.Contains(was, l) {
			fmt.Fprintln(&b, "+", l)
		}
	}
	return b.String()
}

// untar unpacks an archive into a directory, times included: git looks at them.
func untar(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	times := map[string]time.Time{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		name := filepath.Clean(h.Name)
		if h.FileInfo().IsDir() {
			if err := root.MkdirAll(name, 0o755); err != nil {
				return err
			}
			continue
		}
		w, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, h.FileInfo().Mode().Perm())
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, r); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		times[name] = h.ModTime
	}
	for name, at := range times {
		if err := root.Chtimes(name, at, at); err != nil {
			return err
		}
	}
	return nil
}
