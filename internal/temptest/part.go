package temptest

import (
	"hash/fnv"
	"os"
	"strconv"
)

// Part reports whether what has this name is in the part, one of n, that RALPH_PART, a
// hexadecimal digit, chooses, and whether it chooses one: without it, the first counts. CI
// takes a digit of the commit, so that each commit plays another part of what takes long.
func Part(name string, n uint64) (in, chosen bool) {
	of, err := strconv.ParseUint(os.Getenv("RALPH_PART"), 16, 64)
	h := fnv.New32a()
	h.Write([]byte(name))
	return uint64(h.Sum32())%n == of%n, err == nil
}
