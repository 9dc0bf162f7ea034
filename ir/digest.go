package ir

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// The digests of a node are SHA-256 sums of the canonical JSON of the views
// below: a view is the exact list of what a digest covers. Of a type that it embeds it
// has the fields that are marked `digest:"work"`, or what the embedding says, and none
// that it has itself. Neither covers the
// node's id, key, labels, limits, timeouts, retries, names of branches and
// worktrees, `done`, its dependencies (the executor chains those), what confines its
// agents, or who would stand in for an agent that is not available.

// workView is what the agents of a node are told and given.
type workView struct {
	Kind     Kind         `json:"kind"`
	Prompt   []string     `json:"prompt"` // its own key counts as {key} in the line of its title
	Scope    Scope        `json:"scope"`
	Steps    []workStep   `json:"steps"`
	Worktree workWorktree `json:"worktree"`
}

// workStep has digests for names: of an agentView, a modelView; "" for none. Of its
// sandbox it has the image.
type workStep struct {
	Step `digest:"work"`
}

// workWorktree is how the place of work is prepared, whatever it is called.
type workWorktree struct {
	Worktree `digest:"work"`
	Secrets  map[string]string `json:"secrets,omitempty"` // name to variable
}

// agentView is an agent without the reasons for choosing it. A moved agent file
// with the same content is the same agent. Model, access and session are on
// the step or gate as used.
type agentView struct {
	Name   string `json:"name"`
	Agent  `digest:"work"`
	Runner runnerView `json:"runner"`
}

// runnerView is how an agent is started; not how often or how many at once.
type runnerView struct {
	Name    string `json:"name"`
	Runner  `digest:"work"`
	Secrets map[string]string `json:"secrets"` // name to variable
}

type modelView struct {
	Alias string `json:"alias"`
	Model `digest:"work"`
}

// judgeView is what judges a node's work.
type judgeView struct {
	Acceptance []string    `json:"acceptance"` // what reviewers see
	Steps      []judgeStep `json:"steps"`
}

type judgeStep struct {
	Name       string      `json:"name"`
	GateMode   string      `json:"gate_mode"`
	AllowEmpty bool        `json:"allow_empty"`
	Gates      []judgeGate `json:"gates"`
}

type judgeGate struct {
	Name   string `json:"name"`   // {key}/… for a gate of the node's own
	Digest string `json:"digest"` // of a gateView
}

// gateView is a gate without its timeout, its stand-ins and its reasons; for agent and
// model it has the digests of their views.
type gateView struct {
	Gate    `digest:"judge"`
	Secrets map[string]string `json:"secrets,omitempty"` // name to variable
}

// Seal computes the digests of all nodes of e, in place. The digest of the
// file is computed by Encode, from the bytes; Digest holds what Decode read.
// References that do not exist count as empty, so that Seal is total: Verify
// reports them.
func Seal(e *Epic) {
	s := newSealer(e)
	for _, n := range lists.Each(e.Nodes) {
		n.Digest = NodeDigest{Work: s.work(n), Judge: s.judge(n)}
	}
}

// Sealed compares the digests of the nodes with what the nodes say; the error is a
// *DigestError. A node that was changed and kept its digests would keep its old
// results, whatever the digest of the file says.
func (e *Epic) Sealed() error {
	s := newSealer(e)
	for _, n := range lists.Each(e.Nodes) {
		for _, d := range [...][2]string{{n.Digest.Work, s.work(n)}, {n.Digest.Judge, s.judge(n)}} {
			if d[0] != d[1] {
				return &DigestError{Node: n.Key, Stated: d[0], Computed: d[1]}
			}
		}
	}
	return nil
}

// GateDigest returns the digest of the gate called name: what judge digests,
// and approvals, bind to. "" if there is no such gate.
func GateDigest(e *Epic, name string) string {
	if _, known := e.Gates[name]; !known {
		return ""
	}
	return newSealer(e).gate(name)
}

// sealer computes each agent's, model's and gate's digest once.
type sealer struct {
	e        *Epic
	buf      encoder
	worktree workWorktree
	agents   map[string]string
	models   map[string]string
	gates    map[string]string
}

func newSealer(e *Epic) *sealer {
	w := e.Run.Worktree
	return &sealer{
		e:        e,
		worktree: workWorktree{w, secretsOf(e, w.Secrets)},
		agents:   map[string]string{},
		models:   map[string]string{},
		gates:    map[string]string{},
	}
}

// sum digests the canonical JSON of v, a pointer to a struct. Embedded JSON
// that is none counts as null; Encode refuses it.
func (s *sealer) sum(sh *shape, v any) string {
	s.buf.b = s.buf.b[:0]
	s.buf.value(sh, reflect.ValueOf(v).Elem(), 0)
	s.buf.err = nil
	sum := sha256.Sum256(s.buf.b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func sumOf[T any](s *sealer, v *T) string { return s.sum(shapeOf(reflect.TypeFor[T]()), v) }

func (s *sealer) work(n *Node) string {
	v := workView{
		Kind: n.Kind, Prompt: withoutKey(n), Scope: n.Scope,
		Steps: make([]workStep, len(n.Steps)), Worktree: s.worktree,
	}
	for i, st := range n.Steps {
		st.Agent, st.Model, st.Sandbox = s.agent(st.Agent), s.model(st.Model), s.e.Sandboxes[st.Sandbox].Limits["image"]
		v.Steps[i] = workStep{st}
	}
	return s.sum(workShape(), &v)
}

func (s *sealer) judge(n *Node) string {
	v := judgeView{Acceptance: n.Acceptance, Steps: make([]judgeStep, len(n.Steps))}
	for i, st := range lists.Each(n.Steps) {
		gates := lists.Map(st.Gates, func(name string) judgeGate { return judgeGate{Name: ownGate(n.Key, name), Digest: s.gate(name)} })
		v.Steps[i] = judgeStep{Name: st.Name, GateMode: st.GateMode, AllowEmpty: st.AllowEmpty, Gates: gates}
	}
	return s.sum(judgeShape(), &v)
}

// ownGate writes the name of a gate that a node's plan section defines in a way
// that survives a new number.
func ownGate(key Key, name string) string {
	if rest, own := strings.CutPrefix(name, string(key)+"/"); own {
		return "{key}/" + rest
	}
	return name
}

// withoutKey returns the prompt with the node's key blanked in the first line
// that holds key and title: a sprint that is only renumbered keeps its results.
func withoutKey(n *Node) []string {
	if n.Title == "" || n.Key == "" {
		return n.Prompt
	}
	for i, line := range n.Prompt {
		if !strings.Contains(line, n.Title) {
			continue
		}
		at := wordIndex(line, string(n.Key))
		if at < 0 {
			continue
		}
		out := append([]string(nil), n.Prompt...)
		out[i] = line[:at] + "{key}" + line[at+len(n.Key):]
		return out
	}
	return n.Prompt
}

// wordIndex returns where word is in line on its own, or -1.
func wordIndex(line, word string) int {
	for from := 0; ; {
		i := strings.Index(line[from:], word)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(word)
		if (i == 0 || !alphanumeric(line[i-1])) && (end == len(line) || !alphanumeric(line[end])) {
			return i
		}
		from = i + 1
	}
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (s *sealer) agent(name string) string {
	a, known := s.e.Agents[name]
	if !known {
		return name
	}
	return once(s.agents, name, func() string {
		r := s.e.Runners[a.Runner]
		return sumOf(s, &agentView{name, a, runnerView{a.Runner, r, secretsOf(s.e, r.Secrets)}})
	})
}

func (s *sealer) model(alias string) string {
	if alias == "" {
		return ""
	}
	return once(s.models, alias, func() string {
		return sumOf(s, &modelView{alias, s.e.Models[alias]})
	})
}

func (s *sealer) gate(name string) string {
	g, known := s.e.Gates[name]
	if !known {
		return ""
	}
	return once(s.gates, name, func() string {
		secrets := secretsOf(s.e, g.Secrets)
		g.Agent, g.Model = s.agent(g.Agent), s.model(g.Model)
		return s.sum(gateShape(), &gateView{g, secrets})
	})
}

func once(memo map[string]string, name string, compute func() string) string {
	if d, done := memo[name]; done {
		return d
	}
	d := compute()
	memo[name] = d
	return d
}
