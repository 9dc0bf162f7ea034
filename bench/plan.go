package bench

import (
	"fmt"
	"strings"
)

// Plan returns a plan of n sprints as people write them: phases of 20 sprints,
// a parallel pair in each, labels, tasks, acceptance criteria, some prose;
// about 600 bytes a sprint.
func Plan(n int) []byte {
	var b strings.Builder
	b.WriteString("# A long plan\n\n**Source Branch**: `main`\n")
	for i, phase := 0, 1; i < n; phase++ {
		fmt.Fprintf(&b, "\n## Phase %d: Part %d of the work\n\n**Goal**: Part %d works and is tested.\n", phase, phase, phase)
		for number := 1; number <= 19 && i < n; number++ {
			letters := []string{""}
			if number == 7 && i+1 < n {
				letters = []string{"a", "b"}
			}
			for _, l := range letters {
				sprint(&b, phase, number, l)
				i++
			}
		}
	}
	return []byte(b.String())
}

func sprint(b *strings.Builder, phase, number int, letter string) {
	fmt.Fprintf(b, `
### Sprint %d.%d%s: Component %d of part %d

**Dev Agents**:
- `+"`backend-dev`"+` (sonnet)

**QA Agents**:
- `+"`qa-tests`"+` (haiku) - Run the tests with coverage

This sprint adds one component. It stands between what was there before and what
the next one needs, and it keeps the public interface as it is.

**Tasks**:
- [ ] Create `+"`pkg/part%d/component%d.go`"+` with its type and constructor
  - keep the exported names few
- [ ] Write table tests for the error paths
- [ ] Describe it in docs/part%d.md

**Acceptance Criteria**:
- All tests pass
- No exported name without a comment
`, phase, number, letter, number, phase, phase, number, phase)
}
