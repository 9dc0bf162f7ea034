package policies

import (
	"io/fs"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/diag"
)

// Input is what Decode reads. It reads nothing else.
type Input struct {
	Files   []*diag.File      // the user's policy files, *.hcl and *.json (HCL's JSON form); any order
	Project fs.FS             // root of the project, confined by the caller; nil: no file exists
	Vars    map[string]string // --var name=value
	Meter   *Meter            // bounds evaluation, now and of the Set; nil: one of MinCost
	Version string            // of ralph, for `ralph { required = … }`; "" or "(devel)" meets any constraint
}

// Set is a whole policy: the built-in blocks overlaid with the user's. Its fields do not
// change after Decode. Fragment, For and the methods of rules evaluate expressions and
// are not safe for concurrent use.
type Set struct {
	Ralph       Ralph
	Variables   map[string]*Variable
	Runners     map[string]*Runner
	Secrets     map[string]*Secret
	Models      map[string]*Model
	Agents      map[string]*Agent
	Gates       map[string]*Gate
	Policies    map[string]*Policy
	Complexity  map[string]*Complexity
	Sandboxes   map[string]*Sandbox
	Dialects    map[string]*Dialect
	Rules       []*Rule   // by name
	Waivers     []*Waiver // by rule, then node
	Notify      []*Notify // by place
	Tracker     *Tracker  // nil: none
	Draft       Draft
	Concurrency Concurrency
	Settings    Settings   // built-in defaults with the top-level blocks over them
	Own         Settings   // what the user wrote at top level: it counts above everything built in
	Files       []FileRead // by path, then For; what dynamic blocks read is on the result of For

	project  fs.FS
	ctx      *scope
	keywords *keywordIndex
	names    []string // of Policies, sorted; made by finish
	def      *Policy  // made by finish
}

// DefaultPolicy returns the policy block that underlies every other: the
// user's one with default = true, else the user's one called "default", else
// the built-in one. Never nil.
func (s *Set) DefaultPolicy() *Policy {
	if s.def != nil {
		return s.def
	}
	var best *Policy
	rank := func(p *Policy) int {
		switch {
		case !p.Builtin && p.Default.V:
			return 3
		case !p.Builtin && p.Name == "default":
			return 2
		case p.Default.V:
			return 1
		}
		return 0
	}
	for _, name := range sortedKeys(s.Policies) {
		if p := s.Policies[name]; best == nil || rank(p) > rank(best) {
			best = p
		}
	}
	return best
}

// UserAgents reports whether the user's policy declares any agent: then the
// built-in ones are only a last resort.
func (s *Set) UserAgents() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(s.Agents)), func(a *Agent) bool { return !a.Builtin })
}

// GateTimeout returns the timeout of gates of a kind at top level; a policy, a
// level of complexity or a fence may say another one (Limits.GateTimeout). 0 is
// none.
func (s *Set) GateTimeout(kind string) Value[int64] { return s.Settings.Limits.GateTimeout(kind) }
