package executor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Sandboxed says in what sandbox a turn or a gate ran, and what it refused.
type Sandboxed struct {
	Name    string   `json:"name"`              // of the policy's block
	Kind    string   `json:"kind"`              // what it was made with
	Refused []string `json:"refused,omitempty"` // hosts that were asked for, "4 × github.com:443", at most MaxRefused
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
