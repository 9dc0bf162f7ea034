package ir

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/jsonschema"
)

var update = flag.Bool("update", false, "rewrite golden files")

// S4-153: the schema says what the types say, with the words of their comments.
func TestSchemaFollowsTheTypes(t *testing.T) {
	want := generateSchema(t)
	if *update {
		if err := os.WriteFile("schema/epic.schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(Schema(), want) {
		t.Error("ir/schema/epic.schema.json is stale: run go generate ./ir and read the difference")
	}
}

func TestEveryVocabularyBelongsToAField(t *testing.T) {
	used := map[string]bool{}
	var walk func(s *shape)
	walk = func(s *shape) {
		if s.elem != nil {
			walk(s.elem)
		}
		for _, f := range s.fields {
			used[s.name+"."+f.name] = true
			walk(f.shape)
		}
	}
	walk(epicShape())
	for name := range enums {
		if !used[name] {
			t.Errorf("enums has %s, which is no field", name)
		}
	}
}

func generateSchema(t *testing.T) []byte {
	t.Helper()
	g := &schemaWriter{docs: comments(t), defs: map[string]any{}}
	root := g.of(epicShape())
	doc := map[string]any{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "epic.json",
		"description": "The compiled graph of one plan, " + Version + ", as ralph compile writes it. Do not edit it by hand: change the plan or the policy and compile again.",
		"$ref":        root["$ref"],
		"$defs":       g.defs,
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	e := encoder{}
	if e.raw(raw, 0); e.err != nil {
		t.Fatal(e.err)
	}
	return append(e.b, '\n')
}

type schemaWriter struct {
	docs map[string]string // of types and of Type.Field
	defs map[string]any
}

func (g *schemaWriter) of(s *shape) map[string]any {
	switch s.kind {
	case shapeString:
		return map[string]any{"type": "string"}
	case shapeBool:
		return map[string]any{"type": "boolean"}
	case shapeInt:
		return map[string]any{"type": "integer"}
	case shapeStrings, shapeSlice:
		return map[string]any{"type": "array", "items": g.of(s.elem)}
	case shapeMap:
		return map[string]any{"type": "object", "additionalProperties": g.of(s.elem)}
	case shapePointer:
		return map[string]any{"anyOf": []any{g.of(s.elem), map[string]any{"type": "null"}}}
	case shapeRaw:
		return map[string]any{}
	}
	ref := map[string]any{"$ref": "#/$defs/" + s.name}
	if _, done := g.defs[s.name]; done {
		return ref
	}
	properties := map[string]any{}
	required := []string{}
	def := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	g.defs[s.name] = def
	if d := g.docs[s.name]; d != "" {
		def["description"] = d
	}
	for _, f := range s.fields {
		of := f.shape
		if f.omit && of.kind == shapePointer { // it is there or not, never null
			of = of.elem
		}
		p := g.of(of)
		typ := s.typ
		field := typ.Field(f.outer)
		if f.inner >= 0 {
			typ, field = field.Type, field.Type.Field(f.inner)
		}
		if d := g.docs[typ.Name()+"."+field.Name]; d != "" {
			p["description"] = d
		}
		if words := enums[s.name+"."+f.name]; words != nil {
			p["enum"] = words
		}
		if of.kind == shapeInt && f.name != "exit_code" {
			p["minimum"] = 0
		}
		switch s.name + "." + f.name {
		case "Epic.ir":
			p["const"] = Version
		case "Epic.digest":
			p["pattern"] = "^sha256:[0-9a-f]{64}$"
		case "Node.priority":
			p["maximum"] = 4
		}
		properties[f.name] = p
		if !f.omit {
			required = append(required, f.name)
		}
	}
	def["required"] = required
	return ref
}

// comments reads the comments of the types in this package.
func comments(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	text := func(groups ...*ast.CommentGroup) string {
		for _, g := range groups {
			if s := strings.Join(strings.Fields(g.Text()), " "); s != "" {
				return s
			}
		}
		return ""
	}
	for _, file := range []string{"epic.go", "node.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, spec := range decl.Specs {
				typ, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				docs[typ.Name.Name] = text(typ.Doc, decl.Doc)
				st, ok := typ.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, field := range st.Fields.List {
					for _, name := range field.Names {
						docs[typ.Name.Name+"."+name.Name] = text(field.Doc, field.Comment)
					}
				}
			}
			return true
		})
	}
	return docs
}

func TestSchemaRefusesWhatDecodeRefuses(t *testing.T) {
	schema, err := jsonschema.Compile(Schema())
	if err != nil {
		t.Fatal(err)
	}
	e := &Epic{IR: Version, Run: Run{Tracker: &Tracker{Kind: "bd"}}}
	e.Nodes = []Node{{Kind: Work, Steps: []Step{{Access: "read"}}, After: []Edge{{From: "number", Type: Blocks}}, Tasks: []Task{{}}}}
	e.Agents = map[string]Agent{"a": {}}
	e.Gates = map[string]Gate{"g": {Kind: "command", From: "plan"}}
	e.Runners = map[string]Runner{"r": {Kind: "command", LimitedWhen: &LimitedWhen{}}}
	e.Models, e.Secrets, e.Sandboxes = map[string]Model{"m": {}}, map[string]Secret{"s": {}}, map[string]Sandbox{"s": {Kind: "none"}}
	e.Waivers, e.Files, e.Run.Notify = []Waiver{{}}, []FileDigest{{}}, []Notify{{}}
	firstWords(epicShape(), reflect.ValueOf(e).Elem())
	good, err := Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	if v := schema.Validate(good); len(v) > 0 {
		t.Fatalf("a good file: %v", v)
	}

	// Take each field away, in each object, and add one: schema and Decode must
	// both notice.
	var doc any
	if err := json.Unmarshal(good, &doc); err != nil {
		t.Fatal(err)
	}
	tried := 0
	try := func(what string) {
		tried++
		bad, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if len(schema.Validate(bad)) == 0 {
			t.Errorf("the schema accepts a file %s", what)
		}
		if _, err := Decode(bad); err == nil || !strings.Contains(fmt.Sprintf("%T", err), "DecodeErrors") {
			t.Errorf("Decode accepts a file %s: %v", what, err)
		}
	}
	var walk func(at string, x any, isMap bool)
	walk = func(at string, x any, isMap bool) {
		switch x := x.(type) {
		case []any:
			for i := range x {
				walk(fmt.Sprintf("%s[%d]", at, i), x[i], false)
			}
		case map[string]any:
			if !isMap {
				x["surplus"] = 1
				try("with " + at + ".surplus")
				delete(x, "surplus")
			}
			for k, v := range x {
				if !isMap {
					delete(x, k)
					try("without " + at + "." + k)
					x[k] = 1.5
					if k != "ext" && !strings.HasSuffix(k, "_schema") {
						try("with a fraction at " + at + "." + k)
					}
					x[k] = v
				}
				tables := " agents gates runners models secrets sandboxes "
				byName := at == "" && strings.Contains(tables, " "+k+" ") || k == "ext" || k == "limits" && strings.HasPrefix(at, ".sandboxes") || strings.Contains(" labels env set per_runner per_lane ", " "+k+" ")
				walk(at+"."+k, v, byName)
			}
		}
	}
	walk("", doc, false)
	if tried < 400 {
		t.Errorf("only %d files were tried", tried)
	}
}

// A file from before a field was there is read as it is, and written as it was.
func TestAFieldThatIsLeftOutIsNoDifference(t *testing.T) {
	schema, err := jsonschema.Compile(Schema())
	if err != nil {
		t.Fatal(err)
	}
	tokens := int64(0)
	for _, expect := range []*Cost{nil, {Tokens: &tokens}} {
		e := &Epic{IR: Version, Agents: map[string]Agent{"a": {Expect: expect}}}
		firstWords(epicShape(), reflect.ValueOf(e).Elem())
		b, err := Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(b, []byte("expect")); got != (expect != nil) {
			t.Errorf("%+v: the file names it: %v", expect, got)
		}
		back, err := Decode(b)
		if err != nil || !reflect.DeepEqual(back.Agents, e.Agents) {
			t.Errorf("%+v came back as %+v: %v", expect, back, err)
		}
		if v := schema.Validate(b); len(v) > 0 {
			t.Errorf("%+v: the schema says %v", expect, v)
		}
	}
}

// firstWords sets every field with a vocabulary, that has to be there, to its first word.
func firstWords(s *shape, v reflect.Value) {
	switch s.kind {
	case shapeStruct:
		for i := range s.fields {
			f := &s.fields[i]
			if words := enums[s.name+"."+f.name]; words != nil && !f.omit {
				f.of(v).SetString(words[0])
			}
			firstWords(f.shape, f.of(v))
		}
	case shapeSlice:
		for i := range v.Len() {
			firstWords(s.elem, v.Index(i))
		}
	case shapePointer:
		if !v.IsNil() {
			firstWords(s.elem, v.Elem())
		}
	case shapeMap:
		for _, k := range v.MapKeys() {
			x := reflect.New(s.elem.typ).Elem()
			x.Set(v.MapIndex(k))
			firstWords(s.elem, x)
			v.SetMapIndex(k, x)
		}
	}
}

func TestFrontMatterSchema(t *testing.T) {
	schema, err := jsonschema.Compile(FrontMatterSchema())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, doc string
		ok        bool
	}{
		{"nothing", `{}`, true},
		{"everything", `{"ralph":1,"id":"shop","title":"Shop","policy":"workflow","policies":["ralph.hcl"],"base":"main","integration":"develop","owner":"ana","labels":["a"],"dialect":"task"}`, true},
		{"another tool's keys", `{"layout":"page","title":"Shop"}`, true},
		{"an unknown key of ralph's", `{"ralph":1,"polcy":"x"}`, false},
		{"another version", `{"ralph":2}`, false},
		{"a list for a title", `{"ralph":1,"title":[]}`, false},
		{"one label alone", `{"labels":"a"}`, true},
		{"a label that is a number", `{"labels":[1]}`, false},
	} {
		if got := len(schema.Validate([]byte(c.doc))) == 0; got != c.ok {
			t.Errorf("%s: valid = %v, want %v", c.name, got, c.ok)
		}
	}
}
