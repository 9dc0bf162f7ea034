package machine

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// backoff is how long to wait after the n-th failure (from 1). The jitter, up to
// JitterPercent of the time in either direction, comes from what is tried, so
// that nodes that failed together are not tried together, and a replay waits
// the same.
func backoff(r ir.Retry, n int, id ir.NodeID, attempt int) time.Duration {
	n = max(n, 1)
	ms := r.InitialMS
	switch r.Backoff {
	case "linear":
		ms = mulCap(ms, int64(n), r.MaxMS)
	case "exponential":
		for range n - 1 {
			if ms = mulCap(ms, 2, r.MaxMS); r.MaxMS > 0 && ms >= r.MaxMS {
				break
			}
		}
	}
	if r.MaxMS > 0 {
		ms = min(ms, r.MaxMS)
	}
	if p := int64(min(max(r.JitterPercent, 0), 100)); p > 0 && ms > 0 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s/%d/%d", id, attempt, n)
		span := mulCap(ms, 2*p, 1<<62) / 100
		ms += int64(h.Sum64()%uint64(span+1)) - span/2
	}
	return time.Duration(max(ms, 0)) * time.Millisecond
}

// again is when a node is tried again after the n-th failure in a row (from 1).
func again(n *node, now time.Time, failures int) time.Time {
	return now.Add(max(backoff(retryOf(n), failures, n.id, n.life.attempt.number), time.Millisecond))
}

// mulCap multiplies without overflow; the product is at most limit, if that is
// positive, else a day.
func mulCap(a, b, limit int64) int64 {
	if limit <= 0 {
		limit = 24 * 60 * 60 * 1000
	}
	if a > 0 && b > limit/a {
		return limit
	}
	return min(a*b, limit)
}

// usualRetry is how steps wait that no epic holds.
var usualRetry = ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 300_000}

// retryOf is how the present step waits; nodes without steps wait five seconds.
func retryOf(n *node) ir.Retry {
	if s := n.stepNow(); s != nil {
		return s.Retry
	}
	return usualRetry
}
