package web

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

const mostEntries = 200 // in a page of the log

// ofLog are the parameters of the log.
var ofLog = []param{
	{"after", "only events after this number", true},
	{"before", "only events before this number", true},
	{"key", "only of this sprint", false},
	{"kind", "only of this kind, such as gate.judged, or of these: with commas between", false},
	{"limit", "at most this many, up to 200", true},
}

// wanted are the events that somebody asks for.
type wanted struct {
	after, before int64 // 0: from the beginning, to the end
	key           ir.Key
	node          ir.NodeID // of the key; "": all
	kinds         []string  // none: all but those that say nothing to people
	limit         int
}

// wantedOf reads the parameters of the log.
func wantedOf(q url.Values) (wanted, error) {
	ask := numbers{q: q}
	of := wanted{after: ask.number("after", 0, 0), before: ask.number("before", 0, 0), key: ir.Key(q.Get("key")), limit: int(ask.number("limit", 1, mostEntries))}
	if of.limit == 0 {
		of.limit = mostEntries
	}
	if given := q.Get("kind"); given != "" {
		of.kinds = strings.Split(given, ",")
	}
	for _, kind := range of.kinds {
		if !executor.IsKind(kind) && ask.err == nil {
			ask.err = invalid("there is no kind of event %q: a log names those it has in kinds", kind)
		}
	}
	return of, ask.err
}

// numbers reads the numbers of a query.
type numbers struct {
	q   url.Values
	err error // of the first that is none
}

// number is the number of a parameter; 0 if it is not given. With to 0 it has no end.
func (n *numbers) number(name string, from, to int64) int64 {
	given := n.q.Get(name)
	if given == "" || n.err != nil {
		return 0
	}
	v, err := strconv.ParseInt(given, 10, 64)
	switch {
	case err == nil && v >= from && (to == 0 || v <= to):
		return v
	case to > 0:
		n.err = invalid("%s is a number from %d to %d, not %q", name, from, to, given)
	default:
		n.err = invalid("%s is a number from %d, not %q", name, from, given)
	}
	return 0
}

// entries are a page of the log, newest first, with the kinds of events there are.
func (l *live) entries(of wanted) Log {
	if of.key != "" {
		v, is := l.byKey(of.key)
		if !is {
			return Log{Entries: []Entry{}}
		}
		of.node = v.ID
	}
	out := l.log(l.rec.Events, of)
	out.Kinds = l.kindsOf()
	return out
}

// log is the newest of some events.
func (l *live) log(events []executor.Event, of wanted) Log {
	out := Log{Entries: []Entry{}}
	for _, e := range slices.Backward(events) {
		if e.Seq <= of.after {
			break
		}
		if of.before > 0 && e.Seq >= of.before || !of.takes(e) {
			continue
		}
		if len(out.Entries) == of.limit {
			out.Before = out.Entries[of.limit-1].Seq
			break
		}
		out.Entries = append(out.Entries, l.described(e))
	}
	return out
}

// takes reports whether an event is of the sprint and of the kinds that are asked for.
func (of *wanted) takes(e executor.Event) bool {
	switch {
	case of.node != "" && e.Node != of.node:
		return false
	case len(of.kinds) > 0:
		return slices.Contains(of.kinds, e.Kind())
	}
	return !silent(e)
}

// silent reports whether an event says nothing to people.
func silent(e executor.Event) bool {
	_, list := e.Body.(executor.InputsListed)
	return list
}

// kindCounts are how many events of each kind a journal has, as far as it was looked at.
type kindCounts struct {
	epoch  int64
	looked int
	of     map[string]int
}

// kindsOf counts the events that are new since it was asked last. The answer is the caller's.
func (l *live) kindsOf() map[string]int {
	if l.kinds.of == nil || l.kinds.epoch != l.epoch || l.kinds.looked > len(l.rec.Events) {
		l.kinds = kindCounts{epoch: l.epoch, of: map[string]int{}}
	}
	for _, e := range l.rec.Events[l.kinds.looked:] {
		if !silent(e) {
			l.kinds.of[e.Kind()]++
		}
	}
	l.kinds.looked = len(l.rec.Events)
	return maps.Clone(l.kinds.of)
}
