package policies

import "github.com/ralph-compiler/ralph/diag"

// Tracker is the block `tracker "bd" {}`.
type Tracker struct {
	Decl
	Prefix            Value[string]            `hcl:"prefix=bd" doc:"the prefix of the tracker's ids, such as \"bd\""`
	Mirror            Value[[]string]          `hcl:"mirror=" enum:"comments labels metadata mode pr status" doc:"what is mirrored: comments, labels, metadata, mode, pr, status; all of it if nothing is named"`
	Labels            Value[map[string]string] `hcl:"labels=" doc:"labels of the tracker by meaning"`
	Actor             Value[string]            `hcl:"actor=ralph" doc:"the name that ralph's changes carry"`
	PollMS            Value[int64]             `hcl:"poll=15000" is:"duration" min:"1" doc:"how often the tracker is read, such as \"15s\""`
	MaxConcurrentRuns Value[int]               `hcl:"max_concurrent_runs=1" min:"1" max:"1000" doc:"runs at the same time, from 1"`
	Approvals         Value[bool]              `hcl:"approvals=false" doc:"true lets people approve in the tracker"`
	Proposals         Value[bool]              `hcl:"proposals=false" doc:"true files what agents discover"`
	GC                Value[bool]              `hcl:"gc=false" doc:"true lets bd gc run after a push of many beads, which makes its database small and quick again"`
}

var trackerBlock = &block{of: (*Tracker)(nil), name: "tracker", label: "kind", doc: "mirrors a run into an issue tracker"}

func (t *Tracker) check(r *reader) {
	if t.Name != "bd" {
		r.d.diags.Add(diag.Newf("policy-invalid-value", t.Range, "unknown tracker %s", quoted(t.Name)).
			WithDetail("The one tracker that ralph knows is bd. Write tracker \"bd\" { … }."))
	}
}
