package executor

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"strconv"

	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// Journal keeps events. It is owned by one goroutine.
type Journal interface {
	// Append writes events and returns when all of them are on stable storage;
	// either all are written or none. Their Seq must go on from the last one
	// written, from 1; only a TailLost may leave a gap before it. After an error
	// the journal refuses further events: the caller cannot know what was written
	// and must open it again.
	Append(ctx context.Context, events []Event) error
	// Events yields what was written, in order, and stops after the first error
	// (damage is reported with its sequence number).
	Events(ctx context.Context) iter.Seq2[Event, error]
	Close() error
}

// Inbox holds people's decisions made while another process holds the lock.
type Inbox interface {
	// Pending returns the decisions not yet answered, oldest first.
	Pending(ctx context.Context) ([]Letter, error)
	// Answer marks one as read: taken, or refused with a reason ("" is taken).
	Answer(ctx context.Context, id, refused string) error
}

// Letter is a decision on its way.
type Letter struct {
	Node     ir.NodeID // "" means the run
	Decision Decision
}

// Workspace is the only interface that touches git and worktrees. All its methods are
// idempotent for the same Effect, may run concurrently for different nodes, and return a
// *Failure for known obstacles in the outside world.
type Workspace interface {
	// Base merges e.Inputs in order, without a worktree. Same inputs, same commit.
	// With e.Resolved the merge has that tree, if it is there and there is something
	// to merge. With e.Onto it is that branch's head instead, which must contain all inputs.
	Base(ctx context.Context, e Effect) (BaseMade, error)
	// Prepare puts the node's worktree at e.Commit and sets it up. What differs
	// from the commit that ralph last left there is saved first. With e.Merge it
	// then merges e.Inputs there and leaves the conflict; with e.Person it leaves
	// the tree as it is, and with e.AsIs, too, unless it is no longer that of the
	// attempt, which it says (Anew).
	Prepare(ctx context.Context, e Effect) (Prepared, error)
	// Collect makes one commit of what the attempt left and checks it.
	Collect(ctx context.Context, e Effect, o Outcome) (Collected, error)
	// Open returns a directory that holds exactly e.Commit, for a gate: the node's
	// worktree, or with e.Apart a detached one. Close puts it back, or takes it
	// away (unless e.Stay), and says what the gate changed.
	Open(ctx context.Context, e Effect) (dir string, err error)
	Close(ctx context.Context, e Effect) (Trace, error)
	// Publish pins e.Commit as the node's result and moves its branch there; of
	// the sum, it moves the integration branch from e.Old.
	Publish(ctx context.Context, e Effect) (Published, error)
	// Land moves the integration branch from e.Old to e.Commit, which contains it.
	Land(ctx context.Context, e Effect) (Landed, error)
	// Pull pushes the node's (or the sum's) branch and makes sure that its pull
	// request is there, once. Poll asks what became of it.
	Pull(ctx context.Context, e Effect, p PullText) (Pulled, error)
	Poll(ctx context.Context, e Effect) (PullSeen, error)
	// Diff writes the unified diff between two commits.
	Diff(ctx context.Context, from, to string, w io.Writer) error
	// FileAt returns a file as of a commit, if it exists and has at most limit bytes.
	FileAt(ctx context.Context, commit, path string, limit int) (b []byte, there bool, err error)
	// Edited reports whether a node's worktree differs from what ralph last left
	// there: a person worked in it.
	Edited(ctx context.Context, node ir.NodeID) (bool, error)
	// Dir is the node's worktree's directory. It does no I/O.
	Dir(node ir.NodeID) string
}

// Trace is what a gate did to the tree. All of it is undone.
type Trace struct {
	New     []string // untracked files that did not exist before
	Changed []string // tracked files, or "HEAD", "index", that it changed
	Touched []string // tracked files that were written to while a command gate ran, also if they are the same again
}

// PullText is the text of a pull request.
type PullText struct {
	Title, Body string
	Onto        string // branch that it asks to be merged into
}

// Runner executes agents of one kind. It may be used concurrently.
type Runner interface {
	// Check reports why the agent of r cannot run at all, or nil. It is asked
	// before a run and costs little.
	Check(ctx context.Context, r AgentRun) error
	// Run executes one iteration and returns when the agent and all processes it
	// left behind are gone. Cancelling ctx kills them; the error is then ctx's.
	Run(ctx context.Context, r AgentRun) (AgentEnded, error)
}

// AgentRun asks for one iteration of an agent.
type AgentRun struct {
	Node   *ir.Node
	Step   *ir.Step // of a gate: a made-up one that bounds the agent's time
	Agent  string   // name of the agent; it may be a fallback
	Slug   string   // the runner's own agent of this name is used; "" if none
	Text   string   // what the agent is told to be: its digested file, without front matter; it is before the prompt or in place of the system prompt
	Model  string   // resolved alias: what the program is told
	Alias  ir.Model // what the alias stands for: provider and prices; zero if unknown
	Runner ir.Runner
	Effect Effect
	Epic   ir.NodeID
	Dir    string            // worktree
	Files  string            // directory of this attempt's files; who writes there makes it
	Name   string            // base name of the files of this turn, such as "agent-1" or "gate-qa"
	Prompt []byte            // the whole prompt
	Notes  []byte            // feedback on the attempt before, empty on a first one
	Env    map[string]string // set for every process in the worktree
	Read   bool              // access: nothing that would be committed may change
	Fork   bool              // Effect.Session is copied and stays as it is: the turn is of the copy
	Keep   string            // directory in which runners keep what outlives a turn, such as cumulative figures; "" if nothing does
	Human  ir.HITL           // what happens when a person writes in the agent's session: OnHumanMessage, IdleCooldownMS

	// Schema is what has to be reported: of a gate's verdict, of a diagnosis. nil is
	// an outcome (OutcomeSchema).
	Schema json.RawMessage
	// Context is what the agent may ask for while it works, as JSON; nil if it may
	// not ask, as in a blind review.
	Context json.RawMessage
	// Tools is the MCP server at which the agent reports; nil: none, then
	// the outcome file and the last message are all there is.
	Tools *Tools

	// Raw asks for the answer alone, as gates and diagnoses do: no outcome is read, and
	// *Answer is the agent's answer, even when an error is returned. An answer of more
	// than 2 MiB loses its middle, so that it is invalid JSON. What the program wrote to
	// OutcomeFile is left for the caller.
	Raw    bool
	Answer *[]byte

	// Wall is the sandbox that the turn's programs run in; nil: none. In it the turn's
	// directory Inside is at the place of Files; see Seen.
	Wall *wall.Spec

	// Reported is filled with what was reported last through Tools, nil if nothing
	// was: the server of the tools knows, while anybody may write a file.
	Reported *json.RawMessage

	Activity func(Activity) // told of signs of life; may be nil, may be called from any goroutine

	// Record puts a fact on record while the turn goes on (AgentSession, WorkProposed,
	// HumanSpoke) and returns when it is on stable storage. It may be nil, and may be
	// called from any goroutine.
	Record func(context.Context, Body) error
}

// Tools is an MCP server (streamable HTTP on loopback) that is open for one turn.
// It offers report_outcome, whose valid calls are written to OutcomeFile before
// they are answered, get_context if AgentRun.Context is there, and propose_work.
type Tools struct {
	Name     string   // unique for this turn, of [a-z0-9_], at most 40 bytes: the name under which an agent registers the server
	URL      string   // with the path
	Token    string   // bearer, good for this turn alone
	Proxy    []string // a program that offers the same over stdio; it needs ProxyEnv
	ProxyEnv map[string]string
}

// OutcomeFile is the file for the agent's outcome, or in a Raw run its answer. It also
// holds reports made through Tools.
func (r *AgentRun) OutcomeFile() string { return r.Files + "/" + r.Turn() + ".outcome.json" }

// Inside is what programs in a sandbox see at the place of Files: copies of what they are
// to read, and what they write.
func (r *AgentRun) Inside() string { return r.Files + "/inside-" + r.Turn() }

// Left is where files are kept that programs in a sandbox left beside their outcome.
func (r *AgentRun) Left() string { return r.Files + "/" + LeftDir + r.Turn() }

// LeftDir begins the names of such directories.
const LeftDir = "left-"

// Seen is where the turn's programs find Files.
func (r *AgentRun) Seen() string {
	if r.Wall != nil && r.Wall.Kind.InPlace() {
		return r.Inside()
	}
	return r.Files
}

// Turn is the base name of the files of this turn.
func (r *AgentRun) Turn() string {
	if r.Name != "" {
		return r.Name
	}
	return "agent-" + strconv.Itoa(max(r.Effect.Iteration, 1))
}

// Program is a runner for a program that is itself an agent, with sessions.
type Program interface {
	Runner
	// Describe returns what is known of the program without running it.
	Describe() Description
	// Version runs the program to ask for its version, such as "2.1.328".
	Version(ctx context.Context, r AgentRun) (string, error)
	// Natives lists the agents that the program itself knows in r.Dir.
	Natives(ctx context.Context, r AgentRun) ([]Native, error)
	// Join is how a person joins a session in r.Dir. With r.Wall that is in its sandbox.
	Join(r AgentRun, session string) Join
}

// Join is how a person joins a session.
type Join struct {
	Argv []string // the command; empty if nobody can
	// Unseen: what a person writes there while its agent is at work is not seen.
	Unseen bool

	// What the command needs in a sandbox of the person's, beside what an agent has there:
	Env     map[string]string
	Forward []wall.Forward
}

// Description is what a program can do.
type Description struct {
	Name   string                // of the program, such as "opencode"
	Tested string                // constraint of the versions that it was tried with, such as ">= 2.1.300, < 2.2"
	Cannot map[Capability]string // what it cannot do, and why; it can do everything else
}

// Capability is a feature that not every program has.
type Capability string

// Capabilities.
const (
	CanResume   Capability = "resume"   // goes on with a session, also after it was killed
	CanFork     Capability = "fork"     // goes on with a copy of a session
	CanTools    Capability = "tools"    // calls the tools of an MCP server
	CanNative   Capability = "native"   // has agents of its own (slug)
	CanCost     Capability = "cost"     // reports what a turn cost in money; else it is priced, if the model has prices
	CanTokens   Capability = "tokens"   // reports how many tokens a turn used
	CanTakeover Capability = "takeover" // a person's message in the session is seen
	CanRead     Capability = "read"     // its editing tools can be taken away
	CanSystem   Capability = "system"   // Text takes the place of the system prompt; else it stands before the prompt
	CanLimits   Capability = "limits"   // a rate limit is told apart from other failures
	CanRefuse   Capability = "refuse"   // a tool that is not allowed is refused, and the turn goes on
	CanJoin     Capability = "join"     // a person can join a session
)

// Native is an agent that a program itself knows.
type Native struct {
	Name, Description, Model, Provider string
	Path                               string // of its file; "" if it has none that is known
	Write                              bool   // it may change files
}

// Activity is a sign of life.
type Activity struct {
	Bytes int64  // of output so far
	Line  string // the last line, clipped
	Usage Usage
}

// Gate judges one kind of gate. It may be used concurrently.
type Gate interface {
	// Judge returns the verdict; anything but a clear pass, fail or stop is the verdict
	// error. If no verdict was given, the error is ctx's, when it was cancelled, or a
	// *Failure of the runner that was to judge.
	Judge(ctx context.Context, r GateRun) (GateJudged, error)
}

// GateRun asks for one verdict.
type GateRun struct {
	Node    *ir.Node
	Step    *ir.Step
	Name    string
	Gate    ir.Gate
	Digest  string // of the gate
	Effect  Effect
	Left    int // attempts that the step may make after this one, as far as its allowance goes
	Epic    ir.NodeID
	Dir     string // worktree at exactly the collected commit; of a review: an empty directory, or "" for one of the gate's own
	Files   string // directory of this attempt's files; who writes there makes it
	Env     map[string]string
	Secrets map[string]string // of a command: names of the variables that hold them, by name

	// For gates that an agent judges, and outcome gates.
	Agent    string
	Slug     string
	Text     string // of the agent file
	Model    string // resolved alias
	Alias    ir.Model
	Runner   ir.Runner
	Keep     string
	Human    ir.HITL         // see AgentRun
	Context  json.RawMessage // see AgentRun; nil for reviews
	Record   func(context.Context, Body) error
	Outcome  Outcome
	Changed  []FileChange
	Listed   []string     // what Collected listed
	Earlier  []GateJudged // verdicts on this commit so far
	Feedback []string     // what the last attempt was told
	Diff     func(ctx context.Context, w io.Writer) error
	Plan     func(ctx context.Context) ([]byte, error) // the plan that a review of a draft judges; nil for others
	Activity func(Activity)
	Again    string              // why this gate judges once more, in a fresh directory; "" if it does not
	Redact   func(string) string // takes secrets out of what the gate keeps; nil: nothing is taken
	Wall     *wall.Spec          // of the gate's programs; nil: no sandbox
}

// NothingChanged is the problem of an attempt that did no work.
const NothingChanged = "nothing changed since the step started"
