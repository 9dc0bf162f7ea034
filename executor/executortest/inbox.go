package executortest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Inbox keeps letters in memory. It may be used concurrently.
type Inbox struct {
	mu      sync.Mutex // guards the rest
	letters []executor.Letter
	Answers map[string]string // by id; "" is taken
	Looks   int
}

var _ executor.Inbox = (*Inbox)(nil)

// Send puts a decision into the inbox.
func (b *Inbox) Send(node ir.NodeID, d executor.Decision) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.letters = append(b.letters, executor.Letter{Node: node, Decision: d})
}

// Pending implements executor.Inbox.
func (b *Inbox) Pending(context.Context) ([]executor.Letter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Looks++
	var out []executor.Letter
	for _, l := range b.letters {
		if _, done := b.Answers[l.Decision.ID]; !done {
			out = append(out, l)
		}
	}
	return out, nil
}

// Answer implements executor.Inbox.
func (b *Inbox) Answer(_ context.Context, id, refused string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Answers == nil {
		b.Answers = map[string]string{}
	}
	if _, done := b.Answers[id]; !done {
		b.Answers[id] = refused
	}
	return nil
}

// InboxContract is what every inbox must do. send puts a letter in, as another
// process would; answer returns what its sender is told, and whether anything.
func InboxContract(t *testing.T, in executor.Inbox, send func(t *testing.T, l executor.Letter), answer func(t *testing.T, id string) (refused string, answered bool)) {
	t.Helper()
	letter := func(id string, node ir.NodeID) executor.Letter {
		return executor.Letter{Node: node, Decision: executor.Decision{
			ID: id, Verb: executor.Reject, Message: "say \"why\"\n–", By: "ann", User: "a", At: time.UnixMilli(1234).UTC(), Budget: ir.Budget{Tokens: 5},
		}}
	}
	pending := func(want ...executor.Letter) {
		t.Helper()
		got, err := in.Pending(t.Context())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("pending %+v, %v; want %+v", got, err, want)
		}
	}
	pending()
	send(t, letter("1", "bd-1"))
	send(t, letter("2", ""))
	pending(letter("1", "bd-1"), letter("2", ""))
	pending(letter("1", "bd-1"), letter("2", "")) // until they are answered
	if _, answered := answer(t, "1"); answered {
		t.Error("1 has an answer before it was given")
	}
	for id, refused := range map[string]string{"1": "it is done already", "2": ""} {
		if err := in.Answer(t.Context(), id, refused); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Answer(t.Context(), "1", "another answer"); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"1": "it is done already", "2": ""} {
		if got, answered := answer(t, id); !answered || got != want {
			t.Errorf("the answer to %s is %q, %v; want %q", id, got, answered, want)
		}
	}
	pending()
	send(t, letter("3", "bd-1"))
	pending(letter("3", "bd-1"))
	if err := in.Answer(t.Context(), "no such letter", ""); err != nil {
		t.Errorf("an answer to nobody: %v", err)
	}
}
