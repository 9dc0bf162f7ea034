package shepherd

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/policies"
)

// writer writes policy text; policies.Format lays it out.
type writer struct {
	b     strings.Builder
	depth int
	gap   bool // an empty line comes before what is written next
}

func (w *writer) line(s string) {
	if w.gap {
		w.b.WriteByte('\n')
		w.gap = false
	}
	if s != "" {
		w.b.WriteString(strings.Repeat("  ", w.depth) + s)
	}
	w.b.WriteByte('\n')
}

// comment writes sentences as one comment, wrapped; none writes nothing.
func (w *writer) comment(s string) {
	if s == "" {
		return
	}
	const most = 96
	prefix := "#"
	text := prefix
	for word := range strings.FieldsSeq(s) {
		if text != prefix && 2*w.depth+utf8.RuneCountInString(text)+1+utf8.RuneCountInString(word) > most {
			w.line(text)
			text = prefix
			if strings.HasPrefix(s, "- ") {
				text = "#  "
			}
		}
		text += " " + word
	}
	w.line(text)
}

// note writes a comment about a key where there is something to say of it.
func (w *writer) note(is bool, key, format string, args ...any) {
	if is {
		w.comment(key + ": " + fmt.Sprintf(format, args...))
	}
}

func (w *writer) comments(list []string) {
	for _, s := range list {
		w.comment(line(s))
	}
}

// block writes a block; an empty one is left out.
func (w *writer) block(head string, body func()) {
	before, gap := w.b.Len(), w.gap
	w.line(head + " {")
	start := w.b.Len()
	w.depth++
	w.gap = false
	body()
	w.gap = false
	w.depth--
	if w.b.Len() == start {
		text := w.b.String()[:before]
		w.b.Reset()
		w.b.WriteString(text)
		w.gap = gap
		return
	}
	w.line("}")
	w.gap = true
}

// attr writes an attribute that there is.
func (w *writer) attr(is bool, name, value string) {
	if is {
		w.line(name + " = " + value)
	}
}

func (w *writer) text(name, value string) {
	value = line(value)
	w.attr(value != "", name, policies.Quote(value))
}

func (w *writer) texts(name string, list []string) { w.attr(len(list) > 0, name, quoted(list)) }

func quoted(list []string) string {
	q := lists.Map(list, func(s string) string { return policies.Quote(line(s)) })
	return "[" + strings.Join(q, ", ") + "]"
}

func (w *writer) whole(name string, n int64) { w.attr(n != 0, name, strconv.FormatInt(n, 10)) }

func (w *writer) time(name string, ms int64) { w.attr(ms != 0, name, duration(ms)) }

func (w *writer) truth(name string, v bool) { w.attr(v, name, "true") }

// duration writes milliseconds as a policy does: "10m", "7m30s", "1h".
func duration(ms int64) string {
	s := (time.Duration(ms) * time.Millisecond).String()
	if t, ok := strings.CutSuffix(s, "m0s"); ok {
		s = t + "m"
	}
	if t, ok := strings.CutSuffix(s, "h0m"); ok {
		s = t + "h"
	}
	return policies.Quote(s)
}

// write writes everything.
func (c *conversion) write() string {
	w := &writer{}
	w.comment("From Agent Shepherd: " + c.names() + ".")
	w.comment("Written once by ralph import --as shepherd; it is yours now. A comment that begins with a key says what has no place here, or is something else.")
	w.gap = true
	w.block("ralph", func() {
		var words []string
		add := func(list []string) {
			for _, s := range list {
				if !slices.Contains(policies.Vocabulary, s) && s != "all" {
					words = lists.Include(words, s)
				}
			}
		}
		for _, a := range c.agents {
			add(a.capabilities)
		}
		for _, p := range c.policies {
			for _, ph := range p.phases {
				if !ph.person {
					add(ph.capabilities)
				}
			}
		}
		slices.Sort(words)
		w.wrapped("capabilities", words)
	})
	c.writeAgents(w)
	c.writeSettings(w)
	c.writeGates(w)
	for _, p := range c.policies {
		c.writePolicy(w, p)
	}
	rest := slices.Concat(c.config.comments, c.outside)
	if len(rest) > 0 {
		w.gap = true
		w.comment("Without a place in a policy:")
		for _, s := range rest {
			w.comment("- " + line(s))
		}
	}
	return w.b.String()
}

// names lists the files.
func (c *conversion) names() string {
	out := lists.Map(c.sources, func(s *source) string { return line(path.Base(s.Name)) })
	return strings.Join(slices.Compact(out), ", ")
}

// wrapped writes a list, several lines of it if it is long.
func (w *writer) wrapped(name string, list []string) {
	const most = 84
	if one := quoted(list); len(list) == 0 || len(one) <= most {
		w.texts(name, list)
		return
	}
	w.line(name + " = [")
	w.depth++
	text := ""
	for _, s := range list {
		q := policies.Quote(line(s)) + ","
		if text != "" && len(text)+1+len(q) > most {
			w.line(text)
			text = ""
		}
		text = strings.TrimSpace(text + " " + q)
	}
	w.line(text)
	w.depth--
	w.line("]")
}

// writeSettings writes what is in config.yaml.
func (c *conversion) writeSettings(w *writer) {
	k := &c.config
	_, asks := c.asks()
	w.block("hitl", func() {
		if asks {
			people := c.people()
			if len(people) == 0 {
				people = []string{c.approver}
				w.comment("Agent Shepherd takes anybody's approval. Write who may approve.")
			}
			w.texts("approvers", people)
		}
		w.takeover(k)
	})
	w.stall(k.stalls().without(builtinStall))
	w.block("concurrency", func() {
		w.whole("nodes", other(k.runs, 10))
	})
	if k.pollMS == 0 && k.runs == 0 {
		return
	}
	w.block(`tracker "bd"`, func() {
		w.time("poll", other(k.pollMS, 15_000))
		w.whole("max_concurrent_runs", other(k.runs, 1))
		if asks {
			w.comment("Labels human:approved and human:changes_requested decide, as in Agent Shepherd. Whoever may write to the database may say to be somebody else.")
			w.attr(true, "approvals", "true")
		}
	})
}

func (w *writer) takeover(k *config) {
	w.text("on_human_message", other(k.takeover, "pause"))
	w.time("idle_cooldown", other(k.cooldownMS, 120_000))
}

func (w *writer) retry(r retry) {
	w.block("retry", func() {
		w.whole("attempts", r.attempts)
		w.text("backoff", r.backoff)
		w.time("initial", r.initial)
		w.time("max", r.maxMS)
	})
}

func (w *writer) stall(s stall) {
	w.block("stall", func() {
		w.time("after", s.afterMS)
		w.text("action", s.action)
		w.attr(s.agent != "", "agent", policies.Reference("agent", s.agent))
	})
}

// writeGates writes the gates of success criteria.
func (c *conversion) writeGates(w *writer) {
	for _, g := range c.gates {
		w.comment("success_criteria of " + g.of)
		w.block("gate "+policies.Quote(g.name), func() {
			w.text("kind", "agent")
			w.texts("capabilities", []string{g.capability})
			w.line("prompt = <<-EOT")
			w.line("  Pass only if all of this holds:")
			for _, s := range g.list {
				w.line("  - " + strings.NewReplacer("${", "$${", "%{", "%%{").Replace(line(s)))
			}
			w.line("EOT")
		})
	}
}
