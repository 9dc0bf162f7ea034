package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// InputsListed is a part of the lists of an event that is too long to be one: an
// event takes less than 4 kB. It changes nothing by itself: its event follows the last part.
type InputsListed struct {
	After  int      `json:"after"`          // number of entries in the parts before it; 0 begins anew
	What   string   `json:"what,omitempty"` // the field that the list belongs to; "": the only one, or the inputs
	Inputs []Result `json:"inputs"`
}

// ListRef refers to lists that precede an event, in parts.
type ListRef struct {
	Listed int    `json:"listed,omitempty"` // entries in all; 0: the lists are in the event
	List   string `json:"list,omitempty"`   // digest of these
}

func (r ListRef) ref() ListRef { return r }

// mostListed bounds the lists of one event, in bytes of JSON.
const mostListed = 3000

// List is a list of the lists that precede an event.
type List struct {
	What    string
	Entries []Result
}

// Lists collects the parts of the lists of the next event.
type Lists []List

// field is a list without a bound, in the body of an event.
type field struct {
	what string
	get  func() []Result
	set  func([]Result)
}

// fieldOf is a field whose entries are converted from and to results. One that is empty
// and not nil stays so.
func fieldOf[T any](what string, list *[]T, to func(T) Result, from func(Result) T) field {
	return field{what, func() []Result { return lists.Map(*list, to) }, func(l []Result) {
		if *list = (*list)[:0:0]; len(l) > 0 {
			*list = lists.Map(l, from)
		}
	}}
}

func commits(what string, list *[]string) field {
	return fieldOf(what, list, func(c string) Result { return Result{Tree: Tree{Commit: c}} }, func(x Result) string { return x.Commit })
}

func nodes(what string, list *[]ir.NodeID) field {
	return fieldOf(what, list, func(id ir.NodeID) Result { return Result{Node: id} }, func(x Result) ir.NodeID { return x.Node })
}

func bases(list *[]NamedTree) field {
	return fieldOf("bases", list, func(b NamedTree) Result { return Result{Node: ir.NodeID(b.Name), Tree: b.Tree} }, func(x Result) NamedTree { return NamedTree{string(x.Node), x.Tree} })
}

// stepsDone are two lists, since an entry has no room for a digest beside a result.
func stepsDone(list *[]StepDone) []field {
	return []field{
		fieldOf("steps", list, func(s StepDone) Result { return Result{Node: ir.NodeID(s.Step), Tree: s.Result} }, func(x Result) StepDone { return StepDone{Step: string(x.Node), Result: x.Tree} }),
		{"judges", func() []Result {
			return lists.Map(*list, func(s StepDone) Result { return Result{Node: ir.NodeID(s.Judge)} })
		}, func(l []Result) {
			for i := range min(len(l), len(*list)) {
				(*list)[i].Judge = string(l[i].Node)
			}
		}},
	}
}

// fields are the lists without a bound that a body has; with gives the body with them, and
// with a reference, as they are then.
func fields(b Body) (all []field, with func(ListRef) Body) {
	switch b := b.(type) {
	case NodeStarted:
		return []field{{"", func() []Result { return b.Inputs }, func(l []Result) { b.Inputs = l }}}, func(r ListRef) Body { b.ListRef = r; return b }
	case NodeDone:
		return stepsDone(&b.Steps), func(r ListRef) Body { b.ListRef = r; return b }
	case NodeWaiting:
		return []field{commits("", &b.Loses)}, func(r ListRef) Body { b.ListRef = r; return b }
	case EffectFailed:
		return []field{commits("", &b.Holds)}, func(r ListRef) Body { b.ListRef = r; return b }
	case RunStarted:
		return []field{nodes("only", &b.Only), nodes("rerun", &b.Rerun), nodes("merged", &b.Merged), nodes("ticked", &b.Ticked), commits("theirs", &b.Theirs), bases(&b.Bases)}, func(r ListRef) Body { b.ListRef = r; return b }
	case TailLost:
		if len(b.Found) == 1 {
			b.Found = slices.Clone(b.Found)
			return []field{commits("", &b.Found[0].Merged)}, func(r ListRef) Body { b.ListRef = r; return b }
		}
	case RunRecovered:
		return []field{commits("holds", &b.Holds), commits("others", &b.Others), bases(&b.Bases)}, func(r ListRef) Body { b.ListRef = r; return b }
	}
	return nil, func(ListRef) Body { return b }
}

// short reports whether a body has no list that could be too long for one event.
func short(b Body) bool {
	switch b := b.(type) {
	case NodeStarted:
		return len(b.Inputs) < 2 || sizeOf(b.Inputs) <= mostListed
	case NodeDone:
		return len(b.Steps) < 8
	case NodeWaiting:
		return len(b.Loses) < 2
	case EffectFailed:
		return len(b.Holds) < 2
	case RunStarted, RunRecovered, TailLost:
		return false
	}
	return true
}

// Split returns what is recorded for an event: the parts of its lists, if they are too
// long for one event, and the event that refers to them. Parts of a report are reports of
// the same start: a late one is refused as a whole.
func (e Event) Split() (parts []Event, last Event) {
	if short(e.Body) {
		return nil, e
	}
	if lost, ok := e.Body.(TailLost); ok {
		return e.splitLost(lost)
	}
	return e.splitLists()
}

func (e Event) splitLists() (parts []Event, last Event) {
	all, with := fields(e.Body)
	listed := make(Lists, 0, len(all))
	bytes := 0
	for _, f := range all {
		listed = append(listed, List{f.what, f.get()})
		bytes += sizeOf(listed[len(listed)-1].Entries)
	}
	if bytes <= mostListed {
		return nil, e
	}
	after := 0
	for i, l := range listed {
		for rest := l.Entries; len(rest) > 0; {
			n := fitting(rest, mostListed, Result.Size)
			parts = append(parts, Event{Node: e.Node, Of: e.Of, Body: InputsListed{After: after, What: l.What, Inputs: rest[:n:n]}})
			rest, after = rest[n:], after+n
		}
		all[i].set(nil)
	}
	e.Body = with(ListRef{Listed: after, List: listed.digest()})
	return parts, e
}

// splitLost divides what was found among several events. A commit of too many parents has
// one of its own, after a list of these; no list follows the gap.
func (e Event) splitLost(b TailLost) (parts []Event, last Event) {
	for rest := b.Found; ; {
		n := fitting(rest, mostListed, Orphan.size)
		part := Event{Body: TailLost{Found: rest[:n:n]}}
		if n == 1 && rest[0].size() > mostListed {
			if len(parts) == 0 {
				parts = append(parts, Event{Body: TailLost{}})
			}
			list, last := part.splitLists()
			parts, part = append(parts, list...), last
		}
		parts = append(parts, part)
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
	}
	for i, p := range parts {
		if lost, ok := p.Body.(TailLost); ok {
			lost.After = b.After
			p.Body = lost
		}
		e.Body = p.Body
		parts[i] = e
		if e.Seq > 0 {
			b.After, e.Seq = e.Seq, e.Seq+1
		}
	}
	return parts[:len(parts)-1], parts[len(parts)-1]
}

// commitSize bounds the bytes that the name of a commit takes in a list of JSON.
const commitSize = 45

// lists are those of an effect that grow with the plan.
func (e *Effect) lists() Lists {
	return Lists{{"", e.Inputs}, {"known", commits("known", &e.Known).get()}}
}

// ListsOf finds the lists that a request refers to among those of the effects in flight.
func ListsOf(flight []Effect, ref ListRef) (Lists, bool) {
	for _, e := range flight {
		if len(e.Inputs)+len(e.Known) != ref.Listed {
			continue
		}
		if l := e.lists(); l.digest() == ref.List {
			return l, true
		}
	}
	return nil, false
}

// fitting is how many entries fit into so many bytes: at least one, if there is any.
func fitting[T any](list []T, room int, size func(T) int) int {
	for i, x := range list {
		if room -= size(x); room < 0 && i > 0 {
			return i
		}
	}
	return len(list)
}

func sizeOf(list []Result) (bytes int) {
	for _, x := range list {
		bytes += x.Size()
	}
	return bytes
}

// size bounds the bytes that an orphan takes in JSON.
func (o Orphan) size() int {
	bytes := 160 + len(o.Node) + len(o.Step) + len(o.Start) + len(o.Result.Commit) + len(o.Result.Tree) + len(o.Work)
	for _, m := range o.Merged {
		bytes += len(m) + 3
	}
	for _, p := range o.Problems {
		bytes += 2*len(p) + 3
	}
	return bytes
}

// Add takes a part; one that starts over drops the previous ones.
func (l *Lists) Add(b InputsListed) error {
	if b.After == 0 {
		*l = nil
	}
	if n := l.len(); b.After != n {
		return fmt.Errorf("it follows %d entries, and %d are listed", b.After, n)
	}
	if k := len(*l) - 1; k >= 0 && (*l)[k].What == b.What {
		(*l)[k].Entries = append((*l)[k].Entries, b.Inputs...)
		return nil
	}
	*l = append(*l, List{b.What, append([]Result(nil), b.Inputs...)})
	return nil
}

// Complete returns a body with the lists it refers to, and drops them.
func (l *Lists) Complete(b Body) (Body, error) {
	x, ok := b.(interface{ ref() ListRef })
	if !ok || x.ref().Listed == 0 {
		return b, nil
	}
	if ref := x.ref(); l.len() != ref.Listed || l.digest() != ref.List {
		return nil, fmt.Errorf("it refers to %d entries that are not listed before it", ref.Listed)
	}
	all, with := fields(b)
	for _, f := range all {
		if i := slices.IndexFunc(*l, func(x List) bool { return x.What == f.what }); i >= 0 {
			f.set((*l)[i].Entries)
		}
	}
	*l = nil
	return with(ListRef{}), nil
}

func (l Lists) len() (n int) {
	for _, x := range l {
		n += len(x.Entries)
	}
	return n
}

// digest is what lists are referred to by.
func (l Lists) digest() string {
	h := sha256.New()
	var line []byte
	for _, list := range l {
		if list.What != "" && len(list.Entries) > 0 {
			h.Write(append(append(line[:0], list.What...), '\n'))
		}
		for _, x := range list.Entries {
			line = line[:0]
			for _, s := range [...]string{string(x.Node), x.Commit, x.Tree.Tree, x.Same} {
				line = append(strconv.AppendQuote(line, s), ' ')
			}
			line[len(line)-1] = '\n'
			h.Write(line)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
