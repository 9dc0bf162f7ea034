package main

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
	"github.com/ralph-compiler/ralph/ir/codec/gsd"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
	runlog "github.com/ralph-compiler/ralph/ir/codec/shepherd"
	"github.com/ralph-compiler/ralph/ir/codec/taskmaster"
	"github.com/ralph-compiler/ralph/policies/shepherd"
)

// format is one that ralph reads or writes besides plans, policies and epic.json.
type format struct {
	name   string                       // what --as is given
	decode foreign.Decode               // nil: it is not read as work
	strict foreign.Decode               // refuses what the letter of the format refuses; nil: decode is as strict as it gets
	model  func([]*diag.File) diag.List // what validate says instead, where the format has a model of its own
	encode foreign.Encode               // nil: it is not written
	need   detail                       // what encode writes of a history
	note   string                       // what those who read the export have to know
	split  bool                         // encode makes a file of its own for each node, where a directory is named

	// policy turns the files of a format that holds policy into HCL as a person would
	// have written it; nil if the format holds work.
	policy func(files []*diag.File) (hcl []byte, list diag.List)

	// option is what stands behind a colon in --as, such as the tag in taskmaster:web;
	// nil: nothing may.
	option func(string) foreign.Decode

	// find lists the files that a directory stands for, also below it; nil: those in it
	// whose names count.
	find  func(fs.FS) ([]string, error)
	dirs  []string // of a project, in which such files are looked for when none is named
	files []string // patterns of names (path.Match) that count in a directory; none: *.json
}

// formats are all of them, by name.
var formats = []format{
	{
		name: bdcodec.Format, decode: bdcodec.Decode, encode: bdcodec.Encode, need: detail{files: true}, files: []string{"*.json", "*.jsonl"},
		note: "bd takes the types of these issues only when they are in its setting types.custom: bd config set types.custom " + bead.TypeWork + "," + bead.TypeMerge,
	},
	{
		name: beadsmith.Format, decode: beadsmith.Decode, encode: beadsmith.Encode, need: detail{files: true, diffs: true},
		files: []string{"*.json", "*.jsonl"},
	},
	{
		name: bead.Format, decode: bead.Decode, strict: bead.DecodeStrict, model: bead.Validate, encode: bead.Encode, need: detail{files: true},
		files: []string{"*.json", "*.jsonl"},
	},
	{
		name: ralphbead.Format, decode: ralphbead.Decode, encode: ralphbead.Encode, split: true,
		dirs: []string{".ralph/beads", ".beads/active"},
	},
	{
		name: runlog.Format, encode: runlog.Encode, need: detail{files: true},
		policy: func(files []*diag.File) ([]byte, diag.List) {
			return shepherd.Convert(files, shepherd.Options{Approver: userName()})
		},
		find: shepherd.Find, dirs: []string{".agent-shepherd"}, files: []string{"*.yaml", "*.yml"},
	},
	{
		name: gsd.Format, decode: gsd.Decode, find: gsd.Find, dirs: []string{".planning"}, files: []string{"*-PLAN.md", "PLAN.md"},
	},
	{
		name: taskmaster.Format, decode: taskmaster.Decode, option: taskmaster.DecodeTag,
		dirs: []string{".taskmaster/tasks"}, files: []string{"tasks.json"},
	},
}

// formatNames lists the formats for which holds says yes; nil: all.
func formatNames(holds func(format) bool) []string {
	var out []string
	for _, f := range formats {
		if holds == nil || holds(f) {
			out = append(out, f.name)
		}
	}
	slices.Sort(out)
	return out
}

// What can be done with formats.
func isRead(f format) bool    { return f.decode != nil || f.policy != nil }
func isWork(f format) bool    { return f.decode != nil }
func isWritten(f format) bool { return f.encode != nil }

// findFormat returns the format that --as names, if holds says yes to it: what is
// the verb for that, such as "read".
func findFormat(name, verb string, holds func(format) bool) (*format, error) {
	known := formatNames(holds)
	base, option, with := strings.Cut(name, ":")
	for i := range formats {
		f := formats[i]
		if f.name != base {
			continue
		}
		switch {
		case !holds(f):
			return nil, usageErrorf("--as %s: ralph does not %s this format; it can do that with: %s", base, verb, listOf(known))
		case with && f.option == nil:
			return nil, usageErrorf("--as %s: nothing stands behind %s, write --as %s", name, base, base)
		case with:
			f.decode = f.option(option)
		}
		return &f, nil
	}
	if name == "" {
		return nil, usageErrorf("name the format with --as: %s", listOf(known))
	}
	return nil, usageErrorf("--as %s: there is no such format%s; there are: %s", name, spell.Hint(name, known), listOf(known))
}
