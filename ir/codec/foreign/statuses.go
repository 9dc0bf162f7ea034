package foreign

import "github.com/ralph-compiler/ralph/internal/lists"

// Standing is a reader's interpretation of a format's status. Only finished work is taken
// over: work begun elsewhere starts over.
type Standing uint8

// Standings.
const (
	Open Standing = iota
	Begun
	Done
)

// Statuses are a format's words for the state of work.
type Statuses []Status

// Status is one of them.
type Status struct {
	Word string
	Is   Standing
}

// The words of the formats that are read.
var (
	IssueStatuses = Statuses{ // of bd and of scrum agents, which have the first four
		{"open", Open},
		{"in_progress", Begun},
		{"closed", Done},
		{"blocked", Begun},
		{"deferred", Open},
		{"pinned", Open},
		{"hooked", Begun},
	}
	TaskStatuses      = Statuses{{"idle", Open}, {"running", Begun}, {"paused", Begun}, {"awaiting_approval", Begun}, {"completed", Done}, {"failed", Begun}}
	RalphBeadStatuses = Statuses{{"pending", Open}, {"in_progress", Begun}, {"completed", Done}, {"failed", Begun}, {"blocked", Begun}}
)

// Words lists the words, in the format's order.
func (s Statuses) Words() []string {
	return lists.Map(s, func(x Status) string { return x.Word })
}

// Read says what a word stands for; an unknown one is open.
func (s Statuses) Read(word string) Standing {
	for _, x := range s {
		if x.Word == word {
			return x.Is
		}
	}
	return Open
}
