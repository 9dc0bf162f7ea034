package shepherd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/yaml"
)

// agent is one entry of agents.yaml.
type agent struct {
	id, name, description string
	slug, runner          string
	provider, model       string
	capabilities, tags    []string
	readOnly, accessSaid  bool
	priority              int64
	prioritySaid          bool
	speed                 int64
	multiplier            float64 // 0: nothing said
	session               string  // "" or resume
	human, inactive       bool
	subagent              node // metadata.agent_type, where it is one
	madeUp                bool // agents.yaml does not have it
	comments              []string
	fallback              []string
	at                    node
}

// nameForm is a name of Agent Shepherd's that can be a block's.
var nameForm = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,99}$`)

const nameWords = "letters, digits, \"_\" and \"-\", a letter first, at most 100 of them"

func (c *conversion) readAgents(n node) {
	if n.Kind != yaml.Sequence {
		c.wrong(n, "a list of agents")
		return
	}
	for _, x := range n.items() {
		if f, ok := c.fields(x, "an agent"); ok {
			c.readAgent(f)
		}
	}
}

func (c *conversion) readAgent(f *fields) {
	a := &agent{at: f.in}
	id, idNode := f.text("id")
	switch {
	case idNode.absent():
		c.missing(f.in, "id", "the name of the agent")
	case id != "" && !nameForm.MatchString(id):
		c.wrong(idNode, nameWords)
	case c.agentsByID[id] != nil:
		c.diags.Add(diag.Newf("shepherd-value", idNode.at(), "agent %q appears twice", clip(id)).
			WithDetail("%s is the id of another agent. Give one of them another name, or remove it.", id).
			WithRelated(c.agentsByID[id].at.at(), "first here"))
	}
	a.id = id
	a.name, _ = f.text("name")
	a.description, _ = f.text("description")
	var where node
	if a.capabilities, where = f.texts("capabilities"); where.absent() {
		c.missing(f.in, "capabilities", "the list of what the agent can do")
	}
	a.slug, _ = f.text("opencode_agent")
	a.provider, _ = f.text("provider_id")
	a.model, _ = f.text("model_id")
	a.tags, _ = f.texts("tags")
	if v, n := f.whole("priority", -1000, 1000); !n.absent() {
		a.priority, a.prioritySaid = v, true
	}
	if active, said := f.truth("active"); said {
		a.inactive = !active
	}
	a.human, _ = f.truth("is_human")
	if w, n := f.word("read_write", map[string]string{"read": "read", "write": "write", "read_write": "write"}); !n.absent() {
		a.readOnly, a.accessSaid = w == "read", true
	}
	a.runnerOf(c, f)
	a.constraints(f)
	a.performance(f)
	a.metadata(c, f)
	a.comments = append(a.comments, f.rest("")...)
	c.agents = append(c.agents, a)
	if id != "" && c.agentsByID[id] == nil {
		c.agentsByID[id] = a
	}
}

// Kinds of runners by Agent Shepherd's names.
var runnerKinds = map[string]string{
	"opencode": "opencode", "claude": "claude", "claude_code": "claude", "claudecode": "claude", "codex": "codex", "codex_cli": "codex",
}

// runnerOf reads the section runner of the specification.
func (a *agent) runnerOf(c *conversion, f *fields) {
	a.runner = "opencode"
	r, ok := f.section("runner", "type, agent_slug, provider, model, session_strategy")
	if !ok {
		return
	}
	if s, x := r.text("type"); s != "" {
		kind, known := runnerKinds[strings.ToLower(strings.ReplaceAll(s, "-", "_"))]
		if a.runner = cmp.Or(kind, "opencode"); !known {
			a.comments = append(a.comments, fmt.Sprintf("runner.type: %s. ralph has opencode, claude, codex, acp and command.", line(s)))
			c.changed(x, "an unknown runner becomes OpenCode",
				"ralph runs agents with opencode, claude, codex, acp or command, not %q. Write a runner block of kind command that starts it, and name it in the agent.", clip(s))
		}
	}
	for key, to := range map[string]*string{"agent_slug": &a.slug, "provider": &a.provider, "model": &a.model} {
		if s, _ := r.text(key); s != "" {
			*to = s
		}
	}
	if w, x := r.word("session_strategy", map[string]string{
		"reuse": "resume", "resume": "resume", "continue": "resume", "shared": "resume", "persistent": "resume",
		"new": "fresh", "fresh": "fresh", "per_run": "fresh", "isolated": "fresh",
	}); w == "resume" {
		a.session = w
		c.changed(x, "a reused session becomes a resumed one",
			"Agent Shepherd reuses one session for many runs. With session = \"resume\" the next attempt of the same step goes on in it; other steps and sprints begin afresh.")
	}
	a.comments = append(a.comments, r.rest("runner.")...)
}

func (a *agent) constraints(f *fields) {
	k, ok := f.section("constraints", "performance_tier, read_only, max_file_size, allowed_tags")
	if !ok {
		return
	}
	a.tier(k, "performance_tier")
	if read, said := k.truth("read_only"); said {
		a.readOnly, a.accessSaid = read, true
	}
	tags, _ := k.texts("allowed_tags")
	a.tags = lists.Include(a.tags, tags...)
	a.comments = append(a.comments, k.leaveOutAll("constraints.", [][2]string{
		{"max_file_size", "ralph does not limit what an agent opens"},
		{"max_complexity", "A policy with match { complexity } chooses its own agents"},
		{"specialized_domains", "Write them as tags if steps are to ask for them"},
	}...)...)
	a.comments = append(a.comments, k.rest("constraints.")...)
}

// lastKeyOf takes the section off a comment that begins with its path.
func lastKeyOf(comment string) string {
	head, rest, _ := strings.Cut(comment, ": ")
	return head[strings.LastIndexByte(head, '.')+1:] + ": " + rest
}

// tier turns a word about speed into a number; the faster one is chosen among
// agents of equal priority.
func (a *agent) tier(f *fields, key string) {
	if w, n := f.word(key, map[string]string{"fast": "1", "balanced": "0", "medium": "0", "normal": "0", "slow": "-1", "thorough": "-1"}); !n.absent() {
		a.speed = map[string]int64{"1": 1, "-1": -1}[w]
	}
}

func (a *agent) performance(f *fields) {
	p, ok := f.section("performance", "speed, timeout_multiplier")
	if !ok {
		return
	}
	if s := p.get("speed"); !s.absent() && s.Tag != "!!str" {
		a.speed, _ = p.whole("speed", -1000, 1000)
	} else {
		a.tier(p, "speed")
	}
	if v, x := p.number("timeout_multiplier", 0.01, 100); !x.absent() {
		a.multiplier = v
	}
	a.comments = append(a.comments, p.rest("performance.")...)
}

// metadata may hold anything; tags and the type of an agent of OpenCode mean
// something.
func (a *agent) metadata(c *conversion, f *fields) {
	m, ok := f.section("metadata", "anything, by name")
	if !ok {
		return
	}
	n := m.in
	tags, _ := m.texts("tags")
	a.tags = lists.Include(a.tags, tags...)
	if s, x := m.text("agent_type"); s != "" {
		if s == "subagent" {
			a.subagent = x
		}
		if !c.typed {
			c.typed = true
			n.in.leftOut = append(n.in.leftOut, x)
			c.outside = append(c.outside, "agents: metadata.agent_type. OpenCode knows itself which agents are subagents.")
		}
	}
	for i, k := range n.Keys {
		switch k.Value {
		case "tags", "agent_type", "created_at", "updated_at":
			continue
		}
		x := node{Node: n.Values[i], in: n.in, path: join(n.path, k.Value), key: k}
		n.in.leftOut = append(n.in.leftOut, x)
		a.comments = append(a.comments, fmt.Sprintf("metadata.%s: %s.", line(k.Value), x.short()))
	}
}
