package web

import (
	"cmp"
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/app/record"
)

func TestWhatNeedsAPersonIsListedFirst(t *testing.T) {
	of := func(state string, waits, failed int) EpicLine {
		return EpicLine{Run: record.RunJSON{State: state}, Waits: waits, Failed: failed}
	}
	want := []EpicLine{
		of("ended", 1, 0), of("at work", 1, 2), // in the order in which they came
		of("ended", 0, 1), of("interrupted", 0, 0),
		of("at work", 0, 0), of("ending", 0, 0),
		of("not started", 0, 0),
		of("ended", 0, 0),
	}
	got := slices.Clone(want)
	slices.SortStableFunc(got, func(a, b EpicLine) int { return cmp.Compare(rank(b), rank(a)) }) // the last first
	slices.SortStableFunc(got, func(a, b EpicLine) int { return cmp.Compare(rank(a), rank(b)) })
	for i := range want {
		if g, w := got[i], want[i]; g.Run.State != w.Run.State || g.Waits != w.Waits || g.Failed != w.Failed {
			t.Errorf("%d: %s with %d that wait and %d that failed; want %s with %d and %d", i, g.Run.State, g.Waits, g.Failed, w.Run.State, w.Waits, w.Failed)
		}
	}
}
