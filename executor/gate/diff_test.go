package gate_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
)

// A judge is told what of a change does not show by itself. execution §3
func TestAJudgeIsToldWhatDoesNotShow(t *testing.T) {
	var diff strings.Builder
	file := func(name string, lines ...string) {
		fmt.Fprintf(&diff, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n", name, len(lines))
		for _, l := range lines {
			diff.WriteString(l + "\n")
		}
	}
	file("access.go", "+if role != \"user\u202e \u2066// admins only\u2069 \u2066\" {", "+a\u200bdmin()")
	file("dos.txt", "+a line of DOS\r")
	file("latin.txt", "+caf\xe9")
	file("huge.txt", append([]string{"+start"}, `\ 9999 more bytes of this file are not shown: git show abc`)...)
	file("noise.txt", strings.Split(strings.Repeat("+noise\n", 10_000)+"+end", "\n")...)
	file("z.go", "+evil \x1b[2K()")
	for kind, judge := range map[string]executor.Gate{"review": gate.Review{Runners: runners}, "agent": gate.Agent{Runners: runners}} {
		t.Run(kind, func(t *testing.T) {
			r := judgeBy(t, `cat "$RALPH_PROMPT"; echo ==; cat diff.patch "$FILES"/*.diff 2>/dev/null; echo; echo '`+"```json"+`'; echo '{"status":"pass","message":"m"}'; echo '`+"```"+`'`)
			r.Gate.Kind = kind
			r.Runner.Run[2] = strings.ReplaceAll(r.Runner.Run[2], "$FILES", r.Files)
			if kind == "review" {
				r.Dir = ""
			}
			r.Diff = func(_ context.Context, w io.Writer) error {
				_, err := io.WriteString(w, diff.String())
				return err
			}
			if got, err := judge.Judge(t.Context(), r); err != nil || got.Verdict != executor.Pass {
				t.Fatalf("got %+v, %v", got, err)
			}
			out := map[string]string{"review": "gate-1.1-qa/gate-1.1-qa.out", "agent": "gate-1.1-qa.out"}[kind]
			b, err := os.ReadFile(filepath.Join(r.Files, out))
			if err != nil {
				t.Fatal(err)
			}
			prompt, whole, _ := strings.Cut(string(b), "\n==\n")
			for _, want := range []string{
				`role != "user\u202e \u2066// admins only\u2069 \u2066" {`, `+a\u200bdmin()`, `+caf\xe9`, `+a line of DOS\x0d`,
				"This is the beginning of the diff, 48 of 70 KiB; all of it is in ", "Read there, too, before you judge:\n\n```text\nnoise.txt\nz.go\n```",
				"Not even there is the whole of:\n\n```text\nhuge.txt\n```",
				"Some characters do not show, or change how others do; they are written as \\u202e or \\x1b. Such are in:\n\n```text\naccess.go\nlatin.txt\nz.go\n```",
			} {
				if !strings.Contains(prompt, want) {
					t.Errorf("the prompt lacks %q", want)
				}
			}
			if !strings.Contains(whole, `+evil \x1b[2K()`) || strings.ContainsAny(whole, "\x1b\u202e") {
				t.Errorf("the file of the diff ends with %.300q", whole[max(0, len(whole)-300):])
			}
		})
	}
}
