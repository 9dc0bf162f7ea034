package bd

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// HistoryEvent is one change of a bead, as bd recorded it.
type HistoryEvent struct {
	ID      string    `json:"id"`
	Type    string    `json:"event_type"`
	Actor   string    `json:"actor"`
	Old     string    `json:"old_value"`
	New     string    `json:"new_value"`
	Comment string    `json:"comment"`
	At      time.Time `json:"created_at"`
}

// Newest returns the newest event that is meant. bd keeps whole seconds, and lists what
// happened within one in no order: of several in the newest second it is one that is
// not passed over, if there is one. found tells whether any is meant.
func Newest(events []HistoryEvent, meant, passOver func(HistoryEvent) bool) (newest HistoryEvent, found bool) {
	over := false
	for _, e := range events {
		switch {
		case !meant(e):
		case !found || e.At.After(newest.At):
			newest, found, over = e, true, passOver(e)
		case over && e.At.Equal(newest.At) && !passOver(e):
			newest, over = e, false
		}
	}
	return newest, found
}

// Gave tells whether an event is that a bead was given a label.
func (e HistoryEvent) Gave(label string) bool {
	return e.Type == "label_added" && strings.HasSuffix(e.Comment, ": "+label)
}

// Status is the status that a bead had behind an event; "" if it is not known, or the
// event is none of the status.
func (e HistoryEvent) Status() string {
	var to struct{ Status string }
	if json.Unmarshal([]byte(e.New), &to) == nil && to.Status != "" {
		return to.Status
	}
	switch e.Type { // "bd close" and "bd reopen" say why instead
	case "closed":
		return "closed"
	case "reopened":
		return "open"
	}
	return ""
}

// Events returns who changed a bead, newest second first.
func (c *Client) Events(ctx context.Context, id string) ([]HistoryEvent, error) {
	var out []HistoryEvent
	err := c.ask(ctx, quick, &out, "history", id, "--events")
	return out, err
}
