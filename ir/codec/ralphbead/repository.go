package ralphbead

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// The repository of the executors has a schema of its own besides the published
// one: other lanes, more keys, and evidence that is required unless the bead says
// otherwise. Which of the two a bead is written by is told by what only the second has.
var (
	seedLanes       = []string{"fast", "feature", "maintenance", "experimental"}
	repositoryLanes = []string{"feature", "bug", "hardening", "deps", "gate", "patrol"}
	gateTypes       = []string{"smoke", "lint", "build", "test", "security", "custom"}
)

// byRepository reports whether a bead has something that only the schema of the
// repository has.
func byRepository(f foreign.Fields) bool {
	has := func(in *foreign.Value, keys ...string) bool {
		return in != nil && slices.ContainsFunc(keys, func(k string) bool { return in.Any(k) != nil })
	}
	if v := f.Get("$schema"); v != nil && strings.Contains(v.Text, "ralph-bead") {
		return true // that file is the repository's
	}
	lane := f.Get("lane")
	return f.Get("artifacts") != nil || f.Get("blocking") != nil || has(f.Get("dod"), "artifact_paths") ||
		has(f.Get("constraints"), "allowed_dirs", "forbidden_ops", "migration_rules") ||
		lane != nil && slices.Contains(repositoryLanes, strings.ToLower(lane.Text)) && !slices.Contains(seedLanes, strings.ToLower(lane.Text))
}

// artifacts are what another executor attached. They are kept.
func (d *decoding) artifacts(v *foreign.Value) {
	if !d.Is(v, '{', "an object with screenshots, logs, traces, diff_url") {
		return
	}
	f := d.Fields(v, nil, "screenshots", "logs", "traces", "diff_url")
	for _, list := range []string{"screenshots", "logs", "traces"} {
		d.texts(f.Get(list), "paths")
	}
	d.Is(f.Get("diff_url"), 's', "a text")
	d.ext["artifacts"] = v.Plain()
}

// blocking says whether the bead is a gate. What it does to a convoy is kept: ralph
// has none.
func (d *decoding) blocking(v *foreign.Value) {
	if !d.Is(v, '{', "an object with is_gate, gate_type, blocks_convoy, auto_close_on_pass") {
		return
	}
	f := d.Fields(v, nil, "is_gate", "gate_type", "blocks_convoy", "auto_close_on_pass")
	for _, flag := range []string{"is_gate", "blocks_convoy", "auto_close_on_pass"} {
		d.Is(f.Get(flag), 'b', "true or false")
	}
	d.Word(f.Get("gate_type"), gateTypes...)
	if x := f.Get("is_gate"); x != nil && x.Truth {
		d.node.Kind = ir.GateKind
	}
	d.ext["blocking"] = v.Plain()
}
