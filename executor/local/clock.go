package local

import "time"

// clock tells the time of a run: where the wall clock was when it began, and
// as much later as the monotonic clock says since.
type clock struct {
	wall  time.Time // without a monotonic reading
	since time.Time // with one
}

func newClock(wall func() time.Time) clock {
	if wall == nil {
		wall = time.Now
	}
	return clock{wall: wall().UTC().Round(0), since: time.Now()}
}

func (c clock) now() time.Time { return c.wall.Add(time.Since(c.since)) }
