package machine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoLoopIsInTheOrderOfAMap holds that nothing in the vocabulary or the machine goes
// through a map as it lies: another engine replays the machine in another process, and what it says
// there has to be the same.
func TestNoLoopIsInTheOrderOfAMap(t *testing.T) {
	files := token.NewFileSet()
	known := imports{}
	known["github.com/ralph-compiler/ralph/ir"], _ = checked(t, files, "../../ir", known)
	vocabulary, uses := checked(t, files, "..", known)
	known["github.com/ralph-compiler/ralph/executor"] = vocabulary
	_, own := checked(t, files, ".", known)
	maps.Copy(uses, own)
	loops := 0
	for e, is := range uses {
		if _, ok := is.Type.Underlying().(*types.Map); ok {
			t.Errorf("%s: the loop goes through a map as it lies", files.Position(e.Pos()))
		}
		loops++
	}
	if loops < 100 {
		t.Errorf("%d loops have a type: the check sees too little", loops)
	}
}

// imports knows the packages that matter; of the others nothing is known.
type imports map[string]*types.Package

func (i imports) Import(path string) (*types.Package, error) {
	if i[path] == nil {
		i[path] = types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
		i[path].MarkComplete()
	}
	return i[path], nil
}

// checked reads a package and returns what its loops go through.
func checked(t *testing.T, files *token.FileSet, dir string, known imports) (*types.Package, map[ast.Expr]types.TypeAndValue) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var list []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	c := types.Config{Importer: known, Error: func(error) {}} // what stands in packages that are not known
	pkg, _ := c.Check(dir, files, list, info)
	loops := map[ast.Expr]types.TypeAndValue{}
	for _, f := range list {
		ast.Inspect(f, func(n ast.Node) bool {
			if loop, ok := n.(*ast.RangeStmt); ok && info.Types[loop.X].Type != nil {
				loops[loop.X] = info.Types[loop.X]
			}
			return true
		})
	}
	return pkg, loops
}
