package project

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
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

// Format is a file format that ralph reads or writes besides plans, policies and epic.json.
type Format struct {
	Name   string                       // the value of --as
	Decode foreign.Decode               // nil: not read as work
	strict foreign.Decode               // refuses whatever the format's specification refuses; nil: Decode is already strict
	Model  func([]*diag.File) diag.List // used by validate, where the format has a model of its own
	Encode foreign.Encode               // nil: not written
	Need   Detail                       // how much history Encode writes
	Note   string                       // what readers of the export must know
	Split  bool                         // where a directory is named, Encode writes one file per node

	// Policy converts the files of a policy format to HCL, as a person would have
	// written it; nil if the format holds work.
	Policy func(files []*diag.File) (hcl []byte, list diag.List)

	// The option after a colon in --as, such as the tag in taskmaster:web; nil: none is
	// allowed.
	option func(string) foreign.Decode

	// The files that a directory names, including those below it; nil: the files directly
	// in it that match Files.
	find  func(fs.FS) ([]string, error)
	Dirs  []string // of a project, searched when no file is named
	Files []string // name patterns (path.Match) for files of a directory; default *.json
}

// formats lists all formats, sorted by name.
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

// FormatNames lists the names of the formats that satisfy holds; nil: all.
func FormatNames(holds func(Format) bool) []string {
	out := lists.Map(lists.Keep(Formats, func(f Format) bool { return holds == nil || holds(f) }), func(f Format) string { return f.Name })
	slices.Sort(out)
	return out
}

// IsRead reports whether ralph reads the format, as work or as policy.
func IsRead(f Format) bool { return f.Decode != nil || f.Policy != nil }

// IsWork reports whether ralph reads work, not policy, from the format.
func IsWork(f Format) bool { return f.Decode != nil }

// IsWritten reports whether ralph can export to the format.
func IsWritten(f Format) bool { return f.Encode != nil }

// FindFormat returns the format that --as names if it satisfies holds; verb names that
// condition in the error, such as "read".
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
			return nil, exit.Usagef("--as %s: ralph does not %s this format; it can do so with: %s", base, verb, words.ListOf(known))
		case with && f.option == nil:
			return nil, exit.Usagef("--as %s: %s takes nothing after it: write --as %s", name, base, base)
		case with:
			f.Decode = f.option(option)
		}
		return &f, nil
	}
	if name == "" {
		return nil, exit.Usagef("name the format with --as: %s", words.ListOf(known))
	}
	return nil, exit.Usagef("--as %s: unknown format%s; formats are: %s", name, spell.Hint(name, known), words.ListOf(known))
}

// Detail selects how much of a history is read; the zero value reads no files and no diffs.
type Detail struct {
	Files bool // of the attempts: prompts, responses, complete outcomes, detailed gate results
	Diffs bool // the diff of each attempt, from git
}
