package words

import (
	"time"
)

// Change is a change made by others, as shown to people and programs.
type Change struct {
	ID      string    `json:"id"`
	Grade   string    `json:"grade"` // tampered, noticed
	What    string    `json:"what"`
	Was     string    `json:"was"` // "": it did not exist
	Is      string    `json:"is"`
	During  []string  `json:"during"` // attempts that were in flight: "1.2a implement #1"
	State   string    `json:"state"`  // open, accepted, undone
	By      string    `json:"accepted_by,omitempty"`
	Back    string    `json:"put_back,omitempty"` // command
	Look    string    `json:"look,omitempty"`     // command that shows it
	IsBack  bool      `json:"is_back,omitempty"`  // it was undone, and no apply has recorded that yet
	Earlier int       `json:"earlier,omitempty"`  // runs begun since it was seen
	Accept  string    `json:"accept,omitempty"`   // command
	Failing bool      `json:"fails_the_run"`
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
}
