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
	"internal/regular":                  "it is the one that opens",
	"internal/atomicfile":               "it makes files that nobody else can have made (O_EXCL), and syncs directories",
	"internal/golden":                   "tests only",
	"internal/modeltest":                "tests only",
	"internal/process/proctable.go":     "/proc: the kernel made it",
	"internal/process/survivors.go":     "/proc: the kernel made it",
	"executor/journal/journal.go":       "a directory, which is synced",
	"executor/runner/runnertest":        "tests only",
	"executor/tracker/bd/bdtest":        "tests only",
	"executor/workspace/tree_mend.go":   "a directory's names are listed (DirFS)",
	"web/peer_linux.go":                 "/proc: the kernel made it",
	"internal/sandbox/group":            "cgroupfs and /proc: the kernel made them",
	"internal/sandbox/explain_linux.go": "/proc/sys: the kernel made it",
	"internal/sandbox/inside":           "/proc: the kernel made it",
	"internal/sandbox/temp_linux.go":    "a directory (O_DIRECTORY), which is locked without waiting",
	"internal/sandbox/sandboxtest":      "tests only",
	"app/project/foreign.go":            "a directory's names are listed (DirFS)",
	"app/project/plans.go":              "a directory, as Lstat says, whose names are listed",
	"bench":                             "programs that measure",
}

// TestNothingIsOpenedThatMayWait: every file is opened by internal/regular.
func TestNothingIsOpenedThatMayWait(t *testing.T) {
	calls(t, ".", opens, mayOpen, "may wait for ever at a FIFO: use internal/regular, or name the file in mayOpen with a reason")
}

// follows are the calls that follow a link above a file, or in its place, which an agent
// can have planted among ralph's own files: those have regular.MkdirOwn, WriteOwn,
// RemoveAllOwn and atomicfile.WriteOwn.
var follows = map[string]bool{"os.RemoveAll": true, "os.MkdirAll": true, "atomicfile.Write": true, "regular.WriteFile": true}

// mayFollow lists where these calls may stand, and why: what they name is none of
// ralph's own files.
var mayFollow = map[string]string{
	"executor/gate/review.go":          temporary,
	"executor/effects/gate.go":         temporary,
	"executor/runner/acp/acp.go":       "behind MkdirTemp",
	"executor/runner/acp/program.go":   temporary,
	"executor/runner/program.go":       temporary,
	"executor/runner/claude/flags.go":  temporary,
	"executor/runner/codex/codex.go":   temporary,
	"executor/runner/codex/prompt.go":  temporary,
	"executor/tracker/bd/database.go":  temporary,
	"executor/workspace/attributes.go": temporary,
	"executor/workspace/checks.go":     temporary,
	"executor/workspace/compare.go":    temporary,
	"executor/runner/runnertest":       "tests only",
	"executor/tracker/bd/bdtest":       "tests only",
	"executor/workspace/changes.go":    "a directory in the place of a file, behind MkdirOwn",
	"executor/workspace/clone.go":      worktree,
	"executor/workspace/merge.go":      worktree,
	"executor/workspace/moved.go":      "behind MkdirTemp",
	"executor/workspace/open.go":       worktree,
	"executor/workspace/renamed.go":    worktree,
	"executor/workspace/sight.go":      worktree,
	"executor/workspace/tree.go":       worktree,
	"executor/workspace/tree_mend.go":  worktree,
}

const (
	temporary = "a directory for temporary files, made for the call"
	worktree  = "in a worktree, which may lie behind a link of the user's: what stands in its place is looked at first"
)

// TestNoLinkIsFollowedByChance: what is written below executor is written as ralph's own.
func TestNoLinkIsFollowedByChance(t *testing.T) {
	calls(t, "executor", follows, mayFollow, "follows links: use the form that ends in Own, or name the file in mayFollow with a reason")
}

// calls looks for calls below a directory that stand nowhere but where they may.
func calls(t *testing.T, top string, of map[string]bool, may map[string]string, wrong string) {
	t.Helper()
	used := map[string]bool{}
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
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
			if !ok || !of[x.Name+"."+sel.Sel.Name] {
				return true
			}
			for at := range may {
				if within(file, at) || within(file, at+"/...") {
					used[at] = true
					return true
				}
			}
			t.Errorf("%s: %s.%s %s", set.Position(n.Pos()), x.Name, sel.Sel.Name, wrong)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at := range may {
		if !used[at] {
			t.Errorf("%s may call what it does not", at)
		}
	}
}
