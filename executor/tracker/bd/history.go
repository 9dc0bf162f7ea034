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

// Newest returns the newest event for which meant is true. bd keeps whole seconds, and
// lists events of one second in no order: of several in the newest second it prefers one
// that is not to be passed over. found reports whether there is any.
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

// Gave reports whether an event adds the label to a bead.
func (e HistoryEvent) Gave(label string) bool {
	return e.Type == "label_added" && strings.HasSuffix(e.Comment, ": "+label)
}

// Status is a bead's status after an event; "" if it is unknown, or the event is not a
// change of status.
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

// Events returns a bead's changes with their authors, newest second first.
func (c *Client) Events(ctx context.Context, id string) ([]HistoryEvent, error) {
	var out []HistoryEvent
	err := c.ask(ctx, quick, &out, "history", id, "--events")
	return out, err
}
