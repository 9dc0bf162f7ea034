package executor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/internal/wall"
)

// Sandboxed says in what sandbox a turn or a gate ran, and what it refused.
type Sandboxed struct {
	Name    string    `json:"name"`              // of the policy's block
	Kind    string    `json:"kind"`              // what it was made with; "none": not made, as --sandbox none asked
	Closed  bool      `json:"closed,omitempty"`  // it could reach no host
	Refused []Refusal `json:"refused,omitempty"` // hosts that were asked for, most often first, at most MaxRefused
	Others  int       `json:"others,omitempty"`  // hosts beyond them
	Memory  string    `json:"memory,omitempty"`  // the limit, "4GB", that it used up, so that all in it was killed; "" if it did not
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

// Refusal is a host that a sandbox did not let through.
type Refusal struct {
	Host  string `json:"host"`  // with its port
	Times int    `json:"times"` // it was asked for
}

func (r Refusal) String() string { return fmt.Sprintf("%d × %s", r.Times, r.Host) }

// UnmarshalJSON also reads what an earlier release wrote: "4 × github.com:443", and at last
// "and 2 more", which has no host.
func (r *Refusal) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		type plain Refusal
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		return d.Decode((*plain)(r))
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	times, host, found := strings.Cut(text, " × ")
	if !found {
		times = strings.TrimSuffix(strings.TrimPrefix(text, "and "), " more")
	}
	n, err := strconv.Atoi(times)
	*r = Refusal{Host: host, Times: n}
	return err
}

// earlier counts the hosts that an earlier release did not name.
func (s *Sandboxed) earlier() {
	if s == nil || len(s.Refused) == 0 {
		return
	}
	if last := s.Refused[len(s.Refused)-1]; last.Host == "" {
		s.Refused, s.Others = s.Refused[:len(s.Refused)-1], last.Times
	}
}

// Refusals lists hosts by how often each was asked for.
func Refusals(times map[string]int) (list []Refusal, others int) {
	hosts := slices.SortedFunc(maps.Keys(times), func(a, b string) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
	named := hosts[:min(len(hosts), MaxRefused)]
	for _, h := range named {
		list = append(list, Refusal{Plain(h[:min(len(h), maxHost)]), times[h]})
	}
	return list, len(hosts) - len(named)
}

// RefusedHosts are the words for what Refusals returns: "4 × github.com:443, and 2 more".
func RefusedHosts(list []Refusal, others int) string {
	var out []string
	for _, r := range list {
		out = append(out, r.String())
	}
	if others > 0 {
		out = append(out, fmt.Sprintf("and %d more", others))
	}
	return strings.Join(out, ", ")
}
