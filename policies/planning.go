package policies

// ForPlanning returns the policy for writing a plan: the built-in one, these steps, and of
// the user's own what agents need to run, sandboxes, approvers, notifications, and the block draft.
// Gates, bounds and rules for the work of plans do not concern their writing.
func (s *Set) ForPlanning(steps []*Step) *Set {
	out := builtin().clone()
	out.project, out.ctx, out.Files = s.project, s.ctx, s.Files
	out.Runners, out.Secrets, out.Models, out.Agents = s.Runners, s.Secrets, s.Models, s.Agents
	out.Tracker, out.Notify, out.Draft = s.Tracker, s.Notify, s.Draft
	out.Ralph.Capabilities, out.Sandboxes = s.Ralph.Capabilities, s.Sandboxes
	out.Own = Settings{Worktree: s.Own.Worktree, HITL: HITL{Approvers: s.Own.HITL.Approvers}}
	out.Settings = Overlay(out.Settings, out.Own)
	if name := s.Draft.Review.Gate; name.Set && s.Gates[name.V] != nil {
		out.Gates[name.V] = s.Gates[name.V]
	}
	p := &Policy{Decl: Decl{Name: "draft", Builtin: true}, Steps: steps}
	out.Policies = map[string]*Policy{p.Name: p}
	out.names, out.keywords, out.def = []string{p.Name}, indexKeywords(out.Complexity), p
	return out
}
