package wall

import (
	"maps"
	"slices"
	"testing"
)

// Only of what is not in the list is it known what would let it through.
func TestRefusedSaysWhatWouldLetAHostThrough(t *testing.T) {
	var r Refused
	r.Add(Denial{Host: "a.example:443", Entry: "a.example"})
	r.Add(Denial{Host: "a.example:443", Entry: "a.example"})
	r.Add(Denial{Host: "b.example:8443", Entry: "b.example:8443"})
	r.Add(Denial{Host: "c.example:443", Private: true})
	r.Add(Denial{Host: "d.example:443"})
	if got, want := r.Unlisted(), []string{"a.example", "b.example:8443"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want := map[string]int{"a.example:443": 2, "b.example:8443": 1, "c.example:443 (no public address)": 1, "d.example:443": 1}
	if got := r.Times(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if r.Clear(); len(r.Unlisted())+len(r.Times()) > 0 {
		t.Errorf("after Clear: %q, %v", r.Unlisted(), r.Times())
	}
}
