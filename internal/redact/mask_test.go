package redact

import (
	"strings"
	"testing"
)

func TestAMaskedTextKeepsItsLength(t *testing.T) {
	r := both(t)
	for name, form := range written(token) {
		for _, before := range []int{0, large - 20} {
			text := strings.Repeat("-", before) + " before\n" + form + "\nafter"
			got := []byte(text)
			r.Mask(got)
			if len(got) != len(text) || !strings.HasPrefix(string(got), text[:before+8]) || !strings.HasSuffix(string(got), "\nafter") {
				t.Errorf("%s: what is around it moved: %.80q", name, got[before:])
			}
			if leaks(string(got), token) {
				t.Errorf("%s: %.200q", name, got[before:])
			}
		}
	}
	for text, want := range map[string]string{
		"x postgres://ann:s3cretpw@db/x":    "x postgres://ann:********@db/x",
		"k AKIAIOSFODNN7EXAMPLE.":           "k ********************.",
		"nothing, nowhere":                  "nothing, nowhere",
		"Bearer abcdefghijabcdefghij0123 x": "Bearer ************************ x",
	} {
		got := []byte(text)
		if r.Mask(got); string(got) != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	none := []byte("x")
	if (*Redactor)(nil).Mask(none); string(none) != "x" {
		t.Errorf("without a redactor: %q", none)
	}
}
