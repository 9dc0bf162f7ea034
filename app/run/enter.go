package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// Visit is a program that a person starts in a sprint's sandbox.
type Visit struct {
	Agent, Gate string   // whose sandbox; "" for both: that of the agent that worked last
	Argv        []string // empty is the person's shell
	Crew        *Crew    // says how sessions are joined

	Terminal *sandbox.Terminal // what the program gets; nil: it gets what follows
	In       io.Reader
	Out, Err io.Writer
}

// Enter runs a person's program on the worktree and in the home of an agent or a gate, with
// its network, limits and environment, and returns the program's exit code. It is refused
// where no sandbox or no worktree is, and while the sprint is at work: then only what takes
// its session over may begin.
func Enter(ctx context.Context, r *record.Record, v machine.NodeView, visit *Visit) (code int, err error) {
	dir := r.Space.Dir(v.ID)
	var join *executor.Join // of a session at work
	atWork := r.Held && v.Status == executor.Running
	if atWork {
		join = visit.takesOver(r, v)
	}
	switch {
	case atWork && join == nil:
		return 0, exit.Inputf("%s is at work now: what you do in its worktree would become its agent's work.\n  Wait until it has ended; meanwhile: ralph log %s --follow%s", v.Key, words.QuoteArg(string(v.Key)), r.About())
	case !project.IsDir(dir):
		return 0, exit.Inputf("%s has no worktree (it would be %s), so there is nothing to enter.\n  What it changed: %s", v.Key, dir, words.ShowCommand(v.Key, "--diff", r.About()))
	}
	s, err := visit.session(r, v)
	if err != nil {
		return 0, err
	}
	step := stepOf(r, v.ID, s.Step)
	none := exit.Inputf("no sandbox confines %s, so there is none to enter. Its worktree, where what you start can do all that you can:\n  cd %s", s.whom(), words.QuoteArg(dir))
	if confinedBy(r.Epic, v.ID, step, s.Gate).Name == "" {
		return 0, none
	}
	if r.Changed {
		_, _ = fmt.Fprintf(visit.Err, "ralph: the sandbox is that of the last apply; %s has changed since\n", r.File)
	}
	instead := madeOf(v, s)
	if atWork {
		instead = cmp.Or(r.Run.Overview().Sandbox, instead)
	}
	c, _, err := Confine(ctx, r.Epic, r.Space, instead)
	if err != nil {
		return 0, err
	}
	t := effects.Tools{Epic: r.Epic, State: r.Space.State(), Confinement: c}
	in, err := t.Visit(v.ID, step, s.Agent, s.Gate, dir)
	if err != nil {
		return 0, err
	}
	if in.Wall == nil {
		return 0, none
	}
	defer func() { err = errors.Join(err, in.Done()) }()
	env, spec, err := visit.surroundings(r, v, s, in.Wall)
	if err != nil {
		return 0, err
	}
	if join != nil {
		env, spec.Forward = with(env, join.Env), slices.Concat(spec.Forward, join.Forward)
	}
	code, err = visit.run(ctx, dir, env, spec)
	if said := in.Account(); said != nil && (len(said.Refused) > 0 || said.Memory != "") {
		_, _ = fmt.Fprintln(visit.Err, "ralph: it ran in sandbox", words.Sandboxed(said))
	}
	return code, err
}

// madeOf is what the sandbox of a session was made with, in words of Confine: less than the
// policy asks for.
func madeOf(v machine.NodeView, s Session) string {
	fenced := func(in *executor.Sandboxed) bool { return in != nil && in.Kind == string(wall.Landlock) }
	for _, a := range v.Attempts {
		if a.Step == s.Step && a.Number == s.Attempt && (fenced(a.Sandbox) || slices.ContainsFunc(a.Gates, func(g executor.GateJudged) bool { return fenced(g.Sandbox) })) {
			return string(wall.Landlock)
		}
	}
	return ""
}

// takesOver is how the program joins the session of an agent at work, in the agent's own
// sandbox, where what a person writes is seen; nil: it does not.
func (p *Visit) takesOver(r *record.Record, v machine.NodeView) *executor.Join {
	in, err := p.session(r, v)
	if err != nil {
		return nil
	}
	s := lists.Find(SessionsOf(r, v, p.Crew), func(s *Session) bool {
		return len(p.Argv) > 0 && s.Watched && s.Inside && s.Agent == in.Agent && s.Gate == in.Gate && slices.Equal(s.join.Argv, p.Argv)
	})
	if s == nil {
		return nil
	}
	return &s.join
}

// with is an environment with other values of these variables.
func with(env []string, vars map[string]string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, over := vars[name]
		return over
	})
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out
}

// session is where the program is to be: as a session, of which only Agent, Gate, Step and
// Attempt count.
func (p *Visit) session(r *record.Record, v machine.NodeView) (s Session, err error) {
	n := r.Node(v.ID)
	var known []string // agents
	add := func(agent string) {
		if agent != "" && !slices.Contains(known, agent) {
			known = append(known, agent)
		}
	}
	for _, a := range slices.Backward(v.Attempts) {
		add(a.Agent)
		if s.Step == "" && (p.Agent == "" || p.Agent == a.Agent) {
			s = Session{Agent: a.Agent, Step: a.Step, Attempt: a.Number}
		}
	}
	for i := range n.Steps {
		add(n.Steps[i].Agent)
		if s.Step == "" && n.Steps[i].Agent != "" && (p.Agent == "" || p.Agent == n.Steps[i].Agent) {
			s = Session{Agent: n.Steps[i].Agent, Step: n.Steps[i].Name, Attempt: 1}
		}
	}
	if p.Gate != "" {
		if _, is := r.Epic.Gates[p.Gate]; !is {
			return s, exit.Usagef("there is no gate %q; there are: %s", p.Gate, words.ListOf(slices.Sorted(maps.Keys(r.Epic.Gates))))
		}
		s.Gate, s.Agent = p.Gate, r.Epic.Gates[p.Gate].Agent
		return s, nil
	}
	if s.Agent == "" && p.Agent != "" {
		return s, exit.Usagef("agent %q has no part in %s; there are: %s", p.Agent, v.Key, words.ListOf(known))
	}
	if s.Agent == "" {
		return s, exit.Inputf("no agent works on %s, so there is no sandbox of one (--gate NAME enters that of a gate)", v.Key)
	}
	return s, nil
}

// whom names the agent or the gate of a session.
func (s Session) whom() string {
	if s.Gate != "" {
		return "gate " + s.Gate
	}
	return "agent " + s.Agent
}

// stepOf is a step of a node, or where there is no such an empty one.
func stepOf(r *record.Record, node ir.NodeID, name string) *ir.Step {
	return cmp.Or(r.Node(node).Step(name), &ir.Step{})
}

// confinedBy is what an agent, or with gate that gate, can reach.
func confinedBy(epic *ir.Epic, node ir.NodeID, step *ir.Step, gate string) ir.Confined {
	if gate != "" {
		return epic.GateConfined(gate, node == executor.Integration)
	}
	return epic.StepConfined(step, node == executor.Integration)
}

// personal are the variables that a person's program gets beside those of an agent's.
var personal = []string{"HOME", "USER", "LOGNAME", "TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_*", "TZ"}

// surroundings are the environment of the program, and its sandbox with all its hosts.
func (p *Visit) surroundings(r *record.Record, v machine.NodeView, s Session, spec *wall.Spec) ([]string, *wall.Spec, error) {
	n, effect := r.Node(v.ID), executor.Effect{Kind: executor.EffectGate, Node: v.ID, Step: s.Step, Attempt: s.Attempt, Gate: s.Gate}
	if g := r.Epic.Gates[s.Gate]; s.Gate != "" && s.Agent == "" {
		if g.Kind != "command" {
			return nil, nil, exit.Inputf("gate %s is of kind %s: it starts no program, so it has no sandbox", s.Gate, g.Kind)
		}
		env, err := gate.Visit(executor.GateRun{
			Node: n, Name: s.Gate, Gate: g, Effect: effect, Epic: r.Epic.Epic.ID, Dir: r.Space.Dir(v.ID),
			Env: r.Epic.Run.Worktree.Env, Secrets: r.Epic.SecretVars(g.Secrets),
		})
		return env, spec, err
	}
	run := asking(r, v, s, "", "")
	run.Dir, run.Files, run.Wall = r.Space.Dir(v.ID), effects.Files(r.Space.State(), v.ID, s.Step, s.Attempt), spec
	run.Env = lists.Merged(r.Space.User.Identity())
	maps.DeleteFunc(run.Env, func(name, _ string) bool { return slices.Contains(run.Runner.Env, name) })
	maps.Copy(run.Env, r.Epic.Run.Worktree.Env)
	return runner.Base{Secrets: r.Epic.Secrets}.Visit(run, personal...)
}

// run runs the program. Nothing that is open here gets inside: its input and outputs are
// pipes of its own, or a terminal of its own.
func (p *Visit) run(ctx context.Context, dir string, env []string, spec *wall.Spec) (code int, err error) {
	box := sandbox.New(*spec)
	what := process.Spec{Argv: p.Argv, Dir: dir, Env: env, Stderr: os.DevNull} // apart from stdout
	if len(what.Argv) == 0 {
		what.Argv = []string{cmp.Or(os.Getenv("SHELL"), "/bin/sh")}
	}
	what.Tap = func(stderr bool, b []byte) {
		to := p.Out
		if stderr {
			to = p.Err
		}
		_, _ = to.Write(b) // who reads it may have ended
	}
	if p.Terminal != nil {
		box = box.With(*p.Terminal)
	} else {
		in, feed, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		defer in.Close()
		go func() {
			_, _ = io.Copy(feed, p.In) // it ends with the program, at the latest with this process
			_ = feed.Close()
		}()
		what.Stdin = in
	}
	what.Wall = box
	res, err := process.Run(ctx, what)
	if not, is := errors.AsType[*process.NotStarted](err); is {
		return 0, exit.Inputf("%s does not start: %w", what.Argv[0], not)
	}
	return res.Code, err
}
