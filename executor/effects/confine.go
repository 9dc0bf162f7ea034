package effects

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// Confinement is what sandboxes are made of on this machine.
type Confinement struct {
	// Kinds are what each sandbox of the epic is made with, by its name. One that is
	// missing, or none, confines nothing.
	Kinds map[string]wall.Kind
	Home  string // the user's home directory
	// Logins are the directories of the logins that ralph keeps, by runner; see wall.Login.
	Logins map[string]string
	Caches []wall.Cache // directories of the user that every sandbox may fill for itself and read; Upper is left out

	Groups string // see wall.Spec; "": nothing asks for one

	// Mounts are what a program needs of a worktree at a directory: itself, and the
	// objects that it reads.
	Mounts func(dir string) ([]wall.Mount, error)
}

// stay says what a sandbox is for.
type stay struct {
	in    ir.Confined
	whose role   // what it is the home of
	who   string // an agent's or a gate's name
	agent string // that works or judges; "" if none does
	node  ir.NodeID
	dir   string // worktree
	blind bool   // a review: neither objects nor caches
	brief bool   // what is written to home and caches goes afterwards
}

// role is what programs in a sandbox are.
type role string

// Roles. An agent and a gate of the same name share nothing.
const (
	ofAgent role = "agent"
	ofGate  role = "gate"
	ofSetup role = "setup"
)

// home is the name of the directory of a sandbox's home and caches. Names that differ in
// what no directory's name can have differ by the digest.
func (s *stay) home() string {
	sum := sha256.Sum256([]byte(s.who))
	return fmt.Sprintf("%s-%s-%x", s.whose, dirName(s.who), sum[:4])
}

// confined is a sandbox that was made for one turn or gate.
type confined struct {
	*wall.Spec              // nil: --sandbox none stands in for it
	name       string       // of the policy's block
	clear      func() error // takes away what is not kept
	refused    wall.Refused
	killed     atomic.Bool // it had used up its memory
}

// confine makes the directories of a sandbox and says what is in it; nil if the policy
// names none.
func (t *Tools) confine(s stay) (*confined, error) {
	kind := t.Confinement.Kinds[s.in.Name]
	if kind == "" {
		return nil, nil
	}
	b := s.in.Sandbox
	c := &confined{name: s.in.Name, clear: func() error { return nil }}
	if kind == wall.None {
		return c, nil
	}
	own := filepath.Join(sandboxes(t.State, s.node), s.home())
	if s.brief {
		own = filepath.Join(own, "brief")
		c.clear = func() error { return regular.RemoveAllOwn(own) }
		if err := c.clear(); err != nil { // of one that was cut
			return nil, err
		}
	}
	home := filepath.Join(own, "home")
	for _, dir := range []string{home, filepath.Join(own, "caches")} {
		if err := regular.MkdirOwn(dir); err != nil {
			return nil, err
		}
	}
	c.Spec = &wall.Spec{Name: s.in.Name, Kind: kind, Home: home, Nest: b.Nest, Limits: limits(&b), Groups: t.Confinement.Groups, OutOfMemory: func() { c.killed.Store(true) }}
	if err := t.mount(c.Spec, s, b); err != nil {
		return nil, err
	}
	if dir := t.Confinement.Logins[t.Epic.Agents[s.agent].Runner]; dir != "" {
		c.Login = &wall.Login{Dir: dir, Own: filepath.Join(own, "login")}
	}
	if !s.blind {
		caches := slices.Clone(t.Confinement.Caches)
		for _, dir := range Expanded(b.Cache, t.Confinement.Home) {
			caches = append(caches, wall.Cache{Lower: dir})
		}
		for i, one := range caches {
			one.Upper = filepath.Join(own, "caches", strconv.Itoa(i)+"-"+filepath.Base(one.Lower))
			c.Caches = append(c.Caches, one)
		}
	}
	for _, at := range b.Services {
		c.Forward = append(c.Forward, wall.Forward{At: at, To: at})
	}
	if s.in.Network = t.reachable(s); len(s.in.Network) > 0 {
		c.Egress = &wall.Egress{Hosts: slices.Clone(s.in.Network), Refused: c.refused.Add}
	}
	return c, nil
}

// reachable are the hosts of a sandbox: of one that may reach none of the policy's the
// model's, as far as they are named as such.
func (t *Tools) reachable(s stay) []string {
	off := slices.ContainsFunc(t.Epic.Nodes, func(n ir.Node) bool { return n.ID == s.node && n.Offline })
	if !off || s.agent != "" && !slices.Contains(s.in.Network, runnerModel) {
		return s.in.Network
	}
	return lists.Keep(s.in.Network, func(host string) bool { return host == runnerModel })
}

// mount says what of the machine is inside.
func (t *Tools) mount(spec *wall.Spec, s stay, b ir.Sandbox) error {
	add := func(write bool, paths []string) {
		for _, p := range paths {
			spec.Mounts = append(spec.Mounts, wall.Mount{From: p, Write: write, Optional: true})
		}
	}
	home := t.Confinement.Home
	add(true, Expanded(b.Write, home))
	add(false, Expanded(b.Read, home))
	slices.SortStableFunc(spec.Mounts, func(a, b wall.Mount) int { return strings.Compare(a.From, b.From) }) // what lies in another comes after it
	switch {
	case s.dir == "": // whoever runs it knows
	case s.blind:
		spec.Mounts = append(spec.Mounts, wall.Mount{From: s.dir, Write: true})
	default:
		mounts, err := t.Confinement.Mounts(s.dir)
		if err != nil {
			return err
		}
		spec.Mounts = append(spec.Mounts, mounts...)
	}
	for _, p := range Expanded(b.Hide, home) {
		spec.Mounts = append(spec.Mounts, wall.Mount{At: p, Cover: true})
	}
	return nil
}

// Forget removes the homes and caches of a node's sandboxes, which go with its worktree.
func Forget(state string, node ir.NodeID) error { return regular.RemoveAllOwn(sandboxes(state, node)) }

// sandboxes is where the directories of a node's sandboxes are.
func sandboxes(state string, node ir.NodeID) string {
	return filepath.Join(state, "sandboxes", string(node))
}

// Expanded are paths with the user's home directory for "~".
func Expanded(paths []string, home string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') {
			p = home + rest
		}
		out = append(out, filepath.Clean(p))
	}
	return out
}

// Around is the sandbox of what ralph itself starts for a node: with setup its setup
// commands, without the worktree, else the git that hands over what a clone holds, of which
// only name, kind, limits and groups count. nil: none is in force.
func (t *Tools) Around(node ir.NodeID, setup bool) (*wall.Spec, error) {
	if setup {
		c, err := t.confine(stay{in: t.Epic.SetupConfined(), whose: ofSetup, node: node})
		return c.spec(), err
	}
	var steps []ir.Step
	for n := range lists.Refs(t.Epic.Nodes) {
		if n.ID == node {
			steps = n.Steps
		}
	}
	sum := node == executor.Integration
	all := lists.Map(steps, func(s ir.Step) ir.Confined { return t.Epic.StepConfined(&s, sum) })
	for s := range lists.Refs(steps) { // whoever wrote there may have left something
		for _, g := range s.Gates {
			all = append(all, t.Epic.GateConfined(g, sum))
		}
	}
	for _, in := range append(all, t.Epic.StepConfined(&ir.Step{}, sum), t.Epic.SetupConfined()) {
		if kind := t.Confinement.Kinds[in.Name]; kind != "" && kind != wall.None {
			return &wall.Spec{Name: in.Name, Kind: kind, Limits: limits(&in.Sandbox), Groups: t.Confinement.Groups}, nil
		}
	}
	return nil, nil
}

// runnerModel stands in a list of hosts for those of the model.
const runnerModel = "model"

// told is what the agent hears of its sandbox: what fails without a word costs many turns.
func (c *confined) told() string {
	var b strings.Builder
	b.WriteString("\n## Your sandbox\n\n")
	if c.Kind.InPlace() {
		b.WriteString("You run in a sandbox. You may write to your worktree, your home directory and $TMPDIR; nothing else of the machine is writable, /tmp included, and most of it cannot be read.\n")
		b.WriteString("Nothing can listen, not even on 127.0.0.1, and there are no unix sockets, terminals or /dev/shm: tests that need them fail. Run those that do not, and say which you left out.\n")
	} else {
		b.WriteString("You run in a sandbox. You may write to your worktree, your home directory and /tmp; nothing else of the machine is writable, and most of it is not there.\n")
		b.WriteString("git works, but for what writes .git/config or .git/hooks (`git config`, `git remote add`, installing hooks): use `git config --global` for yourself.\n")
	}
	switch {
	case c.Egress == nil:
		b.WriteString("There is no network.\n")
	default:
		b.WriteString("The network is an HTTP proxy (HTTPS_PROXY is set) that reaches only: " + strings.Replace(strings.Join(c.Egress.Hosts, ", "), runnerModel, "your model", 1) + ". Anything else is refused: do not try to get round it, say what you would need.\n")
	}
	for _, f := range c.Forward {
		b.WriteString("The service at " + f.At + " can be reached.\n")
	}
	return b.String()
}

// limits are those of a policy's block, which the compiler has checked.
func limits(s *ir.Sandbox) wall.Limits {
	return wall.Limits{Tmp: s.Limit("tmp"), File: s.Limit("file"), Pids: int(s.Limit("pids")), Memory: s.Limit("memory"), CPU: int(s.Limit("cpu"))}
}

// account is what is recorded of a sandbox; nil if the policy names none.
func (c *confined) account() *executor.Sandboxed {
	switch {
	case c == nil:
		return nil
	case c.Spec == nil:
		return &executor.Sandboxed{Name: c.name, Kind: string(wall.None)}
	}
	out := &executor.Sandboxed{Name: c.name, Kind: string(c.Kind), Closed: c.Egress == nil && len(c.Forward) == 0}
	out.Refused, out.Others = executor.Refusals(c.refused.Times())
	if c.killed.Load() {
		out.Memory = executor.Bytes(c.Limits.Memory)
	}
	return out
}

// spec is what runs get; nil if there is no sandbox.
func (c *confined) spec() *wall.Spec {
	if c == nil {
		return nil
	}
	return c.Spec
}

// because adds to an error that the sandbox had used up its memory. Errors without that are
// unchanged, and nil.
func (c *confined) because(err error) error {
	if why := c.account().OutOfMemory(); why != "" && err != nil {
		return fmt.Errorf("%s: %w", why, err)
	}
	return err
}

// done takes away what is not kept.
func (c *confined) done() error {
	if c == nil {
		return nil
	}
	return c.clear()
}
