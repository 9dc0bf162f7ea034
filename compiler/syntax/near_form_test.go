package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
)

// Beyond those that are reported one by one, the last near miss is shown, not the heading
// behind it that is text.
func TestTheLastOfManyNearMissesIsShown(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Plan\n\n### 1.1 First\n\n")
	last := maxMisses + 3
	for i := range last {
		fmt.Fprintf(&b, "### 1_%d Name\n\n", i+1)
	}
	b.WriteString("#### 1.1.1.1 Details\n")
	_, diags := Parse(diag.NewFile("plan.md", []byte(b.String())), Options{Dialect: builtinDialects()["section"]})
	found := false
	for _, d := range diags {
		if strings.Contains(d.Detail, "It is the last of") {
			found = true
			if got, want := b.String()[d.Range.Start:d.Range.End], fmt.Sprintf("1_%d Name", last); got != want {
				t.Errorf("the last near miss is %q, shown is %q", want, got)
			}
		}
	}
	if !found {
		t.Errorf("nothing is said of %d near misses: %v", last, diags)
	}
}
