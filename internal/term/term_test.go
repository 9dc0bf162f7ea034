package term

import (
	"bytes"
	"testing"
)

func TestNoColourOutsideATerminal(t *testing.T) {
	if got := For(&bytes.Buffer{}).Paint(Bad, "x"); got != "x" {
		t.Errorf("Paint = %q, want plain text", got)
	}
	if got := (Style{on: true}).Paint(Bad, "x"); got == "x" {
		t.Error("a style that is on does not colour")
	}
}
