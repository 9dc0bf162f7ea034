package compiler

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// fits reports whether the value of a scalar label can be what the label
// means. What the policy knows (levels, lanes, policies, models) is looked up
// later, by the passes.
func (l *lowering) fits(lb *syntax.Label, to *ir.Stated) bool {
	s := *to
	if s.Value == "" && lb.Name != syntax.Approval {
		return l.unfit(lb, s, "a value")
	}
	switch lb.Name {
	case syntax.Priority:
		if _, ok := priority(s.Value); !ok {
			return l.unfit(lb, s, "0 to 4, P0 to P4, or critical, high, medium, low, minimal")
		}
	case syntax.Attempts, syntax.Iterations:
		if n, err := strconv.Atoi(s.Value); err != nil || n < 1 || n > maxCount {
			return l.unfit(lb, s, "a whole number from 1")
		}
	case syntax.Timeout, syntax.Estimate:
		if _, err := policies.ParseDuration(duration(s.Value)); err != nil {
			return l.unfit(lb, s, "a duration such as 90s, 20m, 1h30m or 2d")
		}
	case syntax.Deadline:
		if _, ok := ir.Deadline(s.Value); !ok {
			return l.unfit(lb, s, "a date such as 2026-01-31, or a time such as 2026-01-31T18:00:00Z")
		}
	case syntax.Budget:
		if _, ok := budget(s.Value); !ok {
			return l.unfit(lb, s, "an amount such as $2.50, 200k tokens or 30m")
		}
	case syntax.Access:
		return l.oneOf(lb, to, []string{"read", "write"}, "read or write")
	case syntax.Session:
		if v := strings.ToLower(s.Value); v != "fresh" && v != "resume" {
			return l.unfit(lb, s, "fresh or resume")
		}
	case syntax.Approval:
		const form = "\"required from @a, @b within 48h\", \"required\" or \"none\", on one line"
		if s.Value == "" {
			return l.invalidControl(lb, s, form, "It says who has to approve the work.")
		}
		if _, err := policies.ParseApproval(s.Value); err != nil {
			return l.invalidControl(lb, s, form, upperFirst(err.Error())+".")
		}
	case syntax.Complexity:
		return l.oneOf(lb, to, l.levels, "one of "+strings.Join(l.levels, ", "))
	case syntax.Policy:
		if strings.ContainsAny(s.Value, " \t") { // one word that no policy has is an error later
			return l.oneOf(lb, to, l.named, "one word")
		}
	case syntax.Lane, syntax.Type, syntax.Model:
		if strings.ContainsAny(s.Value, " \t") {
			return l.unfit(lb, s, "one word")
		}
	}
	return true
}

const maxCount = 10_000

// unfit reports a value that does not fit: prose with a warning, in a directive
// an error. It returns false.
func (l *lowering) unfit(lb *syntax.Label, s ir.Stated, want string) bool {
	d := diag.Newf("label-value", s.Range, "%s: %q is not a value for it", lb.Written, clip(s.Value)).
		WithDetail("The value of %s is %s. As written, the line is prose.", lb.Written, want)
	if lb.From == syntax.FromDirective {
		d = diag.Newf("directive-value", s.Range, "%s: %q is not a value for it", lb.Written, clip(s.Value)).
			WithDetail("The value of %s is %s. Write it so.", lb.Written, want)
	}
	l.diags.Add(d)
	return false
}

// oneOf takes a value for one of the known words, in any case, in the singular or
// the plural. One that nearly is such a word is an error.
func (l *lowering) oneOf(lb *syntax.Label, s *ir.Stated, known []string, want string) bool {
	written := s.Value
	if lb.From != syntax.FromDirective { // people end a line with a full stop
		written = strings.TrimSuffix(written, ".")
	}
	if w, ok := syntax.KnownWord(written, known); ok {
		s.Value = w
		return true
	}
	if near, ok := syntax.NearMiss(s.Value, known); ok && lb.From != syntax.FromDirective {
		l.diags.Add(depend.NearValue(s.Range, s.Value, near, lb.Written))
		return false
	}
	return l.unfit(lb, *s, want)
}

// invalidControl reports a value of a label that asks for a person: what is not
// understood is never taken for none.
func (l *lowering) invalidControl(lb *syntax.Label, s ir.Stated, want, why string) bool {
	if lb.From == syntax.FromDirective {
		return l.unfit(lb, s, want)
	}
	d := diag.Newf("control-value", s.Range, "%s: %q is not a value for it", clip(lb.Written), clip(s.Value))
	if s.Value == "" {
		d = diag.Newf("control-value", s.Range, "%s has an invalid value", clip(lb.Written))
	}
	l.diags.Add(d.WithDetail("%s The value of %s is %s. If the line is only text, write it without bold and colon.", why, lb.Written, want))
	return false
}

// priority reads the canonical scale, 0 (critical) to 4 (minimal).
func priority(s string) (int, bool) {
	s = strings.ToLower(s)
	if i := slices.Index([]string{"critical", "high", "medium", "low", "minimal"}, s); i >= 0 {
		return i, true
	}
	s = strings.TrimPrefix(s, "p")
	if len(s) == 1 && s[0] >= '0' && s[0] <= '4' {
		return int(s[0] - '0'), true
	}
	return 0, false
}

// duration accepts spellings of people: "2 h", "20 min", "1 hour", "3 days".
func duration(s string) string {
	s = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(s, "~")))
	num, unit, ok := strings.Cut(s, " ")
	if !ok {
		return s
	}
	switch strings.TrimSpace(unit) {
	case "s", "sec", "secs", "second", "seconds":
		return num + "s"
	case "m", "min", "mins", "minute", "minutes":
		return num + "m"
	case "h", "hr", "hrs", "hour", "hours":
		return num + "h"
	case "d", "day", "days":
		return num + "d"
	}
	return s
}

// budget reads "$2.50", "200k tokens", "30m", and several with commas.
func budget(s string) (ir.Budget, bool) {
	var b ir.Budget
	for part := range strings.SplitSeq(s, ",") {
		part = strings.ToLower(strings.TrimSpace(part))
		if t, ok := strings.CutSuffix(part, "tokens"); ok {
			n, ok := tokens(strings.TrimSpace(t))
			if !ok {
				return b, false
			}
			b.Tokens = n
			continue
		}
		if ms, err := policies.ParseDuration(duration(part)); err == nil && ms > 0 {
			b.WallMS = ms
			continue
		}
		usd, err := policies.ParseUSD(part)
		if err != nil || usd <= 0 { // nothing at all would be taken for no limit
			return b, false
		}
		b.USDMicro = usd
	}
	return b, true
}

func tokens(s string) (int64, bool) {
	mul := int64(1)
	if t, ok := strings.CutSuffix(s, "k"); ok {
		s, mul = t, 1000
	} else if t, ok := strings.CutSuffix(s, "m"); ok {
		s, mul = t, 1_000_000
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(s), "_", ""), 10, 64)
	return n * mul, err == nil && n > 0 && n < 1_000_000_000
}

// didYouMean ends a sentence with the nearest known word, if there is one.
func didYouMean(word string, known []string) string {
	if near, ok := spell.Nearest(word, known); ok {
		return " Did you mean \"" + near + "\"?"
	}
	return ""
}
