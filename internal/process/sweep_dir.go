//go:build unix

package process

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SweepDir kills what programs of this process left running in the background, if it
// works in dir or below without the variable mark in its environment, and waits until
// it is gone; it returns how many it killed. It is for what a task in dir hid: nobody
// knows whose that is, while what carries a mark is found by that. It finds nothing
// where there is no /proc, and nothing that has left dir.
func SweepDir(dir, mark string) int {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return sweep(func() []proc { return orphansIn(dir, mark) })
}

// orphansIn lists the processes that this one has adopted and that work in dir, with
// their descendants.
func orphansIn(dir, mark string) []proc {
	all := readTable(nil)
	self, _ := read(os.Getpid())
	roots := map[int]bool{}
	families.mu.Lock()
	for f := range families.set {
		roots[f.root.pid] = true
	}
	families.mu.Unlock()
	var out []proc
	for _, p := range all {
		if p.parent != self.pid || p.dead || roots[p.pid] || p.session == self.session {
			continue
		}
		vars, ok := environment(p.pid)
		if !ok || slices.ContainsFunc(vars, func(v []byte) bool { return bytes.HasPrefix(v, []byte(mark+"=")) }) {
			continue
		}
		at, err := workDir(p.pid)
		if err == nil && strings.HasPrefix(strings.TrimSuffix(at, " (deleted)")+"/", dir+"/") {
			out = append(out, p)
		}
	}
	return descend(out, childrenIn(all), func(_, c proc) bool { return !c.dead })
}
