package machine

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// BenchmarkViews looks at a large epic: people see it after every event.
func BenchmarkViews(b *testing.B) {
	r, err := New(chain(10_000, func(i int) bool { return i%2 == 0 }))
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Apply(executor.Event{Seq: 1, Body: executor.RunStarted{Digest: "d", Base: executor.Tree{Commit: "b", Tree: "b"}, Slots: 1}}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if got := len(r.Views()); got < 10_000 {
			b.Fatal(got)
		}
	}
}
