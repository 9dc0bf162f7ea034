package policies

// NodeView is what expressions see of a node as node.*. The compiler fills it;
// fields that are not known yet (gates and agents, while they are being chosen)
// stay empty. A view must not be changed once an expression has seen it.
type NodeView struct {
	Key, Phase, Title, Goal string
	Kind                    string // work, merge, gate, manual
	Lane, Type              string
	Complexity              string
	Priority                int
	Labels, Paths           []string // Paths: what the node owns and forecasts
	Owns                    []string
	After                   []string // keys of what it waits for
	Done                    bool
	Policy                  string
	Attempts, Iterations    int
	TimeoutMS               int64 // node.timeout is in seconds
	Gates                   []GateView
	Agents                  []AgentView
	Steps                   []StepView

	value any // the cty value, made on first use
}

// GateView is an element of node.gates.
type GateView struct {
	Name, Kind, Agent, Model, Access, Run, OnFailure, From string
	Step                                                   string
	Approvers, Protect                                     []string
	Fields                                                 []string // properties of its output schema
}

// AgentView is an element of node.agents.
type AgentView struct {
	Name, Step, Model, Access, Runner string
	Capabilities, Tags                []string
	Human, Implicit                   bool
}

// StepView is an element of node.steps.
type StepView struct {
	Name, Agent, Model, Access string
	Gates                      []string
}

// EdgeView is what a rule over edges sees as edge.from, edge.to (both as node),
// edge.type and edge.origin.
type EdgeView struct {
	From, To *NodeView
	Type     string // blocks, …
	Origin   string // number, prose, explicit, scope, import
}

// PlanView is what a rule over the plan sees as plan.*.
type PlanView struct {
	Slug, Title, Base, Target, Owner string
	Labels                           []string
	Nodes                            []*NodeView

	value any
}
