package runnertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// Case is one thing that runners do.
type Case struct {
	Name  string // a sentence
	Needs []executor.Capability
	turns [][]modeltest.Step // what the model does in the first turn, the second, …
	last  bool               // played when all others are over and the runner is closed
	play  func(t *testing.T, s *stage)
}

// mark is the part of a prompt by which the model knows a turn, from 1.
func (c Case) mark(turn int) string { return fmt.Sprintf("Play turn %d of %q.", turn, c.Name) }

func (c Case) rules() []modeltest.Rule {
	var out []modeltest.Rule
	for i, steps := range c.turns {
		out = append(out, modeltest.Rule{Match: c.mark(i + 1), Steps: steps})
	}
	slices.Reverse(out) // a session that goes on may hold earlier prompts in its last text
	return out
}

// stage is where a case plays.
type stage struct {
	*suite
	c     Case
	dir   string // worktree
	state string // a run's state of its own, below the suite's
}

func (s *suite) stage(t testing.TB, c Case) *stage {
	t.Helper()
	s.mu.Lock()
	*s.stages++
	name := fmt.Sprintf("node-%d", *s.stages)
	s.mu.Unlock()
	out := &stage{suite: s, c: c, dir: s.worktree(t, name), state: filepath.Join(s.state, name)}
	if err := os.MkdirAll(out.state, 0o700); err != nil {
		t.Fatal(err)
	}
	return out
}

// turn is one call of Runner.Run. The zero value is the first turn of a writing agent.
type turn struct {
	of      int    // which of the case's turns; 0 is 1
	session string // to continue with
	fork    bool
	read    bool
	raw     bool
	gate    string // that its agent judges
	schema  json.RawMessage
	text    string
	slug    string
	time    time.Duration // 0: two minutes, or longer for programs that start slowly
	quiet   time.Duration // 0: never stalls
	human   ir.HITL
	config  *ir.Runner // nil: the suite's
	other   *stage     // where it works; nil: here
	record  func(executor.Body)
}

// played is what came of it.
type played struct {
	run      executor.AgentRun
	ended    executor.AgentEnded
	err      error
	answer   string
	reported json.RawMessage
	mu       *sync.Mutex
	records  *[]executor.Body // guarded by mu
}

// ask makes the request for a turn.
func (s *stage) ask(k turn) executor.AgentRun {
	at := s
	if k.other != nil {
		at = k.other
	}
	n := max(k.of, 1)
	step := ir.Step{
		Name: "implement", Agent: "builder", Access: "write", Session: "resume", Limits: ir.StepLimits{TimeoutMS: max(2*time.Minute, 12*s.agent.Quiet).Milliseconds()},
		Stall: ir.Stall{AfterMS: k.quiet.Milliseconds(), Action: "fail"}, Next: "implement",
	}
	if k.time > 0 {
		step.Limits.TimeoutMS = k.time.Milliseconds()
	}
	if k.read {
		step.Access = "read"
	}
	key := ir.Key(filepath.Base(at.dir))
	config := s.config
	if k.config != nil {
		config = *k.config
	}
	return executor.AgentRun{
		Node: &ir.Node{ID: ir.NodeID("bd-" + string(key)), Key: key, Git: ir.Git{Branch: "ralph/" + string(key)}}, Step: &step, Agent: "builder",
		Slug: k.slug, Text: k.text, Model: s.agent.Model, Alias: s.agent.Alias, Runner: config,
		Effect: executor.Effect{
			Kind: executor.EffectAgent, Node: ir.NodeID("bd-" + string(key)), Step: "implement", Attempt: n, Iteration: 1, Agent: "builder", OfAgent: executor.OfAgent{Session: k.session}, Gate: k.gate,
		},
		Epic: "bd-epic", Dir: at.dir, Files: filepath.Join(at.state, fmt.Sprintf("attempt-%d", n)),
		Prompt: []byte(s.c.mark(n) + "\nThe script says what to do.\n"), Read: k.read, Fork: k.fork, Keep: filepath.Join(at.suite.state, "runners"), Human: k.human,
		Schema: k.schema, Raw: k.raw, Context: json.RawMessage(`{"about": "the context of the node"}`),
	}
}

// run plays a turn to its end.
func (s *stage) run(ctx context.Context, k turn) played {
	r := s.ask(k)
	out := played{mu: &sync.Mutex{}, records: &[]executor.Body{}}
	var answer []byte
	r.Answer, r.Reported = &answer, &out.reported
	r.Activity = func(executor.Activity) {}
	r.Record = func(ctx context.Context, b executor.Body) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		out.mu.Lock()
		*out.records = append(*out.records, b)
		out.mu.Unlock()
		if k.record != nil {
			k.record(b)
		}
		return nil
	}
	out.run = r
	out.ended, out.err = s.runner.Run(ctx, r)
	out.answer = string(answer)
	return out
}

// playing is a turn in progress; nil is one without a waiter.
type playing struct {
	over  chan struct{} // closed when it is over
	ended played        // what came of it then
}

// start begins to play a turn.
func (s *stage) start(ctx context.Context, k turn) *playing {
	p := &playing{over: make(chan struct{})}
	go func() {
		p.ended = s.run(ctx, k)
		close(p.over)
	}()
	return p
}

// wait returns what came of it when it is over.
func (p *playing) wait() played {
	<-p.over
	return p.ended
}

// still fails the test if the turn is over.
func (p *playing) still(t testing.TB) {
	t.Helper()
	if p == nil {
		return
	}
	select {
	case <-p.over:
		t.Fatalf("the turn is over too early: end %q, outcome %+v, error %v\n%s", p.ended.ended.End, p.ended.ended.Outcome, p.ended.err, p.ended.evidence())
	default:
	}
}

// must plays a turn that works: it ends by itself, without an error.
func (s *stage) must(t testing.TB, k turn) played {
	t.Helper()
	p := s.run(t.Context(), k)
	if p.err != nil || p.ended.End != executor.EndExited {
		t.Fatalf("turn %d: got end %q, error %v\n%s", max(k.of, 1), p.ended.End, p.err, p.evidence())
	}
	return p
}

// success plays a turn that works and reports success.
func (s *stage) success(t testing.TB, k turn) played {
	t.Helper()
	p := s.must(t, k)
	if p.ended.Outcome.Result != "success" || p.ended.Outcome.Invalid != "" {
		t.Fatalf("turn %d: got outcome %+v, want success\n%s", max(k.of, 1), p.ended.Outcome, p.evidence())
	}
	return p
}

// fails plays a turn that fails with a failure of that class.
func (s *stage) fails(t testing.TB, k turn, class executor.FailureClass) played {
	t.Helper()
	p := s.run(t.Context(), k)
	var f *executor.Failure
	if !errors.As(p.err, &f) || f.Class != class {
		t.Fatalf("got end %q, outcome %+v, error %v; want a failure of class %s\n%s", p.ended.End, p.ended.Outcome, p.err, class, p.evidence())
	}
	if strings.TrimSpace(f.Error()) == "" {
		t.Errorf("the failure says nothing")
	}
	return p
}

// session is the handle on record last; "" if there is none.
func (p played) session() executor.AgentSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range slices.Backward(*p.records) {
		if a, ok := b.(executor.AgentSession); ok {
			return a
		}
	}
	return executor.AgentSession{}
}

// evidence is what the turn's files hold, for people.
func (p played) evidence() string {
	var b strings.Builder
	names, _ := filepath.Glob(filepath.Join(p.run.Files, "*"))
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err == nil && !strings.HasSuffix(name, ".prompt.md") && len(content) > 0 {
			fmt.Fprintf(&b, "--- %s\n%s\n", filepath.Base(name), content[max(0, len(content)-3000):])
		}
	}
	return b.String()
}

// requests are those of the case's turns, in order.
func (s *stage) requests() []modeltest.Request {
	return slices.DeleteFunc(s.model.Turns(s.base), func(r modeltest.Request) bool {
		return !strings.Contains(r.Human(), fmt.Sprintf(" of %q.", s.c.Name))
	})
}

// of are the requests of one of the turns, from 1.
func (s *stage) of(turn int) []modeltest.Request {
	return slices.DeleteFunc(s.requests(), func(r modeltest.Request) bool { return !strings.Contains(r.Human(), s.c.mark(turn)) })
}

// last is the last request of a turn.
func (s *stage) last(t testing.TB, turn int) modeltest.Request {
	t.Helper()
	all := s.of(turn)
	if len(all) == 0 {
		t.Fatalf("the model was not asked in turn %d", turn)
	}
	return all[len(all)-1]
}

// file reads a file of the worktree.
func (s *stage) file(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// put writes a file of the worktree.
func (s *stage) put(t testing.TB, name, content string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// holds checks that the worktree differs from its commit in these files alone.
func (s *stage) holds(t testing.TB, want ...string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(s.git(t, s.dir, "status", "--porcelain", "--ignored", "-uall")) {
		got = append(got, strings.TrimSpace(line[3:]))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the worktree holds %q beside its commit, want %q", got, want)
	}
}
