package runner

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Limit recognises a rate limit from how a program ended. nil recognises none.
type Limit struct {
	code   *int
	output *regexp.Regexp // nil: any
	until  int            // index of the group, -1: none
}

// Limits compiles the signs of a rate limit; nil if there are none. Its error is a
// configuration failure.
func Limits(l *ir.LimitedWhen) (*Limit, error) {
	if l == nil {
		return nil, nil
	}
	out := &Limit{code: l.ExitCode, until: -1}
	if l.Output != "" {
		re, err := regexp.Compile(l.Output)
		if err != nil {
			return nil, Configuration(fmt.Errorf("limited_when: the pattern of output cannot be read: %w", err))
		}
		out.output, out.until = re, re.SubexpIndex("until")
	}
	if out.code == nil && out.output == nil {
		return nil, nil
	}
	return out, nil
}

// limitSize is how much of the end of each output is looked at, in bytes: a
// program that meets a limit says so last.
const limitSize = 64 << 10

// Matches reports whether the program hit its limit: all given conditions must hold.
func (l *Limit) Matches(r executor.AgentRun, res process.Result) bool {
	if l == nil || l.code != nil && (res.How != process.Exited || *l.code != res.Code) {
		return false
	}
	return l.output == nil || l.find(r) != nil
}

// find returns the groups of the last match.
func (l *Limit) find(r executor.AgentRun) []string {
	if l.output == nil {
		return nil
	}
	for _, ext := range []string{".err", ".out"} {
		text, err := process.Tail(File(r, ext), limitSize)
		if err != nil {
			continue
		}
		if all := l.output.FindAllStringSubmatch(text, -1); len(all) > 0 {
			return all[len(all)-1]
		}
	}
	return nil
}

// Failure is an exhausted limit, with the time it ends if the output says so.
func (l *Limit) Failure(r executor.AgentRun, now time.Time) error {
	said, until := "", time.Time{}
	m := l.find(r)
	if len(m) > 0 && strings.TrimSpace(m[0]) != "" {
		said = ": " + text.Head(strings.TrimSpace(m[0]), 200)
	}
	if l.until >= 0 && l.until < len(m) {
		until, _ = Moment(m[l.until], now)
	}
	return Limited(until, fmt.Errorf("agent %s met its rate limit%s", AgentOf(r), said))
}

// zoned and local are the ways in which programs write a time: with its zone, or
// as it is on this machine's clock.
var (
	zoned = []string{time.RFC3339Nano, time.RFC1123, time.RFC1123Z, time.RFC850, "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04 MST"}
	local = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "Jan 2, 2006 15:04", "Jan 2, 2006, 3:04 PM", "Jan 2 2006 3:04 PM"}
	clock = []string{"15:04:05", "15:04", "3:04 PM", "3:04PM", "3 PM", "3PM"}
)

// Moment reads a time as programs write it: a date, a time of day (its next
// occurrence), seconds or milliseconds since 1970, or the time left: "90", in seconds,
// or "1h30m".
func Moment(s string, now time.Time) (time.Time, bool) {
	s = strings.Trim(strings.TrimSpace(s), ".,;:!)]\"'")
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case n < 0, n != n, n >= 1e15:
			return time.Time{}, false
		case n >= 1e12:
			return time.UnixMilli(int64(n)), true
		case n >= 1e9:
			return time.Unix(int64(n), 0), true
		case n <= 366*24*3600:
			return now.Add(time.Duration(n * float64(time.Second))), true
		}
		return time.Time{}, false
	}
	if d, err := time.ParseDuration(strings.ReplaceAll(s, " ", "")); err == nil && d >= 0 {
		return now.Add(d), true
	}
	for _, f := range zoned {
		if t, err := time.Parse(f, s); err == nil {
			return t, true
		}
	}
	up := strings.ToUpper(s)
	for _, f := range local {
		for _, text := range []string{s, up} {
			if t, err := time.ParseInLocation(f, text, now.Location()); err == nil {
				return t, true
			}
		}
	}
	for _, f := range clock {
		t, err := time.ParseInLocation(f, up, now.Location())
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		if at.Before(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, true
	}
	return time.Time{}, false
}
