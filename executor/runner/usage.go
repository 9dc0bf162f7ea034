package runner

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Totals are a program's own usage figures: of a turn, or of a session so far.
type Totals struct {
	Input      int64    `json:"input"`       // tokens, without what came from a cache
	Output     int64    `json:"output"`      // with reasoning
	CacheRead  int64    `json:"cache_read"`  // tokens
	CacheWrite int64    `json:"cache_write"` // tokens
	USD        *float64 `json:"usd,omitempty"`
}

// Usage is what the machine counts of it: all tokens, and the cost according to the
// program or the model's prices; nil if neither is known.
func (t Totals) Usage(prices ir.Model) executor.Usage {
	u := executor.Usage{Tokens: new(t.Input + t.Output + t.CacheRead + t.CacheWrite)}
	switch {
	case t.USD != nil:
		u.USDMicro = new(int64(math.Round(*t.USD * 1e6)))
	case prices.PriceInput > 0 || prices.PriceOutput > 0:
		u.USDMicro = new(int64(math.Round((float64(t.Input+t.CacheRead+t.CacheWrite)*float64(prices.PriceInput) + float64(t.Output)*float64(prices.PriceOutput)) / 1e6)))
	}
	return u
}

// Plus is the sum of two. An unknown cost counts as nothing.
func (t Totals) Plus(o Totals) Totals {
	out := Totals{
		Input: t.Input + o.Input, Output: t.Output + o.Output,
		CacheRead: t.CacheRead + o.CacheRead, CacheWrite: t.CacheWrite + o.CacheWrite, USD: cmp.Or(t.USD, o.USD),
	}
	if t.USD != nil && o.USD != nil {
		out.USD = new(*t.USD + *o.USD)
	}
	return out
}

// Since is the increase since an earlier reading.
func (t Totals) Since(old Totals) Totals {
	out := Totals{
		Input: max(t.Input-old.Input, 0), Output: max(t.Output-old.Output, 0),
		CacheRead: max(t.CacheRead-old.CacheRead, 0), CacheWrite: max(t.CacheWrite-old.CacheWrite, 0),
	}
	if t.USD != nil {
		out.USD = t.USD
		if old.USD != nil {
			out.USD = new(max(*t.USD-*old.USD, 0))
		}
	}
	return out
}

// Cumulative turns a program's figures of a whole session into those of this turn: the
// session's last reading is kept in the run's directory. A forked session's figures may
// begin with those of the original.
func (t *Turn) Cumulative(session string, now Totals) (Totals, error) {
	if t.run.Keep == "" || session == "" {
		return now, nil
	}
	old, err := readTotals(t.run.Keep, session)
	if err != nil {
		return now, err
	}
	b, err := json.Marshal(now)
	if err != nil {
		return now, err
	}
	if err := regular.MkdirOwn(t.run.Keep); err != nil {
		return now, err
	}
	return now.Since(old), atomicfile.WriteOwn(totalsFile(t.run.Keep, session), b, 0o600)
}

// Forked records that a session is a copy of another, for programs whose figures of the
// copy begin with those of the original.
func (t *Turn) Forked(from, to string) error {
	if t.run.Keep == "" || from == "" || to == "" || from == to {
		return nil
	}
	b, err := regular.ReadOwn(totalsFile(t.run.Keep, from))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(totalsFile(t.run.Keep, to)); err == nil {
		return nil // it has been read since
	}
	return atomicfile.WriteOwn(totalsFile(t.run.Keep, to), b, 0o600)
}

func readTotals(dir, session string) (Totals, error) {
	var out Totals
	b, err := regular.ReadOwn(totalsFile(dir, session))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil {
		_ = json.Unmarshal(b, &out) // a damaged file is none: more is counted than was used, never less
	}
	return out, err
}

func totalsFile(dir, session string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, session)
	return filepath.Join(dir, "session-"+text.Head(name, 100)+".json")
}
