//go:build unix

package web

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// failsTwice lets a gate fail the first two attempts of 1.1, of which each begins anew.
func failsTwice(e *ir.Epic) {
	e.Gates["check"] = ir.Gate{Kind: "command", Run: "grep -q third work.txt", From: "policy", OnFailure: "retry", TimeoutMS: 60_000}
	for i := range e.Nodes {
		e.Nodes[i].Steps[0].OnFailure = "reset"
	}
}

const threeTries = `echo "begun" > work.txt
case "$RALPH_ATTEMPT" in
1) echo "first" >> work.txt; echo x > gone.txt ;;
2) echo "second" >> work.txt ;;
*) echo "third" >> work.txt ;;
esac
`

func TestAttemptsAreCompared(t *testing.T) {
	t.Parallel()
	s := newSite(t, threeTries, executortest.Epic([]string{"1.1"}, failsTwice))
	if code := s.start()(); code != 0 {
		t.Fatalf("apply: %d", code)
	}
	const at = "/EPIC/nodes/1.1/attempts/implement/"
	of := func(query string) (Diff, []string) {
		t.Helper()
		d := got[Diff](s, at+query)
		var lines []string
		for line := range strings.Lines(d.Patch) {
			if strings.ContainsAny(line[:1], "+-") && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "---") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		return d, lines
	}
	for query, want := range map[string]string{
		"3/diff":                         "+begun +third",
		"3/diff?against=start":           "+begun +third",
		"3/diff?against=2":               "-second +third",
		"3/diff?against=1":               "-x -first +third",
		"1/diff?against=3":               "+x -third +first",
		"3/diff?against=1&path=gone.txt": "-x",
		"2/diff?against=1&path=work.txt": "-first +second",
	} {
		if d, lines := of(query); strings.Join(lines, " ") != want || d.Step != "implement" || len(d.Files) == 0 {
			t.Errorf("%s: %v, want %s\n%+v", query, lines, want, d)
		}
	}
	first, _ := of("1/diff")
	if d, _ := of("3/diff?against=1"); d.From != first.To || d.Attempt != 3 || len(d.Gates) != 1 || d.Gates[0].Verdict != "pass" {
		t.Errorf("from %v, want %v: %+v", d.From, first.To, d)
	}
	for query, c := range map[string]struct {
		status int
		says   string
	}{
		"3/diff?against=3":         {http.StatusBadRequest, `the number of another attempt of the step, not \"3\"`},
		"3/diff?against=first":     {http.StatusBadRequest, `not \"first\"`},
		"3/diff?against=-1":        {http.StatusBadRequest, `not \"-1\"`},
		"3/diff?against=4":         {http.StatusNotFound, "1.1 has no attempt implement #4"},
		"3/diff?against=1&path=no": {http.StatusNotFound, "no is not in this change"},
	} {
		if status, text, _ := s.text(at + query); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	// Git has cleared away what the second attempt left.
	second, _ := of("2/diff")
	s.page.patches = patches{}
	for _, id := range []string{second.To.Tree, second.To.Commit} {
		if err := os.Remove(filepath.Join(s.dir, ".git/objects", id[:2], id[2:])); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{"3/diff?against=2", "2/diff?against=1", "2/diff"} {
		status, text, _ := s.text(at + query)
		if status != http.StatusGone || !strings.Contains(text, second.To.Commit[:12]+" is not in the repository any more") {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	if _, lines := of("3/diff?against=1"); len(lines) != 3 {
		t.Errorf("of the others: %v", lines)
	}
}

func TestAnAttemptWithoutACommitIsComparedWithNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, `[ "$RALPH_ATTEMPT" != 2 ] || { touch "$TOP/.git/begun"; while [ -e "$TOP/.git/hold" ]; do sleep 0.1; done; }
echo "$RALPH_ATTEMPT second" > work.txt
[ "$RALPH_ATTEMPT" != 1 ] || echo "first" > work.txt
`, executortest.Epic([]string{"1.1"}, failsOnce))
	hold := filepath.Join(s.dir, ".git/hold")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wait := s.start()
	s.until("the agent works", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, ".git/begun"))
		return err == nil
	})
	const at = "/EPIC/nodes/1.1/attempts/implement/2/diff"
	s.until("the attempt is shown", func() bool {
		status, _, _ := s.text(at)
		return status == http.StatusOK
	})
	if d := got[Diff](s, at); d.Patch != "" || len(d.Notes) != 1 || d.Notes[0] != "implement #2 has left no commit yet" {
		t.Errorf("%+v", d)
	}
	for _, query := range []string{at + "?against=1", strings.Replace(at, "/2/", "/1/", 1) + "?against=2"} {
		if status, text, _ := s.text(query); status != http.StatusNotFound || !strings.Contains(text, "implement #2 has left no commit yet: there is nothing to compare") {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	wait()
	s.until("it has a commit", func() bool { return len(got[Diff](s, at).Notes) == 0 })
}
