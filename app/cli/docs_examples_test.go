package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/ir"
)

// TestDocExamples compiles the plans and validates the policies that the
// documents show: fences whose info string is "markdown plan" or "hcl policy".
// A fence "text edges" or "text gates" below a plan says what it compiles to,
// and is compared.
func TestDocExamples(t *testing.T) {
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	plans, policies := 0, 0
	for _, doc := range docs {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(doc)
		var epic *ir.Epic // of the last plan
		for _, f := range docFences(string(b)) {
			at := fmt.Sprintf("%s:%d", name, f.line)
			switch f.info {
			case "markdown plan":
				plans++
				epic = nil
				t.Run(at, func(t *testing.T) { epic = compileExample(t, f.text) })
			case "hcl policy":
				policies++
				t.Run(at, func(t *testing.T) { validateExample(t, f.text) })
			case "text edges", "text gates":
				if epic == nil {
					t.Errorf("%s: %q without a plan above it that compiles", at, f.info)
					continue
				}
				show := showEdges
				if f.info == "text gates" {
					show = showGates
				}
				if got := show(epic); got != f.text {
					t.Errorf("%s: the plan above compiles to\n%s\nthe document says\n%s", at, got, f.text)
				}
			}
		}
	}
	const least = 5
	if plans < least || policies < least {
		t.Errorf("docs/*.md show %d plans and %d policies; at least %d of each are checked", plans, policies, least)
	}
}

// docFence is an outer fence of a document.
type docFence struct {
	info string
	text string
	line int // of the opening fence, from 1
}

// docFences returns the outer fences of three or more backticks. What stands in
// a fence, shorter fences too, is its text.
func docFences(doc string) []docFence {
	var out []docFence
	var open int // length of the open fence; 0: none
	var f docFence
	var text strings.Builder
	for i, line := range strings.Split(doc, "\n") {
		ticks := len(line) - len(strings.TrimLeft(line, "`"))
		info := strings.TrimSpace(line[ticks:])
		switch {
		case open == 0 && ticks >= 3:
			open, f = ticks, docFence{info: info, line: i + 1}
			text.Reset()
		case open > 0 && ticks >= open && info == "":
			open, f.text = 0, text.String()
			out = append(out, f)
		case open > 0:
			text.WriteString(line + "\n")
		}
	}
	return out
}

// inExampleProject makes an empty project the current directory, with one file.
func inExampleProject(t *testing.T, file, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir(".git", 0o755); err != nil { // whatever lies above is not ours
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func compileExample(t *testing.T, text string) *ir.Epic {
	t.Helper()
	inExampleProject(t, "plan.md", text)
	var out, errOut bytes.Buffer
	if code := Main([]string{"compile", "plan.md", "-o", "-"}, strings.NewReader(""), &out, &errOut); code != exit.Done {
		t.Fatalf("exit code %d\n%s\nof the plan\n%s", code, errOut.String(), text)
	}
	epic, err := ir.Decode(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		t.Logf("%s\n%s\n%s", errOut.String(), showEdges(epic), showGates(epic))
	}
	return epic
}

func validateExample(t *testing.T, text string) {
	t.Helper()
	inExampleProject(t, "ralph.hcl", text)
	var out, errOut bytes.Buffer
	if code := Main([]string{"validate", "ralph.hcl"}, strings.NewReader(""), &out, &errOut); code != exit.Done {
		t.Fatalf("exit code %d\n%s\nof the policy\n%s", code, errOut.String(), text)
	}
	if testing.Verbose() {
		t.Logf("%s%s", out.String(), errOut.String())
	}
}

// showEdges writes what each node waits for: "1.3 (merge) ← 1.2a, 1.2b".
func showEdges(e *ir.Epic) string {
	return showNodes(e, func(n *ir.Node) []string {
		var keys []string
		for _, edge := range n.After {
			if edge.Type == ir.Blocks {
				keys = append(keys, string(edge.Key))
			}
		}
		return keys
	})
}

// showGates writes what judges each node.
func showGates(e *ir.Epic) string {
	return showNodes(e, func(n *ir.Node) []string {
		var gates []string
		for _, s := range n.Steps {
			for _, g := range s.Gates {
				if !slices.Contains(gates, g) {
					gates = append(gates, g)
				}
			}
		}
		return gates
	})
}

func showNodes(e *ir.Epic, list func(*ir.Node) []string) string {
	var b strings.Builder
	for i := range e.Nodes {
		n := &e.Nodes[i]
		b.WriteString(string(n.Key))
		if n.Kind != ir.Work {
			fmt.Fprintf(&b, " (%s)", n.Kind)
		}
		if n.Done {
			b.WriteString(" (done)")
		}
		words := list(n)
		if len(words) == 0 {
			words = []string{"nothing"}
		}
		fmt.Fprintf(&b, " ← %s\n", strings.Join(words, ", "))
	}
	return b.String()
}
