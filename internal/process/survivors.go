//go:build unix

package process

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Survivors lists what Sweep would kill, oldest first.
func Survivors(prefix string, names ...string) []Survivor {
	var out []Survivor
	booted := bootTime()
	found := marked(prefix, names)
	slices.SortFunc(found, func(a, b proc) int {
		if a.start != b.start {
			return int(int64(a.start) - int64(b.start))
		}
		return a.pid - b.pid
	})
	for _, p := range found {
		s := Survivor{PID: p.pid, Since: booted.Add(time.Duration(p.start) * tickTime).Truncate(time.Second)}
		if argv, err := told(p.pid, "cmdline"); err == nil {
			first, _, _ := strings.Cut(string(argv), "\x00")
			s.Program = filepath.Base(first)
		}
		vars, _ := environment(p.pid)
		for _, v := range vars {
			name, value, _ := bytes.Cut(v, []byte{'='})
			if rest, ok := bytes.CutPrefix(value, []byte(prefix)); ok && s.Name == "" && slices.Contains(names, string(name)) {
				s.Name, s.Rest = string(name), string(rest)
			}
		}
		out = append(out, s)
	}
	return out
}

// tickTime is the unit of proc.start.
const tickTime = time.Second / 100

// bootTime is when the system started.
func bootTime() time.Time {
	b, _ := os.ReadFile("/proc/stat")
	_, rest, _ := strings.Cut(string(b), "\nbtime ")
	line, _, _ := strings.Cut(rest, "\n")
	at, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return time.Unix(at, 0)
}
