package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/slug"
	"github.com/ralph-compiler/ralph/policies"
)

// sample is what the policy that init writes says about the project.
type sample struct {
	Gates []sampleGate
	Setup []string
}

type sampleGate struct {
	Name, Command string
	Protect       []string
	Tests         int // files of tests that are too many to list
	Green         bool
}

// samplePolicy is ralph.hcl for the project in dir: a gate for each way in which it
// says that it is tested. Each is tried for at most limit; 0 tries none.
func samplePolicy(ctx context.Context, w io.Writer, dir string, limit time.Duration) ([]byte, error) {
	s := sample{}
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist): // init makes it
	case err != nil:
		return nil, exit.Inputf("%w", err)
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
				g.Protect = append(g.Protect, escaped(tests)...)
			}
			g.Protect = distinct(g.Protect)
			s.Gates = append(s.Gates, g)
			for _, c := range f.Setup {
				if !slices.Contains(s.Setup, c) {
					s.Setup = append(s.Setup, c)
				}
			}
			fmt.Fprintf(w, "found  %-30s %s: gate %q\n", f.File, f.Command, g.Name)
		}
		if err := s.try(ctx, w, dir, limit); err != nil {
			return nil, err
		}
	}
	if len(s.Gates) == 0 {
		fmt.Fprintln(w, "found  no test command: no gate is written; write yours into ralph.hcl")
	}
	text, err := templates.ReadFile("template/ralph.hcl")
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

// escaped are the globs that names of files fit: "?" where a character means something.
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

// distinct leaves out what stands before, and names that a glob in the list fits.
func distinct(all []string) (out []string) {
	for _, s := range all {
		if !slices.Contains(out, s) && !slices.ContainsFunc(all, func(g string) bool { return g != s && glob.Match(g, s) }) {
			out = append(out, s)
		}
	}
	return out
}

// beside adds the names of files that a tool would take instead of the one that is there.
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
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, quoteHCL(s))
	}
	if line := strings.Join(quoted, ", "); len(line) <= 100 {
		return "[" + line + "]"
	}
	return "[\n" + strings.Join(quoted, ",\n") + ",\n]"
}

// try finds out which gates are green, in a clone of what is committed: that is what
// agents start from.
func (s *sample) try(ctx context.Context, w io.Writer, dir string, limit time.Duration) error {
	if len(s.Gates) == 0 || limit <= 0 {
		return nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if project.GitRoot(abs) != abs {
		fmt.Fprintln(w, "tried  nothing: this is not the root of a git repository")
		return nil
	}
	t, err := newTrial(ctx, abs, limit)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(w, "tried  nothing: %v\n", err)
		return nil
	}
	defer t.end()
	fmt.Fprintf(w, "trying each for at most %s, in a clone of HEAD (--try 0 tries nothing)\n", words.Brief(limit))
	for _, c := range s.Setup {
		got, err := t.run(ctx, c)
		if err != nil {
			return err
		}
		if got.Verdict != executor.Pass {
			fmt.Fprintf(w, "tried  %-30s failed, so nothing behind it was tried: %s\n", c, firstOf(got.Message, string(got.Verdict)))
			return nil
		}
	}
	for i := range s.Gates {
		g := &s.Gates[i]
		got, err := t.run(ctx, g.Command)
		if err != nil {
			return err
		}
		if got.Verdict != executor.Pass {
			fmt.Fprintf(w, "tried  %-30s red: %s\n       it gets no baseline = \"green\": mend it before you let agents work against it\n",
				g.Command, firstOf(got.Message, string(got.Verdict)))
			continue
		}
		g.Green = true
		tests := ", but no test was recognised in its output"
		if got.SaidOfTests() != "" {
			tests = ""
		}
		fmt.Fprintf(w, "tried  %-30s green in %s%s: baseline = \"green\"\n", g.Command, words.Millis(got.Millis), tests)
	}
	return nil
}
