// Package ralph_test holds the rules of the house: who may import whom, which
// package owns which library, what must not exist. docs/architecture.md says why.
package ralph_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ralph-compiler/ralph"

// pkg is a package of the module: its directory and what its files import.
type pkg struct {
	dir     string
	imports map[string]string // import path → one file that has it
	tests   map[string]string // the same for its test files
}

func packages(t *testing.T) []pkg {
	t.Helper()
	byDir := map[string]pkg{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "examples") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(file))
		p, ok := byDir[dir]
		if !ok {
			p = pkg{dir: dir, imports: map[string]string{}, tests: map[string]string{}}
			byDir[dir] = p
		}
		for _, i := range f.Imports {
			into := p.imports
			if strings.HasSuffix(name, "_test.go") {
				into = p.tests
			}
			at, _ := strconv.Unquote(i.Path.Value)
			into[at] = filepath.ToSlash(file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []pkg
	for _, p := range byDir {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b pkg) int { return strings.Compare(a.dir, b.dir) })
	return out
}

// files are the package's files without its tests, by path.
func (p pkg) files(t *testing.T) iter.Seq2[string, *ast.File] {
	return func(yield func(string, *ast.File) bool) {
		names, err := filepath.Glob(filepath.Join(p.dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(name, f) {
				return
			}
		}
	}
}

// within reports whether dir matches a pattern: a directory, or a directory and
// everything below it ("executor/...").
func within(dir, pattern string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}

// mayImport lists, for each room, the rooms of the module that it may import.
// What is not listed is forbidden. The first pattern that matches counts.
var mayImport = []struct {
	room string
	may  []string
	why  string
}{
	{"cmd/ralph", []string{"app/cli"}, "main alone"},
	{"app/exit", nil, "exit codes are a leaf"},
	{"app/words", []string{"executor", "executor/machine", "executor/tracker/bd", "ir", "internal/..."}, "words for what the machine knows"},
	{"app/project", []string{"app/exit", "app/words", "compiler", "policies/...", "diag", "executor", "executor/workspace", "ir", "ir/codec/...", "internal/..."}, "reading and compiling know of no run"},
	{"app/record", []string{"app/exit", "app/words", "app/project", "compiler", "diag", "executor", "executor/machine", "executor/effects", "executor/gate", "executor/journal", "executor/runner", "executor/tracker/bd", "executor/workspace", "ir", "ir/codec/bd", "ir/codec/ralphbead", "internal/..."}, "what is on record is read, and nothing is locked"},
	{"app/draft/judge", []string{"app/exit", "app/project", "app/record", "app/draft/rules", "compiler", "diag", "executor", "executor/machine", "executor/gate", "executor/journal", "executor/workspace", "ir", "internal/..."}, "the rules of app/draft/rules, held against files"},
	{"app/run", []string{"app/exit", "app/words", "app/project", "app/record", "app/draft/judge", "compiler", "executor/...", "policies", "ir", "ir/codec/bd", "ir/codec/bead", "internal/..."}, "the one door to a run"},
	{"app/recovery", []string{"app/exit", "app/words", "app/project", "app/record", "app/run", "executor", "executor/machine", "executor/journal", "executor/tracker/bd", "executor/workspace", "ir", "internal/..."}, "it uses the door"},
	{"app/doctor", []string{"app/exit", "app/words", "app/project", "app/record", "app/run", "compiler", "policies", "executor", "executor/machine", "executor/runner", "executor/tracker/bd", "executor/workspace", "ir", "internal/..."}, "it uses the door"},
	{"app/worker", []string{"app/exit", "app/words", "app/project", "app/record", "app/run", "compiler", "diag", "executor", "executor/machine", "executor/journal", "executor/tracker/bd", "executor/workspace", "ir", "ir/codec/bd", "ir/codec/foreign", "internal/..."}, "it uses the door"},
	{"app/draft", []string{"app/exit", "app/words", "app/project", "app/record", "app/run", "app/draft/rules", "app/draft/judge", "compiler", "compiler/syntax", "diag", "executor", "executor/machine", "executor/journal", "executor/workspace", "ir", "ir/codec/dot", "internal/..."}, "it uses the door"},
	{"app/view", []string{"app/exit", "app/words", "app/project", "app/record", "app/run", "app/recovery", "app/draft", "compiler", "policies", "diag", "executor", "executor/machine", "executor/effects", "executor/journal", "executor/runner", "executor/simulate", "executor/workspace", "ir", "ir/codec/beadsmith", "internal/..."}, "what people see; only app/cli calls it"},
	{"web", []string{"app/exit", "app/words", "app/project", "app/record", "app/run", "compiler", "executor", "executor/machine", "executor/journal", "executor/effects", "executor/runner", "executor/simulate", "executor/workspace", "ir", "ir/codec/shepherd", "internal/..."}, "the page shows what the commands print, and decides through their door"},
	{"app/cli", []string{"..."}, "the commands join all rooms"},
	{"diag", nil, "a leaf"},
	{"compiler/syntax", []string{"diag", "internal/yaml", "internal/spell", "internal/slug"}, "a front end knows no policy and no graph"},
	{"compiler/depend", []string{"compiler/syntax", "diag", "ir", "internal/dag", "internal/spell", "internal/glob"}, "what waits for what is a function of what the plan says; policy has no part in it"},
	{"app/draft/rules", []string{"policies", "compiler/syntax", "ir", "diag", "internal/glob", "internal/lazyregexp", "internal/reveal", "internal/spell"}, "what planners are told and what plans must hold is a function of texts"},
	{"compiler", []string{"compiler/syntax", "compiler/depend", "policies", "ir", "diag", "internal/spell", "internal/reveal", "internal/slug", "internal/glob", "internal/jsonschema", "internal/condition"}, "the compiler never meets the executor"},
	{"policies/...", []string{"diag", "internal/yaml", "internal/spell", "internal/reveal", "internal/jsonschema", "internal/glob", "internal/shell", "internal/shellword", "internal/condition", "policies"}, "policy is typed before any graph exists"},
	{"ir", []string{"diag", "internal/condition", "internal/dag", "internal/reveal"}, "the data type that both halves share"},
	{"ir/codec/foreign", []string{"ir", "diag"}, "what codecs that read JSON share"},
	{"ir/codec/foreign/foreigntest", []string{"ir/codec/foreign"}, "what the tests of codecs share"},
	{"ir/codec/bd", []string{"ir", "diag", "ir/codec/foreign", "ir/codec/bead"}, "a bead in bd carries the metadata that the bead format has"},
	{"ir/codec/...", []string{"ir", "diag", "ir/codec/foreign", "internal/columns", "internal/yaml", "internal/jsonschema"}, "codecs read drafts and write epics, nothing else"},
	{"ir/irtest", []string{"ir"}, "epics for the tests of those who use the graph"},
	{"executor", []string{"ir", "internal/shellword", "internal/strictjson", "internal/wall"}, "the vocabulary does no I/O and decides nothing"},
	{"executor/machine", []string{"executor", "ir", "internal/shellword", "internal/strictjson", "internal/wall"}, "the machine does no I/O and decides nothing the compiler could have decided"},
	{"executor/effects", []string{"executor", "ir", "internal/regular", "internal/wall"}, "a worker knows nothing of the run but its request"},
	{"executor/local", []string{"executor", "executor/machine", "executor/effects", "ir"}, "it drives the machine in this process"},
	{"executor/simulate", []string{"executor", "executor/machine", "ir", "internal/yaml"}, "the machine in a made-up world; nothing real is near"},
	{"executor/executortest", []string{"executor", "executor/machine", "ir", "internal/..."}, "fakes and epics for the tests of those who use the machine"},
	{"executor/runner/runnertest", []string{"executor/...", "ir", "internal/..."}, "the suite that every runner passes, with the real outcome channel"},
	{"executor/runner/...", []string{"executor", "executor/runner", "ir", "internal/atomicfile", "internal/jsonschema", "internal/lines", "internal/process", "internal/regular", "internal/sandbox", "internal/shellword", "internal/wall", "internal/yaml", "executor/executortest"}, "a runner knows what all runners share, and no other runner"},
	{"executor/tracker/bd/bdtest/bd", []string{"executor/tracker/bd/bdtest"}, "main alone"},
	{"executor/tracker/...", []string{"executor", "executor/machine", "ir", "ir/codec/bd", "ir/codec/bead", "internal/..."}, "what is pushed to a tracker is what its codec writes"},
	{"executor/...", []string{"executor", "ir", "internal/atomicfile", "internal/condition", "internal/glob", "internal/jsonschema", "internal/lines", "internal/process", "internal/regular", "internal/reveal", "internal/sandbox", "internal/shellword", "internal/strictjson", "internal/wall", "executor/executortest"}, "siblings under executor never import each other"},
	{"internal/process", []string{"internal/regular"}, "it writes and reads what programs print"},
	{"internal/condition", nil, "what a gate requires of an answer is read in one way by both halves"},
	{"internal/wall", nil, "plain data, which the vocabulary carries"},
	{"internal/sandbox/inside", []string{"internal/wall"}, "it is process 1: the less is linked before it, the sooner it begins"},
	{"internal/sandbox/group", []string{"internal/wall"}, "files of cgroup v2, which know of no sandbox"},
	{"internal/sandbox/sandboxtest", []string{"internal/wall"}, "attacks on sandboxes, and the world that they are run against; tests alone use it"},
	{"internal/sandbox/...", []string{"internal/sandbox/...", "internal/wall", "internal/process", "internal/egress", "internal/regular"}, "it builds what a wall.Spec says, and knows of no epic"},
	{"internal/egress", nil, "a proxy that knows hosts, and nothing else"},
	{"internal/text", nil, "pure: nothing but strings comes in, so that everybody may have it"},
	{"internal/lists", nil, "it knows no type, so that everybody may have it"},
	{"internal/term", []string{"internal/columns"}, "it knows the terminal, not ralph"},
	{"internal/atomicfile", []string{"internal/regular"}, "no link is followed among ralph's own files"},
	{"internal/...", nil, "internal packages are leaves"},
	{"tools/...", nil, "programs that building and testing need"},
	{"bench/simulated", []string{"bench", "executor", "executor/journal", "executor/simulate", "ir"}, "it makes the journal of a simulated night"},
	{"bench/night", []string{"bench/simulated"}, "the same as a program"},
	{"bench/...", nil, "ralph is measured there as a whole process"},
	{".", nil, "only this test"},
}

func TestWhoImportsWhom(t *testing.T) {
	for _, p := range packages(t) {
		i := slices.IndexFunc(mayImport, func(r struct {
			room string
			may  []string
			why  string
		},
		) bool {
			return within(p.dir, r.room)
		})
		if i < 0 {
			t.Errorf("%s: a room that the table does not know; add it to mayImport with its reason", p.dir)
			continue
		}
		rule := mayImport[i]
		for at, file := range p.imports {
			room, ours := strings.CutPrefix(at, module+"/")
			if !ours || slices.Contains(rule.may, "...") {
				continue
			}
			if room == "internal/lazyregexp" && p.dir != "executor" && p.dir != "executor/machine" {
				continue // what is compiled late knows nothing of anybody
			}
			if room == "internal/text" && p.dir != "diag" {
				continue // words are cut, counted and listed everywhere in one way
			}
			if room == "internal/lists" {
				continue // it imports nothing
			}
			if !slices.ContainsFunc(rule.may, func(m string) bool { return within(room, m) }) {
				t.Errorf("%s imports %s; %s may import %v (%s)", file, room, rule.room, rule.may, rule.why)
			}
		}
	}
}

// libraries names the one room that imports each third-party library; everybody
// else uses that room. Test files may also use the ones marked as such.
var libraries = map[string]struct {
	room  string
	tests bool
	also  string // a second room: for what is the kernel's, not a library's
}{
	"github.com/yuin/goldmark":                   {room: "compiler/syntax"},
	"github.com/hashicorp/hcl/v2":                {room: "policies"},
	"github.com/zclconf/go-cty":                  {room: "policies"},
	"github.com/hashicorp/go-version":            {room: "policies"},
	"github.com/bmatcuk/doublestar/v4":           {room: "internal/glob"},
	"go.yaml.in/yaml/v3":                         {room: "internal/yaml"},
	"github.com/santhosh-tekuri/jsonschema/v6":   {room: "internal/jsonschema"},
	"github.com/google/jsonschema-go":            {room: "internal/jsonschema"},
	"github.com/agext/levenshtein":               {room: "internal/spell"},
	"github.com/natefinch/atomic":                {room: "internal/atomicfile"},
	"github.com/fatih/color":                     {room: "internal/term"},
	"github.com/mattn/go-isatty":                 {room: "internal/term"},
	"github.com/mattn/go-runewidth":              {room: "internal/columns"},
	"golang.org/x/sys":                           {room: "internal/term", also: "internal/sandbox/..."},
	"golang.org/x/term":                          {room: "internal/term"},
	"golang.org/x/text/unicode/norm":             {room: "internal/slug"},
	"golang.org/x/text/language":                 {room: "internal/jsonschema"},
	"golang.org/x/text/message":                  {room: "internal/jsonschema"},
	"mvdan.cc/sh/v3/syntax":                      {room: "internal/shell"},
	"github.com/spf13/cobra":                     {room: "app/cli"},
	"github.com/owenrumney/go-sarif/v3":          {room: "app/view"},
	"charm.land/bubbletea/v2":                    {room: "app/view"},
	"github.com/modelcontextprotocol/go-sdk":     {room: "executor/mcp"},
	"zombiezen.com/go/sqlite":                    {room: "executor/journal"},
	"github.com/gofrs/flock":                     {room: "executor/journal"},
	"github.com/coder/acp-go-sdk":                {room: "executor/runner/acp"},
	"github.com/rogpeppe/go-internal/testscript": {room: "app/cli", tests: true},
	"github.com/rogpeppe/go-internal/diff":       {room: "ir", tests: true},
	"golang.org/x/tools/txtar":                   {room: "-", tests: true},
}

func TestEachLibraryHasOneRoom(t *testing.T) {
	for _, p := range packages(t) {
		if within(p.dir, "bench/...") {
			continue // its programs are what ralph is measured against
		}
		check := func(imports map[string]string, test bool) {
			for at, file := range imports {
				first, _, _ := strings.Cut(at, "/")
				if !strings.Contains(first, ".") || strings.HasPrefix(at, module) {
					continue
				}
				lib := ""
				for l := range libraries {
					if (at == l || strings.HasPrefix(at, l+"/")) && len(l) > len(lib) {
						lib = l
					}
				}
				owner := libraries[lib]
				switch {
				case lib == "":
					t.Errorf("%s imports %s, which the table does not know: name the room that owns it", file, at)
				case p.dir != owner.room && !within(p.dir, owner.also) && !(test && owner.tests):
					t.Errorf("%s imports %s; only %s does", file, at, owner.room)
				}
			}
		}
		check(p.imports, false)
		check(p.tests, true)
	}
}

// TestNoRegularExpressionIsCompiledAtTheStart: every command would pay for it.
func TestNoRegularExpressionIsCompiledAtTheStart(t *testing.T) {
	for _, p := range packages(t) {
		if p.dir == "internal/lazyregexp" || p.dir == "internal/modeltest" || strings.HasSuffix(p.dir, "test") {
			continue // no command has it
		}
		for file, f := range p.files(t) {
			for _, d := range f.Decls {
				if _, ok := d.(*ast.GenDecl); !ok {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if _, ok := n.(*ast.FuncLit); ok {
						return false
					}
					if s, ok := n.(*ast.SelectorExpr); ok {
						if x, ok := s.X.(*ast.Ident); ok && x.Name == "regexp" && strings.HasSuffix(s.Sel.Name, "Compile") {
							t.Errorf("%s compiles a regular expression when ralph starts: use lazyregexp.New", file)
						}
					}
					return true
				})
			}
		}
	}
}

// TestTheFloorOfStartingImportsWhatRalphImports: what is measured against it would
// else be measured against less.
func TestTheFloorOfStartingImportsWhatRalphImports(t *testing.T) {
	floor, ralph := map[string]string{}, map[string]string{}
	for _, p := range packages(t) {
		into := ralph
		switch {
		case p.dir == "bench/imports":
			into = floor
		case within(p.dir, "bench/..."), within(p.dir, "tools/..."), strings.HasSuffix(p.dir, "test"), p.dir == "internal/golden":
			continue // not in ralph
		}
		for at, file := range p.imports {
			if first, _, _ := strings.Cut(at, "/"); strings.Contains(first, ".") && !strings.HasPrefix(at, module) {
				into[at] = file
			}
		}
	}
	for at, file := range ralph {
		if _, ok := floor[at]; !ok {
			t.Errorf("bench/imports does not import %s, which %s does", at, file)
		}
	}
	for at := range floor {
		if _, ok := ralph[at]; !ok {
			t.Errorf("bench/imports imports %s, and ralph does not", at)
		}
	}
}

// TestRoomsWithoutIO: what a planner is told is a function of what it is given.
func TestRoomsWithoutIO(t *testing.T) {
	for _, p := range packages(t) {
		if p.dir != "app/draft/rules" {
			continue
		}
		for _, f := range []string{"os", "os/exec", "net", "net/http", "path/filepath", "syscall", "time"} {
			if file, ok := p.imports[f]; ok {
				t.Errorf("%s imports %s; %s gets what it reads through an fs.FS", file, f, p.dir)
			}
		}
	}
}

// TestOnlyViewsTouchTheTerminal: what stands below app/view and app/cli is used by other
// faces of ralph, too.
func TestOnlyViewsTouchTheTerminal(t *testing.T) {
	prints := map[string]bool{"os.Stdout": true, "os.Stderr": true, "fmt.Print": true, "fmt.Printf": true, "fmt.Println": true}
	for _, p := range packages(t) {
		if !within(p.dir, "app/...") || p.dir == "app/view" || p.dir == "app/cli" {
			continue
		}
		if file, ok := p.imports[module+"/internal/term"]; ok {
			t.Errorf("%s knows the terminal; only app/view and app/cli do", file)
		}
		calls(t, p.dir, prints, nil, "prints; only app/view and app/cli do")
	}
}

// TestTextIsPure: what everybody may import brings nothing with it.
func TestTextIsPure(t *testing.T) {
	for _, p := range packages(t) {
		if p.dir != "internal/text" {
			continue
		}
		for at, file := range p.imports {
			if at != "strings" && at != "strconv" && at != "unicode/utf8" {
				t.Errorf("%s imports %s; internal/text is about strings alone", file, at)
			}
		}
		return
	}
	t.Error("there is no internal/text")
}

// TestTheMachineDoesNoIO: it is a function of its events, and its vocabulary is data.
func TestTheMachineDoesNoIO(t *testing.T) {
	forbidden := []string{"os", "os/exec", "net", "net/http", "sync", "math/rand", "math/rand/v2", "io/fs", "path/filepath", "syscall"}
	for _, p := range packages(t) {
		if p.dir != "executor" && p.dir != "executor/machine" {
			continue
		}
		for _, f := range forbidden {
			if file, ok := p.imports[f]; ok {
				t.Errorf("%s imports %s; the vocabulary and the machine do no I/O", file, f)
			}
		}
		for file, f := range p.files(t) {
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && clocks[sel.Sel.Name] {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" {
						t.Errorf("%s: time.%s; the time comes with the events", file, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// clocks are what package time has that reads a clock or waits.
var clocks = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "NewTimer": true, "NewTicker": true, "Tick": true,
}

func TestNamesThatShouldNotExist(t *testing.T) {
	for _, p := range packages(t) {
		switch path.Base(p.dir) {
		case "utils", "util", "common", "helpers", "misc", "types":
			t.Errorf("%s: a package is named for what it holds", p.dir)
		}
	}
}
