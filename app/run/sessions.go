package run

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Which selects sessions of a sprint; empty fields select all.
type Which struct {
	Gate, Step string
	Attempt    int
}

// Session is a session in `ralph session --json`. Fields are added, never renamed.
type Session struct {
	Session string     `json:"session"`  // the program's own handle
	AgentID string     `json:"agent_id"` // agent and handle: who can be asked again
	Agent   string     `json:"agent"`
	Step    string     `json:"step"`
	Attempt int        `json:"attempt"`
	Gate    string     `json:"gate,omitempty"` // that its agent judged
	Turn    string     `json:"turn,omitempty"` // base name of the files of its first turn
	Runner  string     `json:"runner"`
	Kind    string     `json:"kind"` // of the runner
	Model   string     `json:"model,omitempty"`
	Status  string     `json:"status"` // of the attempt, "waiting" or "interrupted" if that is so, or the gate's verdict
	Started *time.Time `json:"started,omitempty"`
	Work    bool       `json:"did_the_work"`
	Joined  []string   `json:"join,omitempty"` // the command to join it
	Dir     string     `json:"directory"`      // to join it in
	Cannot  string     `json:"cannot_join,omitempty"`
	Inside  bool       `json:"in_sandbox,omitempty"` // the command joins it in the agent's sandbox, and is one of ralph's
	Watched bool       `json:"watched,omitempty"`    // its agent is at work, and what a person writes there now is seen

	commit  string        // that its attempt left
	outside bool          // it is on record that no sandbox confined it
	join    executor.Join // what its command is made of
}

// SessionsOf lists all sessions of a node, newest first. The crew's programs say how to
// join them.
func SessionsOf(r *record.Record, v machine.NodeView, crew *Crew) []Session {
	out := []Session{}
	work := record.WorkIndex(v, writes(r, v))
	if k := len(v.Attempts) - 1; r.Held && k >= 0 && v.Attempts[k].Status == executor.AttemptRunning && v.Attempts[k].Session != "" {
		work = k // what is done anew has the worktree now
	}
	for i := range slices.Backward(v.Attempts) {
		a := &v.Attempts[i]
		for _, s := range slices.Backward(a.Sessions) {
			if slices.ContainsFunc(out, func(o Session) bool {
				return o.Session == s.Session && o.Gate == s.Gate && o.Step == a.Step && o.Attempt == a.Number
			}) {
				continue // an earlier turn in the same session
			}
			e := Session{
				Session: s.Session, AgentID: s.Agent + "@" + s.Session, Agent: s.Agent, Step: a.Step, Attempt: a.Number, Gate: s.Gate, Turn: s.Turn,
				Runner: r.Epic.Agents[s.Agent].Runner, Status: standing(v, a), Started: record.TimeJSON(s.At),
				Work: i == work && s.Gate == "" && s.Session == a.Session, commit: a.Commit, outside: a.Turns > 0 && !a.Sandbox.Confined() && s.Session == a.Session,
			}
			e.Kind = r.Epic.Runners[e.Runner].Kind
			if s.Gate == "" && s.Session == a.Session {
				e.Model = a.Model
			}
			if s.Gate != "" {
				e.Status = "no verdict"
				e.judged(append(slices.Clone(a.Red), a.Gates...))
				if e.Status == "no verdict" && a.Status == executor.AttemptRunning {
					e.Status = standing(v, a)
				}
			}
			joinSession(r, v, &e, crew)
			out = append(out, e)
		}
	}
	return out
}

// standing is the status of an attempt: one that is open runs only while its sprint does.
func standing(v machine.NodeView, a *machine.AttemptLog) string {
	switch {
	case a.Status == executor.AttemptRunning && v.Interrupted:
		return "interrupted"
	case a.Status == executor.AttemptRunning && v.Status == executor.Waiting:
		return v.Status.String()
	}
	return a.Status.String()
}

// judged takes in the verdicts of a judge's session. One that names no session is a person's,
// and does not say where the judge ran.
func (s *Session) judged(all []executor.GateJudged) {
	for _, g := range all {
		if g.Gate != s.Gate || g.Session != s.Session && g.Session != "" {
			continue
		}
		s.Status, s.Model = string(g.Verdict), g.Model
		if g.Session != "" {
			s.outside = !g.Sandbox.Confined()
		}
	}
}

// writes reports which steps of a node may write. Steps that are not in the epic may.
func writes(r *record.Record, v machine.NodeView) func(step string) bool {
	n := r.Node(v.ID)
	return func(step string) bool {
		for i := range n.Steps {
			if n.Steps[i].Name == step {
				return n.Steps[i].Access == "write"
			}
		}
		return true
	}
}

// joinSession sets how a person joins a session: in the sprint's worktree, else in the
// user's checkout.
func joinSession(r *record.Record, v machine.NodeView, e *Session, crew *Crew) {
	e.Dir = r.Space.Dir(v.ID)
	if !project.IsDir(e.Dir) {
		e.Dir = r.Space.Top()
	}
	program, ok := crew.ProgramOf(e.Kind)
	if !ok {
		e.Cannot = fmt.Sprintf("its runner %q is of kind %q, whose sessions this ralph cannot open", e.Runner, e.Kind)
		return
	}
	e.Inside = !e.outside && confinedBy(r.Epic, v.ID, stepOf(r, v.ID, e.Step), e.Gate).Name != "" && project.IsDir(effects.Home(r.Space.State(), v.ID, e.Agent, e.Gate))
	about := AboutRun(e.Agent, r.Epic.Runners[e.Runner], e.Dir, "")
	if e.Inside {
		about.Wall = &wall.Spec{Kind: wall.Namespaces}
	}
	about.Node, about.Slug, about.Model, about.Keep = r.Node(v.ID), r.Epic.Agents[e.Agent].Slug, e.Model, r.Keep()
	e.join = program.Join(about, e.Session)
	if e.Joined = e.join.Argv; len(e.Joined) == 0 {
		e.Cannot = cmp.Or(program.Describe().Cannot[executor.CanJoin], "its program has no way for people to join")
	}
	_, blind := program.Describe().Cannot[executor.CanTakeover]
	e.Watched = r.Held && e.Status == executor.AttemptRunning.String() && !blind && !e.join.Unseen
	if e.Inside {
		joinInside(r, v, e)
	}
}

// joinInside makes the command that joins a session one that does so in its sandbox:
// outside, the agent's program would read settings that the agent may have planted.
func joinInside(r *record.Record, v machine.NodeView, e *Session) {
	if !project.IsDir(r.Space.Dir(v.ID)) {
		e.Joined, e.Cannot = nil, "its worktree is gone, and its sandbox with it"
	}
	e.Dir, _ = filepath.Abs(".") // where the file of the epic is named from
	if len(e.Joined) == 0 {
		return
	}
	enter := []string{"ralph", "enter", string(v.Key)}
	if r.About() != "" {
		enter = append(enter, "--epic", r.File)
	}
	switch {
	case e.Gate != "":
		enter = append(enter, "--gate", e.Gate)
	case e.Agent != v.Attempts[len(v.Attempts)-1].Agent:
		enter = append(enter, "--agent", e.Agent)
	}
	e.Joined = slices.Concat(enter, []string{"--"}, e.Joined)
}

// Of returns the selected sessions. Selecting none of several is a usage error.
func (f *Which) Of(list []Session, v machine.NodeView) ([]Session, error) {
	if f.Attempt < 0 {
		return nil, exit.Usagef("--attempt %d: write a number from 1", f.Attempt)
	}
	out := slices.DeleteFunc(slices.Clone(list), func(s Session) bool {
		return f.Gate != "" && s.Gate != f.Gate || f.Step != "" && s.Step != f.Step || f.Attempt > 0 && s.Attempt != f.Attempt
	})
	if len(out) > 0 || len(list) == 0 || f.Gate == "" && f.Step == "" && f.Attempt == 0 {
		return out, nil
	}
	var known []string
	for _, s := range list {
		if at := s.Where(); !slices.Contains(known, at) {
			known = append(known, at)
		}
	}
	return nil, exit.Usagef("no session of %s fits; there are those of %s", v.Key, words.ListOf(known))
}

// Best returns the index of the session that is meant: the one that did the work, else,
// without --gate, the newest one of a working agent, else the newest.
func (f *Which) Best(list []Session) int {
	if i := slices.IndexFunc(list, func(s Session) bool { return s.Work }); i >= 0 {
		return i
	}
	return max(slices.IndexFunc(list, func(s Session) bool { return f.Gate != "" || s.Gate == "" }), 0)
}

// Where names the attempt of a session, and its gate.
func (s Session) Where() string {
	at := fmt.Sprintf("%s #%d", s.Step, s.Attempt)
	switch {
	case s.Gate != "":
		at += ", gate " + s.Gate
	case s.Turn != "" && !strings.HasPrefix(s.Turn, "agent-"):
		at += ", " + s.Turn // such as a diagnosis
	}
	return at
}

// NoSession explains why a node has no session.
func NoSession(r *record.Record, v machine.NodeView) string {
	if len(v.Attempts) == 0 {
		return "no agent has worked on it yet, so there is no session (" + words.WhyNot(v) + ")"
	}
	command := func(a machine.AttemptLog) bool {
		return r.Epic.Runners[r.Epic.Agents[a.Agent].Runner].Kind == "command"
	}
	if slices.ContainsFunc(v.Attempts, command) {
		return fmt.Sprintf("its agent runs as a command, which has no sessions; what it printed: ralph log %s%s", words.QuoteArg(string(v.Key)), r.About())
	}
	return fmt.Sprintf("no session of its agents is recorded; what they printed: ralph log %s%s", words.QuoteArg(string(v.Key)), r.About())
}
