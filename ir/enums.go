package ir

// enums lists the words that a field may hold, by type and field of the file.
// Verify and the JSON Schema both read it. A field that may be empty where it
// does not apply lists "".
var enums = map[string][]string{
	"Integration.mode":      {"dag", "branch", "wait", "none"},
	"Integration.pr":        {"none", "plan", "node"},
	"Run.on_exceed":         {"pause", "stop"},
	"HITL.level":            {"none", "gates", "every-node"},
	"HITL.plan":             {"auto", "required"},
	"HITL.on_human_message": {"pause", "review", "cooldown"},
	"GitSettings.cleanup":   {"never", "on_success"},
	"GitSettings.commit":    {"each", "squash"},
	"GitSettings.forge":     {"gh", "glab", "none"},
	"GitSettings.on_tamper": {"note"},
	"Worktree.layout":       {"worktree", "clone"},
	"Tracker.kind":          {"bd"},
	"Agent.access":          {"", "read", "write"},
	"Agent.session":         {"", "fresh", "resume"},
	"Gate.kind":             {"command", "agent", "review", "human", "outcome", "compiles"},
	"Gate.access":           {"", "read", "write"},
	"Gate.on_timeout":       {"", "fail", "stop"},
	"Gate.on_failure":       {"", "retry", "stop", "continue"},
	"Gate.from":             {"policy", "plan", "builtin"},
	"Gate.baseline":         {"", "green"},
	"Runner.kind":           {"command", "claude", "opencode", "codex", "acp"},
	"Runner.prompt":         {"", "stdin", "file", "arg"},
	"Runner.outcome":        {"", "optional", "required"},
	"Sandbox.kind":          {"none", "landlock", "bwrap", "namespaces", "auto", "container", "seatbelt"},
	"Sandbox.accept":        {"", "landlock"},
	"Node.kind":             {string(Work), string(Merge), string(GateKind), string(Manual)},
	"Edge.from":             {"number", "prose", "explicit", "scope", "import"},
	"Edge.type":             {string(Blocks), string(DiscoveredFrom), string(ParentChild), string(Related)},
	"Step.access":           {"read", "write"},
	"Step.session":          {"", "fresh", "resume"},
	"Step.gate_mode":        {"parallel", "ordered"},
	"Step.on_failure":       {"keep", "reset"},
	"Retry.backoff":         {"fixed", "linear", "exponential"},
	"Stall.action":          {"", "fail", "retry", "diagnose"},
	"Complexity.from":       {"keyword", "plan", "policy", "flag", "default"},

	"NodeHITL.on_human_message": {"pause", "review", "cooldown"},
}
