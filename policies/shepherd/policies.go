package shepherd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/yaml"
)

// policy is one entry of policies.yaml.
type policy struct {
	name, title, description string
	labels, types            []string
	manual                   bool
	priority                 int64
	prioritySaid             bool
	phases                   []*phase
	retry                    retry
	baseMS                   int64
	supervision              config // of it: what monitor reads
	hitl                     bool
	fallback                 fallback
	comments                 []string
	isDefault                bool
	at                       node
}

// phase is one step of a workflow.
type phase struct {
	name, step, description string // step: the name as ralph has it
	capabilities            []string
	agent                   node // named by the file
	model                   string
	timeoutMS               int64
	multiplier              float64
	iterations              int64
	retry                   retry
	approval                bool
	criteria                []string
	after                   []node
	fallback                fallback
	onFailure               node
	comments                []string
	at                      node

	// What resolve finds.
	worker   *agent // nil: any that fits
	named    bool   // worker is written into the step
	read     bool   // its access
	person   bool   // only a person does it
	people   []string
	next     string
	gate     string // of its success criteria
	unfit    string // why worker is named: a comment
	moveNote string
}

// retry is how often and how soon.
type retry struct {
	attempts       int64
	backoff        string
	initial, maxMS int64
}

// readPolicies reads a map of policies by name (as the program does) or a list of
// them with ids (as its documents show).
func (c *conversion) readPolicies(n node) {
	switch n.Kind {
	case yaml.Mapping:
		if _, ok := c.fields(n, "policies"); !ok {
			return
		}
		for i, k := range n.Keys {
			v := node{Node: n.Values[i], in: n.in, path: join(n.path, k.Value), key: k}
			if k.Value == "default_policy" && v.Kind == yaml.Scalar {
				c.changed(v, "default_policy is among the policies", "It is taken as the key of that name at the top of the file. Indent it like policies to silence this.")
				c.setDefault(v)
				continue
			}
			if f, ok := c.fields(v, "a policy with phases"); ok {
				f.get("id")
				c.readPolicy(f, k.Value, v)
			}
		}
	case yaml.Sequence:
		for _, v := range n.items() {
			f, ok := c.fields(v, "a policy with phases")
			if !ok {
				continue
			}
			id := f.first("id", "name")
			if id.absent() {
				c.missing(v, "id", "the name of the policy")
				continue
			}
			c.readPolicy(f, c.text(id), id)
		}
	default:
		c.wrong(n, "policies by name")
	}
}

func (c *conversion) readPolicy(f *fields, name string, where node) {
	p := &policy{name: name, at: f.in}
	if name == "" {
		return // it was reported
	}
	if !nameForm.MatchString(name) {
		c.diags.Add(diag.Newf("shepherd-value", where.keyAt(), "policy %q needs another name", clip(name)).
			WithDetail("A policy's name has to be %s.", nameWords))
	}
	for _, o := range c.policies {
		if o.name == name {
			c.diags.Add(diag.Newf("shepherd-value", where.keyAt(), "policy %q appears twice", clip(name)).
				WithDetail("Keep one of them, or give it another name.").WithRelated(o.at.at(), "first here"))
		}
	}
	p.title, _ = f.text("name")
	p.description, _ = f.text("description")
	p.trigger(f)
	p.types, _ = f.texts("issue_types")
	if v, n := f.whole("priority", -1000, 1000); !n.absent() {
		p.priority, p.prioritySaid = v, true
	}
	p.retry = c.retry(f.first("retry", "retry_policy"))
	p.baseMS = f.ms("timeout_base_ms")
	c.monitor(f, &p.supervision)
	p.hitl, _ = f.truth("require_hitl")
	p.fallback = c.fallbackOf(f)
	p.fallback.mappings = f.get("fallback_mappings")
	c.mapping(p.fallback.mappings)
	if n := f.get("worker_assistant"); !n.absent() {
		p.comments = append(p.comments, c.leaveOut(n, "An outcome that cannot be read is asked for once more and then is a failure"))
	}
	c.phases(p, f.get("phases"), f)
	p.comments = append(p.comments, f.rest("")...)
	c.policies = append(c.policies, p)
}

// trigger reads what a policy is for.
func (p *policy) trigger(f *fields) {
	t, ok := f.section("trigger", "type, patterns, priority")
	if !ok {
		return
	}
	kind, _ := t.word("type", map[string]string{"issue": "issue", "label": "issue", "manual": "manual"})
	p.manual = kind == "manual"
	p.labels, _ = t.texts("patterns")
	if v, x := t.whole("priority", -1000, 1000); !x.absent() {
		p.priority, p.prioritySaid = v, true
	}
	if p.manual {
		p.labels = nil
	}
	p.comments = append(p.comments, t.rest("trigger.")...)
}

func (c *conversion) fallbackOf(f *fields) (b fallback) {
	b.enabled, b.said = f.truth("fallback_enabled")
	if n := f.first("fallback_agent", "fallback"); !n.absent() && c.text(n) != "" {
		b.agent = n
	}
	return b
}

func (c *conversion) retry(n node) (r retry) {
	if n.absent() {
		return r
	}
	f, ok := c.fields(n, "max_attempts, backoff_strategy, initial_delay_ms, max_delay_ms")
	if !ok {
		return r
	}
	r.attempts, _ = f.whole("max_attempts", 1, 1000)
	words := map[string]string{"exponential": "exponential", "linear": "linear", "fixed": "fixed"}
	one, _ := f.word("backoff_strategy", words)
	other, _ := f.word("backoff", words)
	r.backoff = cmp.Or(one, other)
	r.initial, r.maxMS = f.ms("initial_delay_ms"), f.ms("max_delay_ms")
	if r.initial > 0 && r.maxMS > 0 && r.initial > r.maxMS {
		c.wrong(f.get("initial_delay_ms"), "at most max_delay_ms, %d", r.maxMS)
	}
	c.outside = append(c.outside, f.rest(n.path+".")...)
	return r
}

func (c *conversion) phases(p *policy, n node, f *fields) {
	if n.absent() || n.Kind == yaml.Sequence && len(n.Values) == 0 {
		if !f.used["phases"] || n.absent() {
			c.missing(f.in, "phases", "the list of the workflow's phases")
			return
		}
		c.wrong(n, "a list with at least one phase")
		return
	}
	if n.Kind != yaml.Sequence {
		c.wrong(n, "a list of phases")
		return
	}
	for _, x := range n.items() {
		if x.Kind == yaml.Scalar && strings.TrimSpace(x.Value) != "" { // phases: [plan, implement]
			c.addPhase(p, &phase{name: x.Value, at: x}, x)
			continue
		}
		if f, ok := c.fields(x, "a phase with a name"); ok {
			c.phase(p, f)
		}
	}
}

func (c *conversion) phase(p *policy, f *fields) {
	ph := &phase{at: f.in}
	name, where := f.text("name")
	if where.absent() {
		c.missing(f.in, "name", "the name of the phase")
	}
	ph.name = name
	ph.description, _ = f.text("description")
	ph.capabilities, _ = f.texts("capabilities")
	if n := f.get("agent"); !n.absent() && c.text(n) != "" {
		ph.agent = n
	}
	ph.model, _ = f.text("model")
	ph.timeoutMS = f.ms("timeout_ms")
	ph.multiplier, _ = f.number("timeout_multiplier", 0.01, 100)
	ph.iterations, _ = f.whole("max_iterations", 1, 1000)
	ph.retry = c.retry(f.first("retry_policy", "retry"))
	ph.approval, _ = f.truth("require_approval")
	ph.criteria, _ = f.texts("success_criteria")
	if n := f.get("depends_on"); !n.absent() {
		switch n.Kind {
		case yaml.Sequence:
			ph.after = n.items()
		case yaml.Scalar:
			ph.after = []node{n}
		default:
			c.wrong(n, "a list of phases")
		}
	}
	ph.fallback = c.fallbackOf(f)
	ph.comments = append(ph.comments, f.leaveOutAll("", [][2]string{
		{"max_visits", "retry { attempts } and the breaker end loops"},
		{"worker_assistant", "An outcome that cannot be read is asked for once more and then is a failure"},
		{"custom_prompt", "What an agent is told comes from the plan and its agent file"},
		{"reuse_session_from_phase", "A session goes on within one step only"},
	}...)...)
	c.transitions(ph, f.get("transitions"))
	ph.comments = append(ph.comments, f.rest("")...)
	c.addPhase(p, ph, where)
}

// addPhase gives a phase the name of a step.
func (c *conversion) addPhase(p *policy, ph *phase, where node) {
	if ph.name == "" {
		return // it was reported
	}
	ph.step = stepName(ph.name)
	if ph.step == "" {
		c.wrong(where, "a name with letters or digits")
		return
	}
	if ph.step != ph.name {
		ph.comments = append(ph.comments, fmt.Sprintf("name: %s.", line(ph.name)))
	}
	for _, o := range p.phases {
		if o.step == ph.step {
			c.diags.Add(diag.Newf("shepherd-value", where.at(), "phase %q appears twice", clip(ph.name)).
				WithDetail("Give one of them another name; letters, digits, \"_\" and \"-\" tell them apart.").WithRelated(o.at.at(), "first here"))
			return
		}
	}
	p.phases = append(p.phases, ph)
}

// stepName is a name that can be a part of git's refs.
func stepName(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			b.WriteRune(r)
		} else if n := b.Len(); n > 0 && b.String()[n-1] != '-' {
			b.WriteByte('-')
		}
		if b.Len() >= 100 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}
