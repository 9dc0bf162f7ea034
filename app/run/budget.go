package run

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/ir"
)

// ParseBudget reads what is added to a budget: "usd=+20,tokens=+1M,wall=+1h". An
// empty text adds nothing.
func ParseBudget(text string) (ir.Budget, error) {
	var b ir.Budget
	if text == "" {
		return b, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		bad := func() error {
			return exit.Usagef("--budget %s: write what is added, such as usd=+20, tokens=+1M or wall=+1h", part)
		}
		value, plus := strings.CutPrefix(value, "+")
		if !ok || !plus {
			return b, bad()
		}
		switch name {
		case "usd":
			f, err := strconv.ParseFloat(strings.TrimPrefix(value, "$"), 64)
			if err != nil || !(f > 0 && f < 1e9) {
				return b, bad()
			}
			b.USDMicro += int64(math.Round(f * 1e6))
		case "tokens":
			n, ok := parseTokens(value)
			if !ok {
				return b, bad()
			}
			b.Tokens += n
		case "wall":
			d, err := time.ParseDuration(value)
			if err != nil || d < time.Millisecond {
				return b, bad()
			}
			b.WallMS += d.Milliseconds()
		default:
			return b, bad()
		}
	}
	return b, nil
}

// parseTokens reads "500000", "500k" or "1.5M".
func parseTokens(text string) (int64, bool) {
	factor := 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, factor = rest, f
			break
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0) || f*factor > 1e15 {
		return 0, false
	}
	return int64(math.Round(f * factor)), true
}
