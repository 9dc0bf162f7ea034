package simulate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// world is everything outside ralph: it survives ralph's crashes.
type world struct {
	scenario *Scenario
	epic     *ir.Epic
	nodes    map[ir.NodeID]*ir.Node
	tries    map[string]int    // of each effect so far, by key
	used     map[any]int       // how often a rule was used, by its address
	trees    map[string]string // of commits
	pulls    map[ir.NodeID]*pull
	joined   string          // where the integration branch is that joins all results, "" if there is none
	sessions int             // made so far
	tells    []executor.Body // what the last effect tells when it begins
	said     []executor.Body // and before it ends
}

// pull is a pull request.
type pull struct {
	executor.Pull
	opened time.Time
	rule   *PullRule
	after  time.Duration
	head   executor.Tree
}

func newWorld(epic *ir.Epic, s *Scenario) *world {
	return &world{
		scenario: s, epic: epic, nodes: lists.Pointers(epic.Nodes, func(n *ir.Node) ir.NodeID { return n.ID }),
		tries: map[string]int{}, used: map[any]int{}, trees: map[string]string{}, pulls: map[ir.NodeID]*pull{},
	}
}

// do does an effect: what it reports, and how long that takes.
func (w *world) do(e executor.Effect, now time.Time) (executor.Body, time.Duration) {
	key := e.Key(w.epic.Epic.ID)
	w.tries[key]++
	c := choice{fmt.Sprintf("%d/%s/%d", w.scenario.Seed, key, w.tries[key])}
	w.tells, w.said = nil, nil
	switch e.Kind {
	case executor.EffectAgent, executor.EffectDiagnose:
		return w.agent(e, c, now)
	case executor.EffectGate, executor.EffectRed:
		return w.gate(e, c)
	case executor.EffectPoll:
		return w.poll(e, now), time.Second
	}
	r := first(w, e, c, w.scenario.Effects, func(r *EffectRule) (*Match, bool) { return &r.Match, r.Effect == e.Kind })
	if r == nil {
		r = &EffectRule{Takes: Span{time.Second, time.Second}}
	}
	takes := c.span("takes", r.Takes)
	if r.Fails != "" {
		return executor.EffectFailed{Class: executor.FailureClass(r.Fails), Detail: cmp.Or(r.Message, string(e.Kind)+" failed"), Paths: r.Paths}, takes
	}
	return w.git(e, r, c, now), takes
}

func (w *world) agent(e executor.Effect, c choice, now time.Time) (executor.Body, time.Duration) {
	step := w.step(e)
	name := cmp.Or(e.Agent, step.Agent)
	r := first(w, e, c, w.scenario.Agents, func(r *AgentRule) (*Match, bool) {
		return &r.Match, (r.Agent == "" || r.Agent == name) && r.Iteration.holds(e.Iteration) &&
			(r.Fails != string(executor.FailSession) || e.Session != "") // else there is none to lose
	})
	usual := r == nil
	if usual {
		r = &AgentRule{Takes: Span{10 * time.Minute, 10 * time.Minute}, Result: "success", End: string(executor.EndExited), Action: "human"}
	}
	takes := c.span("takes", r.Takes)
	usage := executor.Usage{Tokens: r.Tokens, USDMicro: r.USDMicro}
	if usual {
		usage = w.expected(name)
		if limit := time.Duration(e.TimeMS) * time.Millisecond; limit > 0 {
			takes = min(takes, limit)
		}
	}
	if e.Kind == executor.EffectDiagnose {
		return executor.Diagnosed{Action: r.Action, Note: cmp.Or(r.Message, "as the scenario says"), Agent: name, Usage: usage}, takes
	}
	session := e.Session
	if session == "" && (r.Session || r.End == string(executor.EndTakenOver)) {
		w.sessions++
		session = fmt.Sprintf("session-%d", w.sessions)
	}
	if session != "" {
		w.tells = []executor.Body{executor.AgentSession{Session: session, Agent: name, Turn: fmt.Sprintf("agent-%d", e.Iteration), Fresh: e.Session == ""}}
	}
	if r.Fails != "" {
		f := executor.EffectFailed{Class: executor.FailureClass(r.Fails), Detail: cmp.Or(r.Message, "agent "+name+" failed")}
		if r.Until > 0 {
			f.Until = now.Add(takes + r.Until)
		}
		return f, takes
	}
	ended := executor.AgentEnded{End: executor.AgentEnd(r.End), Agent: name, Model: step.Model, Usage: usage, Tail: r.Message, Session: session}
	if !w.epic.UsesModel(name) {
		ended.Model = ""
	}
	if ended.End == executor.EndTakenOver {
		w.said = []executor.Body{executor.HumanSpoke{Session: session, Said: now.Add(takes), Text: r.Message}}
	}
	if limit := time.Duration(e.TimeMS) * time.Millisecond; ended.End == executor.EndExited && limit > 0 && takes > limit {
		ended.End, takes = executor.EndTimeout, limit
	}
	ended.Millis = takes.Milliseconds()
	if ended.End == executor.EndExited {
		ended.Outcome = executor.Outcome{NextAction: r.Next, Summary: r.Summary, SuggestedNext: r.Suggests, NeedsHuman: r.Human, Fatal: r.Fatal}
		if r.Result != "none" {
			ended.Outcome.Result = r.Result
		}
		if r.Result == "failed" {
			ended.ExitCode = 1
		}
	}
	return ended, takes
}

// expected is what a turn of an agent costs of which the scenario says nothing:
// what the policy expects.
func (w *world) expected(agent string) executor.Usage {
	if x := w.epic.Agents[agent].Expect; x != nil {
		return executor.Usage{Tokens: x.Tokens, USDMicro: x.USDMicro}
	}
	return executor.Usage{}
}

func (w *world) gate(e executor.Effect, c choice) (executor.Body, time.Duration) {
	red := e.Kind == executor.EffectRed
	r := first(w, e, c, w.scenario.Gates, func(r *GateRule) (*Match, bool) {
		return &r.Match, (r.Gate == "" || r.Gate == e.Gate) && r.Red == red
	})
	usual := r == nil
	if usual {
		r = &GateRule{Takes: Span{30 * time.Second, 30 * time.Second}, Verdict: executor.Pass}
		if red {
			r.Verdict = executor.Fail
		}
	}
	takes := c.span("takes", r.Takes)
	if r.Fails != "" {
		return executor.EffectFailed{Class: executor.FailureClass(r.Fails), Detail: cmp.Or(r.Message, "gate "+e.Gate+" failed"), Gate: e.Gate}, takes
	}
	j := executor.GateJudged{
		Gate: e.Gate, Verdict: r.Verdict, Tests: "skip", Millis: takes.Milliseconds(), Red: red,
		Agent: e.Agent, Usage: executor.Usage{Tokens: r.Tokens, USDMicro: r.USDMicro}, Message: r.Message,
	}
	if usual && e.Agent != "" {
		j.Usage = w.expected(e.Agent)
	}
	if r.Verdict != executor.Pass {
		j.Message = cmp.Or(r.Message, e.Gate+" says "+string(r.Verdict))
		// Unless the scenario says otherwise, no two failures are the same one.
		j.Signature = cmp.Or(r.Signature, c.key)
	}
	return j, takes
}

// git makes up what git would: names of commits and trees that say what they are
// made of, so that the same work on the same base is the same.
func (w *world) git(e executor.Effect, r *EffectRule, c choice, now time.Time) executor.Body {
	switch e.Kind {
	case executor.EffectBase:
		t := w.join(e.Inputs)
		made := executor.BaseMade{Base: t}
		if e.Onto != executor.OntoInputs {
			made.Head = t.Commit
		}
		return made
	case executor.EffectPrepare:
		if e.Merge {
			return executor.Prepared{Paths: e.Paths}
		}
		return executor.Prepared{}
	case executor.EffectCollect:
		return w.collect(e, r)
	case executor.EffectPublish:
		p := executor.Published{Result: w.tree(e.Commit)}
		if n := w.nodes[e.Node]; n != nil {
			p.Branch = n.Git.Branch
		} else {
			p.Branch, w.joined = w.epic.Epic.Integration.Branch, e.Commit
		}
		return p
	case executor.EffectLand:
		return executor.Landed{Head: w.tree(e.Commit)}
	case executor.EffectPull:
		p := w.pulls[e.Node]
		if p == nil {
			p = &pull{opened: now, Pull: executor.Pull{Number: len(w.pulls) + 1}}
			p.URL = fmt.Sprintf("https://forge.invalid/pull/%d", p.Number)
			p.rule = first(w, e, c, w.scenario.Pulls, func(r *PullRule) (*Match, bool) { return &r.Match, true })
			if p.rule == nil {
				p.rule = &PullRule{Takes: Span{time.Hour, time.Hour}, State: "merged"}
			}
			p.after = c.span("pull", p.rule.Takes)
			w.pulls[e.Node] = p
		}
		p.head = w.tree(e.Commit)
		return executor.Pulled{Pull: p.Pull}
	}
	return executor.EffectFailed{Class: executor.FailConfig, Detail: fmt.Sprintf("the simulation knows no effect %q", e.Kind)}
}

func (w *world) poll(e executor.Effect, now time.Time) executor.Body {
	p := w.pulls[e.Node]
	if p == nil || p.rule.State == "open" || now.Before(p.opened.Add(p.after)) {
		return executor.PullSeen{State: "open"}
	}
	seen := executor.PullSeen{State: p.rule.State, Comment: p.rule.Comment}
	if seen.State == "merged" {
		seen.Head = p.head
	} else {
		delete(w.pulls, e.Node) // the next one is a new one
	}
	return seen
}

func (w *world) collect(e executor.Effect, r *EffectRule) executor.Body {
	step := w.step(e)
	if e.Judged || step.Access == "read" && !e.Merge {
		return executor.Collected{Result: w.tree(e.Commit), Problems: r.Problems}
	}
	t := executor.Tree{
		Commit: w.hash("commit", e.Commit, string(e.Node), e.Step, fmt.Sprint(e.Attempt)),
		Tree:   w.hash("tree", w.trees[e.Commit], string(e.Node), e.Step, fmt.Sprint(e.Attempt)),
	}
	if e.Merge {
		t.Tree = w.hash("tree", w.join(e.Inputs).Tree, "merged")
	}
	w.trees[t.Commit] = t.Tree
	return executor.Collected{Result: t, Files: 1, Added: 1, Problems: r.Problems}
}

// join is what results come to when they are merged in order.
func (w *world) join(inputs []executor.Result) executor.Tree {
	if len(inputs) == 1 {
		w.trees[inputs[0].Commit] = inputs[0].Tree.Tree
		return inputs[0].Tree
	}
	var commits, trees []string
	for _, in := range inputs {
		w.trees[in.Commit] = in.Tree.Tree
		commits, trees = append(commits, in.Commit), append(trees, in.Tree.Tree)
	}
	t := executor.Tree{Commit: w.hash("merge", commits...), Tree: w.hash("tree", trees...)}
	w.trees[t.Commit] = t.Tree
	return t
}

func (w *world) tree(commit string) executor.Tree {
	return executor.Tree{Commit: commit, Tree: w.trees[commit]}
}

func (w *world) hash(what string, parts ...string) string {
	sum := sha256.Sum256([]byte(what + "\x00" + strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:20])
}

func (w *world) step(e executor.Effect) *ir.Step {
	if n := w.nodes[e.Node]; n != nil {
		if s := n.Step(e.Step); s != nil {
			return s
		}
	}
	return &ir.Step{Name: e.Step, Agent: e.Agent, Access: "write"}
}

// first returns the first rule that matches an effect, and counts it.
func first[R any](w *world, e executor.Effect, c choice, rules []R, about func(*R) (*Match, bool)) *R {
	for i := range rules {
		r := &rules[i]
		m, ok := about(r)
		if !ok || !w.matches(m, e.Node, e.Step, e.Attempt) || m.Times > 0 && w.used[m] >= m.Times || c.float(fmt.Sprint("rule", i)) >= m.Chance {
			continue
		}
		w.used[m]++
		return r
	}
	return nil
}

func (w *world) matches(m *Match, node ir.NodeID, step string, attempt int) bool {
	if m.Node != "" {
		key := string(node)
		if n := w.nodes[node]; n != nil {
			key = string(n.Key)
		}
		if ok, _ := path.Match(m.Node, key); !ok {
			return false
		}
	}
	return (m.Step == "" || m.Step == step) && m.Attempt.holds(attempt)
}

func (r Range) holds(n int) bool { return r == Range{} || n >= r.From && n <= r.To }

// choice is chance that depends on what is decided, not on when.
type choice struct{ key string }

// float returns a number from 0 to below 1.
func (c choice) float(what string) float64 {
	sum := sha256.Sum256([]byte(c.key + "/" + what))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

func (c choice) span(what string, s Span) time.Duration {
	if s.To <= s.From {
		return s.From
	}
	return (s.From + time.Duration(c.float(what)*float64(s.To-s.From))).Truncate(time.Millisecond)
}
