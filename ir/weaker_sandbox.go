package ir

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// walls compares the sandboxes, and which of them hold where.
func (w *weaker) walls(m *matching) {
	o, n := w.old, w.now
	for _, name := range slices.Sorted(maps.Keys(o.Sandboxes)) {
		was := o.Sandboxes[name]
		if now, kept := n.Sandboxes[name]; kept {
			for _, how := range now.Looser(&was) {
				w.add("access-widened", "", "sandbox %s: %s", name, how)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Gates)) {
		if _, kept := n.Gates[m.gate(name)]; kept {
			w.confined("gate "+m.gate(name), "", o.GateConfined(name, false), n.GateConfined(m.gate(name), false))
			w.reaches("gate "+m.gate(name), o.GateConfined(name, false), n.GateConfined(m.gate(name), false))
		}
	}
	w.fresh(m)
	w.confined("setup", "", o.SetupConfined(), n.SetupConfined())
	w.reaches("setup", o.SetupConfined(), n.SetupConfined())
	if was, now := &o.Epic.Integration, &n.Epic.Integration; was.Sandbox != now.Sandbox || !slices.Equal(was.Network, now.Network) {
		w.confined("the integration's conflict agent", "", o.StepConfined(&Step{}, true), n.StepConfined(&Step{}, true))
		for _, name := range was.Gates {
			where := "gate " + m.gate(name) + " of the integration"
			w.confined(where, "", o.GateConfined(name, true), n.GateConfined(m.gate(name), true))
			w.reaches(where, o.GateConfined(name, true), n.GateConfined(m.gate(name), true))
		}
	}
}

// fresh compares what is new with the sandbox that held wherever none was named: it runs what
// agents write, too.
func (w *weaker) fresh(m *matching) {
	usual := w.old.confined(w.old.usual(), nil)
	if usual.Name == "" {
		return
	}
	had := map[string]bool{}
	for name := range w.old.Gates {
		had[m.gate(name)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(w.now.Gates)) {
		if g := w.now.Gates[name]; !had[name] && g.Runs() {
			if usual.Network = nil; g.Kind != "command" {
				usual.Network = []string{"model"}
			}
			w.confined("gate "+name, "", usual, w.now.GateConfined(name, false))
			w.reaches("gate "+name, usual, w.now.GateConfined(name, false))
		}
	}
	for j, n := range lists.Each(w.now.Nodes) {
		for s := range lists.Refs(n.Steps) {
			if i := m.oldOf[j]; s.Agent != "" && (i < 0 || w.old.Nodes[i].Step(s.Name) == nil) {
				w.confined("step "+s.Name, n.Key, usual, w.now.StepConfined(s, false))
			}
		}
	}
}

// confined compares the sandboxes in which something runs. One that only changes is
// compared where it is declared.
func (w *weaker) confined(where string, node Key, o, n Confined) {
	switch {
	case o.Name == "" || o.Name == n.Name:
	case n.Name == "" && w.now.Sandboxes[o.Name].Kind == NoSandbox: // said of the sandbox
	case n.Name == "":
		w.add("access-widened", node, "%s: sandbox %s → none", where, o.Name)
	default:
		if how := n.Sandbox.Looser(&o.Sandbox); len(how) > 0 {
			w.add("access-widened", node, "%s: sandbox %s → %s: %s", where, o.Name, n.Name, strings.Join(how, ", "))
		}
	}
}

// reaches compares what gates and setup reach, which is not the sandbox's to say.
func (w *weaker) reaches(where string, o, n Confined) {
	if o.Name != "" && n.Name != "" {
		w.each(hostsAdded(o.Network, n.Network), "access-widened", "", "%s: may reach %s", where)
	}
}

// wallRank orders the kinds of sandboxes by what they promise; the others have 2.
var wallRank = map[string]int{"": 0, NoSandbox: 0, "landlock": 1}

func rankOf(kind string) int {
	if rank, low := wallRank[kind]; low {
		return rank
	}
	return 2
}

// Looser says in which ways a sandbox holds less than old does: "may reach example.com".
// nil: it holds no less.
func (s *Sandbox) Looser(old *Sandbox) []string {
	if rankOf(old.Kind) == 0 {
		return nil
	}
	if rankOf(s.Kind) == 0 {
		return []string{"kind " + old.Kind + " → none"}
	}
	var how []string
	add := func(is bool, format string, args ...any) {
		if is {
			how = append(how, fmt.Sprintf(format, args...))
		}
	}
	add(rankOf(s.Kind) < rankOf(old.Kind), "kind %s → %s", old.Kind, s.Kind)
	add(s.Accept != "" && old.Accept == "" && rankOf(s.Kind) >= rankOf(old.Kind) && rankOf(old.Kind) > rankOf(s.Accept), "may be %s where nothing more can be had (accept)", s.Accept)
	add(old.Required && !s.Required, "one machine may do without it (required)")
	add(!old.Nest && s.Nest, "programs inside may make sandboxes of their own (nest)")
	for _, host := range hostsAdded(old.Network, s.Network) {
		add(true, "may reach %s", host)
	}
	for _, at := range missing(old.Services, s.Services) {
		add(true, "may reach the service %s", at)
	}
	for _, p := range placesAdded(old.Write, s.Write) {
		add(true, "may write %s", p)
	}
	for _, p := range placesAdded(slices.Concat(old.Read, old.Write, old.Cache), s.Read) {
		add(true, "may read %s", p)
	}
	for _, p := range placesAdded(slices.Concat(old.Read, old.Write, old.Cache), s.Cache) {
		add(true, "may read the cache %s", p)
	}
	for _, p := range placesAdded(s.Hide, old.Hide) { // unless it is not shown any more
		add(len(placesAdded(slices.Concat(s.Read, s.Write), []string{p})) == 0, "sees %s", p)
	}
	return append(how, s.limitsRaised(old)...)
}

// hostsAdded are the hosts of now that old does not let through.
func hostsAdded(old, now []string) []string {
	return slices.DeleteFunc(slices.Clone(now), func(host string) bool {
		return slices.ContainsFunc(old, func(o string) bool { return letsThrough(o, host) })
	})
}

// letsThrough reports whether a word of a network list covers another. "*" does not cover
// "model", which may have a private address, nor a port of its own.
func letsThrough(word, host string) bool {
	word, host = strings.ToLower(word), strings.ToLower(host)
	name, port, _ := strings.Cut(host, ":")
	suffix, ofPort, _ := strings.Cut(word, ":")
	switch {
	case word == host:
		return true
	case host == "model" || port != ofPort:
		return false
	case word == "*":
		return true
	}
	below, star := strings.CutPrefix(suffix, "*")
	return star && strings.HasSuffix(name, below)
}

// placesAdded are the paths of now that are neither in old nor below one that is.
func placesAdded(old, now []string) []string {
	return slices.DeleteFunc(slices.Clone(now), func(p string) bool {
		return slices.ContainsFunc(old, func(o string) bool {
			o = strings.TrimSuffix(o, "/")
			return strings.TrimSuffix(p, "/") == o || strings.HasPrefix(p, o+"/")
		})
	})
}

// usualLimits hold where a sandbox states none: bytes, and processes.
var usualLimits = map[string]int64{"tmp": 2 << 30, "file": 2 << 30, "pids": 4096}

// limitsRaised says which limits are higher than those of old, or gone.
func (s *Sandbox) limitsRaised(old *Sandbox) (how []string) {
	for _, name := range []string{"memory", "cpu", "pids", "tmp", "file"} {
		was, is := old.Limits[name], s.Limits[name]
		before, now := cmp.Or(old.Limit(name), usualLimits[name]), cmp.Or(s.Limit(name), usualLimits[name])
		words := was != "" && old.Limit(name) == 0 || is != "" && s.Limit(name) == 0 // of a container
		switch {
		case was == is, !words && (before == 0 || now > 0 && now <= before), words && was == "":
		default:
			how = append(how, fmt.Sprintf("limit %s %s → %s", name, limitText(name, was), limitText(name, is)))
		}
	}
	return how
}

// limitText writes a limit as policies do.
func limitText(name, v string) string {
	n, err := strconv.ParseInt(v, 10, 64)
	switch {
	case v == "" && usualLimits[name] > 0:
		return "the default"
	case v == "":
		return "none"
	case err != nil || name == "pids":
		return v
	case name == "cpu":
		return v + "%"
	}
	for _, u := range []struct {
		name string
		size int64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}} {
		if n >= u.size && n%(u.size/10) == 0 {
			return strconv.FormatFloat(float64(n)/float64(u.size), 'f', -1, 64) + u.name
		}
	}
	return v + " bytes"
}
