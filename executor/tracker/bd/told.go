package bd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// toldFile, in the epic's state directory, records what bd has.
const toldFile = "tracker.jsonl"

// Told is what bd has been told about a run, according to the mirror's record.
type Told struct {
	Seq     map[ir.NodeID]int64    // event up to which the comments of a bead are in bd; "" is the epic's
	Ended   map[ir.NodeID]string   // beads that are in bd as their node ended: done, blocked, skipped, cancelled
	Lost    map[ir.NodeID]string   // beads that someone else has claimed, and who
	Refs    map[ir.NodeID][]string // external references that ralph has written
	Away    string                 // why bd cannot be told anything now; "" if it can
	Unsent  []Unsent               // updates that the last run could not send; the next one will
	Left    []Left                 // beads that differ in bd because people want it so
	Refused []Refusal              // writes that bd refused although it works otherwise
}

// Unsent is what bd does not have yet about one bead.
type Unsent struct {
	Bead string `json:"bead"` // "" is all of them
	What string `json:"what"` // such as "that it is closed (bd has open) and 2 comments"
}

func (u Unsent) String() string {
	if u.Bead == "" {
		return u.What
	}
	return u.Bead + ": " + u.What
}

// Left is a bead that keeps a state set by a person, unlike its node.
type Left struct {
	Bead string `json:"bead"`
	By   string `json:"by,omitempty"` // whose it is
	What string `json:"what"`         // how it stands there and here, and what to type
}

// Refusal is a write that bd refused although it accepts others.
type Refusal struct {
	ID   ir.NodeID `json:"bead"` // "" is the epic
	What string    `json:"what"` // "its labels", "the comment …"
	Seq  int64     `json:"seq,omitempty"`
	Why  string    `json:"why"`
	Over bool      `json:"over,omitempty"` // it is not tried again; else once more
}

// toldLine is a line of the file: a change of what is remembered.
type toldLine struct {
	ID      ir.NodeID `json:"id,omitempty"`
	Seq     int64     `json:"seq,omitempty"`
	Ended   *string   `json:"ended,omitempty"`
	Lost    *string   `json:"lost,omitempty"`
	Ref     string    `json:"ref,omitempty"`
	Away    *string   `json:"away,omitempty"`
	Unsent  *[]Unsent `json:"unsent,omitempty"`
	Left    *[]Left   `json:"left,omitempty"`
	Refused *Refusal  `json:"refused,omitempty"`
	Taken   int64     `json:"taken,omitempty"` // a comment that was refused before, by its event
}

// ReadTold reads the record of the mirror of the epic with this state directory; an empty
// one if there was none. A line cut off by a kill is ignored.
func ReadTold(state string) (Told, error) {
	t := Told{Seq: map[ir.NodeID]int64{}, Ended: map[ir.NodeID]string{}, Lost: map[ir.NodeID]string{}, Refs: map[ir.NodeID][]string{}}
	b, err := regular.ReadOwn(filepath.Join(state, toldFile))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	for line := range bytes.Lines(b) {
		var l toldLine
		if json.Unmarshal(line, &l) == nil {
			t.apply(l)
		}
	}
	return t, nil
}

func (t *Told) apply(l toldLine) {
	if l.Seq > t.Seq[l.ID] {
		t.Seq[l.ID] = l.Seq
	}
	if l.Ended != nil {
		t.Ended[l.ID] = *l.Ended
	}
	if l.Lost != nil {
		t.Lost[l.ID] = *l.Lost
	}
	if l.Ref != "" {
		t.Refs[l.ID] = append(t.Refs[l.ID], l.Ref)
	}
	if l.Away != nil {
		t.Away = *l.Away
	}
	if l.Unsent != nil {
		t.Unsent = *l.Unsent
	}
	if l.Left != nil {
		t.Left = *l.Left
	}
	if l.Taken != 0 {
		t.Refused = slices.DeleteFunc(t.Refused, func(r Refusal) bool { return r.ID == l.ID && r.Seq == l.Taken })
	}
	if n := l.Refused; n != nil {
		t.Refused = append(slices.DeleteFunc(t.Refused, func(r Refusal) bool {
			return r.ID == n.ID && r.Seq == n.Seq && (n.Seq > 0 || r.What == n.What)
		}), *n)
	}
}

// Owed returns the comments of a bead that are still to be sent: those after the last one
// sent, and refused ones that were not skipped.
func (t Told) Owed(id ir.NodeID, all []machine.Comment) []machine.Comment {
	state := map[int64]bool{}
	for _, r := range t.Refused {
		if r.ID == id && r.Seq > 0 {
			state[r.Seq] = r.Over
		}
	}
	return lists.Keep(all, func(c machine.Comment) bool {
		over, refused := state[c.Seq]
		return refused && !over || !refused && c.Seq > t.Seq[id]
	})
}

// owes reports whether a comment was refused, and is tried again.
func (t Told) owes(id ir.NodeID, seq int64) bool {
	return slices.ContainsFunc(t.Refused, func(r Refusal) bool { return r.ID == id && r.Seq == seq && !r.Over })
}

// memory is the open file. Each line is written in one call, before anything that relies
// on it; what a power failure loses is found again by reading bd.
type memory struct {
	Told
	file *os.File
}

// remember opens the file and compacts it. Unsent updates are recomputed, and refused
// fields are tried again.
func remember(state string) (*memory, error) {
	t, err := ReadTold(state)
	if err != nil {
		return nil, err
	}
	t.Away, t.Unsent, t.Left = "", nil, nil
	t.Refused = slices.DeleteFunc(t.Refused, func(r Refusal) bool { return r.Seq == 0 })
	var b []byte
	line := func(l toldLine) {
		text, err := json.Marshal(l)
		if err != nil {
			panic("a line that cannot be written: " + err.Error()) // it is plain
		}
		b = append(append(b, text...), '\n')
	}
	sorted(t.Seq, func(id ir.NodeID, seq int64) { line(toldLine{ID: id, Seq: seq}) })
	sorted(t.Ended, func(id ir.NodeID, word string) { line(toldLine{ID: id, Ended: &word}) })
	sorted(t.Lost, func(id ir.NodeID, who string) { line(toldLine{ID: id, Lost: &who}) })
	for _, id := range slices.Sorted(maps.Keys(t.Refs)) {
		for _, ref := range t.Refs[id] {
			line(toldLine{ID: id, Ref: ref})
		}
	}
	for _, r := range t.Refused {
		line(toldLine{Refused: &r, ID: r.ID})
	}
	path := filepath.Join(state, toldFile)
	if err := atomicfile.WriteOwn(path, b, 0o600); err != nil {
		return nil, err
	}
	f, err := regular.AppendOwn(path, 0o600)
	if err != nil {
		return nil, err
	}
	return &memory{t, f}, nil
}

// sorted calls line with what is not zero, by id.
func sorted[V comparable](of map[ir.NodeID]V, line func(ir.NodeID, V)) {
	var zero V
	for _, id := range slices.Sorted(maps.Keys(of)) {
		if of[id] != zero {
			line(id, of[id])
		}
	}
}

// add remembers a line.
func (m *memory) add(l toldLine) error {
	m.apply(l)
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = m.file.Write(append(b, '\n'))
	return err
}

// commented notes up to which event a bead's comments are in bd.
func (m *memory) commented(id ir.NodeID, seq int64) error { return m.add(toldLine{ID: id, Seq: seq}) }

// ended notes that a bead in bd has its node's end state; "" that it no longer has.
func (m *memory) ended(id ir.NodeID, word string) error {
	if m.Ended[id] == word {
		return nil
	}
	return m.add(toldLine{ID: id, Ended: &word})
}

// lost notes that someone else has claimed a bead; "" that no one has any more.
func (m *memory) lost(id ir.NodeID, who string) error {
	if m.Lost[id] == who {
		return nil
	}
	return m.add(toldLine{ID: id, Lost: &who})
}

// refer notes that ralph writes an external reference, before it does.
func (m *memory) refer(id ir.NodeID, ref string) error {
	if slices.Contains(m.Refs[id], ref) {
		return nil
	}
	return m.add(toldLine{ID: id, Ref: ref})
}

// notTaken notes what bd refused.
func (m *memory) notTaken(r Refusal) error { return m.add(toldLine{ID: r.ID, Refused: &r}) }

// taken notes that bd took a comment that it had refused.
func (m *memory) taken(id ir.NodeID, seq int64) error { return m.add(toldLine{ID: id, Taken: seq}) }

func (m *memory) away(why string) error {
	if m.Away == why {
		return nil
	}
	return m.add(toldLine{Away: &why})
}

func (m *memory) close(unsent []Unsent, left []Left) error {
	return errors.Join(m.add(toldLine{Unsent: &unsent, Left: &left}), m.file.Close())
}
