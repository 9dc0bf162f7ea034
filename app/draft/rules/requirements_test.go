package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// A long brief of which nothing is done is no reason to read a long plan for each id.
func TestManyRequirements(t *testing.T) {
	var wish strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&wish, "REQ-%d\n", i)
	}
	begun := time.Now()
	list := Check(Compiled{
		Epic: &ir.Epic{}, File: diag.NewFile("plan.md", []byte("# A\n"+strings.Repeat("some words that are none\n", 80_000))),
		Errors: diag.List{diag.New("unknown-dependency", diag.Range{}, "there is no item")}, Wish: wish.String(),
	})
	if took := time.Since(begun); len(list) == 0 || took > 2*time.Minute { // who looks for each requirement in each line takes hours
		t.Errorf("%d findings after %s", len(list), took)
	}
}
