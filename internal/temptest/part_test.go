package temptest

import (
	"fmt"
	"testing"
)

// What takes long is divided, and nothing of it is left out: each name has its turn with one
// digit at least, each choice comes, and without a digit nothing is skipped.
func TestEveryNameHasItsTurn(t *testing.T) {
	for _, n := range []uint64{2, 3, 4, 16} {
		for i := range 100 {
			name, plays, choices := fmt.Sprint("TestOf/", i, " of them"), 0, map[uint64]bool{}
			for digit := range 16 {
				t.Setenv("RALPH_PART", fmt.Sprintf("%x", digit))
				which, divided := Turn(name, n)
				if !divided || which >= n {
					t.Fatalf("%q, digit %x of %d: %d, %v", name, digit, n, which, divided)
				}
				choices[which] = true
				if which == 0 {
					plays++
				}
			}
			if plays < 16/int(n) || plays > 16/int(n)+1 || len(choices) != int(n) {
				t.Errorf("%q plays with %d of 16 digits, of %d parts; %d choices come", name, plays, n, len(choices))
			}
		}
	}
	t.Setenv("RALPH_PART", "")
	if _, divided := Turn("TestOf", 2); divided {
		t.Error("it is divided without a digit")
	}
	t.Run("undivided", func(t *testing.T) { neverSkips(t, 1<<32) })
	t.Setenv("RALPH_PART", "7")
	t.Run("one part", func(t *testing.T) { neverSkips(t, 1) })
	t.Run("divided", func(t *testing.T) {
		t.Cleanup(func() {
			if which, _ := Turn(t.Name(), 1<<32); t.Skipped() != (which != 0) {
				t.Errorf("skipped is %v in its turn %d", t.Skipped(), which)
			}
		})
		Share(t, 1<<32)
	})
}

func neverSkips(t *testing.T, n uint64) {
	t.Cleanup(func() {
		if t.Skipped() {
			t.Errorf("%s is skipped", t.Name())
		}
	})
	Share(t, n)
}
