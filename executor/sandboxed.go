package executor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/internal/wall"
)

// Sandboxed says in what sandbox a turn or a gate ran, and what it refused.
type Sandboxed struct {
	Name    string   `json:"name"`              // of the policy's block
	Kind    string   `json:"kind"`              // what it was made with; "none": not made, as --sandbox none asked
	Closed  bool     `json:"closed,omitempty"`  // it could reach no host
	Refused []string `json:"refused,omitempty"` // hosts that were asked for, "4 × github.com:443", at most MaxRefused
	Memory  string   `json:"memory,omitempty"`  // the limit, "4GB", that it used up, so that all in it was killed; "" if it did not
}

// Confined reports whether there was a sandbox.
func (s *Sandboxed) Confined() bool { return s != nil && s.Kind != string(wall.None) }

// OutOfMemory says that a sandbox had used up its memory; "" if it did not, or if there was none.
func (s *Sandboxed) OutOfMemory() string {
	if s == nil || s.Memory == "" {
		return ""
	}
	return fmt.Sprintf("out of memory (limit %s, sandbox %q)", s.Memory, s.Name)
}

// Bytes are the words for a limit in bytes, in the unit that it was likely written in: "4GB".
func Bytes(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1e9, "GB"}, {1 << 30, "GiB"}, {1e6, "MB"}, {1 << 20, "MiB"}} {
		if n > 0 && n%unit.size == 0 {
			return fmt.Sprintf("%d%s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// MaxRefused bounds the hosts that Sandboxed names.
const MaxRefused = 5

// maxHost bounds the name of a host, in bytes.
const maxHost = 60

// AddRefusals adds to times what a list of Refusals says.
func AddRefusals(times map[string]int, list []string) {
	for _, one := range list {
		n, host, is := strings.Cut(one, " × ")
		if k, err := strconv.Atoi(n); is && err == nil {
			times[host] += k
		}
	}
}

// Refusals lists hosts with how often each was asked for, most often first.
func Refusals(times map[string]int) []string {
	hosts := slices.SortedFunc(maps.Keys(times), func(a, b string) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
	var out []string
	for i, h := range hosts {
		if i == MaxRefused {
			return append(out, fmt.Sprintf("and %d more", len(hosts)-i))
		}
		out = append(out, fmt.Sprintf("%d × %s", times[h], Plain(h[:min(len(h), maxHost)])))
	}
	return out
}
