package ir

import "testing"

// Gates of policies are alike by their own name and what they run; one that the plan gives
// to a sprint is like no other.
func TestGatesThatAreAlike(t *testing.T) { // execution §5 (the sum)
	e := Epic{Gates: map[string]Gate{
		"check": {Run: "make", From: "policy"}, "slow/check": {Run: "make", From: "policy"},
		"other/check": {Run: "make all", From: "policy"}, "unit": {Run: "make", From: "policy"},
		"1.1/check": {Run: "make", From: "plan"}, "1.2/check": {Run: "make", From: "plan"},
		"1.3/check": {Run: "make", From: "policy", Env: map[string]string{"KEY": "1.3"}},
		"1.4/check": {Run: "make", From: "policy", Env: map[string]string{"KEY": "1.4"}},
	}}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"check", "slow/check", true},
		{"check", "other/check", false},
		{"check", "unit", false},
		{"check", "1.1/check", false},
		{"1.1/check", "1.2/check", false},
		{"1.3/check", "1.4/check", false},
	} {
		if got := e.Alike(c.a) == e.Alike(c.b); got != c.want {
			t.Errorf("%s and %s alike: %v", c.a, c.b, got)
		}
	}
}
