package syntax

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/text"

	"github.com/ralph-compiler/ralph/diag"
)

// bigPlan writes a plan of n sprints, some 640 bytes each, ten to a phase.
func bigPlan(n int) []byte {
	var b strings.Builder
	b.WriteString("# Big plan\n\nOne line about it.\n")
	for i := range n {
		phase, sprint := i/10+1, i%10+1
		if sprint == 1 {
			fmt.Fprintf(&b, "\n## Phase %d: Part %d\n\n**Goal**: Build part %d.\n", phase, phase, phase)
		}
		fmt.Fprintf(&b, `
### Sprint %d.%d: Build component %d

**Branch**: `+"`feature/%d-%d`"+`
**Source Branch**: `+"`develop`"+`

**Dev Agents**:
- `+"`go-backend-dev`"+` (sonnet)

**QA Agents**:
- `+"`qa-go-tests`"+` (haiku) - Run go test and check the coverage

**Tasks**:
- [ ] Create `+"`src/component%d.go`"+` with the types that it needs
  - handle errors
  - write the comment
- [ ] Create `+"`src/component%d_test.go`"+` with table tests
- [ ] Update the documentation of the package

**Acceptance Criteria**:
- All tests pass with the race detector
- Coverage is at least 90%%

Some prose about the sprint that goes into the prompt as it is.
`, phase, sprint, i, phase, sprint, i, i)
	}
	return []byte(b.String())
}

func benchmarkParse(b *testing.B, n int) {
	src := bigPlan(n)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		plan, diags := Parse(diag.NewFile("plan.md", src), Options{})
		if len(plan.Items) != n || diags.HasErrors() {
			b.Fatalf("%d items, %v", len(plan.Items), diags)
		}
		runtime.KeepAlive(plan)
	}
}

func BenchmarkParse10k(b *testing.B) { benchmarkParse(b, 10_000) }
func BenchmarkParse100k(b *testing.B) {
	if testing.Short() {
		b.Skip("the same as 10,000, ten times")
	}
	benchmarkParse(b, 100_000)
}

// BenchmarkGoldmark10k is the floor: what goldmark needs for the same plan.
func BenchmarkGoldmark10k(b *testing.B) {
	src := bigPlan(10_000)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		runtime.KeepAlive(goldmark.DefaultParser().Parse(text.NewReader(src)))
	}
}
