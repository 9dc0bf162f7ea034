//go:build unix

package web

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// failsOnce lets a gate fail the first attempt of 1.1.
func failsOnce(e *ir.Epic) {
	e.Gates["check"] = ir.Gate{Kind: "command", Run: "grep -q second work.txt", From: "policy", OnFailure: "retry", TimeoutMS: 60_000}
	for i := range e.Nodes {
		e.Nodes[i].Steps[0].OnFailure = "keep"
	}
}

const twoTries = `echo "agent speaks: attempt $RALPH_ATTEMPT"
echo "token ghp_abcdefghijklmnopqrstuvwxyz0123456789" > work.txt
[ "$RALPH_ATTEMPT" = 1 ] || echo "second" >> work.txt
`

func TestAnAttemptsFilesAndDiffs(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}, failsOnce))
	if code := s.start()(); code != 0 {
		t.Fatalf("apply: %d", code)
	}
	d := got[Diff](s, "/EPIC/nodes/1.1/diff")
	if len(d.Files) != 1 || d.Files[0].Path != "work.txt" || d.Attempt != 2 || d.Truncated {
		t.Errorf("diff: %+v", d)
	}
	if !strings.Contains(d.Patch, "+second") || !strings.Contains(d.Patch, "+token [secret: GitHub token]") || strings.Contains(d.Patch, "ghp_") {
		t.Errorf("patch:\n%s", d.Patch)
	}
	first := got[Diff](s, "/EPIC/nodes/1.1/attempts/implement/1/diff")
	if first.Attempt != 1 || strings.Contains(first.Patch, "second") || !strings.Contains(first.Patch, "+token [secret") || len(first.Gates) != 1 || first.Gates[0].Verdict != "fail" {
		t.Errorf("first attempt: %+v", first)
	}
	since := got[Diff](s, "/EPIC/nodes/1.1/attempts/implement/2/diff?against=start")
	if !strings.Contains(since.Patch, "+token") {
		t.Errorf("since the step began: %s", since.Patch)
	}
	if again := got[Diff](s, "/EPIC/nodes/1.1/diff"); again.Patch != d.Patch || s.page.patches.order.Len() == 0 {
		t.Error("asked for again, it is another one")
	}
	list := got[FileList](s, "/EPIC/nodes/1.1/attempts/implement/2/files")
	kinds := map[string]string{}
	for _, f := range list.Files {
		kinds[f.Name] = f.What
	}
	for name, what := range map[string]string{"agent-1.prompt.md": "prompt", "agent-1.out": "log", "gate-check.log": "gate", "changes.json": "other"} {
		if kinds[name] != what {
			t.Errorf("%s is %q, want %q: %v", name, kinds[name], what, kinds)
		}
	}
	for _, path := range []string{"/EPIC/nodes/9.9/diff", "/EPIC/nodes/1.1/attempts/implement/3/diff", "/EPIC/nodes/1.1/attempts/implement/x/files", "/EPIC/nodes/1.1/attempts/none/1/files/agent-1.out"} {
		if status, text, _ := s.text(path); status != http.StatusNotFound || !strings.Contains(text, `"unknown"`) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

func TestAFileOfAnAttemptIsReadInParts(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1"}, failsOnce))
	s.start()()
	const at = "/EPIC/nodes/1.1/attempts/implement/1/files/"
	status, text, header := s.text(at + "agent-1.out")
	if status != http.StatusOK || text != "agent speaks: attempt 1\n" {
		t.Fatalf("%d %q", status, text)
	}
	for name, want := range map[string]string{"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"} {
		if header.Get(name) != want {
			t.Errorf("%s: %q", name, header.Get(name))
		}
	}
	if !strings.HasPrefix(header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("policy: %q", header.Get("Content-Security-Policy"))
	}
	if status, _, _ := s.text(at+"agent-1.out", "If-None-Match", header.Get("ETag")); status != http.StatusNotModified {
		t.Errorf("unchanged: %d", status)
	}
	dir := s.attemptDir("bd-1-1", "implement-1")
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := "0123456789\n"
	big := strings.Repeat(line, 500_000)
	put("big.out", big)
	put("secret.out", strings.Repeat("-", 100)+"\nghp_abcdefghijklmnopqrstuvwxyz0123456789 end\n")
	for _, c := range []struct {
		name, ask string
		status    int
		text, of  string
	}{
		{"agent-1.out", "bytes=6-11", 206, "speaks", "bytes 6-11/24"},
		{"agent-1.out", "bytes=-2", 206, "1\n", "bytes 22-23/24"},
		{"agent-1.out", "bytes=22-999", 206, "1\n", "bytes 22-23/24"},
		{"agent-1.out", "bytes=24-", 416, `{"error":"the file has 24 bytes, and none of those that were asked for","reason":"invalid"}`, "bytes */24"},
		{"agent-1.out", "bytes=1-2,5-6", 200, "agent speaks: attempt 1\n", ""},
		{"big.out", "", 200, big[:mostOfFile], ""},
		{"big.out", "bytes=11-", 206, big[11 : 11+mostOfFile], fmt.Sprintf("bytes 11-%d/%d", mostOfFile+10, len(big))},
		{"secret.out", "bytes=110-120", 206, "***********", "bytes 110-120/146"},
		{"secret.out", "bytes=138-", 206, "*** end\n", "bytes 138-145/146"},
	} {
		status, text, header := s.text(at+c.name, "Range", c.ask)
		if status != c.status || text != c.text || header.Get("Content-Range") != c.of {
			t.Errorf("%s %s: %d %.40q %q, want %d %.40q %q", c.name, c.ask, status, text, header.Get("Content-Range"), c.status, c.text, c.of)
		}
	}
	if _, _, header := s.text(at + "big.out"); header.Get("X-Truncated") != fmt.Sprint(len(big)) {
		t.Errorf("cut: %q", header.Get("X-Truncated"))
	}
}

// Agents run as the user and can write there: nothing else is read through it.
func TestNothingButAnAttemptsFilesIsRead(t *testing.T) {
	t.Parallel()
	s := newSite(t, twoTries, executortest.Epic([]string{"1.1", "1.2"}, failsOnce))
	s.start()()
	dir := s.attemptDir("bd-1-1", "implement-1")
	other := s.attemptDir("bd-1-2", "implement-1")
	for name, to := range map[string]string{
		"out.log": filepath.Join(s.dir, "README.md"), "in.log": "agent-1.out", "dir": s.dir, "up.log": "../../../../../../../README.md",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := execute("mkfifo", filepath.Join(dir, "pipe.log")); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, name := range []string{
		"out.log", "in.log", "up.log", "dir/README.md", "pipe.log", "..%2f..%2fepic.json", "..%2fimplement-2%2fagent-1.out", "%2fetc%2fpasswd", "nothing", "",
	} {
		status, text, _ := s.text("/EPIC/nodes/1.1/attempts/implement/1/files/" + name)
		if status != http.StatusNotFound || strings.Contains(text, "one") {
			t.Errorf("%q: %d %q", name, status, text)
		}
	}
	list := got[FileList](s, "/EPIC/nodes/1.1/attempts/implement/1/files")
	if slices.ContainsFunc(list.Files, func(f FileLine) bool {
		return strings.HasPrefix(f.Name, "dir") || f.Name == "pipe.log" || f.Name == "out.log"
	}) {
		t.Errorf("list: %v", list)
	}
	// The directory itself is a link.
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(s.dir, other); err != nil {
		t.Fatal(err)
	}
	if status, text, _ := s.text("/EPIC/nodes/1.2/attempts/implement/1/files/README.md"); status != http.StatusNotFound {
		t.Errorf("%d %q", status, text)
	}
	if list := got[FileList](s, "/EPIC/nodes/1.2/attempts/implement/1/files"); len(list.Files) != 0 {
		t.Errorf("list: %v", list)
	}
}

func TestALongDiffIsCutAtALine(t *testing.T) {
	t.Parallel()
	s := newSite(t, `yes "a line of a large file" | head -n 200000 > large.txt`, executortest.Epic([]string{"1.1"}))
	s.start()()
	d := got[Diff](s, "/EPIC/nodes/1.1/diff")
	if !d.Truncated || len(d.Patch) > mostPatch || len(d.Patch) < mostPatch-100 || !strings.HasSuffix(d.Patch, "+a line of a large file\n") {
		t.Errorf("%v, %d bytes, ends with %q", d.Truncated, len(d.Patch), d.Patch[max(0, len(d.Patch)-60):])
	}
	if len(d.Files) != 1 || d.Files[0].Added != 200_000 {
		t.Errorf("files: %v", d.Files)
	}
	if d.Command != "ralph show 1.1 --diff" {
		t.Errorf("%q shows more of it", d.Command)
	}
	a := got[Diff](s, "/EPIC/nodes/1.1/attempts/implement/1/diff") // ralph show knows only that of the sprint
	if args := strings.Fields(a.Command); !a.Truncated || len(args) < 2 || args[0] != "git" || strings.Count(s.git(args[1:]...), "\n+a line of a large file") != 200_000 {
		t.Errorf("%q does not print all of it", a.Command)
	}
}

// What a long diff leaves out is had file by file, by names as they are.
func TestAFileThatADiffLeavesOutIsHadByItself(t *testing.T) {
	t.Parallel()
	s := newSite(t, `yes "a line of a large file" | head -n 200000 > large.txt; mkdir -p '[z]'; echo new > '[z]/*'; echo more > z.txt; git mv README.md renamed.md`, executortest.Epic([]string{"1.1"}))
	s.start()()
	if err := os.Remove(filepath.Join(s.dir, "epic.json")); err != nil { // commands have to name the one in the run's state
		t.Fatal(err)
	}
	d := got[Diff](s, "/EPIC/nodes/1.1/diff")
	if !d.Truncated || len(d.Files) != 4 || strings.Contains(d.Patch, "+more") {
		t.Fatalf("%v, %v", d.Truncated, d.Files)
	}
	for _, path := range []string{"", "?path=large.txt"} {
		if d := got[Diff](s, "/EPIC/nodes/1.1/diff"+path); d.Command != "ralph show 1.1 --diff --epic .git/ralph/bd-epic/epic.json" {
			t.Errorf("%s: %q shows more of it", path, d.Command)
		}
	}
	for path, want := range map[string]string{"[z]/*": "+new\n", "z.txt": "+more\n", "renamed.md": "rename from README.md\nrename to renamed.md\n"} {
		d := got[Diff](s, "/EPIC/nodes/1.1/diff?path="+url.QueryEscape(path))
		if d.Truncated || d.Command != "" || len(d.Files) != 1 || d.Files[0].Path != path || !strings.HasSuffix(d.Patch, want) || strings.Count(d.Patch, "diff --git ") != 1 {
			t.Errorf("%s: %v, %v\n%s", path, d.Truncated, d.Files, d.Patch)
		}
		if at := got[Diff](s, "/EPIC/nodes/1.1/attempts/implement/1/diff?path="+url.QueryEscape(path)); at.Patch != d.Patch {
			t.Errorf("%s of the attempt:\n%s", path, at.Patch)
		}
	}
	if status, text, _ := s.text("/EPIC/nodes/1.1/diff?path=other.txt"); status != http.StatusNotFound || !strings.Contains(text, "other.txt is not in this change") {
		t.Errorf("%d %s", status, text)
	}
}

func TestKeptDiffsAreBounded(t *testing.T) {
	var k patches
	text := strings.Repeat("x", mostPatches/4)
	for _, at := range []string{"a", "b", "c"} {
		k.put(at, patch{text: text})
	}
	k.get("a")
	k.put("d", patch{text: text})
	if _, is := k.get("b"); is || k.bytes > mostPatches {
		t.Errorf("the oldest stayed: %d bytes", k.bytes)
	}
	for _, at := range []string{"a", "c", "d"} {
		if _, is := k.get(at); !is {
			t.Errorf("%s is gone", at)
		}
	}
}
