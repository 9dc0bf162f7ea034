package machine

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

func TestBackoffAtItsBounds(t *testing.T) { // execution §4; S4-93, L4-02
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		retry ir.Retry
		n     int
		want  time.Duration
	}{
		"the first waits the initial time":       {ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 300_000}, 1, 5 * time.Second},
		"there is no failure before the first":   {ir.Retry{Backoff: "linear", InitialMS: 5000, MaxMS: 300_000}, 0, 5 * time.Second},
		"nor less than none":                     {ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 300_000}, -3, 5 * time.Second},
		"exactly the maximum":                    {ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 40_000}, 4, 40 * time.Second},
		"more than the maximum":                  {ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 39_000}, 4, 39 * time.Second},
		"linear has a maximum":                   {ir.Retry{Backoff: "linear", InitialMS: 5000, MaxMS: 12_000}, 3, 12 * time.Second},
		"fixed has one, too":                     {ir.Retry{Backoff: "fixed", InitialMS: 5000, MaxMS: 4000}, 1, 4 * time.Second},
		"without a maximum linear ends at a day": {ir.Retry{Backoff: "linear", InitialMS: 3_600_000}, 1000, day},
		"without one exponential ends at a day":  {ir.Retry{Backoff: "exponential", InitialMS: 3_600_000}, 1000, day},
		"without a maximum it grows":             {ir.Retry{Backoff: "exponential", InitialMS: 1000}, 4, 8 * time.Second},
		"an unknown word is fixed":               {ir.Retry{Backoff: "?", InitialMS: 1000}, 4, time.Second},
		"nothing grows to nothing":               {ir.Retry{Backoff: "exponential", MaxMS: 1000}, 9, 0},
		"jitter of nothing is nothing":           {ir.Retry{Backoff: "fixed", JitterPercent: 100}, 1, 0},
		"no jitter below nothing":                {ir.Retry{Backoff: "fixed", InitialMS: 1000, JitterPercent: -50}, 1, time.Second},
	} {
		if got := backoff(c.retry, c.n, "bd-1", 1); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestJitterReachesBothEnds(t *testing.T) {
	seen := map[time.Duration]bool{}
	for attempt := range 200 {
		d := backoff(ir.Retry{Backoff: "fixed", InitialMS: 10, JitterPercent: 500}, 1, "bd-1", attempt) // as 100
		if d < 0 || d > 20*time.Millisecond {
			t.Fatalf("10 ms with all the jitter there may be are %s", d)
		}
		seen[d] = true
	}
	for ms := range 21 {
		if !seen[time.Duration(ms)*time.Millisecond] {
			t.Errorf("it never waits %d ms", ms)
		}
	}
}

func TestMulCap(t *testing.T) {
	for _, c := range []struct{ a, b, limit, want int64 }{
		{3, 4, 100, 12},
		{3, 4, 12, 12},
		{3, 4, 11, 11},
		{0, 1 << 62, 100, 0},
		{1 << 40, 1 << 40, 1 << 62, 1 << 62},
		{1, 5, 1, 1},
		{3, 4, 0, 12},
		{86_400_000, 2, 0, 86_400_000},
		{3, 4, -1, 12},
	} {
		if got := mulCap(c.a, c.b, c.limit); got != c.want {
			t.Errorf("mulCap(%d, %d, %d) = %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
	}
}
