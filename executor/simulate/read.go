package simulate

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/yaml"
)

// Parse reads a scenario: YAML, or JSON, which is YAML too. The error names every
// line that cannot be understood.
func Parse(file string, text []byte) (*Scenario, error) {
	doc, err := yaml.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	r := &reader{file: file, text: string(text)}
	s := &Scenario{Start: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), Wait: true}
	r.fields(doc, map[string]func(*yaml.Node){
		"seed":    func(n *yaml.Node) { s.Seed = uint64(r.whole(n, 0, math.MaxInt64)) },
		"start":   func(n *yaml.Node) { s.Start = r.date(n) },
		"slots":   func(n *yaml.Node) { s.Slots = int(r.whole(n, 1, 1_000_000)) },
		"wait":    func(n *yaml.Node) { s.Wait = r.truth(n) },
		"agents":  func(n *yaml.Node) { r.each(n, func(n *yaml.Node) { s.Agents = append(s.Agents, r.agent(n)) }) },
		"gates":   func(n *yaml.Node) { r.each(n, func(n *yaml.Node) { s.Gates = append(s.Gates, r.gate(n)) }) },
		"effects": func(n *yaml.Node) { r.each(n, func(n *yaml.Node) { s.Effects = append(s.Effects, r.effect(n)) }) },
		"pulls":   func(n *yaml.Node) { r.each(n, func(n *yaml.Node) { s.Pulls = append(s.Pulls, r.pull(n)) }) },
		"people": func(n *yaml.Node) {
			s.People = []PersonRule{}
			r.each(n, func(n *yaml.Node) { s.People = append(s.People, r.person(n)) })
		},
		"crashes": func(n *yaml.Node) { r.each(n, func(n *yaml.Node) { s.Crashes = append(s.Crashes, r.crash(n)) }) },
	})
	return s, errors.Join(r.wrong...)
}

// reader turns nodes into values and collects what is wrong.
type reader struct {
	file, text string
	wrong      []error
}

func (r *reader) bad(n *yaml.Node, format string, args ...any) {
	line := 1 + strings.Count(r.text[:min(max(n.Start, 0), len(r.text))], "\n")
	r.wrong = append(r.wrong, fmt.Errorf("%s:%d: %s", r.file, line, fmt.Sprintf(format, args...)))
}

// fields reads a mapping whose keys are known.
func (r *reader) fields(n *yaml.Node, known map[string]func(*yaml.Node)) {
	if n.Kind == yaml.Null {
		return
	}
	if n.Kind != yaml.Mapping {
		r.bad(n, "write fields here, such as \"takes: 10m\"")
		return
	}
	for i, k := range n.Keys {
		read, ok := known[k.Value]
		if !ok {
			r.bad(k, "%q has no effect here; write one of %s", k.Value, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			continue
		}
		read(n.Values[i])
	}
}

func (r *reader) each(n *yaml.Node, read func(*yaml.Node)) {
	if n.Kind != yaml.Sequence {
		r.bad(n, "write a list here, each entry after a dash")
		return
	}
	for _, v := range n.Values {
		read(v)
	}
}

func (r *reader) str(n *yaml.Node) string {
	if n.Kind != yaml.Scalar {
		r.bad(n, "write a text here")
	}
	return n.Value
}

func (r *reader) list(n *yaml.Node) (out []string) {
	r.each(n, func(n *yaml.Node) { out = append(out, r.str(n)) })
	return out
}

func (r *reader) word(n *yaml.Node, words ...string) string {
	w := r.str(n)
	if !slices.Contains(words, w) {
		r.bad(n, "%q is none of %s", w, strings.Join(words, ", "))
	}
	return w
}

func (r *reader) truth(n *yaml.Node) bool { return r.word(n, "true", "false") == "true" }

func (r *reader) whole(n *yaml.Node, low, high int64) int64 {
	v, err := strconv.ParseInt(strings.ReplaceAll(r.str(n), "_", ""), 10, 64)
	if err != nil || v < low || v > high {
		r.bad(n, "%q is not a whole number from %d to %d", n.Value, low, high)
		return low
	}
	return v
}

func (r *reader) date(n *yaml.Node) time.Time {
	t, err := time.Parse(time.RFC3339, r.str(n))
	if err != nil {
		r.bad(n, "%q is not a time such as 2026-03-01T18:00:00Z", n.Value)
	}
	return t.UTC()
}

// maxSpan keeps sums of times far from the end of what a time can be.
const maxSpan = 10 * 365 * 24 * time.Hour

func (r *reader) span1(n *yaml.Node, text string) time.Duration {
	text = strings.TrimSpace(text)
	days, rest, found := strings.Cut(text, "d")
	total := time.Duration(0)
	if found {
		d, err := strconv.Atoi(days)
		if err != nil || d < 0 || d > 3650 {
			r.bad(n, "%q is not a time such as 90s, 10m, 1h30m or 2d", text)
			return 0
		}
		total, text = time.Duration(d)*24*time.Hour, rest
	}
	if text != "" || !found {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 || d > maxSpan {
			r.bad(n, "%q is not a time such as 90s, 10m, 1h30m or 2d", text)
			return 0
		}
		total += d
	}
	return total
}

func (r *reader) duration(n *yaml.Node) time.Duration { return r.span1(n, r.str(n)) }

func (r *reader) span(n *yaml.Node) Span {
	from, to, ranged := strings.Cut(r.str(n), "..")
	s := Span{From: r.span1(n, from)}
	s.To = s.From
	if ranged {
		s.To = r.span1(n, to)
	}
	if s.To < s.From {
		r.bad(n, "%q goes backwards", n.Value)
	}
	return s
}

func (r *reader) numbers(n *yaml.Node) Range {
	from, to, ranged := strings.Cut(r.str(n), "..")
	if !ranged {
		to = from
	}
	a, err1 := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || a < 1 || b < a {
		r.bad(n, "%q is not a number from 1, or two such as 1..3", n.Value)
	}
	return Range{a, b}
}

func (r *reader) chance(n *yaml.Node) float64 {
	text, percent := strings.CutSuffix(r.str(n), "%")
	v, err := strconv.ParseFloat(text, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		r.bad(n, "%q is not a chance such as 20%% or 0.2", n.Value)
		return 1
	}
	return v
}

func (r *reader) usd(n *yaml.Node) int64 {
	v, err := strconv.ParseFloat(r.str(n), 64)
	if err != nil || !(v >= 0 && v < 1e9) {
		r.bad(n, "%q is not an amount of dollars such as 1.20", n.Value)
		return 0
	}
	return int64(math.Round(v * 1e6))
}

// with adds the fields of a Match to those of a rule.
func (r *reader) with(m *Match, more map[string]func(*yaml.Node)) map[string]func(*yaml.Node) {
	m.Chance = 1
	more["node"] = func(n *yaml.Node) {
		m.Node = r.str(n)
		if _, err := path.Match(m.Node, ""); err != nil {
			r.bad(n, "%q is not a pattern of keys", m.Node)
		}
	}
	more["step"] = func(n *yaml.Node) { m.Step = r.str(n) }
	more["attempt"] = func(n *yaml.Node) { m.Attempt = r.numbers(n) }
	more["chance"] = func(n *yaml.Node) { m.Chance = r.chance(n) }
	more["times"] = func(n *yaml.Node) { m.Times = int(r.whole(n, 1, math.MaxInt32)) }
	return more
}

var classes = []string{
	string(executor.FailConflict), string(executor.FailConfig), string(executor.FailTransient),
	string(executor.FailCrash), string(executor.FailLimit), string(executor.FailLost),
}

func (r *reader) agent(n *yaml.Node) AgentRule {
	a := AgentRule{Takes: Span{10 * time.Minute, 10 * time.Minute}, Result: "success", End: string(executor.EndExited), Action: "human"}
	r.fields(n, r.with(&a.Match, map[string]func(*yaml.Node){
		"agent":     func(n *yaml.Node) { a.Agent = r.str(n) },
		"iteration": func(n *yaml.Node) { a.Iteration = r.numbers(n) },
		"takes":     func(n *yaml.Node) { a.Takes = r.span(n) },
		"result":    func(n *yaml.Node) { a.Result = r.word(n, "success", "partial", "failed", "none") },
		"next_action": func(n *yaml.Node) {
			a.Next = r.word(n, "advance_phase", "repeat_phase", "need_human", "none")
		},
		"suggested_next_phase": func(n *yaml.Node) { a.Suggests = r.str(n) },
		"summary":              func(n *yaml.Node) { a.Summary = r.str(n) },
		"needs_human":          func(n *yaml.Node) { a.Human = r.truth(n) },
		"fatal":                func(n *yaml.Node) { a.Fatal = r.truth(n) },
		"end":                  func(n *yaml.Node) { a.End = r.word(n, "exited", "timeout", "stalled", "taken_over") },
		"fails":                func(n *yaml.Node) { a.Fails = r.word(n, append([]string{string(executor.FailSession)}, classes...)...) },
		"session":              func(n *yaml.Node) { a.Session = r.truth(n) },
		"until":                func(n *yaml.Node) { a.Until = r.duration(n) },
		"message":              func(n *yaml.Node) { a.Message = r.str(n) },
		"tokens":               func(n *yaml.Node) { a.Tokens = new(r.whole(n, 0, math.MaxInt64/2)) },
		"usd":                  func(n *yaml.Node) { a.USDMicro = new(r.usd(n)) },
		"action":               func(n *yaml.Node) { a.Action = r.word(n, "retry", "fail", "human") },
	}))
	return a
}

func (r *reader) gate(n *yaml.Node) GateRule {
	g := GateRule{Takes: Span{30 * time.Second, 30 * time.Second}, Verdict: executor.Pass}
	r.fields(n, r.with(&g.Match, map[string]func(*yaml.Node){
		"gate":      func(n *yaml.Node) { g.Gate = r.str(n) },
		"red":       func(n *yaml.Node) { g.Red = r.truth(n) },
		"takes":     func(n *yaml.Node) { g.Takes = r.span(n) },
		"verdict":   func(n *yaml.Node) { g.Verdict = executor.Verdict(r.word(n, "pass", "fail", "stop", "error")) },
		"message":   func(n *yaml.Node) { g.Message = r.str(n) },
		"signature": func(n *yaml.Node) { g.Signature = r.str(n) },
		"fails":     func(n *yaml.Node) { g.Fails = r.word(n, classes...) },
		"tokens":    func(n *yaml.Node) { g.Tokens = new(r.whole(n, 0, math.MaxInt64/2)) },
		"usd":       func(n *yaml.Node) { g.USDMicro = new(r.usd(n)) },
	}))
	return g
}

func (r *reader) effect(n *yaml.Node) EffectRule {
	e := EffectRule{Takes: Span{time.Second, time.Second}}
	r.fields(n, r.with(&e.Match, map[string]func(*yaml.Node){
		"effect": func(n *yaml.Node) {
			e.Effect = executor.EffectKind(r.word(n, "base", "prepare", "collect", "publish", "land", "pull"))
		},
		"takes":    func(n *yaml.Node) { e.Takes = r.span(n) },
		"fails":    func(n *yaml.Node) { e.Fails = r.word(n, classes...) },
		"message":  func(n *yaml.Node) { e.Message = r.str(n) },
		"paths":    func(n *yaml.Node) { e.Paths = r.list(n) },
		"problems": func(n *yaml.Node) { e.Problems = r.list(n) },
	}))
	if e.Effect == "" && n.Kind == yaml.Mapping {
		r.bad(n, "say which effect: base, prepare, collect, publish, land or pull")
	}
	return e
}

func (r *reader) pull(n *yaml.Node) PullRule {
	p := PullRule{Takes: Span{time.Hour, time.Hour}, State: "merged"}
	r.fields(n, r.with(&p.Match, map[string]func(*yaml.Node){
		"after":   func(n *yaml.Node) { p.Takes = r.span(n) },
		"state":   func(n *yaml.Node) { p.State = r.word(n, "merged", "closed", "open") },
		"comment": func(n *yaml.Node) { p.Comment = r.str(n) },
	}))
	return p
}

func (r *reader) person(n *yaml.Node) PersonRule {
	p := PersonRule{When: true, After: Span{10 * time.Minute, 10 * time.Minute}}
	at, after := false, false
	r.fields(n, r.with(&p.Match, map[string]func(*yaml.Node){
		"at":    func(n *yaml.Node) { p.At, p.When, at = r.duration(n), false, true },
		"after": func(n *yaml.Node) { p.After, after = r.span(n), true },
		"cause": func(n *yaml.Node) { p.Cause, after = executor.Cause(r.str(n)), true },
		"does": func(n *yaml.Node) {
			p.Verb = executor.Verb(r.word(n, "approve", "reject", "retry", "skip", "pause", "resume", "cancel"))
		},
		"how": func(n *yaml.Node) {
			p.How = executor.How(r.word(n, "gates-only", "discard", "keep-old", "override", "force"))
		},
		"message": func(n *yaml.Node) { p.Message = r.str(n) },
		"by":      func(n *yaml.Node) { p.By = r.str(n) },
		"usd":     func(n *yaml.Node) { p.USD = r.usd(n) },
		"tokens":  func(n *yaml.Node) { p.Tokens = r.whole(n, 0, math.MaxInt64/2) },
		"wall":    func(n *yaml.Node) { p.Wall = r.duration(n) },
	}))
	switch {
	case n.Kind != yaml.Mapping:
	case p.Verb == "":
		r.bad(n, "say what the person does: approve, reject, retry, skip, pause, resume or cancel")
	case at && after:
		r.bad(n, "\"at\" is a time of the run; \"after\" and \"cause\" are about a node that waits: write one of the two")
	}
	return p
}

func (r *reader) crash(n *yaml.Node) Crash {
	c := Crash{At: -1, Down: time.Minute}
	if n.Kind == yaml.Scalar {
		c.At = r.duration(n)
		return c
	}
	r.fields(n, map[string]func(*yaml.Node){
		"at":   func(n *yaml.Node) { c.At = r.duration(n) },
		"down": func(n *yaml.Node) { c.Down = r.duration(n) },
	})
	if c.At < 0 {
		r.bad(n, "say when: a time such as 1h30m, or \"at: 1h30m\"")
	}
	return c
}
