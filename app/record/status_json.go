package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
)

// The form of `ralph status --json`. Fields are added, never renamed. A figure
// that is null is unknown; *_at_least is its known lower bound.
type (
	StatusJSON struct {
		Version int `json:"version"`
		Epic    struct {
			ID      ir.NodeID `json:"id"`
			Slug    string    `json:"slug"`
			Title   string    `json:"title"`
			Plan    string    `json:"plan"`
			Digest  string    `json:"digest"`
			Changed bool      `json:"changed"` // epic.json has changed since
		} `json:"epic"`
		Run       RunJSON            `json:"run"`
		Counts    map[string]int     `json:"counts"`
		GoesOn    int                `json:"goes_on,omitempty"` // of those that wait: without anybody
		Nodes     []NodeJSON         `json:"nodes"`             // integration last, once there is something to join
		Proposals []machine.Proposed `json:"proposals,omitempty"`
		MovedOut  []MovedJSON        `json:"moved_out,omitempty"` // from worktrees: the only copy
		Changes   []words.Change     `json:"changes,omitempty"`   // by others, while agents were at work
		Tracker   *TrackerJSON       `json:"tracker,omitempty"`   // where the policy has one

		// What the texts say besides.
		File   string      `json:"-"` // of the epic, as it was named
		Now    time.Time   `json:"-"`
		Tally  string      `json:"-"`
		Doubts []string    `json:"-"`
		Branch BranchHolds `json:"-"`
		Hidden error       `json:"-"` // why MovedOut is not known
	}
	RunJSON struct {
		Survivors    []SurvivorJSON `json:"survivors,omitempty"` // processes of a run that was killed
		State        string         `json:"state"`               // not started, at work, ending, interrupted, ended
		PID          int            `json:"pid,omitempty"`
		User         string         `json:"user,omitempty"`
		Started      *time.Time     `json:"started,omitempty"`
		By           string         `json:"by,omitempty"`
		Slots        int            `json:"slots,omitempty"`
		Sandbox      string         `json:"sandbox,omitempty"` // of the last apply's --sandbox
		Draining     string         `json:"draining,omitempty"`
		Held         string         `json:"held,omitempty"`
		HeldDetail   string         `json:"held_detail,omitempty"`
		PlanApproved bool           `json:"plan_approved"` // or needs no approval: epic.json as it stands
		Budget       ir.Budget      `json:"budget"`
		Spent        spentJSON      `json:"spent"`        // of the budget
		SpentInAll   spentJSON      `json:"spent_in_all"` // since the first apply
		Base         string         `json:"base,omitempty"`

		// What the texts say besides.
		View machine.RunView `json:"-"` // for words about amounts, parked runners, holds
		Says string          `json:"-"` // State, with who and when, and what goes on with it
	}
	spentJSON struct {
		Tokens          *int64 `json:"tokens"`
		TokensAtLeast   int64  `json:"tokens_at_least"`
		USDMicro        *int64 `json:"usd_micro"`
		USDMicroAtLeast int64  `json:"usd_micro_at_least"`
		WorkMillis      int64  `json:"work_ms"`
	}
	NodeJSON struct {
		Key          ir.Key        `json:"key"`
		ID           ir.NodeID     `json:"id"`
		Title        string        `json:"title"`
		Kind         ir.Kind       `json:"kind"`
		Phase        string        `json:"phase,omitempty"`
		Status       string        `json:"status"`
		For          string        `json:"waits_for,omitempty"`
		Cause        string        `json:"cause,omitempty"`
		Until        *time.Time    `json:"until,omitempty"`
		GoesOn       bool          `json:"goes_on,omitempty"` // without anybody; with the next ralph apply, where none is at work
		Reason       string        `json:"reason,omitempty"`
		BlockedBy    string        `json:"blocked_by,omitempty"`
		Gate         string        `json:"gate,omitempty"`
		Approvers    []string      `json:"approvers,omitempty"`
		Needs        []ir.Key      `json:"needs,omitempty"`
		Step         string        `json:"step,omitempty"`
		Doing        string        `json:"doing,omitempty"`
		LastActivity *time.Time    `json:"last_activity,omitempty"`      // of its programs
		LastHuman    *time.Time    `json:"last_human_message,omitempty"` // in a session of its agents
		Since        *time.Time    `json:"since,omitempty"`
		Started      *time.Time    `json:"started,omitempty"`
		Ended        *time.Time    `json:"ended,omitempty"`
		Spent        spentJSON     `json:"spent"`
		Commit       string        `json:"commit,omitempty"`
		Tree         string        `json:"tree,omitempty"`
		Branch       string        `json:"branch,omitempty"`
		Worktree     string        `json:"worktree,omitempty"`
		Pull         string        `json:"pr,omitempty"` // pull request #7, merge request !7
		PullURL      string        `json:"pr_url,omitempty"`
		PullNumber   int           `json:"pr_number,omitempty"`
		Attempts     []AttemptJSON `json:"attempts"`
		Ways         []machine.Way `json:"ways,omitempty"`     // what people can do now
		Next         []NextStep    `json:"next,omitempty"`     // what is worth doing
		SameAs       ir.Key        `json:"same_as,omitempty"`  // of integration: the sprint that waits over the same conflict, to be resolved there
		Holds        []heldJSON    `json:"holds,omitempty"`    // of integration: every result that the branch holds
		LeftOut      []leftOutJSON `json:"left_out,omitempty"` // of integration: sprints without a result in it

		View machine.NodeView `json:"-"` // for words about it
	}
	heldJSON struct {
		Key    ir.Key    `json:"key"`
		ID     ir.NodeID `json:"id"`
		Commit string    `json:"commit"`
		Older  bool      `json:"older,omitempty"` // not the sprint's current result
		Why    string    `json:"why,omitempty"`   // older: where the sprint stands
	}
	leftOutJSON struct {
		Key  ir.Key `json:"key"`
		Done bool   `json:"done,omitempty"` // its result is not joined yet
		Why  string `json:"why"`
	}
	AttemptJSON struct {
		Step         string               `json:"step"`
		Number       int                  `json:"number"`
		Status       string               `json:"status"`
		Waits        string               `json:"waits_for,omitempty"` // while its node waits: the cause, else for what
		Replaced     bool                 `json:"replaced,omitempty"`  // cancelled, because another attempt has its place
		Reason       string               `json:"reason,omitempty"`
		ForPerson    bool                 `json:"for_person,omitempty"` // nobody's try: a conflict lies prepared for a person
		Agent        string               `json:"agent,omitempty"`
		Model        string               `json:"model,omitempty"`
		Session      string               `json:"session,omitempty"`
		Person       string               `json:"person,omitempty"`
		Started      *time.Time           `json:"started,omitempty"`
		Ended        *time.Time           `json:"ended,omitempty"`
		Iterations   int                  `json:"iterations"`
		WorkMillis   int64                `json:"work_ms,omitempty"` // from start to end, without what it waited
		AgentMillis  int64                `json:"agent_ms"`
		Tokens       *int64               `json:"tokens"`
		USDMicro     *int64               `json:"usd_micro"`
		FilesChanged int                  `json:"files_changed"`
		Added        int                  `json:"lines_added"`
		Removed      int                  `json:"lines_removed"`
		Commit       string               `json:"commit,omitempty"`
		Outcome      *executor.Outcome    `json:"outcome,omitempty"`
		Tests        *executor.TestCounts `json:"tests,omitempty"`
		Problems     []string             `json:"problems,omitempty"`
		Gates        []GateJSON           `json:"gates"`
		Erred        []ErredJSON          `json:"erred,omitempty"` // gates that gave no verdict when they were asked, oldest first
		Files        string               `json:"files"`
		Sandbox      *executor.Sandboxed  `json:"sandbox,omitempty"` // of its agent's last turn; absent: it had none

		By string `json:"-"` // who made it

		// Of show alone.
		Feedback []string              `json:"feedback,omitempty"` // that its agent was given
		Changes  []executor.FileChange `json:"changes,omitempty"`  // the first of them; all stand in changes.json of its files
	}
	ErredJSON struct {
		Gate    string    `json:"gate"`
		Again   bool      `json:"asked_again,omitempty"` // after it
		Class   string    `json:"class,omitempty"`       // of the failure; absent: what it said was no verdict
		Message string    `json:"message,omitempty"`
		Agent   string    `json:"agent,omitempty"`
		Session string    `json:"session,omitempty"`
		At      time.Time `json:"at"`
	}
	GateJSON struct {
		Gate     string               `json:"gate"`
		Verdict  string               `json:"verdict"`
		Message  string               `json:"message,omitempty"`
		Tests    string               `json:"tests"`
		Counts   *executor.TestCounts `json:"counts,omitempty"`
		Failed   []string             `json:"failed,omitempty"`
		Millis   int64                `json:"ms"`
		Agent    string               `json:"agent,omitempty"`
		Model    string               `json:"model,omitempty"`
		Session  string               `json:"session,omitempty"`
		Tokens   *int64               `json:"tokens,omitempty"`
		USDMicro *int64               `json:"usd_micro,omitempty"`
		By       string               `json:"by,omitempty"`
		Sandbox  *executor.Sandboxed  `json:"sandbox,omitempty"` // that it ran in; absent: it had none
		Details  string               `json:"details,omitempty"`
		Evidence string               `json:"evidence,omitempty"`
		RedFirst bool                 `json:"red_first,omitempty"`
		Doubt    string               `json:"doubt,omitempty"` // why its pass is worth a look
	}
)

// StatusOf is the state of a run: the content of `ralph status`, with --json or as text.
func StatusOf(r *Record) StatusJSON {
	s := statusOf(r)
	s.Run.Survivors, s.Changes, s.Tracker, s.Branch = r.survivors(), r.changes(), r.tracker(), r.branch()
	s.MovedOut, s.Hidden = r.movedOut()
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.ID == executor.Integration {
			n.Holds, n.LeftOut = s.Branch.json()
		}
	}
	return s
}

// statusOf is what the journal says of it, and the files of the run.
func statusOf(r *Record) StatusJSON {
	h := r.Epic.Epic
	s := StatusJSON{
		Version: statusVersion, Counts: r.Run.Summary().Counts(), Proposals: r.Run.Overview().Proposals,
		File: r.File, Now: r.Now, Tally: words.TallyOf(r.Run), Doubts: DoubtsOf(r.Run),
	}
	s.Epic.ID, s.Epic.Slug, s.Epic.Title, s.Epic.Plan, s.Epic.Digest, s.Epic.Changed = h.ID, h.Slug, h.Title, h.Plan, r.Epic.Digest, r.Changed
	s.Run = RunOf(r)
	for _, v := range r.Run.Views() {
		s.Nodes = append(s.Nodes, NodeOf(r, v))
		if v.GoesOn && v.Status == executor.Waiting && v.ID != executor.Integration {
			s.GoesOn++
		}
	}
	return s
}

// RunOf is the run as a whole, without data from the system.
func RunOf(r *Record) RunJSON {
	o := r.Run.Overview()
	out := RunJSON{
		Started: TimeJSON(o.Started), By: o.By, Slots: o.Slots, Sandbox: o.Sandbox, Draining: o.Draining,
		Held: string(o.Held.For), HeldDetail: o.Held.Detail, PlanApproved: r.approved(), Budget: o.Budget,
		Spent: spentOf(o.Spent), SpentInAll: spentOf(o.All), Base: r.Run.Bases().Base().Commit,
		View: o,
	}
	out.State, out.Says = r.State()
	if r.Held {
		out.PID, out.User = r.Holder.PID, r.Holder.User
	}
	return out
}

// AtWork reports whether a process is at work on the run.
func (r RunJSON) AtWork() bool { return r.State == "at work" || r.State == "ending" }

// State is the state of the run: in one word, and for people with who, when, and what to
// type if the next apply continues with it.
func (r *Record) State() (word, says string) {
	o, goesOn := r.Run.Overview(), "; ralph apply"+Applies(r.File)+" goes on"
	switch {
	case r.Held && o.Open && o.Draining != "":
		return "ending", fmt.Sprintf("ending (%s); process %d", o.Draining, r.Holder.PID)
	case r.Held:
		return "at work", fmt.Sprintf("at work: process %d of %s, since %s", r.Holder.PID, r.Holder.User, r.Holder.Started.Local().Format(time.DateTime))
	case !o.Begun && !o.Recovered.IsZero():
		return "not started", "recovered at " + o.Recovered.Local().Format(time.DateTime) + goesOn
	case !o.PlanApproved && !o.Begun:
		return "not started", "not started; the plan waits for approval"
	case !o.Begun && r.Epic.Run.HITL.Plan == "required":
		return "not started", "not started; the plan is approved"
	case !o.Begun:
		return "not started", "not started"
	case o.Open, r.cut():
		return "interrupted", "interrupted" + goesOn
	}
	return "ended", "ended"
}

// DoubtsOf lists the passes of gates that are worth a look, each with its sprint.
func DoubtsOf(run *machine.Run) []string { return DoubtsIn(run, run.Views()) }

// DoubtsIn is DoubtsOf for nodes that were looked at already.
func DoubtsIn(run *machine.Run, views []machine.NodeView) (out []string) {
	for _, v := range views {
		if v.Status != executor.Done && v.Status != executor.Waiting {
			continue
		}
		for _, d := range run.Summary().NodeDoubts(v) {
			out = append(out, fmt.Sprintf("%s: %s", v.Key, d))
		}
	}
	return out
}

// NodeOf is a node as `ralph status --json` prints it, with its attempts.
func NodeOf(r *Record, v machine.NodeView) NodeJSON {
	n := r.Node(v.ID)
	out := NodeJSON{
		Key: v.Key, ID: v.ID, Title: v.Title, Kind: n.Kind, Phase: n.Phase, Status: v.Status.String(),
		For: string(v.For), Cause: string(v.Cause), Until: TimeJSON(v.Until), GoesOn: v.GoesOn, Reason: v.Reason, BlockedBy: string(v.BlockedBy),
		Gate: v.Gate, Approvers: v.Approvers, Needs: v.Needs, Step: v.Step, Doing: v.Doing,
		Since: TimeJSON(v.Since), Started: TimeJSON(v.Started), Ended: TimeJSON(v.Ended), Spent: spentOf(v.Spent),
		Commit: v.Result.Commit, Tree: v.Result.Tree, Branch: n.Git.Branch,
		PullURL: v.Pull.URL, PullNumber: v.Pull.Number, Attempts: []AttemptJSON{},
		Ways: v.Ways, Next: r.NextSteps(v), SameAs: v.SameAs, LastHuman: TimeJSON(v.Human), View: v,
	}
	if v.Pull.URL != "" {
		out.Pull = v.Pull.Name()
	}
	if len(v.Attempts) > 0 {
		out.Worktree = r.Space.Dir(v.ID)
	}
	for _, a := range v.Attempts {
		x := AttemptOf(r, v.ID, a)
		x.By = r.by(v, a)
		if v.Status == executor.Waiting && a.Status == executor.AttemptRunning {
			x.Waits = cmp.Or(string(v.Cause), string(v.For))
		}
		out.Attempts = append(out.Attempts, x)
	}
	if k := len(v.Attempts); k > 0 {
		if at, ok := LastActivity(effects.Files(r.Space.State(), v.ID, v.Attempts[k-1].Step, v.Attempts[k-1].Number)); ok {
			out.LastActivity = TimeJSON(at.UTC().Truncate(time.Millisecond))
		}
	}
	return out
}

// by is who made an attempt.
func (r *Record) by(v machine.NodeView, a machine.AttemptLog) string {
	switch {
	case a.Person == "":
		return a.Agent
	case v.Kind == ir.Manual || r.Epic.Agents[a.Agent].Human:
		return a.Person
	}
	return a.Person + " (a person's own fix)"
}

// AttemptOf is an attempt of the node id as `ralph status --json` prints it.
func AttemptOf(r *Record, id ir.NodeID, a machine.AttemptLog) AttemptJSON {
	out := AttemptJSON{
		Step: a.Step, Number: a.Number, Status: a.Status.String(), Replaced: a.Replaced, Reason: a.Reason,
		Agent: a.Agent, Model: a.Model, Session: a.Session, Person: a.Person,
		Started: TimeJSON(a.Started), Ended: TimeJSON(a.Ended), Iterations: a.Turns, WorkMillis: a.Work.Milliseconds(), AgentMillis: a.Millis, ForPerson: a.ByHand,
		Tokens: a.Cost().Tokens, USDMicro: a.Cost().USDMicro,
		FilesChanged: a.Collected.Files, Added: a.Collected.Added, Removed: a.Collected.Removed,
		Commit: a.Commit, Tests: words.TestCounts(a), Problems: a.Problems, Gates: []GateJSON{}, Sandbox: a.Sandbox,
		Files: effects.Files(r.Space.State(), id, a.Step, a.Number),
	}
	if !a.Outcome.None() || a.Outcome.Summary != "" {
		out.Outcome = &a.Outcome
	}
	for _, g := range a.Gates {
		g.Usage = a.CostOf(g)
		out.Gates = append(out.Gates, GateJSON{
			Gate: g.Gate, Verdict: string(g.Verdict), Message: g.Message, Tests: g.Tests, Counts: g.Counts, Failed: g.Failed,
			Millis: g.Millis, Agent: g.Agent, Model: g.Model, Session: g.Session, Tokens: g.Usage.Tokens, USDMicro: g.Usage.USDMicro, By: g.By, Sandbox: g.Sandbox, Details: g.Details, Evidence: g.Evidence, RedFirst: g.Red, Doubt: r.Run.Summary().Doubt(g),
		})
	}
	for i, e := range a.Erred {
		again := slices.ContainsFunc(a.Erred[i+1:], func(o machine.Erred) bool { return o.Gate == e.Gate }) ||
			slices.ContainsFunc(a.Gates, func(g executor.GateJudged) bool { return g.Gate == e.Gate && g.By == "" })
		out.Erred = append(out.Erred, ErredJSON{e.Gate, again, string(e.Class), e.Why, e.Agent, e.Session, e.At.UTC()})
	}
	return out
}

func spentOf(s machine.Spent) spentJSON {
	out := spentJSON{TokensAtLeast: s.Tokens, USDMicroAtLeast: s.USDMicro, WorkMillis: s.Millis}
	if s.TokensKnown {
		out.Tokens = &s.Tokens
	}
	if s.USDKnown {
		out.USDMicro = &s.USDMicro
	}
	return out
}

// TimeJSON is t in UTC; nil (JSON null, or omitted) if t is zero.
func TimeJSON(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// TrackerJSON is the tracker of an epic in status --json; omitted if the policy has no
// tracker. Lists are never null. While a run is at work, unsent updates may be in
// transit.
type TrackerJSON struct {
	Kind           string       `json:"kind"`            // bd
	Away           string       `json:"away,omitempty"`  // why it cannot be told anything now
	CommentsUnsent int          `json:"comments_unsent"` // that it does not have yet
	BeadsUnsent    int          `json:"beads_unsent"`    // how many unsent names
	Unsent         []bd.Unsent  `json:"unsent"`          // what the last apply could not send; the next one retries it
	Left           []bd.Left    `json:"left"`            // beads that keep a state set by people and differ from their sprints
	Refused        []bd.Refusal `json:"refused"`         // updates that it refused while it accepts others; over: skipped
	Error          string       `json:"error,omitempty"` // why the above is unknown
}

// tracker reads what was sent to the tracker; nil if the epic has no tracker.
func (r *Record) tracker() *TrackerJSON {
	t := r.Epic.Run.Tracker
	if t == nil {
		return nil
	}
	out := &TrackerJSON{Kind: t.Kind, Unsent: []bd.Unsent{}, Left: []bd.Left{}, Refused: []bd.Refusal{}}
	told, err := bd.ReadTold(r.Space.State())
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Unsent, out.Left, out.BeadsUnsent = append(out.Unsent, told.Unsent...), append(out.Left, told.Left...), len(told.Unsent)
	if r.Held {
		out.Away = told.Away
	}
	for _, x := range told.Refused {
		if x.ID == "" {
			x.ID = r.Epic.Epic.ID
		}
		out.Refused = append(out.Refused, x)
	}
	if !bd.Mirrors(r.Epic, bd.MirrorComments) {
		return out
	}
	beads := []ir.NodeID{""}
	if ClaimOf(r.Space.State(), r.Epic) != nil { // the epic has no bead
		beads = nil
	}
	for i := range r.Epic.Nodes {
		beads = append(beads, r.Epic.Nodes[i].ID)
	}
	for _, id := range beads {
		out.CommentsUnsent += len(told.Owed(id, r.Run.Node(id).Comments()))
	}
	return out
}
