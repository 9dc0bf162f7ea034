package simulate

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// Scenario says what the world does. Of the rules of one kind the first that
// matches an effect counts; what no rule matches goes well.
type Scenario struct {
	Seed    uint64    // of chance and of times that are a range
	Start   time.Time // virtual; default 2000-01-01 00:00 UTC
	Slots   int       // nodes at the same time; 0: as the epic says
	Wait    bool      // stay for people who are still to come; default true
	Agents  []AgentRule
	Gates   []GateRule
	Effects []EffectRule
	Pulls   []PullRule
	People  []PersonRule // nil: everybody does what is asked of them; empty: no one comes
	Crashes []Crash
}

// Match says which effects a rule is about. A field that is not given matches all.
type Match struct {
	Node    string // the node's key, "*" and "?" as in file names
	Step    string
	Attempt Range
	Chance  float64 // from 0 to 1, decided by the seed; default 1
	Times   int     // at most so often, 0: always
}

// Range is a number or from one to another; the zero value matches all.
type Range struct{ From, To int }

// Span is a time or from one to another, chosen by the seed.
type Span struct{ From, To time.Duration }

// AgentRule says what an agent does.
type AgentRule struct {
	Match
	Agent            string
	Iteration        Range
	Takes            Span   // default 10 minutes
	Result           string // success (default), partial, failed, none
	Next             string // next_action: repeat_phase, need_human …
	Suggests         string // suggested_next_phase
	Summary          string
	Human            bool   // needs_human
	Fatal            bool   // drains the run
	End              string // exited (default), timeout, stalled, taken_over: a person writes Message in its session
	Fails            string // of a class, such as limit, crash or session (it is lost); "" is none
	Session          bool   // it has sessions, which outlive a crash
	Until            time.Duration
	Message          string
	Tokens, USDMicro *int64
	Action           string // when it is asked to diagnose: retry, fail, human (default)
}

// GateRule says what a gate finds.
type GateRule struct {
	Match
	Gate                      string
	Red                       bool // it is run before the agent; such a gate fails by default
	Takes                     Span // default 30 seconds
	Verdict                   executor.Verdict
	Message, Signature, Fails string
	Tokens, USDMicro          *int64
}

// EffectRule says how base, prepare, collect, publish, land or pull goes.
type EffectRule struct {
	Match
	Effect         executor.EffectKind
	Takes          Span // default one second
	Fails, Message string
	Paths          []string // conflict
	Problems       []string // collect: what ralph's own checks find
}

// PullRule says what becomes of a pull request. By default it is merged after an
// hour.
type PullRule struct {
	Match
	Takes   Span
	State   string // merged, closed, open (for ever)
	Comment string
}

// PersonRule is a decision: at a time, or after a node began to wait for people.
type PersonRule struct {
	Match
	At      time.Duration // since the start
	When    bool          // each time a matching node waits for a person
	Cause   executor.Cause
	After   Span // of When
	Verb    executor.Verb
	How     executor.How
	Message string
	By      string // "": one who may
	USD     int64  // resume: more budget, in millionths of a dollar
	Tokens  int64
	Wall    time.Duration
}

// Crash ends ralph, as kill -9 does, and starts it again.
type Crash struct {
	At   time.Duration // since the start
	Down time.Duration // until the next apply; default one minute
}
