package project

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/words"
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

// Format is one that ralph reads or writes besides plans, policies and epic.json.
type Format struct {
	Name   string                       // what --as is given
	Decode foreign.Decode               // nil: it is not read as work
	strict foreign.Decode               // refuses what the letter of the format refuses; nil: decode is as strict as it gets
	Model  func([]*diag.File) diag.List // what validate says instead, where the format has a model of its own
	Encode foreign.Encode               // nil: it is not written
	Need   Detail                       // what encode writes of a history
	Note   string                       // what those who read the export have to know
	Split  bool                         // encode makes a file of its own for each node, where a directory is named

	// policy turns the files of a format that holds policy into HCL as a person would
	// have written it; nil if the format holds work.
	Policy func(files []*diag.File) (hcl []byte, list diag.List)

	// option is what stands behind a colon in --as, such as the tag in taskmaster:web;
	// nil: nothing may.
	option func(string) foreign.Decode

	// find lists the files that a directory stands for, also below it; nil: those in it
	// whose names count.
	find  func(fs.FS) ([]string, error)
	Dirs  []string // of a project, in which such files are looked for when none is named
	Files []string // patterns of names (path.Match) that count in a directory; none: *.json
}

// formats are all of them, by name.
var Formats = []Format{
	{
		Name: bdcodec.Format, Decode: bdcodec.Decode, Encode: bdcodec.Encode, Need: Detail{Files: true}, Files: []string{"*.json", "*.jsonl"},
		Note: "bd takes the types of these issues only when they are in its setting types.custom: bd config set types.custom " + bead.TypeWork + "," + bead.TypeMerge,
	},
	{
		Name: beadsmith.Format, Decode: beadsmith.Decode, Encode: beadsmith.Encode, Need: Detail{Files: true, Diffs: true},
		Files: []string{"*.json", "*.jsonl"},
	},
	{
		Name: bead.Format, Decode: bead.Decode, strict: bead.DecodeStrict, Model: bead.Validate, Encode: bead.Encode, Need: Detail{Files: true},
		Files: []string{"*.json", "*.jsonl"},
	},
	{
		Name: ralphbead.Format, Decode: ralphbead.Decode, Encode: ralphbead.Encode, Split: true,
		Dirs: []string{".ralph/beads", ".beads/active"},
	},
	{
		Name: runlog.Format, Encode: runlog.Encode, Need: Detail{Files: true},
		Policy: func(files []*diag.File) ([]byte, diag.List) {
			return shepherd.Convert(files, shepherd.Options{Approver: UserName()})
		},
		find: shepherd.Find, Dirs: []string{".agent-shepherd"}, Files: []string{"*.yaml", "*.yml"},
	},
	{
		Name: gsd.Format, Decode: gsd.Decode, find: gsd.Find, Dirs: []string{".planning"}, Files: []string{"*-PLAN.md", "PLAN.md"},
	},
	{
		Name: taskmaster.Format, Decode: taskmaster.Decode, option: taskmaster.DecodeTag,
		Dirs: []string{".taskmaster/tasks"}, Files: []string{"tasks.json"},
	},
}

// FormatNames lists the formats for which holds says yes; nil: all.
func FormatNames(holds func(Format) bool) []string {
	var out []string
	for _, f := range Formats {
		if holds == nil || holds(f) {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out
}

// What can be done with formats.
func IsRead(f Format) bool    { return f.Decode != nil || f.Policy != nil }
func IsWork(f Format) bool    { return f.Decode != nil }
func IsWritten(f Format) bool { return f.Encode != nil }

// FindFormat returns the format that --as names, if holds says yes to it: what is
// the verb for that, such as "read".
func FindFormat(name, verb string, holds func(Format) bool) (*Format, error) {
	known := FormatNames(holds)
	base, option, with := strings.Cut(name, ":")
	for i := range Formats {
		f := Formats[i]
		if f.Name != base {
			continue
		}
		switch {
		case !holds(f):
			return nil, exit.Usagef("--as %s: ralph does not %s this format; it can do that with: %s", base, verb, words.ListOf(known))
		case with && f.option == nil:
			return nil, exit.Usagef("--as %s: nothing stands behind %s, write --as %s", name, base, base)
		case with:
			f.Decode = f.option(option)
		}
		return &f, nil
	}
	if name == "" {
		return nil, exit.Usagef("name the format with --as: %s", words.ListOf(known))
	}
	return nil, exit.Usagef("--as %s: there is no such format%s; there are: %s", name, spell.Hint(name, known), words.ListOf(known))
}

// Detail says how much of a history is read; what is not asked for costs nothing.
type Detail struct {
	Files bool // of the attempts: prompts, answers, whole outcomes, what gates said in detail
	Diffs bool // git is asked for the diff of each attempt
}
