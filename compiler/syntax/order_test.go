package syntax

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/diag"
)

// FuzzOrders holds of every drawing and all waves (plan language, rules 16 and 21):
// they are read as a whole or not at all, and their places are where their words are.
func FuzzOrders(f *testing.F) {
	cases, _ := filepath.Glob("../../testdata/golden/orders_*.txtar")
	cases = append(cases, "testdata/orders.txtar")
	for _, c := range cases {
		a, err := txtar.ParseFile(c)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range a.Files {
			for i, part := range strings.Split(string(x.Data), "```") {
				if i%2 == 1 {
					_, text, _ := strings.Cut(part, "\n")
					f.Add(text)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := newParser(diag.NewFile("p.md", []byte(text)), Options{})
		p.src = text
		d, at, why := p.mermaid(0, len(text))
		if d != nil && why != "" || at < 0 || at > len(text) {
			t.Fatalf("read and not read: %q at %d", why, at)
		}
		if d != nil {
			for _, n := range d.Nodes {
				if inside(n.Range, len(text)) != nil || n.In >= len(d.Nodes) || n.In >= 0 && !d.Nodes[n.In].Subgraph {
					t.Fatalf("node %+v", n)
				}
			}
			for _, a := range d.Arrows {
				if inside(a.Range, len(text)) != nil || a.From >= len(d.Nodes) || a.To >= len(d.Nodes) {
					t.Fatalf("arrow %+v", a)
				}
			}
		}
		waves, place, why := p.waves(0, len(text))
		if waves != nil && why != "" || inside(place, len(text)) != nil {
			t.Fatalf("read and not read: %q at %v", why, place)
		}
		for _, w := range waves {
			for _, task := range w.Tasks {
				if inside(task.Range, len(text)) != nil || !strings.Contains(text[task.Range.Start:task.Range.End], task.Value) && !strings.ContainsAny(text, "\\\ufffd") && strings.ToValidUTF8(text, "") == text {
					t.Fatalf("task %+v", task)
				}
			}
		}
	})
}

// A drawing that ends anywhere is read as a whole or not at all.
func TestMermaidCutOff(t *testing.T) {
	b, err := os.ReadFile("testdata/orders.txtar")
	if err != nil {
		t.Fatal(err)
	}
	plan := file(txtar.Parse(b), "plan.md")
	_, text, _ := strings.Cut(plan, "```mermaid\n")
	text, _, _ = strings.Cut(text, "```")
	last := 0
	for n := range text {
		p := newParser(diag.NewFile("p.md", []byte(text[:n])), Options{})
		p.src = text[:n]
		if d, _, why := p.mermaid(0, n); d != nil {
			if len(d.Arrows) < last {
				t.Errorf("%d bytes have %d arrows, fewer ones %d", n, len(d.Arrows), last)
			}
			last = len(d.Arrows)
		} else if why == "" && n > len("flowchart LR") && strings.Contains(text[:n], "flowchart LR") {
			t.Errorf("the first %d bytes are not read, and nobody says why", n)
		}
	}
	if last == 0 {
		t.Error("nothing was read")
	}
}
