package project

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/version"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

// Compilation is what a command needs to show or store a compile.
type Compilation struct {
	compiler.Output
	Input   compiler.Input
	Project *Project
	Plans   []planFile
	Sources Sources
	Format  string // of the diagnostics
	Hint    string // about the whole project, for people; usually empty
	Ignored []string
	brief   bool // see Args
}

// planFile is a plan's file and text.
type planFile struct {
	File  string // as the user typed it; "-" is standard input
	Bytes []byte
}

// Compile reads the plans and policies that the flags name and compiles them.
// The caller closes the project.
func (a *Args) Compile(in io.Reader) (*Compilation, error) {
	opts, err := a.Options()
	if err != nil {
		return nil, err
	}
	c := &Compilation{}
	input := compiler.Input{Options: opts}
	if a.As != "" {
		return c, a.importInto(c, &input, in)
	}
	var beads []planFile
	for _, file := range a.Plans {
		at := file
		var b []byte
		if file == "-" {
			if a.PlanPath == "" {
				return nil, exit.Usagef("a plan from standard input needs --plan-path, the path that it would have in the project")
			}
			at = a.PlanPath
			b, err = ReadStdin(in)
		} else {
			if IsDir(file) {
				return nil, exit.Inputf("%s is a directory, and plans are files%s", file, WhatIsIn(file, "compile"))
			}
			b, err = ReadFile(file)
		}
		if err != nil {
			return nil, err
		}
		if KindOf(file) == "epic" && !isBead(file, b) {
			if format := OtherFormat(b); format != "" {
				return nil, OtherError(file, "not a plan", "import", format)
			}
		}
		path, err := c.Inside(at)
		if err != nil {
			return nil, err
		}
		if isBead(file, b) { // results of plans come before those of beads
			beads = append(beads, planFile{file, b})
			draft, list := ralphbead.Decode([]*diag.File{diag.NewFile(path, b)})
			input.Imports = append(input.Imports, compiler.Imported{Sources: []compiler.Source{{Path: path, Bytes: b}}, Draft: draft, Diags: list})
			continue
		}
		c.Plans = append(c.Plans, planFile{file, b})
		input.Plans = append(input.Plans, compiler.Source{Path: path, Bytes: b})
	}
	c.Plans = append(c.Plans, beads...)
	return c, a.finish(c, &input)
}

// importInto compiles the files of another format into one epic.
func (a *Args) importInto(c *Compilation, input *compiler.Input, in io.Reader) error {
	f, err := FindFormat(a.As, "read", IsWork)
	if err != nil {
		return err
	}
	files, err := f.Read(a.Plans, in)
	if err != nil {
		return err
	}
	c.Project, c.Ignored = files.Project, files.Ignored
	c.Plans = []planFile{{files.Label(), files.sources[0].Bytes}}
	input.Imports = []compiler.Imported{f.draft(files, a.Strict)}
	return a.finish(c, input)
}

// finish reads the policy and compiles.
func (a *Args) finish(c *Compilation, input *compiler.Input) (err error) {
	if len(a.Policies) == 0 {
		c.Hint = c.Project.noRepository()
	}
	if input.Policy, err = c.Project.ReadPolicies(a.Policies); err != nil {
		return err
	}
	input.Project, input.Dir = c.Project.FS(), filepath.ToSlash(c.Project.Dir)
	if a.Recalls != nil {
		a.Recalls(a, c.Project, input)
	}
	c.Input, c.brief = *input, a.Brief
	c.run()
	c.Sources, c.Format = Sources{c.Files, c.Project.Dir}, a.Format
	return nil
}

// run compiles the input.
func (c *Compilation) run() {
	if !c.brief || c.size() <= small {
		c.Output = compiler.Compile(c.Input)
		return
	}
	// Collecting less often costs memory, more often CPU: make bench has a goal for each. The
	// texts are the last that is large, and what they are made of is still needed. Afterwards
	// garbage is small beside both.
	collectAt(170)
	defer collectAt(400)
	in := c.Input
	in.Texts = func() { collectAt(never) }
	c.Output = compiler.Compile(in)
}

// Fit compiles a plan again in which no dialect is named and the default finds no items, with
// the dialect that fits best. The reading is nil if none does.
func (c *Compilation) Fit() (*compiler.DialectTable, *compiler.Reading) {
	if len(c.Input.Plans) != 1 || c.Input.Options.Dialect != "" || !c.Found("no-items") {
		return nil, nil
	}
	t := compiler.Dialects(c.Input)
	r := cmp.Or(t.Of(t.Better), t.Placed())
	if r == nil || !t.Said.IsZero() {
		return nil, nil
	}
	c.Input.Options.Dialect = r.Dialect
	c.run()
	c.Sources.Files = c.Files
	return &t, r
}

// Found reports whether a diagnostic is among those of the compile.
func (c *Compilation) Found(code diag.Code) bool {
	return slices.ContainsFunc(c.Diags, func(d diag.Diagnostic) bool { return d.Code == code })
}

// small is the size of plans, in bytes, up to which a compile stays within the memory that
// docs/limits.md promises. Above it, a command that ends soon trades memory for time.
const small = 1 << 20

func (c *Compilation) size() (n int) {
	for _, p := range c.Plans {
		n += len(p.Bytes)
	}
	return n
}

// Inside returns a file's path in its project; the first file opens the project.
func (c *Compilation) Inside(file string) (string, error) {
	if c.Project == nil {
		p, err := Open(file)
		if err != nil {
			return "", err
		}
		c.Project = p
	}
	path, inside := c.Project.Rel(file)
	if !inside {
		return "", notAProject(file, c.Project.Dir)
	}
	return path, c.Project.LeadsOut(file)
}

// MaxIterations is the upper bound of --max-iterations, the same as of the label
// Iterations.
const MaxIterations = 10_000

// Args are the flags of compile; validate, why and fmt use some of them.
type Args struct {
	Plans             []string
	PlanPath          string // path of the plan that standard input holds
	Out               string
	Policies          []string
	Dialect           string
	Recorded          string // dialect that epic.json was compiled with
	Vars              []string
	Complexity        string
	MaxIterations     int
	Pr                string
	Check, NoAnnotate bool
	FreshIDs, SameIDs []string
	Recalls           func(*Args, *Project, *compiler.Input) // adds what this clone has on record; nil: adds nothing
	Push, Strict      bool
	Format            string
	As                string // format of the files; "": plans and beads are detected
	Brief             bool   // the process ends soon: a large compile trades memory for time
}

// Options checks the flags and turns them into the compiler's options.
func (a *Args) Options() (compiler.Options, error) {
	o := compiler.Options{
		Dialect: a.Dialect, Recorded: a.Recorded, Vars: map[string]string{}, Complexity: a.Complexity,
		MaxIterations: a.MaxIterations, PR: a.Pr, Strict: a.Strict, Version: version.Ralph(), Now: time.Now(),
		FreshIDs: a.FreshIDs, SameIDs: a.SameIDs, NoAnnotate: a.NoAnnotate,
	}
	if !slices.Contains([]string{FormatText, FormatJSON, FormatSARIF}, a.Format) {
		return o, exit.Usagef("--format %s: write text, json or sarif", a.Format)
	}
	if !slices.Contains([]string{"", "none", "plan", "node"}, a.Pr) {
		return o, exit.Usagef("--pr %s: write none, plan or node", a.Pr)
	}
	if a.MaxIterations < 0 || a.MaxIterations > MaxIterations {
		return o, exit.Usagef("--max-iterations %d: write a number from 1 to %d", a.MaxIterations, MaxIterations)
	}
	for _, v := range a.Vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return o, exit.Usagef("--var %s: write name=value", v)
		}
		o.Vars[name] = value
	}
	return o, nil
}

// Formats of diagnostics.
const (
	FormatText  = "text"
	FormatJSON  = "json"
	FormatSARIF = "sarif"
)
