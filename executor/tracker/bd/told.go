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

	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/ir"
)

// toldFile is where the mirror remembers, in the epic's state directory, what bd has.
const toldFile = "tracker.jsonl"

// Told is what bd has been told of a run, as the mirror remembers it.
type Told struct {
	Seq    map[ir.NodeID]int64  // event up to which the comments of a bead are in bd; "" is the epic's
	Ended  map[ir.NodeID]string // beads that stand in bd as their node ended: done, blocked, skipped, cancelled
	Away   string               // why bd cannot be told anything now; "" if it can
	Unsent []string             // what the last run could not tell it, a line each
}

// toldLine is a line of the file: a change of what is remembered.
type toldLine struct {
	ID     ir.NodeID `json:"id,omitempty"`
	Seq    int64     `json:"seq,omitempty"`
	Ended  *string   `json:"ended,omitempty"`
	Away   *string   `json:"away,omitempty"`
	Unsent *[]string `json:"unsent,omitempty"`
}

// ReadTold reads what the mirror of the epic with this state directory remembers;
// nothing if there was none. A line that was being written when ralph was killed
// counts nothing.
func ReadTold(state string) (Told, error) {
	t := Told{Seq: map[ir.NodeID]int64{}, Ended: map[ir.NodeID]string{}}
	b, err := os.ReadFile(filepath.Join(state, toldFile))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	for line := range bytes.Lines(b) {
		var l toldLine
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		if l.Seq > t.Seq[l.ID] {
			t.Seq[l.ID] = l.Seq
		}
		if l.Ended != nil {
			t.Ended[l.ID] = *l.Ended
		}
		if l.Away != nil {
			t.Away = *l.Away
		}
		if l.Unsent != nil {
			t.Unsent = *l.Unsent
		}
	}
	return t, nil
}

// memory is the open file. Each line is written in one call, before anything that
// relies on it; what the system loses with the power is found again by reading bd.
type memory struct {
	Told
	file *os.File
}

// remember opens the file and makes it short.
func remember(state string) (*memory, error) {
	t, err := ReadTold(state)
	if err != nil {
		return nil, err
	}
	t.Away, t.Unsent = "", nil
	var b []byte
	line := func(l toldLine) {
		text, err := json.Marshal(l)
		if err != nil {
			panic("a line that cannot be written: " + err.Error()) // it is plain
		}
		b = append(append(b, text...), '\n')
	}
	for _, id := range slices.Sorted(maps.Keys(t.Seq)) {
		line(toldLine{ID: id, Seq: t.Seq[id]})
	}
	for _, id := range slices.Sorted(maps.Keys(t.Ended)) {
		if word := t.Ended[id]; word != "" {
			line(toldLine{ID: id, Ended: &word})
		}
	}
	path := filepath.Join(state, toldFile)
	if err := atomicfile.Write(path, b, 0o600); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &memory{t, f}, nil
}

func (m *memory) add(l toldLine) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = m.file.Write(append(b, '\n'))
	return err
}

// commented notes up to which event a bead's comments are in bd.
func (m *memory) commented(id ir.NodeID, seq int64) error {
	m.Seq[id] = seq
	return m.add(toldLine{ID: id, Seq: seq})
}

// ended notes that a bead stands in bd as its node ended; "" that it does not any more.
func (m *memory) ended(id ir.NodeID, word string) error {
	if m.Ended[id] == word {
		return nil
	}
	m.Ended[id] = word
	return m.add(toldLine{ID: id, Ended: &word})
}

func (m *memory) away(why string) error {
	if m.Away == why {
		return nil
	}
	m.Away = why
	return m.add(toldLine{Away: &why})
}

func (m *memory) close(unsent []string) error {
	return errors.Join(m.add(toldLine{Unsent: &unsent}), m.file.Close())
}
