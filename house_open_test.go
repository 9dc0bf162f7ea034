package ralph_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// opens are the calls that wait for ever when somebody has put a FIFO where a file
// is expected. internal/regular has one for each of them that does not.
var opens = map[string]bool{
	"os.Open": true, "os.OpenFile": true, "os.ReadFile": true, "os.WriteFile": true, "os.Create": true, "os.DirFS": true, "ioutil.ReadFile": true,
}

// mayOpen lists where these calls may stand, by directory or file, and why.
var mayOpen = map[string]string{
	"internal/regular":              "it is the one that opens",
	"internal/atomicfile":           "it makes files that nobody else can have made (O_EXCL), and syncs directories",
	"internal/golden":               "tests only",
	"internal/modeltest":            "tests only",
	"internal/process/proctable.go": "/proc: the kernel made it",
	"internal/process/survivors.go": "/proc: the kernel made it",
	"executor/journal/journal.go":   "a directory, which is synced",
	"executor/runner/runnertest":    "tests only",
	"executor/tracker/bd/bdtest":    "tests only",
	"executor/workspace/nested.go":  "a directory is copied (DirFS), which refuses what is no file",
	"executor/workspace/tree.go":    "a directory's names are listed (DirFS)",
	"cmd/ralph/foreign.go":          "a directory's names are listed (DirFS)",
	"bench":                         "programs that measure",
}

// TestNothingIsOpenedThatMayWait: every file is opened by internal/regular.
func TestNothingIsOpenedThatMayWait(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != "." && (strings.HasPrefix(name, ".") || name == "examples" || name == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok || !opens[x.Name+"."+sel.Sel.Name] {
				return true
			}
			for at := range mayOpen {
				if within(file, at) || within(file, at+"/...") {
					used[at] = true
					return true
				}
			}
			t.Errorf("%s: %s.%s may wait for ever at a FIFO: use internal/regular, or name the file in mayOpen with a reason", set.Position(n.Pos()), x.Name, sel.Sel.Name)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at := range mayOpen {
		if !used[at] {
			t.Errorf("mayOpen names %s, which opens nothing", at)
		}
	}
}
