package policies

// Agent is the block `agent "n"`.
type Agent struct {
	Decl
	Path              Value[string] // agent file, relative to the project
	Slug              Value[string] // the runner's own agent
	Runner            Value[string]
	Model             Value[string]   // alias or model id
	Capabilities      Value[[]string] // "all" is written out
	Access            Value[string]   // read, write (default read: an agent that may write says so)
	Tags              Value[[]string]
	Priority          Value[int] // higher wins
	Speed             Value[int] // higher is faster; between agents of equal priority
	TimeoutMultiplier Value[float64]
	Session           Value[string] // fresh, resume
	Human             Value[bool]
	Fallback          Value[[]string]
	Active            Value[bool]
}
