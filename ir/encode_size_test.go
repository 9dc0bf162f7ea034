package ir_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// A large epic is written into one allocation of its size, also when its last nodes are
// larger than its first.
func TestEncodeAllocatesALargeEpicOnce(t *testing.T) {
	e := irtest.Worked()
	one := e.Nodes[0]
	e.Nodes = nil
	for i := range 5000 {
		n := one
		n.Key = ir.Key(fmt.Sprintf("1.%d", i+1))
		n.Title = strings.Repeat("long ", i/20)
		e.Nodes = append(e.Nodes, n)
	}
	b := encode(t, e)
	if cap(b) > len(b)*11/10 {
		t.Errorf("%d bytes lie in an allocation of %d", len(b), cap(b))
	}
}
