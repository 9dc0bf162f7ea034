package policies

import "github.com/ralph-compiler/ralph/diag"

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

var trackerBlock = &block{
	name: "tracker", label: "kind",
	doc: "mirrors a run into an issue tracker",
	attrs: []attr{
		{name: "prefix", kind: kString, doc: "the prefix of the tracker's ids, such as \"bd\""},
		{name: "mirror", kind: kEnums, enum: []string{"comments", "labels", "metadata", "mode", "pr", "status"}, doc: "what is mirrored: comments, labels, metadata, mode, pr, status; all of it if nothing is named"},
		{name: "labels", kind: kMap, doc: "labels of the tracker by meaning"},
		{name: "actor", kind: kString, doc: "the name that ralph's changes carry"},
		{name: "poll", kind: kDuration, min: 1, doc: `how often the tracker is read, such as "15s"`},
		{name: "max_concurrent_runs", kind: kInt, min: 1, max: 1000, doc: "runs at the same time, from 1"},
		{name: "approvals", kind: kBool, doc: "true lets people approve in the tracker"},
		{name: "proposals", kind: kBool, doc: "true files what agents discover"},
		{name: "gc", kind: kBool, doc: "true lets bd gc run behind a push of many beads, which makes its database small and quick again"},
	},
}

func (r *reader) tracker(decl Decl) *Tracker {
	if decl.Name != "bd" {
		r.d.diags.Add(diag.Newf("policy-invalid-value", decl.Range, "unknown tracker %s", quoted(decl.Name)).
			WithDetail("The one tracker that ralph knows is bd. Write tracker \"bd\" { … }."))
	}
	return &Tracker{
		Decl:              decl,
		Prefix:            or(r.str("prefix"), "bd"),
		Mirror:            or(r.enums("mirror"), []string{}),
		Labels:            or(r.object("labels"), map[string]string{}),
		Actor:             or(r.str("actor"), "ralph"),
		PollMS:            or(r.duration("poll"), 15_000),
		MaxConcurrentRuns: or(r.integer("max_concurrent_runs"), 1),
		Approvals:         or(r.boolean("approvals"), false),
		Proposals:         or(r.boolean("proposals"), false),
		GC:                or(r.boolean("gc"), false),
	}
}
