package policies

// Tracker is the block `tracker "bd" {}`.
type Tracker struct {
	Decl
	Prefix            Value[string]
	Mirror            Value[[]string]
	Labels            Value[map[string]string]
	Actor             Value[string]
	PollMS            Value[int64]
	MaxConcurrentRuns Value[int]
	Approvals         Value[bool]
	Proposals         Value[bool]
	GC                Value[bool]
}
