package workspace

import (
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
)

// name says which attempts were in flight, and which branches and tags they may
// have made themselves.
func (w *watch) name(list []executor.Sighting, during []executor.During) {
	for i := range list {
		s := &list[i]
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
	for _, f := range w.flight {
		if f == d {
			return true
		}
	}
	return false
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
	out := make([]string, 0, len(a))
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
