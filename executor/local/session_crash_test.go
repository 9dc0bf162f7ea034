package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// program is an agent with sessions that outlive ralph. It notices when a session
// is gone on with on another tree than the one that it left, and when a fresh one
// finds what another left.
type program struct {
	w *world

	mu       sync.Mutex // guards the rest
	sessions map[string]*chat
	turns    map[string]int // asked so far, by attempt
	wrong    []string
	spoke    map[string]bool

	// end says how a turn ends, when its work is done: by the number of the turns of
	// its attempt before it. nil: it reports success.
	end func(r executor.AgentRun, before int) (executor.AgentEnded, error)
	// person reports whether a person writes in the session of that attempt, once.
	person func(r executor.AgentRun) bool
	// forgets reports whether the program has lost a session.
	forgets func(session string) bool
}

type chat struct {
	agent string
	left  string // what lay in the worktree when it worked there last
}

func (p *program) run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	p.mu.Lock()
	key := fmt.Sprintf("%s %s-%d", r.Node.Key, r.Effect.Step, r.Effect.Attempt)
	before := p.turns[key]
	session := r.Effect.Session
	switch c := p.sessions[session]; {
	case session == "":
		session = fmt.Sprintf("s%d", len(p.sessions)+1)
		p.sessions[session] = &chat{agent: r.Agent}
		if lies := p.w.ws.Lies(r.Effect.Node); lies != "" && r.Effect.Iteration == 1 {
			p.wrong = append(p.wrong, fmt.Sprintf("%s: a fresh session finds %q", key, lies))
		}
	case c == nil || p.forgets != nil && p.forgets(session):
		p.mu.Unlock()
		return executor.AgentEnded{}, &executor.Failure{Class: executor.FailSession, Err: errors.New("no such session")}
	case c.agent != r.Agent:
		p.wrong = append(p.wrong, fmt.Sprintf("%s: %s goes on in a session of %s", key, r.Agent, c.agent))
	case r.Effect.Iteration > 1 || before > 0: // the first turn of an attempt finds what was collected
		if lies := p.w.ws.Lies(r.Effect.Node); lies != c.left {
			p.wrong = append(p.wrong, fmt.Sprintf("%s: session %s goes on where %q lies, and it left %q", key, session, lies, c.left))
		}
	}
	p.mu.Unlock()
	err := r.Record(ctx, executor.AgentSession{Session: session, Agent: r.Agent, Turn: r.Turn(), Fresh: r.Effect.Session == ""})
	if err != nil { // ralph is gone, and nothing was asked yet
		p.mu.Lock()
		if r.Effect.Session == "" {
			delete(p.sessions, session)
		}
		p.mu.Unlock()
		return executor.AgentEnded{}, err
	}
	p.mu.Lock()
	p.turns[key]++
	p.w.ws.Write(r.Effect.Node, session+";")
	p.sessions[session].left = p.w.ws.Lies(r.Effect.Node)
	p.mu.Unlock()
	if err := r.Record(ctx, executor.WorkProposed{Proposal: executor.Proposal{Title: "more of " + string(r.Node.Key)}, Agent: r.Agent}); err != nil {
		return executor.AgentEnded{}, err
	}
	ended := executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "success", Summary: "done"}, Session: session}
	if p.person != nil && !p.spoken(key) && p.person(r) {
		if err := r.Record(ctx, executor.HumanSpoke{Session: session, Said: time.Now().UTC().Truncate(time.Millisecond), Text: "use bcrypt"}); err != nil {
			return executor.AgentEnded{}, err
		}
		p.mu.Lock()
		p.spoke[key] = true
		p.mu.Unlock()
		ended.End, ended.Outcome = executor.EndTakenOver, executor.Outcome{}
		return ended, nil
	}
	if p.end == nil {
		return ended, nil
	}
	said, err := p.end(r, before)
	said.Session = session
	return said, err
}

func (p *program) spoken(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spoke[key]
}

func (w *world) program() *program {
	p := &program{w: w, sessions: map[string]*chat{}, turns: map[string]int{}, spoke: map[string]bool{}}
	w.runner.Do = p.run
	return p
}

func resumes(e *ir.Epic) {
	for i := range e.Nodes {
		e.Nodes[i].Steps[0].Session = "resume"
	}
}

func onHuman(what string) func(*ir.Epic) {
	return func(e *ir.Epic) { e.Run.HITL.OnHumanMessage = what }
}

// Ralph is killed around every record of a run whose agents have sessions. They go
// on where they were, on the tree that they left, and it costs no attempt.
func TestACrashInASessionChangesNothing(t *testing.T) { // execution §3, §6, §9; K25, S0-60, S2-43, S2-44, S4-68..70
	done := executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "success", Summary: "done"}}
	two := []string{"1.1", "1.2: 1.1"}
	var last *program
	builds := map[string]func(t *testing.T) *world{
		"a turn": func(t *testing.T) *world {
			w := newWorld(t, two)
			last = w.program()
			return w
		},
		"turns in one session, a reminder among them": func(t *testing.T) *world {
			w := newWorld(t, two, resumes)
			last = w.program()
			last.end = func(r executor.AgentRun, _ int) (executor.AgentEnded, error) {
				switch r.Effect.Iteration {
				case 1:
					return executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Result: "partial"}}, nil
				case 2:
					return executor.AgentEnded{End: executor.EndExited, Outcome: executor.Outcome{Invalid: "no JSON"}}, nil
				}
				return done, nil
			}
			return w
		},
		"attempts in one session": func(t *testing.T) *world {
			w := newWorld(t, two, resumes)
			last = w.program()
			w.gate.Do = func(_ context.Context, r executor.GateRun) (executor.GateJudged, error) {
				v := executor.Pass
				if r.Effect.Attempt == 1 {
					v = executor.Fail
				}
				return executor.GateJudged{Gate: r.Name, Verdict: v, Tests: "skip", Message: "m", Signature: fmt.Sprint(r.Effect.Attempt)}, nil
			}
			return w
		},
		"a connection that is cut in the middle": func(t *testing.T) *world {
			w := newWorld(t, two)
			last = w.program()
			last.end = func(_ executor.AgentRun, before int) (executor.AgentEnded, error) {
				if before == 0 {
					return executor.AgentEnded{}, &executor.Failure{Class: executor.FailTransient, Err: errors.New("503")}
				}
				return done, nil
			}
			return w
		},
		"sessions that are lost": func(t *testing.T) *world {
			w := newWorld(t, two)
			last = w.program()
			last.forgets = func(string) bool { return true }
			last.end = func(_ executor.AgentRun, before int) (executor.AgentEnded, error) {
				if before == 0 {
					return executor.AgentEnded{}, &executor.Failure{Class: executor.FailTransient, Err: errors.New("503")}
				}
				return done, nil
			}
			return w
		},
		"worktrees that are lost": func(t *testing.T) *world {
			w := newWorld(t, two)
			last = w.program()
			w.ws.Gone = func(executor.Effect) bool { return true }
			last.end = func(_ executor.AgentRun, before int) (executor.AgentEnded, error) {
				if before == 0 {
					return executor.AgentEnded{}, &executor.Failure{Class: executor.FailTransient, Err: errors.New("503")}
				}
				return done, nil
			}
			return w
		},
		"a judge with a session of its own": func(t *testing.T) *world {
			w := newWorld(t, two, func(e *ir.Epic) {
				check := e.Gates["check"]
				check.Kind, check.Run, check.Agent, check.Access, check.Prompt = "agent", "", "dev", "read", []string{"Look."}
				e.Gates["check"] = check
			})
			last = w.program()
			judge := last
			w.gate.Do = func(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
				session := fmt.Sprintf("judge-%s", r.Node.Key)
				err := errors.Join(
					r.Record(ctx, executor.AgentSession{Session: session, Agent: r.Agent, Turn: "gate-check", Gate: r.Name, Fresh: true}),
					r.Record(ctx, executor.WorkProposed{Proposal: executor.Proposal{Title: "more of " + string(r.Node.Key)}, Agent: r.Agent, Gate: r.Name}),
				)
				if s := r.Effect.Session; s != "" {
					judge.wrong = append(judge.wrong, "the judge goes on in "+s)
				}
				return executor.GateJudged{Gate: r.Name, Verdict: executor.Pass, Tests: "skip", Session: session}, err
			}
			return w
		},
		"a person takes the session": func(t *testing.T) *world {
			w := newWorld(t, two)
			last = w.program()
			last.person = func(r executor.AgentRun) bool { return r.Node.Key == "1.1" }
			w.say = func(machine.NodeView) (executor.Decision, bool) {
				return executor.Decision{Verb: executor.Resume}, true
			}
			return w
		},
		"a person takes the session, and asks for another attempt": func(t *testing.T) *world {
			w := newWorld(t, two)
			last = w.program()
			last.person = func(r executor.AgentRun) bool { return r.Node.Key == "1.1" && r.Effect.Attempt == 1 }
			w.say = func(machine.NodeView) (executor.Decision, bool) {
				return executor.Decision{Verb: executor.RetryNode, Message: "with a test"}, true
			}
			return w
		},
		"a person's words are a review": func(t *testing.T) *world {
			w := newWorld(t, two, onHuman("review"))
			last = w.program()
			last.person = func(r executor.AgentRun) bool { return r.Effect.Attempt == 1 }
			return w
		},
		"a person was in the session": func(t *testing.T) *world {
			w := newWorld(t, two, onHuman("cooldown"))
			last = w.program()
			last.person = func(executor.AgentRun) bool { return true }
			return w
		},
	}
	for name, build := range builds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all []*program
				crashEverywhere(t, func(t *testing.T) *world {
					w := build(t)
					all = append(all, last)
					return w
				})
				for i, p := range all {
					if len(p.wrong) > 0 {
						t.Errorf("run %d:\n%s", i, strings.Join(p.wrong, "\n"))
					}
					want, got := attemptsOf(all[0].w), attemptsOf(p.w)
					if !slices.Equal(got, want) {
						t.Errorf("run %d: attempts %q, undisturbed %q", i, got, want)
					}
					if o := p.w.last.Overview().Proposals; len(o) != 2 {
						t.Errorf("run %d: proposals %+v, want one of each sprint", i, o)
					}
				}
			})
		})
	}
}

// attemptsOf lists the attempts of a run that ended, and what became of them.
func attemptsOf(w *world) []string {
	var out []string
	for _, v := range w.last.Views() {
		for _, a := range v.Attempts {
			out = append(out, fmt.Sprintf("%s %s-%d %s", v.Key, a.Step, a.Number, a.Status))
		}
	}
	return out
}
