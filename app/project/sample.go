package project

import (
	"bytes"
	"embed"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/template"

	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/slug"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

//go:embed template
var Templates embed.FS

// InitFiles are what init writes, by template.
var InitFiles = []struct{ Template, File, What string }{
	{"template/ralph.hcl", "ralph.hcl", "the policy: agents, gates, limits"},
	{"template/plans/example.md", "plans/example.md", "a sample plan"},
	{"template/agents/developer.md", ".claude/agents/developer.md", "a sample agent"},
	{"template/agents/reviewer.md", ".claude/agents/reviewer.md", "a sample agent"},
	{"template/agents/planner.md", ".claude/agents/planner.md", "the agent that ralph draft asks for plans"},
	{"template/agents/explorer.md", ".claude/agents/explorer.md", "the agent that explores the code first"},
}

// GitAttributes keeps LF in every checkout and keeps git from merging compiled
// files line by line: a merge takes ours, says conflict, and one recompiles.
const GitAttributes = "epic.json text eol=lf -merge\n"

// Sample holds what the policy written by init says about the project.
type Sample struct {
	Gates   []sampleGate
	Setup   []string
	Sandbox ir.Sandbox // the one that holds where no other is named
}

type sampleGate struct {
	Name, Command string
	Protect       []string
	Listed        bool // Protect has the test files
	Tests         int  // number of test files, if too many to list
	Green         bool
}

// SamplePolicy is ralph.hcl for the project in dir: a gate for each way of testing that
// the project declares. try finds out which of them are green.
func SamplePolicy(dir string, say func(format string, args ...any), try func(*Sample) error) ([]byte, error) {
	s := Sample{Sandbox: ir.Sandbox{Kind: "auto", Network: []string{"model"}}}
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist): // init makes it
	case err != nil:
		return nil, err
	default:
		defer root.Close()
		found := policies.DetectTests(regular.FS(root))
		ci := policies.CIFiles(regular.FS(root))
		for i, f := range found {
			g := sampleGate{Name: "tests", Command: f.Command, Protect: slices.Concat(beside(f.Protect), f.Instead)}
			if len(found) > 1 {
				g.Name += "-" + slug.Make(f.Tool)
			}
			if i == 0 {
				g.Protect = append(g.Protect, ci...)
			}
			if tests := f.TestFiles(regular.FS(root)); len(tests) > maxListed {
				g.Tests = len(tests)
			} else {
				g.Protect, g.Listed = append(g.Protect, escaped(tests)...), len(tests) > 0
			}
			g.Protect = distinct(g.Protect)
			s.Gates = append(s.Gates, g)
			for _, c := range f.Setup {
				if !slices.Contains(s.Setup, c) {
					s.Setup = append(s.Setup, c)
				}
			}
			say("found  %-30s %s: gate %q\n", f.File, f.Command, g.Name)
		}
		if err := try(&s); err != nil {
			return nil, err
		}
	}
	if len(s.Gates) == 0 {
		say("found  no test command: no gate is written; write yours into ralph.hcl\n")
	}
	text, err := Templates.ReadFile("template/ralph.hcl")
	if err != nil {
		return nil, err
	}
	t, err := template.New("ralph.hcl").Funcs(template.FuncMap{"quote": quoteHCL, "list": listHCL}).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		return nil, err
	}
	return policies.Format(b.Bytes()), nil
}

// maxListed bounds the files of tests that a policy lists.
const maxListed = 40

// escaped turns file names into globs, with "?" for special characters.
func escaped(names []string) (out []string) {
	for _, n := range names {
		out = append(out, strings.Map(func(r rune) rune {
			if strings.ContainsRune("*?[]{}\\", r) {
				return '?'
			}
			return r
		}, n))
	}
	return out
}

// distinct drops repeated names, and names that match a glob of the list.
func distinct(all []string) (out []string) {
	for _, s := range all {
		if !slices.Contains(out, s) && !slices.ContainsFunc(all, func(g string) bool { return g != s && glob.Match(g, s) }) {
			out = append(out, s)
		}
	}
	return out
}

// beside adds the file names that a tool would prefer to the existing one.
func beside(protect []string) []string {
	out := slices.Clone(protect)
	for _, p := range protect {
		if strings.EqualFold(p, "makefile") || p == "GNUmakefile" {
			out = append(out, "GNUmakefile", "makefile", "Makefile")
		}
		if strings.EqualFold(strings.TrimPrefix(p, "."), "justfile") {
			out = append(out, "justfile", "Justfile", ".justfile")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// quoteHCL writes a string of HCL.
func quoteHCL(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", "$${", "%{", "%%{", "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	return `"` + s + `"`
}

func listHCL(all []string) string {
	quoted := lists.Map(all, quoteHCL)
	if line := strings.Join(quoted, ", "); len(line) <= 100 {
		return "[" + line + "]"
	}
	return "[\n" + strings.Join(quoted, ",\n") + ",\n]"
}
