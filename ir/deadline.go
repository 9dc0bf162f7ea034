package ir

import (
	"strings"
	"time"
)

// Deadline reads what NodeLimits.Deadline says: a day (2026-01-31), or a time with its
// zone, with or without seconds (2026-01-31T18:00Z, 2026-01-31T18:00:00+01:00). end is
// the first moment that is too late: of a day, which is meant whole and in UTC, the
// beginning of the next one. ok is false for "" and for everything else, such as the
// 31st of February.
func Deadline(s string) (end time.Time, ok bool) {
	if s == "" { // mostly; a refusal of time.Parse costs an allocation
		return time.Time{}, false
	}
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day.AddDate(0, 0, 1), true
	}
	const hour = len("2006-01-02T15")
	if len(s) <= hour || s[hour] != ':' || strings.ContainsAny(s, ".,") {
		return time.Time{}, false // time.Parse takes hours of one digit, and fractions
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// later reports whether a deadline gives more time than one that ends at was.
func later(s string, was time.Time) bool {
	end, ok := Deadline(s)
	return !ok || end.After(was)
}
