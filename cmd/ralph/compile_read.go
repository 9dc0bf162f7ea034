package main

import (
	"io"
	"path/filepath"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

// compilation is what a command needs to show or store a compile.
type compilation struct {
	compiler.Output
	input   compiler.Input
	project *project
	plans   []planFile
	sources sources
	format  string // of the diagnostics
	hint    string // about the project as a whole, for people; mostly empty
	ignored []string
}

// planFile is a plan as it was read.
type planFile struct {
	file  string // as the user typed it; "-" is standard input
	bytes []byte
}

// compile reads the plans and policies that the flags name and compiles them.
// The caller closes the project.
func (a *compileArgs) compile(in io.Reader) (*compilation, error) {
	opts, err := a.options()
	if err != nil {
		return nil, err
	}
	c := &compilation{}
	input := compiler.Input{Options: opts}
	if a.as != "" {
		return c, a.importInto(c, &input, in)
	}
	var beads []planFile
	for _, file := range a.plans {
		at := file
		var b []byte
		if file == "-" {
			if a.planPath == "" {
				return nil, usageErrorf("a plan from standard input needs --plan-path, the path that it stands for")
			}
			at = a.planPath
			b, err = readStdin(in)
		} else {
			if isDir(file) {
				return nil, inputErrorf("%s is a directory, and plans are files%s", file, whatIsIn(file, "compile"))
			}
			b, err = readFile(file)
		}
		if err != nil {
			return nil, err
		}
		if kindOf(file) == "epic" && !isBead(file, b) {
			if format := otherFormat(b); format != "" {
				return nil, otherError(file, "no plan", "import", format)
			}
		}
		path, err := c.inside(at)
		if err != nil {
			return nil, err
		}
		if isBead(file, b) { // results of plans come before those of beads
			beads = append(beads, planFile{file, b})
			draft, list := ralphbead.Decode([]*diag.File{diag.NewFile(path, b)})
			input.Imports = append(input.Imports, compiler.Imported{Sources: []compiler.Source{{Path: path, Bytes: b}}, Draft: draft, Diags: list})
			continue
		}
		c.plans = append(c.plans, planFile{file, b})
		input.Plans = append(input.Plans, compiler.Source{Path: path, Bytes: b})
	}
	c.plans = append(c.plans, beads...)
	return c, a.finish(c, &input)
}

// importInto compiles files of another format, all of them to one epic.
func (a *compileArgs) importInto(c *compilation, input *compiler.Input, in io.Reader) error {
	f, err := findFormat(a.as, "read", isWork)
	if err != nil {
		return err
	}
	files, err := f.read(a.plans, in)
	if err != nil {
		return err
	}
	c.project, c.ignored = files.project, files.ignored
	c.plans = []planFile{{files.label(), files.sources[0].Bytes}}
	input.Imports = []compiler.Imported{f.draft(files, a.strict)}
	return a.finish(c, input)
}

// finish reads the policy and compiles.
func (a *compileArgs) finish(c *compilation, input *compiler.Input) (err error) {
	if len(a.policies) == 0 {
		c.hint = c.project.noRepository()
	}
	if input.Policy, err = c.project.readPolicies(a.policies); err != nil {
		return err
	}
	input.Project, input.Dir = c.project.FS(), filepath.ToSlash(c.project.dir)
	if a.recalls != nil {
		a.recalls(a, c.project, input)
	}
	if c.size() > small {
		collectAt(150)
	}
	c.input = *input
	c.Output = compiler.Compile(*input)
	c.sources, c.format = sources{c.Files, c.project.dir}, a.format
	return nil
}

// small is how many bytes of plans are compiled within the memory that
// docs/limits.md promises. For more the time counts, as far as memory allows.
const small = 1 << 20

func (c *compilation) size() (n int) {
	for _, p := range c.plans {
		n += len(p.bytes)
	}
	return n
}

// inside returns the path of a file in its project, which the first file opens.
func (c *compilation) inside(file string) (string, error) {
	if c.project == nil {
		p, err := openProject(file)
		if err != nil {
			return "", err
		}
		c.project = p
	}
	path, inside := c.project.rel(file)
	if !inside {
		return "", notAProject(file, c.project.dir)
	}
	return path, c.project.leadsOut(file)
}
