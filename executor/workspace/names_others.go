package workspace

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// other is a node of another epic of this repository.
type other struct {
	plan        string
	state, file string // where the epic was applied; else its file
	epic, node  ir.NodeID
	key         ir.Key
}

func (o other) String() string {
	s := fmt.Sprintf("%s of another epic (%s, %s)", o.key, o.plan, o.epic)
	if o.file != "" {
		s += ", which was compiled and not applied"
	}
	return s
}

// away is what makes an epic need no names any more.
func (o other) away(epic string) string {
	if o.file != "" {
		return "if the other " + epic + " is not wanted any more, delete " + o.file
	}
	return "if the other " + epic + " is over, move " + o.state + " away"
}

// needs is what is read of an epic for the names that it needs.
type needs struct {
	Epic  ir.Header `json:"epic"`
	Nodes []struct {
		ID   ir.NodeID `json:"id"`
		Key  ir.Key    `json:"key"`
		Kind ir.Kind   `json:"kind"`
		Done bool      `json:"done"`
		Git  ir.Git    `json:"git"`
	} `json:"nodes"`
}

func readNeeds(b []byte) (e needs, ok bool) { return e, json.Unmarshal(b, &e) == nil }

// add notes an epic's branches; o says where it is.
func (e *needs) add(to map[string]other, o other) {
	o.plan, o.epic = e.Epic.Plan, e.Epic.ID
	for _, n := range e.Nodes {
		if n.Kind != ir.Manual && !n.Done {
			o.node, o.key = n.ID, n.Key
			to[n.Git.Branch] = o
		}
	}
	if name := e.Epic.Integration.Branch; name != "" {
		o.node, o.key = executor.Integration, executor.Integration
		to[name] = o
	}
}

// applied are the other epics that were applied in this repository.
type applied struct {
	ids   map[ir.NodeID]bool
	needs map[string]other
}

// elsewhere reads what epics need that were applied in this repository. A state
// without a readable epic needs no name that could be told.
func (s *space) elsewhere() applied {
	files, _ := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(s.state)), "*", "epic.json"))
	out := applied{map[ir.NodeID]bool{}, map[string]other{}}
	for _, f := range files {
		state := filepath.Dir(f)
		if state == s.state {
			continue
		}
		b, err := regular.ReadFile(f)
		if err != nil {
			continue
		}
		if e, ok := readNeeds(b); ok {
			out.ids[e.Epic.ID] = true
			e.add(out.needs, other{state: state})
		}
	}
	return out
}
