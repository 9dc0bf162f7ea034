package temptest

import (
	"hash/fnv"
	"os"
	"strconv"
	"testing"
)

// Turn says which of n choices a run takes for a name, and whether RALPH_PART, a
// hexadecimal digit, divides what takes long among several runs; without it each has the
// same choice always. CI takes a digit of the commit: the next commits take the others.
func Turn(name string, n uint64) (which uint64, divided bool) {
	of, err := strconv.ParseUint(os.Getenv("RALPH_PART"), 16, 64)
	h := fnv.New32a()
	h.Write([]byte(name))
	return (uint64(h.Sum32()) + of) % n, err == nil
}

// Share skips a test that is another run's, where RALPH_PART divides the tests that share
// among n runs.
func Share(t testing.TB, n uint64) {
	t.Helper()
	if which, divided := Turn(t.Name(), n); divided && which != 0 {
		t.Skipf("NOT TESTED: RALPH_PART leaves this to one of %d other runs", n-1)
	}
}
