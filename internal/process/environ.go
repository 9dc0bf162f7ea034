package process

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// Environ is the environment of what ralph itself runs in a worktree (setup and
// gates): the caller's, without GIT_* and RALPH_* variables and without those
// named, and with set added.
func Environ(without []string, set map[string]string) []string {
	var out []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "RALPH_") || slices.Contains(without, name) {
			continue
		}
		if _, replaced := set[name]; !replaced {
			out = append(out, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, name+"="+set[name])
	}
	return out
}

// Allowed is the environment of an agent: of the caller's only the names on the
// list (one that ends in * is a prefix), and set added.
func Allowed(names []string, set map[string]string) []string {
	var out []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if _, replaced := set[name]; replaced || strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "RALPH_") {
			continue
		}
		if slices.ContainsFunc(names, func(n string) bool {
			prefix, open := strings.CutSuffix(n, "*")
			return n == name || open && strings.HasPrefix(name, prefix)
		}) {
			out = append(out, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, name+"="+set[name])
	}
	return out
}
