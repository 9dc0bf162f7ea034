package workspace

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// name says which attempts were in flight, and which branches and tags they may
// have made themselves.
func (w *watch) name(list []executor.Sighting, during []executor.During) {
	for s := range lists.Refs(list) {
		if s.Thing == executor.ThingOther && s.What != stashRef {
			continue
		}
		s.During = during
		if s.Branch { // its own attempts that have ended left it as it was seen at their end
			s.During = slices.DeleteFunc(slices.Clone(during), func(d executor.During) bool { return d.Node == s.Node && !w.atWork(d) })
		}
		switch {
		case s.Thing != executor.ThingForeign:
		case s.Was == "":
			w.made[s.What] = during
		default:
			s.Young = slices.ContainsFunc(w.made[s.What], func(d executor.During) bool { return slices.Contains(during, d) })
		}
	}
}

func (w *watch) atWork(d executor.During) bool {
	return slices.Contains(slices.Collect(maps.Values(w.flight)), d)
}

// during lists the attempts that were in flight since the last look.
func (w *watch) during() []executor.During {
	out := slices.Clone(w.ended)
	for _, key := range slices.Sorted(maps.Keys(w.flight)) {
		if d := w.flight[key]; !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	const most = 20 // an event is small
	return out[:min(len(out), most):min(len(out), most)]
}

// compare returns what differs from what was seen last, which now becomes that; all:
// also what is looked at only at the start and the end.
func (w *watch) compare(now facts, all bool) []executor.Sighting {
	var out []executor.Sighting
	for _, name := range union(w.last.Settings, now.Settings) {
		was, is := w.last.Settings[name], now.Settings[name]
		if was.Value == is.Value || w.withItsDirectory(name, now) {
			continue
		}
		s := w.settingSighting(name, was.Value, is.Value)
		s.Back = was.Set
		if gone := branchOf(name); gone != "" && is.Value == "" && now.Refs["refs/heads/"+gone] == "" {
			s.Forward = true // with its branch
		}
		if was.Value == "" {
			s.Back = is.unset
		} else if is.file && was.Set != "" { // it may be the user's
			s.Back = is.unset + " && " + was.Set
		}
		out = append(out, s)
	}
	out = append(out, w.compareRefs(w.last.Refs, now.Refs, all)...)
	others := w.last.Refs
	w.last = now
	if !all {
		w.last.Refs = keepOthers(w, others, now.Refs)
	}
	return out
}

// copyEntry makes an entry the same in to as in from.
func copyEntry[V any](to, from map[string]V, name string) {
	if v, ok := from[name]; ok {
		to[name] = v
	} else {
		delete(to, name)
	}
}

// union returns the names of both, sorted.
func union[V any](a, b map[string]V) []string {
	out := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(out)
	return slices.Compact(out)
}

// lookAt compares the refs that an effect may move with what they were. A look at all
// may be left to a later one; by then ralph would have overwritten what others did, and
// an attempt's commits on its branch could not be told from later ones.
func (w *watch) lookAt(e executor.Effect) []executor.Sighting {
	common := w.s.git.common
	w.own.take(w.last.Refs)
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

// Undone reports for each change whether it was undone, as far as that can be known. It
// only reads files, and records nothing.
func (s Checkout) Undone(list []executor.Drift) []bool {
	out := make([]bool, len(list))
	if len(list) == 0 {
		return out
	}
	w, _ := s.Watch(nil).(*watch)
	w.last = w.settings()
	w.last.Refs = w.refs()
	for i, c := range list {
		switch c.What {
		case theCheckout:
			out[i] = w.asBefore(c.Files)
		case theHead:
			head, at := w.head()
			out[i] = (&checkout{Head: head, At: at}).words() == c.Was
		case stashRef:
			out[i] = stashWords(w.stashes()) == c.Was
		default:
			out[i] = w.valueOf(c) == c.Was
		}
	}
	return out
}

// asBefore reports whether files hold what they held.
func (w *watch) asBefore(files map[string]string) bool {
	for name, content := range files {
		b, err := regular.ReadMax(filepath.Join(w.s.top, filepath.FromSlash(name)), maxContent)
		switch {
		case err == nil && w.content(b) == content:
		case content == "" && os.IsNotExist(err):
		default:
			return false
		}
	}
	return files != nil
}
