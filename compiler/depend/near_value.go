package depend

import (
	"github.com/ralph-compiler/ralph/diag"
)

// NearValue reports a value that nearly is one that a control knows.
func NearValue(at diag.Range, written, near, label string) diag.Diagnostic {
	return diag.Newf("near-miss-value", at, "%q is nearly %q", clip(written), clip(near)).
		WithDetail("As a value of %s it would be read as prose and set nothing. Write %q. If the word is meant as it stands, say it in other words, or write the line without bold and colon.", label, near).
		WithFix(at, near)
}
