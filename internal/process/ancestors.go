//go:build unix

package process

import (
	"bytes"
	"os"
	"strconv"
)

// Ancestors returns the process ids of those that this process descends from,
// nearest first. It is empty where there is no /proc.
func Ancestors() []int {
	var out []int
	for pid := os.Getpid(); pid > 1 && len(out) < 1000; {
		p, ok := read(pid)
		if !ok || p.parent <= 0 {
			break
		}
		out = append(out, p.parent)
		pid = p.parent
	}
	return out
}

// MarkedAncestor returns the first of this process and its ancestors whose
// environment holds one of the variables; 0 if there is none, or none can be seen.
func MarkedAncestor(names ...string) int {
	for _, name := range names {
		if os.Getenv(name) != "" {
			return os.Getpid()
		}
	}
	for _, pid := range Ancestors() {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil {
			continue
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			for _, name := range names {
				if bytes.HasPrefix(v, []byte(name+"=")) {
					return pid
				}
			}
		}
	}
	return 0
}
