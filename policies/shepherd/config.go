package shepherd

import (
	"cmp"
	"fmt"

	"github.com/ralph-compiler/ralph/internal/yaml"
)

// config is what config.yaml comes to.
type config struct {
	runs       int64   // max_concurrent_runs; 0: nothing said
	pollMS     int64   // of the worker
	stallMS    int64   // of the monitor
	stall      string  // what a stall does: fail, retry, diagnose
	diagnoser  node    // the agent that looks into a stall
	takeover   string  // what a person's message does: pause, review, cooldown
	cooldownMS int64   // quiet time before the agent goes on
	multiplier float64 // of every timeout; 0: nothing said
	fallback   fallback
	comments   []string
}

// fallback says who works if no one has what a phase asks for.
type fallback struct {
	enabled, said bool
	agent         node
	mappings      node // capability: agent
}

// Sections of config.yaml that have no place in a policy, and why.
var otherSections = []struct{ key, reason string }{
	{"ui", "ralph serves no page; ralph status, ralph monitor and ralph report show the runs"},
	{"workflow", "A plan that names a policy which is not there is always an error"},
	{"hitl", "ralph says itself why something waits for a person"},
	{"loop_prevention", "Attempts and the breaker end loops, and a fail only leads back"},
	{"worker_assistant", "An outcome that cannot be read is asked for once more and then is a failure"},
	{"cleanup", "Nothing is deleted by itself; git { cleanup } and worktrees are another matter"},
	{"retention", "The journal keeps every run"},
}

// readConfig reads the keys of config.yaml; false if there is none of them.
func (c *conversion) readConfig(f *fields) bool {
	k := &c.config
	any := false
	worker := func(w *fields) {
		if v, n := w.whole("max_concurrent_runs", 1, 1000); !n.absent() {
			k.runs, any = v, true
		}
		for _, key := range []string{"poll_interval_ms", "poll_ms"} {
			if v := w.ms(key); v > 0 {
				k.pollMS, any = v, true
			}
		}
	}
	worker(f) // the specification has them at the top, the program in a section
	c.monitor(f, k)
	any = any || k.stallMS > 0 || k.takeover != "" || k.stall != ""
	section := func(key string, read func(*fields)) {
		any = any || !f.get(key).absent()
		if s, ok := f.section(key, "settings"); ok {
			read(s)
			k.comments = append(k.comments, s.rest(key+".")...)
		}
	}
	section("worker", worker)
	section("monitor", func(m *fields) {
		c.monitor(m, k)
		if n := m.get("poll_interval_ms"); !n.absent() {
			k.comments = append(k.comments, "monitor."+c.leaveOut(n, "ralph hears of what happens when it happens"))
		}
		if v, n := m.number("timeout_multiplier", 0.01, 100); !n.absent() {
			k.multiplier = v
		}
	})
	section("fallback", func(s *fields) {
		k.fallback.enabled, k.fallback.said = s.truth("enabled")
		_, k.fallback.agent = s.text("default_agent")
		k.fallback.mappings = s.get("mappings")
		c.mapping(k.fallback.mappings)
	})
	for _, s := range otherSections {
		if n := f.get(s.key); !n.absent() {
			any = true
			n.in.leftOut = append(n.in.leftOut, n)
			k.comments = append(k.comments, fmt.Sprintf("%s: %s.", s.key, s.reason))
		}
	}
	c.configured = c.configured || any
	return any
}

// monitor reads what supervises runs; it may be in config.yaml, in its section
// monitor, and in a policy.
func (c *conversion) monitor(f *fields, k *config) {
	if v := f.ms("stall_threshold_ms"); v > 0 {
		k.stallMS = v
	}
	if w, n := f.word("stall_action", map[string]string{
		"fail": "fail", "retry": "retry", "diagnose": "diagnose", "diagnostic": "diagnose", "diagnostic_agent": "diagnose",
	}); !n.absent() {
		k.stall = w
	}
	if s, n := f.text("diagnostic_agent"); s != "" {
		k.diagnoser = n
		k.stall = cmp.Or(k.stall, "diagnose")
	}
	if w, n := f.word("human_takeover", map[string]string{
		"pause": "pause", "review": "review", "treat_as_review": "review", "resume": "cooldown", "cooldown": "cooldown",
		"resume_after_idle": "cooldown", "resume_after_cooldown": "cooldown",
	}); !n.absent() {
		k.takeover = w
	}
	if v := f.ms("idle_cooldown_ms"); v > 0 {
		k.cooldownMS = v
	}
}

// mapping checks an object of texts.
func (c *conversion) mapping(n node) {
	if n.absent() {
		return
	}
	if f, ok := c.fields(n, "agents by capability"); ok {
		for _, k := range n.Keys {
			f.text(k.Value)
		}
	}
}

// mapped is the agent that a mapping has for one of some capabilities, the first
// that it knows.
func mapped(n node, capabilities []string) node {
	if n.absent() || n.Kind != yaml.Mapping {
		return node{}
	}
	for _, want := range capabilities {
		for i, k := range n.Keys {
			if k.Value == want && n.Values[i].Kind == yaml.Scalar {
				return node{Node: n.Values[i], in: n.in, path: join(n.path, k.Value), key: k}
			}
		}
	}
	return node{}
}
