package workspace

import (
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// lookAt compares the refs that an effect may move with what they were. A look at all
// may be left to a later one; by then ralph would have overwritten what others did, and
// nobody could tell what an attempt left on its branch from what came after it.
func (w *watch) lookAt(e executor.Effect) []executor.Sighting {
	common := w.s.git.common
	w.readAt = time.Now()
	refs := w.refsOf(e)
	was, now := make(map[string]string, len(refs)), make(map[string]string, len(refs))
	var missing []string
	for _, ref := range refs {
		if at, ok := w.last.Refs[ref]; ok {
			was[ref] = at
		}
		if text := w.files.text(filepath.Join(common, filepath.FromSlash(ref)), maxRef); text != "" {
			now[ref] = oneLine(text, maxValue)
		} else {
			missing = append(missing, ref)
		}
	}
	if len(missing) > 0 { // packed refs come last, as in refsBut
		packed := w.packed(filepath.Join(common, "packed-refs"))
		for _, ref := range missing {
			if at, ok := packed[ref]; ok {
				now[ref] = at
			}
		}
	}
	out := w.compareRefs(was, now, false)
	for _, ref := range refs {
		copyEntry(w.last.Refs, now, ref)
	}
	w.name(out, w.during())
	return out
}

// refsOf lists the refs of the epic that an effect may move.
func (w *watch) refsOf(e executor.Effect) []string {
	out := []string{w.s.prefix() + "base"}
	if sum := w.s.sumRef(); sum != "" {
		out = append(out, sum)
	}
	if n := w.s.nodes[e.Node]; n != nil && n.Git.Branch != "" {
		out = append(out, "refs/heads/"+n.Git.Branch)
	}
	for _, name := range []string{"result", "base", "joined", "conflict", "merged", "pushed", "pushing"} {
		out = append(out, w.s.nodeRef(e.Node, name))
	}
	if e.Step != "" {
		out = append(out, w.s.attemptRef(e))
	}
	return out
}
