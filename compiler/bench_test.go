package compiler

import (
	"bytes"
	"fmt"
	"testing"
)

// bigPlan is a plan of n sprints in phases of twenty, as real ones look.
func bigPlan(n int) []byte {
	var b bytes.Buffer
	b.WriteString("# A large plan\n\n**Source Branch**: develop\n")
	for i := range n {
		phase, k := i/20+1, i%20
		if k == 0 {
			fmt.Fprintf(&b, "\n## Phase %d: Part %d\n\n**Goal**: Make part %d.\n", phase, phase, phase)
		}
		num, letter := k/3+1, string(rune('a'+k%3))
		fmt.Fprintf(&b, "\n### Sprint %d.%d%s: Build the piece %d of it\n\n", phase, num, letter, i)
		fmt.Fprintf(&b, "**Goal**: The piece works.\n\n**Dev Agents**:\n- `dev-%d` (sonnet)\n\n**QA Agents**:\n- `qa` (haiku) - run the tests\n\n", i%7)
		b.WriteString("Some words about what is to be done, over two lines,\nwith `code` and **bold** and a [link](https://example.com).\n\n")
		for t := range 6 {
			fmt.Fprintf(&b, "- [ ] Task %d of this sprint does something useful\n", t)
		}
		b.WriteString("\n**Acceptance Criteria**:\n- It works\n- It is tested\n\n**Verify**: `go test ./...`\n")
	}
	return b.Bytes()
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		if n > 1000 && testing.Short() {
			continue
		}
		plan := bigPlan(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(plan)))
			b.ReportAllocs()
			for b.Loop() {
				out := Compile(Input{Plans: []Source{{Path: "plan.md", Bytes: plan}}})
				if out.Diags.HasErrors() {
					b.Fatal(printDiags(out)[:500])
				}
			}
		})
	}
}
