package ralph_test

import (
	"go/ast"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostMethods is how many exported methods a type may have that other rooms use: more
// are several things, each asked by somebody else.
const mostMethods = 15

// face is what a type shows: its own exported methods, and the types that it embeds.
type face struct {
	methods map[string]bool
	embeds  []string // room.Type
}

// faces are the types of the module by room.Type, and what has an any in it: exported
// functions, as room.Func or room.Type.Func, exported fields, as room.Type.Field, and
// definitions of types and variables.
func faces(t *testing.T) (types map[string]*face, loose map[string]bool) {
	t.Helper()
	types, loose = map[string]*face{}, map[string]bool{}
	of := func(key string) *face {
		if types[key] == nil {
			types[key] = &face{methods: map[string]bool{}}
		}
		return types[key]
	}
	for _, p := range packages(t) {
		for _, f := range p.files(t) {
			name := namer(p.dir, f)
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					key := p.dir + "." + d.Name.Name
					if d.Recv != nil {
						recv := name(d.Recv.List[0].Type)
						if d.Name.IsExported() {
							of(recv).methods[d.Name.Name] = true
						}
						key = recv + "." + d.Name.Name
					}
					if d.Name.IsExported() && (isLoose(d.Type.Params) || isLoose(d.Type.Results)) {
						loose[key] = true
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							key := p.dir + "." + s.Name.Name
							of(key).add(s.Type, name)
							for _, field := range looseIn(s.Type) {
								loose[key+field] = true
							}
						case *ast.ValueSpec:
							for i, n := range s.Names {
								loose[p.dir+"."+n.Name] = isLoose(typeOf(s, i))
							}
						}
					}
				}
			}
		}
	}
	return types, loose
}

// add takes what a type's definition embeds, and the methods of an interface.
func (f *face) add(def ast.Expr, name func(ast.Expr) string) {
	var fields *ast.FieldList
	switch def := def.(type) {
	case *ast.StructType:
		fields = def.Fields
	case *ast.InterfaceType:
		fields = def.Methods
	default:
		return
	}
	for _, x := range fields.List {
		_, method := x.Type.(*ast.FuncType)
		switch {
		case len(x.Names) == 0:
			f.embeds = append(f.embeds, name(x.Type))
		case method && x.Names[0].IsExported():
			f.methods[x.Names[0].Name] = true
		}
	}
}

// namer names the types that a file of a room mentions as room.Type, "" for those of
// other modules.
func namer(room string, f *ast.File) func(ast.Expr) string {
	imports := map[string]string{}
	for _, i := range f.Imports {
		at, _ := strconv.Unquote(i.Path.Value)
		as := path.Base(at)
		if i.Name != nil {
			as = i.Name.Name
		}
		imports[as] = at
	}
	var name func(x ast.Expr) string
	name = func(x ast.Expr) string {
		switch x := x.(type) {
		case *ast.StarExpr:
			return name(x.X)
		case *ast.IndexExpr:
			return name(x.X)
		case *ast.Ident:
			return room + "." + x.Name
		case *ast.SelectorExpr:
			if in, ok := strings.CutPrefix(imports[x.X.(*ast.Ident).Name], module+"/"); ok {
				return in + "." + x.Sel.Name
			}
		}
		return ""
	}
	return name
}

// looseIn lists the exported fields and methods of a type's definition with an any, as
// .Field; "" for one that is neither a struct nor an interface.
func looseIn(def ast.Expr) (out []string) {
	var fields *ast.FieldList
	switch def := def.(type) {
	case *ast.StructType:
		fields = def.Fields
	case *ast.InterfaceType:
		fields = def.Methods
	default:
		if isLoose(def) {
			out = append(out, "")
		}
		return out
	}
	for _, x := range fields.List {
		for _, n := range x.Names {
			if n.IsExported() && isLoose(x.Type) {
				out = append(out, "."+n.Name)
			}
		}
	}
	return out
}

// typeOf is the type of a variable, as far as its declaration names it.
func typeOf(s *ast.ValueSpec, i int) ast.Node {
	if s.Type == nil && i < len(s.Values) {
		if lit, ok := s.Values[i].(*ast.CompositeLit); ok {
			return lit.Type
		}
	}
	return s.Type
}

// isLoose reports whether an any is in a list of parameters or a type, other than as what
// fills a format.
func isLoose(in ast.Node) (found bool) {
	if list, ok := in.(*ast.FieldList); in == nil || ok && list == nil {
		return false
	}
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ellipsis: // what a format is filled with
			return false
		case *ast.Ident:
			found = found || n.Name == "any"
		case *ast.InterfaceType:
			found = found || len(n.Methods.List) == 0
		}
		return true
	})
	return found
}

// shows collects the exported methods of a type with those of what it embeds.
func shows(types map[string]*face, key string, into map[string]bool) {
	f := types[key]
	if f == nil {
		return
	}
	maps.Copy(into, f.methods)
	for _, e := range f.embeds {
		shows(types, e, into)
	}
}

// shared are the rooms that others import.
func shared(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, p := range packages(t) {
		for at := range p.imports {
			out[strings.TrimPrefix(at, module+"/")] = true
		}
	}
	return out
}

func TestNoTypeThatCrossesRoomsIsWide(t *testing.T) {
	types, _ := faces(t)
	rooms := shared(t)
	for _, key := range slices.Sorted(maps.Keys(types)) {
		room, name := key[:strings.LastIndexByte(key, '.')], key[strings.LastIndexByte(key, '.')+1:]
		methods := map[string]bool{}
		shows(types, key, methods)
		if n := len(methods); rooms[room] && ast.IsExported(name) && n > mostMethods {
			t.Errorf("%s has %d exported methods, and other rooms use it; more than %d are several things: %s", key, n, mostMethods, strings.Join(slices.Sorted(maps.Keys(methods)), " "))
		}
	}
}

func TestNothingThatCrossesRoomsIsAnything(t *testing.T) {
	_, loose := faces(t)
	rooms := shared(t)
	for _, key := range slices.Sorted(maps.Keys(loose)) {
		room, name, _ := strings.Cut(key[strings.LastIndexByte(key, '/')+1:], ".")
		room = key[:strings.LastIndexByte(key, '/')+1] + room
		if first, _, _ := strings.Cut(name, "."); loose[key] && rooms[room] && ast.IsExported(first) && !strings.HasPrefix(room, "internal/") {
			t.Errorf("%s has an any, and other rooms use it", key)
		}
	}
}

// TestPackagesSayWhatTheyAre: each package has a comment that godoc shows, the rooms in
// a file doc.go.
func TestPackagesSayWhatTheyAre(t *testing.T) {
	for _, p := range packages(t) {
		said, code := "", false
		for file, f := range p.files(t) {
			code = true
			if f.Doc.Text() != "" {
				said = filepath.Base(file)
			}
		}
		room := within(p.dir, "app/...") || within(p.dir, "compiler/...") || within(p.dir, "policies/...") || within(p.dir, "executor/...")
		switch {
		case !code:
		case said == "":
			t.Errorf("%s: no file has a package comment", p.dir)
		case room && said != "doc.go":
			t.Errorf("%s: the package comment stands in %s and belongs in doc.go", p.dir, said)
		}
	}
}
