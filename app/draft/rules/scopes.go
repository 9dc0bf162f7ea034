package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
)

// scopes reports paths under Owns and Files that fit nothing of the project and that
// no sprint makes.
func (k *checking) scopes() {
	if k.Partial {
		return
	}
	there, made := newForest(k.Paths), newForest(k.New)
	starts := make([]int, 0, len(k.Places))
	for _, r := range k.Places {
		starts = append(starts, r.Start)
	}
	slices.Sort(starts)
	said := 0
	for n := range lists.Refs(k.Epic.Nodes) {
		if k.left(n) {
			continue
		}
		for _, p := range paths(n) {
			if there.has(p) || made.has(p) || made.covers(p) {
				continue
			}
			at, detail := k.Places[n.Key], ""
			if said++; said <= diag.Most { // others are only counted
				at = k.find(p, at, starts)
				detail = there.near(p)
			}
			k.diags.Add(diag.Newf("draft-scope-missing", at, "a path of sprint %s does not exist", short(n.Key)).
				WithDetail("%q matches no file of the project.%s Write a path that exists; if the sprint makes it, write `(new)` after it.", text.Clip(plain(p), 120), detail))
		}
	}
}

// find returns where a path is in the section of an item, else the item's
// heading.
func (k *checking) find(p string, heading diag.Range, starts []int) diag.Range {
	end := len(k.File.Bytes)
	if i, _ := slices.BinarySearch(starts, heading.Start+1); i < len(starts) {
		end = starts[i]
	}
	if heading.IsZero() || heading.End > end {
		return heading
	}
	if i := strings.Index(string(k.File.Bytes[heading.End:end]), p); i >= 0 {
		return k.File.Range(heading.End+i, heading.End+i+len(p))
	}
	return heading
}

// forest knows paths: those that exist, or those that sprints make, globs among them.
type forest struct {
	paths []string // sorted
	is    map[string]bool
	globs []string
	asked map[string]bool
	left  int // comparisons with globs; afterwards everything is there
}

const (
	maxCompared = 2_000_000
	maxGlobs    = 500
)

func newForest(all []string) *forest {
	f := &forest{paths: make([]string, 0, len(all)), is: make(map[string]bool, len(all)), asked: map[string]bool{}, left: maxCompared}
	for _, p := range all {
		p = spelled(p)
		if wild(p) >= 0 && len(f.globs) < maxGlobs {
			f.globs = append(f.globs, p)
		}
		f.paths = append(f.paths, p)
		f.is[p] = true
	}
	slices.Sort(f.paths)
	return f
}

// has reports whether a path is there, a directory with something in it, or a glob
// that fits something.
func (f *forest) has(p string) bool {
	p = spelled(p)
	known, again := f.asked[p]
	if !again {
		known = f.search(p)
		f.asked[p] = known
	}
	return known
}

func (f *forest) search(p string) bool {
	if p == "." || p == "**" || p == "*" || f.is[p] {
		return true
	}
	at := wild(p)
	if at < 0 {
		i, _ := slices.BinarySearch(f.paths, p+"/")
		return i < len(f.paths) && strings.HasPrefix(f.paths[i], p+"/")
	}
	for i, _ := slices.BinarySearch(f.paths, p[:at]); i < len(f.paths) && strings.HasPrefix(f.paths[i], p[:at]); i++ {
		if f.left--; f.left < 0 || glob.Match(p, f.paths[i]) {
			return true
		}
	}
	return false
}

// covers reports whether a path is in one that f has, or fits one of its globs.
func (f *forest) covers(p string) bool {
	p = spelled(p)
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if f.is[dir] || f.is[dir+"/**"] {
			return true
		}
	}
	for _, g := range f.globs {
		if f.left--; f.left < 0 || glob.Match(g, p) {
			return true
		}
	}
	return false
}

// near is a sentence about what a path that is not there may have been meant to be.
func (f *forest) near(p string) string {
	p = spelled(p)
	base := path.Base(p)
	if wild(p) < 0 && strings.Contains(base, ".") {
		for _, q := range f.paths {
			if path.Base(q) == base {
				return " Did you mean " + quote(q) + "?"
			}
		}
	}
	// The deepest directory that is there, and what it holds.
	dir, name := p, ""
	for dir != "." && dir != "/" && (wild(dir) >= 0 || !f.has(dir)) {
		dir, name = path.Dir(dir), path.Base(dir)
	}
	prefix := strings.TrimPrefix(dir+"/", "./")
	var names []string
	i, _ := slices.BinarySearch(f.paths, prefix)
	for ; i < len(f.paths) && strings.HasPrefix(f.paths[i], prefix) && len(names) < 500; i++ {
		first, _, _ := strings.Cut(f.paths[i][len(prefix):], "/")
		if len(names) == 0 || names[len(names)-1] != first {
			names = append(names, first)
		}
	}
	if near, ok := spell.Nearest(name, names); ok {
		return " Did you mean " + quote(prefix+near+strings.TrimPrefix(p, prefix+name)) + "?"
	}
	return ""
}

func quote(p string) string { return `"` + text.Clip(plain(p), 120) + `"` }

// spelled drops what is only spelling.
func spelled(p string) string { return strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/") }

// wild returns where a glob's first sign is; -1 if p is a plain path.
func wild(p string) int { return strings.IndexAny(p, "*?[{") }
