package policies

import (
	"regexp/syntax"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// costFactor is how much more than a look at its arguments a function costs.
var costFactor = map[string]int{
	"distinct": 16, "toset": 16, "setunion": 16, "setintersection": 16, "setsubtract": 16, "setsymmetricdifference": 16, "setproduct": 16,
	"zipmap": 4, "merge": 4, "sort": 4, "flatten": 4, "jsondecode": 16, "csvdecode": 32, "jsonencode": 4, "index": 2, "contains": 2,
}

// quadratic functions compare each element with each other.
var quadratic = map[string]bool{"distinct": true}

// product is how many elements setproduct makes: each is a value of its own, sorted.
func product(args []cty.Value) int {
	n := 1
	for _, a := range args {
		n = min(n*max(length(a), 1), maxPlanCost)
	}
	return n
}

// length is how many elements a value has, as far as that is known.
func length(v cty.Value) int {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
		return 0
	}
	return v.LengthInt()
}

// paid returns f paying for its arguments before it looks at them: the meter sees a
// result only after it has been made. What is not known yet costs nothing.
func (s *scope) paid(name string, f function.Function) function.Function {
	factor := max(costFactor[name], 1)
	return guarded(f, true, func(args []cty.Value) error {
		s.meter.spend(callCost(name, args))
		for _, a := range args {
			before := s.meter.left
			s.meter.charge(a, true)
			s.meter.spend((factor - 1) * (before - s.meter.left))
			if quadratic[name] {
				s.meter.spend(length(a) * length(a) / 8)
			}
		}
		if name == "setproduct" {
			s.meter.spend(64 * product(args))
		}
		return nil
	})
}

// patternFactor is roughly how often a regular expression is compiled.
const patternFactor = 4

// patternCost is how many steps a regular expression becomes: repetitions are written
// out. One that cannot be read is not compiled.
func patternCost(p string) int {
	re, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return 1 + len(p)
	}
	return len(p)/8 + patternSteps(re)
}

func patternSteps(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n += patternSteps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// callCost is what a call costs beside its arguments. A regular expression is read
// anew each time, repetitions written out, and its steps go over the whole text.
func callCost(name string, args []cty.Value) int {
	switch {
	case name == "range":
		return 1024
	case !strings.HasPrefix(name, "regex"):
		return 2
	}
	pattern, subject := 0, 0
	if name == "regexreplace" && len(args) > 1 {
		args = []cty.Value{args[1], args[0]}
	}
	if p, ok := str(args[0]); ok {
		pattern = patternCost(p)
	}
	if len(args) > 1 {
		t, _ := str(args[1])
		subject = len(t)
	}
	return 64 + patternFactor*pattern + pattern*subject/64
}
